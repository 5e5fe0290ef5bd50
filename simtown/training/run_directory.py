"""A run directory: run.json, the training state, the best weights.

run.json holds everything that was chosen, measured and used.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from simtown.core.files import DamagedError, ForeignDirectoryError, as_json, replacing, save_json
from simtown.core.runs import load_json, require_only
from simtown.core.untrusted import open_regular
from simtown.core.version import __version__, versions
from simtown.datasets.reader import Dataset
from simtown.training import identity, record, weights
from simtown.training.fit_settings import FitSettings
from simtown.training.record import FORMAT, RUN, TEST

METRICS, STATE, WEIGHTS, CURVE = "metrics.jsonl", "state.safetensors", "weights.safetensors", "curve.png"
#: Rows of the longest metrics.jsonl that is read, and bytes of a row; ours have some 250.
_MOST_ROWS, _LONGEST_ROW = 500_000, 5_000
#: What Adam keeps of a parameter: a number of steps, and two tensors of its shape.
_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


def fresh(settings: FitSettings, dataset: Dataset, examples: dict[str, str]) -> dict[str, Any]:
    """run.json of a run of which nothing is done yet; `examples` as :func:`examples_of` gives them."""
    device = torch.device(settings.device)
    return {
        "format": FORMAT,
        "status": "running",
        "model": settings.model,
        "train_size": settings.train_size,
        "seed": settings.seed,
        "settings": asdict(settings),
        "data": {
            "name": dataset.name,
            **identity.world(dataset.settings),
            "examples": examples,
            "test_id": examples["test"],
        },
        "simtown": __version__,
        "libraries": versions("torch", "numpy", "numba", "scipy", "safetensors"),
        "machine": {
            "device": torch.cuda.get_device_name(device)
            if device.type == "cuda"
            else platform.processor() or platform.machine(),
            "threads": torch.get_num_threads(),
            "system": platform.platform(),
        },
        "seconds": 0.0,
    }


def load(directory: Path) -> dict[str, Any]:
    """run.json of a run directory.

    Raises:
        FileNotFoundError: there is none.
        DamagedError: unreadable.
        ForeignDirectoryError: something else's.
    """
    path = directory / RUN
    if not path.is_file():
        raise FileNotFoundError(f"{directory} holds no run (no {RUN}): give a directory made by simtown fit")
    run = load_json(path, FORMAT, "simtown fit")
    try:
        record.check(run)
        FitSettings(**run["settings"])
        done = ("test.accuracy", "steps") if run["status"] == "done" else ()
        record.require(
            run,
            ("seconds", "seed", "model", "train_size", "data.entities", "data.width", "data.height", *done),
        )
        if "examples" in run["data"]:
            record.require(run, tuple(f"data.examples.{split}" for split in ("train", "val", "test")))
        else:
            run["data"]["sha256"]  # an older simtown's
    except (KeyError, TypeError, ValueError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise DamagedError(
            f"{path} is damaged ({what}): put back a copy of it, or run simtown fit again with another --out"
        ) from error
    return run


def examples_of(settings: FitSettings, dataset: Dataset, progress: Callable[[int], object]) -> dict[str, str]:
    """Digests of the examples that a run reads, by split.

    `progress` as in :meth:`simtown.datasets.reader.Split.digests`.
    """
    if settings.stream:
        return {**identity.examples_read(dataset, [0], progress)[0], "train": identity.endless(dataset)}
    return identity.examples_read(dataset, [settings.train_size], progress)[settings.train_size]


def begin(
    directory: Path,
    settings: FitSettings,
    dataset: Dataset,
    progress: Callable[[int], object] = lambda examples: None,
) -> dict[str, Any]:
    """The run.json to continue with: a new one, or the one that is there.

    A new one is written into an empty directory. One that is there must have these settings and have read
    these examples.

    Args:
        directory: of the run.
        settings: of the run.
        dataset: to train on.
        progress: as in :meth:`simtown.datasets.reader.Split.digests`.

    Raises:
        ForeignDirectoryError: the directory holds something else, or a run that differs; the message says in
            what.
    """
    if not (directory / RUN).exists():
        require_only(directory, lambda name: name == RUN or name.startswith("."), "simtown fit")
        run: dict[str, Any] = as_json(fresh(settings, dataset, examples_of(settings, dataset, progress)))
        save_json(directory / RUN, run)
        return run
    run = load(directory)
    if run["status"] == "done":
        _require_all(directory / RUN, run)
    differ = identity.other_settings(run, settings, dataset.settings)
    if differ:
        raise ForeignDirectoryError(
            f"{directory} holds a run with other settings: {'; '.join(differ)}; give another `directory`"
        )
    others = identity.other_examples(run, examples_of(settings, dataset, progress), dataset)
    if others:
        raise ForeignDirectoryError(
            f"{directory} holds a run that read {others} than {dataset.path} has; give another `directory`"
        )
    return run


def _require_all(path: Path, run: dict[str, Any]) -> None:
    """Raises DamagedError if the record of a finished run lacks something."""
    try:
        record.require(run, record.FINISHED)
    except KeyError as error:
        raise DamagedError(
            f"{path} is damaged (it lacks {error}): run simtown fit again with another --out"
        ) from error


def random_state(device: torch.device) -> dict[str, torch.Tensor]:
    """PyTorch's random state by kind of device: of the processor, and of the device that is trained on."""
    states = {"cpu": torch.get_rng_state()}
    return states | {"cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else states


@dataclass
class Middle:
    """Where a run stands between two validations.

    Attributes:
        totals: (3,) float64 sums since the last validation: objective, cross-entropy, right answers.
        steps: taken since the last validation.
        seconds: that they took.
        random: as :func:`random_state` gives it, after these steps.
    """

    totals: torch.Tensor
    steps: int = 0
    seconds: float = 0.0
    random: dict[str, torch.Tensor] = field(default_factory=dict)

    def restore_random(self, device: torch.device) -> None:
        """Put PyTorch's random state back."""
        torch.set_rng_state(self.random["cpu"])
        if device.type == "cuda":
            torch.cuda.set_rng_state(self.random["cuda"], device)

    def tensors(self) -> dict[str, torch.Tensor]:
        """What a file holds of it besides `steps` and `seconds`."""
        return {_TOTALS: self.totals} | {f"{_RANDOM}{kind}": state for kind, state in self.random.items()}


_TOTALS, _RANDOM = "middle.totals", "middle.random."


@dataclass
class RunState:
    """Where a run stands.

    The order of examples and dropout's random numbers are functions of (seed, epoch), so of a validation the
    epoch is all there is to know of them. Between two validations `middle` holds the rest.

    Attributes:
        epoch: number of epochs done up to the last validation.
        step: number of steps done up to the last validation.
        best: {"epoch", "step", "val_accuracy", "val_loss"} of the best validation.
        stale: validations since then that count towards patience.
        seconds: that the run took up to the last validation.
        model: its state_dict() now.
        optimizer: its state_dict() now.
        restarts: how often the network was dead and restarted with new weights.
        begun: the step of the last beginning.
        middle: what was done since the last validation; None right after it.
    """

    epoch: int
    step: int
    best: dict[str, float]
    stale: int
    seconds: float
    model: dict[str, torch.Tensor]
    optimizer: dict[str, Any]
    restarts: int = 0
    begun: int = 0
    middle: Middle | None = None

    def save(self, directory: Path) -> None:
        """Whole or not at all."""
        tensors = {f"model.{name}": value for name, value in self.model.items()}
        for number, moments in self.optimizer["state"].items():
            tensors |= {f"optimizer.{number}.{name}": moments[name] for name in _MOMENTS}
        place = {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("model", "optimizer", "middle")
        }
        if self.middle:
            tensors |= self.middle.tensors()
            place["middle"] = {"steps": self.middle.steps, "seconds": self.middle.seconds}
        weights.save(directory / STATE, tensors, place=json.dumps(place))

    @classmethod
    def load(cls, directory: Path, model: nn.Module) -> RunState | None:
        """The state to go on from with this model, None where there is none. Raises DamagedError."""
        path = directory / STATE
        if not os.path.lexists(path):
            return None
        parameters = list(model.parameters())
        wanted = {f"model.{name}": value for name, value in model.state_dict().items()}
        moments = {
            f"optimizer.{number}.{name}": torch.empty((), dtype=torch.float32)
            if name == "step"
            else parameter
            for number, parameter in enumerate(parameters)
            for name in _MOMENTS
        }
        between = Middle(
            torch.empty(3, dtype=torch.float64), random=random_state(parameters[0].device)
        ).tensors()
        try:
            tensors, texts = weights.load(path, wanted | moments | between, optional={*moments, *between})
            place = json.loads(texts["place"])
            _PLACE(place, "")
            record.require(
                place, ("epoch", "step", "best.epoch", "best.step", "best.val_accuracy", "stale", "seconds")
            )
            state = {
                number: {
                    name: _moment(name, tensors[f"optimizer.{number}.{name}"], parameter) for name in _MOMENTS
                }
                for number, parameter in enumerate(parameters)
                if any(f"optimizer.{number}.{name}" in tensors for name in _MOMENTS)
            }
            middle = place.pop("middle", None)
            if middle is not None:
                middle = _middle(middle, {name: tensors[name] for name in between})
            whole = {name.removeprefix("model."): tensors[name] for name in wanted}
            return cls(**place, model=whole, optimizer={"state": state}, middle=middle)
        except (OSError, ValueError, KeyError, TypeError) as error:
            what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise DamagedError(
                f"{path} is damaged or of another model ({what}): delete it to train again from the start"
            ) from error

    def restore(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Put weights and the optimiser's moments back; the optimiser's choices are those of the settings."""
        model.load_state_dict(self.model)
        optimizer.load_state_dict({**optimizer.state_dict(), **self.optimizer})


_PLACE = record.table(
    epoch=record.COUNT,
    step=record.COUNT,
    best=record.BEST,
    stale=record.COUNT,
    seconds=record.SECONDS,
    restarts=record.COUNT,
    begun=record.COUNT,
    middle=record.maybe(record.table(steps=record.COUNT, seconds=record.SECONDS)),
)


def _middle(place: dict[str, Any], tensors: dict[str, torch.Tensor]) -> Middle:
    """What a file holds of the steps since the last validation.

    Raises KeyError or ValueError where it is not what it should be.
    """
    random = {name.removeprefix(_RANDOM): value for name, value in tensors.items() if name != _TOTALS}
    for kind, value in random.items():
        try:
            torch.Generator(kind).set_state(value)
        except RuntimeError as error:
            raise ValueError(f"its {_RANDOM}{kind} is no random state") from error
    return Middle(tensors[_TOTALS], place["steps"], place["seconds"], random)


def _moment(name: str, value: torch.Tensor, parameter: torch.Tensor) -> torch.Tensor:
    """A moment in the memory layout of its parameter, which the optimiser's fused step needs.

    The number of steps stays as it is.
    """
    return value if name == "step" else torch.empty_like(parameter, requires_grad=False).copy_(value)


def save_weights(model: nn.Module, directory: Path) -> None:
    """The model's parameters and buffers, as safetensors."""
    weights.save(directory / WEIGHTS, model.state_dict())


def load_weights(sizes: dict[str, torch.Tensor], directory: Path) -> dict[str, torch.Tensor]:
    """Inverse of :func:`save_weights`.

    `sizes`: a state_dict with the names, shapes and dtypes that the file must have.

    Raises DamagedError or FileNotFoundError.
    """
    path = directory / WEIGHTS
    if not os.path.lexists(path):
        raise FileNotFoundError(
            f"{directory} holds no weights (no {WEIGHTS}): let simtown fit finish, or put back a copy of them"
        )
    try:
        return weights.load(path, sizes)[0]
    except PermissionError:
        raise
    except (OSError, ValueError) as error:
        raise DamagedError(
            f"{path} is damaged or of another model ({error}): run simtown fit again with another --out"
        ) from error


def append_metrics(directory: Path, row: dict[str, float]) -> None:
    """Add a row to metrics.jsonl."""
    handle = os.open(
        directory / METRICS, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666
    )
    with os.fdopen(handle, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def read_metrics(directory: Path) -> list[dict[str, float]]:
    """Rows of metrics.jsonl; a last line that was cut is left out.

    Raises DamagedError if a row cannot be read; the message names its line.
    """
    path = directory / METRICS
    rows: list[dict[str, float]] = []
    if not os.path.lexists(path):
        return rows
    try:
        with open_regular(path, follow=False) as file:
            while line := file.readline(_LONGEST_ROW):
                try:
                    row = json.loads(line)
                except ValueError:
                    if file.read(1):
                        raise
                    break  # cut when the run was killed
                _METRICS(row, "")
                record.require(row, ("epoch", "step"))
                if len(rows) == _MOST_ROWS:
                    raise ValueError(f"it has more than {_MOST_ROWS:,} rows")
                rows.append({name: row[name] for name in record.METRICS if name in row})
    except (OSError, ValueError, KeyError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise DamagedError(
            f"{path} is damaged, line {len(rows) + 1} ({what}): delete it and {STATE}, if there is one, to "
            "train again from the start"
        ) from error
    return rows


_METRICS = record.table(**record.METRICS)


def save_test(directory: Path, logits: np.ndarray, answer: np.ndarray) -> None:
    """test.npz: "correct" (t,) bool and "logit" (t,) float32, in the test set's order."""
    with replacing(directory / TEST) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, correct=(logits > 0) == answer, logit=logits)
