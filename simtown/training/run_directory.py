"""A run directory: run.json, the metrics, the training state, the best weights, the test.

run.json holds everything that was chosen, measured and used.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open
from torch import nn
from torch.optim import Optimizer

from simtown.core.callbacks import ProgressCallback
from simtown.core.files import DamagedError, replacing, save_bytes, save_text
from simtown.core.runs import RunRecord
from simtown.core.untrusted import cause, open_regular, open_to_append, parse_json, read_bytes
from simtown.core.version import __version__, versions
from simtown.datasets.reading.reader import Dataset
from simtown.datasets.settings import Settings
from simtown.training import identity
from simtown.training.fit_settings import FitSettings
from simtown.training.run_scores import scores_of
from simtown.training.world import language_of

RUN = "run.json"
RECORD = RunRecord(RUN, "simtown-run", "simtown fit", frozenset({RUN}), what="a run")
Tensors = dict[str, torch.Tensor]
METRICS, TEST, CURVE = "metrics.jsonl", "test.npz", "curve.png"
STATE, WEIGHTS = "state.safetensors", "weights.safetensors"


class _Run(msgspec.Struct):
    """The checked fields of a run.json."""

    status: Literal["running", "failed", "done"]
    train_size: int
    seconds: float
    settings: FitSettings
    data: Settings


class _Share(msgspec.Struct):
    """The checked fields of an accuracy on some questions."""

    n: int
    accuracy: float | None = None
    low: float = 0.0
    high: float = 0.0
    chance: float | None = None
    confidence: float | None = None
    effective_n: float = 0.0
    answers: list[str] = []


_Shares = dict[str, _Share | None]


class _FamilyHeldOut(_Share, kw_only=True):
    seen: _Share | None


class _HeldOut(_Share, kw_only=True):
    families: dict[str, _FamilyHeldOut]
    seen: float | None


class _Test(_Share, kw_only=True):
    """The checked fields of a finished run's scores."""

    accuracy: float
    low: float
    high: float
    relations: _Shares = {}
    deciles: _Shares = {}
    families: _Shares = {}
    kinds: _Shares = {}
    twins: _Shares = {}
    seen: _Share | None = None
    unseen: _Share | None = None
    validation: _Share | None = None
    reweighted: _Share | None = None
    held_out: _HeldOut | None = None


class _Best(msgspec.Struct):
    epoch: int


class _Finished(_Run):
    """The checked fields of a finished run's run.json."""

    model: str
    epochs: int
    steps: Annotated[int, msgspec.Meta(ge=1)]
    stopped: str
    best: _Best
    references: dict[str, float]
    test: _Test


class _Language(msgspec.Struct):
    """The checked fields of a run.json on questions of families."""

    families: list[str]
    answers: list[str]
    vocabulary: str


def opened(
    directory: Path,
    settings: FitSettings,
    dataset: Dataset,
    callback: ProgressCallback,
) -> AbstractContextManager[dict[str, Any]]:
    """The run.json to continue with: a new one in an empty directory, or that of the same run.

    Other processes of the command cannot write there meanwhile. `callback` receives how many examples were
    read for their digests.

    Raises:
        ForeignDirectoryError: the directory holds something else, or a run with other settings or examples.
        DamagedError: its run.json is damaged.
    """
    size = 0 if settings.stream else settings.train_size
    callback.on_begin(size + len(dataset.val) + len(dataset.test), stage="digests of the examples")
    examples = identity.examples_read(dataset, [size], callback.on_progress)[size]
    if settings.stream:
        examples["train"] = identity.endless(dataset)
    device = torch.device(settings.device)
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else ""
    data = {"name": dataset.name, **identity.world(dataset.settings), "examples": examples}
    if language := language_of(dataset):
        data |= language | {"vocabulary": " ".join(language["vocabulary"])}
    machine: dict[str, Any] = {"device": card or platform.processor() or platform.machine()}
    machine |= {"threads": torch.get_num_threads(), "system": platform.platform()}
    own = {name: getattr(settings, name) for name in ("model", "train_size", "seed")}
    fresh: dict[str, Any] = {"status": "running", **own}
    fresh |= {"settings": asdict(settings), "data": {**data, "test_id": examples["test"]}}
    fresh |= {"simtown": __version__, "libraries": versions("torch", "numpy", "scipy", "safetensors")}
    return RECORD.opened(directory, {**fresh, "machine": machine, "seconds": 0.0}, identity.of_run, load)


def load(directory: Path) -> dict[str, Any]:
    """run.json of a run directory; DamagedError if it lacks something, and others as of RunRecord.load."""
    run = RECORD.load(directory)
    try:
        msgspec.convert(run, _Finished if run.get("status") == "done" else _Run)
        language_in(run)
        if unknown := run["settings"].keys() - {field.name for field in fields(FitSettings)}:
            raise ValueError(f"settings.{min(unknown)} is unknown")
        identity.settings_of(run)
    except ValueError as error:
        remedy = "put back a copy of it, or run simtown fit again with another --out"
        raise DamagedError(f"{directory / RUN} is damaged ({cause(error)}): {remedy}") from error
    return run


@dataclass
class RunState:
    """The state of a run besides its weights and its optimiser.

    Attributes:
        epoch: epochs up to the last validation.
        step: steps up to the last validation.
        best: {"epoch", "step", "val_accuracy", "val_loss"} of the best validation.
        stale: validations since then that count towards patience.
        seconds: that the run took up to the last validation.
        restarts: how often a dead network was restarted with new weights.
        restarted_at: the step of the last restart.
        new_steps: steps since the last validation.
        new_seconds: that they took.
    """

    epoch: int = 0
    step: int = 0
    best: dict[str, float] = field(
        default_factory=lambda: {"epoch": 0, "step": 0, "val_accuracy": 0.0, "val_loss": 0.0}
    )
    stale: int = 0
    seconds: float = 0.0
    restarts: int = 0
    restarted_at: int = 0
    new_steps: int = 0
    new_seconds: float = 0.0

    def save(self, directory: Path, model: nn.Module, optimizer: Optimizer, totals: torch.Tensor) -> None:
        """Write everything from which the run continues; `totals`: sums since the last validation."""
        tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
        for number, moments in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": value for name, value in moments.items()}
        tensors |= {"totals": totals, "random.cpu": torch.get_rng_state()}
        if totals.device.type == "cuda":
            tensors["random.cuda"] = torch.cuda.get_rng_state(totals.device)
        _save_tensors(directory / STATE, tensors, place=json.dumps(asdict(self)))

    @classmethod
    def load(cls, directory: Path) -> tuple[RunState, Tensors]:
        """The state of a run, and the tensors for :func:`restore`; none if nothing was saved."""
        if not os.path.lexists(directory / STATE):
            return cls(), {}
        try:
            open_regular(directory / STATE, follow=False).close()
            with safe_open(directory / STATE, "pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                return cls(**parse_json(file.metadata()["place"])), tensors
        except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
            raise _damaged(directory / STATE, error) from error


def restore(directory: Path, saved: Tensors, model: nn.Module, optimizer: Optimizer) -> None:
    """Put weights and the optimiser's moments back. Raises DamagedError."""

    def named(prefix: str) -> Tensors:
        return {name.removeprefix(prefix): value for name, value in saved.items() if name.startswith(prefix)}

    state: dict[int, Tensors] = {}
    try:
        put_weights(model, named("model."))
        for number, parameter in enumerate(model.parameters()):
            if moments := named(f"optimizer.{number}."):
                for name in moments.keys() - {"step"}:  # in its layout, as the fused step needs it
                    moments[name] = torch.empty_like(parameter).copy_(moments[name])
                state[number] = moments
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    except (KeyError, RuntimeError, ValueError) as error:
        raise _damaged(directory / STATE, error) from error


def restore_random(saved: Tensors, device: torch.device) -> None:
    """Put PyTorch's random state back."""
    torch.set_rng_state(saved["random.cpu"])
    if device.type == "cuda":
        torch.cuda.set_rng_state(saved["random.cuda"], device)


def save_weights(model: nn.Module, directory: Path) -> None:
    """Write the model's parameters and buffers."""
    _save_tensors(directory / WEIGHTS, model.state_dict())


def put_weights(model: nn.Module, tensors: Tensors) -> None:
    """Put tensors into a model. Raises ValueError, in our words, unless they are those of such a model."""
    own = model.state_dict()
    for name in sorted(own.keys() ^ tensors.keys()):
        raise ValueError(f"it {'lacks' if name in own else 'also holds'} the tensor {name}")
    for name, old in own.items():
        form, other = ([*tensor.shape, tensor.is_floating_point()] for tensor in (old, tensors[name]))
        if form != other:
            raise ValueError(f"its tensor {name} has another shape or type of numbers")
    model.load_state_dict(tensors)


def load_weights(model: nn.Module, directory: Path) -> None:
    """Read what :func:`save_weights` wrote. Raises DamagedError or FileNotFoundError."""
    path = directory / WEIGHTS
    if not os.path.lexists(path):
        remedy = "let simtown fit finish, or put back a copy of them"
        raise FileNotFoundError(f"{directory} holds no weights (no {WEIGHTS}): {remedy}")
    try:
        put_weights(model, safetensors.torch.load(read_bytes(path, follow=False)))
    except (ValueError, RuntimeError, SafetensorError) as error:
        raise _damaged(path, error) from error


def _save_tensors(path: Path, tensors: Tensors, **texts: str) -> None:
    """Write tensors, and texts by name, as a safetensors file that is whole or absent."""
    # a memory of its own each: safetensors takes none twice, such as that of weights that are tied
    own = {name: value.clone(memory_format=torch.contiguous_format) for name, value in tensors.items()}
    # not save_file: it hides why it failed, and lets nobody else read the file
    save_bytes(path, safetensors.torch.save(own, texts or None))


def _damaged(path: Path, error: Exception) -> DamagedError:
    again = "run simtown fit again with another --out"
    remedy = again if path.name == WEIGHTS else "delete it to train again from the start"
    return DamagedError(f"{path} is damaged or of another model ({cause(error)}): {remedy}")


def append_metrics(directory: Path, row: dict[str, float]) -> None:
    """Add a row to metrics.jsonl."""
    with open_to_append(directory / METRICS) as file:
        file.write(f"{json.dumps(row)}\n".encode())


def cut_metrics(directory: Path, epoch: int) -> None:
    """Keep the rows of metrics.jsonl up to an epoch: those of validations that the state includes."""
    rows = [row for row in read_metrics(directory) if row["epoch"] <= epoch] if epoch else []
    save_text(directory / METRICS, "".join(json.dumps(row) + "\n" for row in rows))


def read_metrics(directory: Path) -> list[dict[str, float]]:
    """Rows of metrics.jsonl, without a last line that was cut. Raises DamagedError."""
    path = directory / METRICS
    if not os.path.lexists(path):
        return []
    rows: list[dict[str, float]] = []
    lines = read_bytes(path, follow=False).split(b"\n")
    for number, line in enumerate(lines[:-1], 1):  # behind the last newline stands nothing, or half a row
        try:
            row = parse_json(line)
            rows.append({"epoch": int(row["epoch"]), "step": int(row["step"]), **row})
        except (ValueError, KeyError, TypeError) as error:
            remedy = f"delete it and {STATE}, if there is one, to train again from the start"
            raise DamagedError(f"{path} is damaged, line {number} ({cause(error)}): {remedy}") from error
    return rows


def language_in(run: Mapping[str, Any]) -> dict[str, list[str]]:
    """A run.json's record of questions of families: :func:`simtown.training.world.language_of`."""
    if "families" not in run["data"]:
        return {}
    texts = msgspec.convert(run["data"], _Language)
    return {"families": texts.families, "answers": texts.answers, "vocabulary": texts.vocabulary.split(" ")}


def save_test(directory: Path, dataset: Dataset, logits: np.ndarray) -> None:
    """test.npz, in the test set's order: "correct" (t,) bool, and :meth:`Scores.columns`."""
    scores = scores_of(dataset)
    columns: dict[str, Any] = scores.columns(logits)
    with replacing(directory / TEST) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, correct=scores.right(dataset.test, logits), **columns)
