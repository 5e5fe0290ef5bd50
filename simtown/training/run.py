"""A run directory: run.json with everything that was chosen, measured and used; the training state; the best weights."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from llvmlite.binding import get_host_cpu_features
from safetensors.torch import load_file, save_file
from torch import nn

import simtown
from simtown.datasets.reader import Dataset
from simtown.files import DamagedError, ForeignDirectoryError, load_json, replacing, save_json, versions
from simtown.training import identity
from simtown.training.results import FORMAT, RUN, TEST

METRICS, STATE, WEIGHTS, CURVE = "metrics.jsonl", "state.pt", "weights.safetensors", "curve.png"
PROTOCOLS = ("patient", "paper")
PRECISIONS = ("float32", "tf32", "bf16")


@dataclass(frozen=True)
class FitSettings:
    """Every choice that decides a run's numbers, besides the data.

    Attributes:
        model: a name of :data:`simtown.training.models.MODELS` or package.module:Class.
        options: the model's own, resolved.
        train_size: the first so many training examples.
        seed: of initial weights, order and dropout.
        protocol: "paper" stops after `patience` epochs without better validation accuracy; "patient" counts them only after `min_steps`
            steps, lets at least CLOSEST steps pass between two validations, and begins a dead network anew.
        batch: examples a step.
        learning_rate: of Adam.
        max_steps: stop there at the latest (0: never).
        stream: train on fresh examples without end; train_size is then the length of an epoch.
        device: "cpu" or "cuda".
        precision: of :data:`PRECISIONS`.
        compile: use torch.compile.
    """

    model: str
    train_size: int
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    protocol: str = "patient"
    min_steps: int = 2_000
    patience: int = 10
    batch: int = 128
    learning_rate: float = 1e-3
    max_steps: int = 0
    stream: bool = False
    device: str = "cpu"
    precision: str = "float32"
    compile: bool = False


def precision_of(choice: str, device: str) -> str:
    """For "auto": "bf16" if a device ("cpu" or "cuda") has instructions for it, else "float32". Any other choice is its own answer.

    A run records the answer, not "auto": what is computed in bfloat16 is another run, and the two kinds must not stand in one table.
    """
    if choice != "auto":
        return choice
    if device == "cuda":
        return "bf16" if torch.cuda.get_device_capability() >= (8, 0) else "float32"
    features = get_host_cpu_features()
    return "bf16" if any(features.get(name, False) for name in ("avx512bf16", "amx-bf16")) else "float32"


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
        "simtown": simtown.__version__,
        "libraries": versions("torch", "numpy", "numba", "scipy", "safetensors"),
        "machine": {
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or platform.machine(),
            "threads": torch.get_num_threads(),
            "system": platform.platform(),
        },
        "seconds": 0.0,
    }


def load(directory: Path) -> dict[str, Any]:
    """run.json of a run directory.

    Raises:
        FileNotFoundError: there is none. DamagedError: unreadable. ForeignDirectoryError: something else's.
    """
    path = directory / RUN
    if not path.is_file():
        raise FileNotFoundError(f"{directory} holds no run (no {RUN}): give a directory made by simtown fit")
    run = load_json(path, FORMAT, "simtown fit")
    try:
        FitSettings(**run["settings"])
        for key in ("status", "data", "seconds", "seed", "model", "train_size"):
            run[key]
        for key in ("entities", "width", "height"):
            run["data"][key]
        for split in ("train", "val", "test") if "examples" in run["data"] else ():
            run["data"]["examples"][split]
        if "examples" not in run["data"]:
            run["data"]["sha256"]  # an older simtown's
    except (KeyError, TypeError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise DamagedError(f"{path} is damaged ({what}): put back a copy of it, or train again into another --out") from error
    return run


def examples_of(settings: FitSettings, dataset: Dataset, advanced: Callable[[int], None]) -> dict[str, str]:
    """Digests of the examples that a run reads, by split; `advanced` as in :meth:`simtown.datasets.reader.Split.digests`."""
    if settings.stream:
        return {**identity.examples_read(dataset, [0], advanced)[0], "train": identity.endless(dataset)}
    return identity.examples_read(dataset, [settings.train_size], advanced)[settings.train_size]


def begin(
    directory: Path, settings: FitSettings, dataset: Dataset, advanced: Callable[[int], None] = lambda examples: None
) -> dict[str, Any]:
    """run.json to go on with: a fresh one in an empty directory, the one that is there if it has these settings and read these examples.

    Args:
        advanced: as in :meth:`simtown.datasets.reader.Split.digests`.

    Raises:
        ForeignDirectoryError: the directory holds something else, or a run that differs; the message says in what.
    """
    if not (directory / RUN).exists():
        strangers = sorted(p.name for p in directory.iterdir() if not p.name.startswith("."))
        if strangers:
            raise ForeignDirectoryError(f"{directory} is not empty and holds no run (but {strangers[0]}): give another --out")
        begun: dict[str, Any] = json.loads(json.dumps(fresh(settings, dataset, examples_of(settings, dataset, advanced))))
        save_json(directory / RUN, begun)
        return begun
    there = load(directory)
    differ = identity.other_settings(there, settings, dataset.settings)
    if differ:
        raise ForeignDirectoryError(f"{directory} holds a run with other settings: {'; '.join(differ)}; give another --out")
    others = identity.other_examples(there, examples_of(settings, dataset, advanced), dataset)
    if others:
        raise ForeignDirectoryError(f"{directory} holds a run that read {others} than {dataset.path} has; give another --out")
    return there


@dataclass
class State:
    """Where a run stands after a validation.

    The order of examples and dropout's random numbers are functions of (seed, epoch), so the epoch is all there is to know of them.

    Attributes:
        epoch, step: done so far.
        best: {"epoch", "step", "val_accuracy", "val_loss"} of the best validation.
        stale: validations since then that count towards patience.
        model, optimizer: their state_dict().
        restarts: times the network was found dead and begun anew.
        begun: the step of the last beginning.
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

    def save(self, directory: Path) -> None:
        """Whole or not at all."""
        with replacing(directory / STATE) as temporary:
            torch.save(dict(self.__dict__), temporary)

    @classmethod
    def load(cls, directory: Path, device: torch.device) -> State | None:
        """The state to go on from, None where there is none. Raises DamagedError."""
        path = directory / STATE
        if not path.exists():
            return None
        try:
            return cls(**torch.load(path, map_location=device, weights_only=True))
        except Exception as error:  # torch raises a dozen kinds
            raise DamagedError(f"{path} is damaged ({type(error).__name__}): delete it to train again from the start") from error


def save_weights(model: nn.Module, directory: Path) -> None:
    """The model's parameters and buffers, as safetensors."""
    with replacing(directory / WEIGHTS) as temporary:
        save_file({name: value.contiguous() for name, value in model.state_dict().items()}, temporary)


def load_weights(model: nn.Module, directory: Path) -> None:
    """Inverse of :func:`save_weights`. Raises DamagedError or FileNotFoundError."""
    path = directory / WEIGHTS
    if not path.is_file():
        raise FileNotFoundError(f"{directory} holds no weights yet (no {WEIGHTS}): let simtown fit finish")
    try:
        model.load_state_dict(load_file(path))
    except Exception as error:  # safetensors, torch and the system each raise their own
        raise DamagedError(f"{path} is damaged or of another model ({type(error).__name__}): train again into another --out") from error


def read_metrics(directory: Path) -> list[dict[str, float]]:
    """Rows of metrics.jsonl; a last line that was cut is left out."""
    rows: list[dict[str, float]] = []
    path = directory / METRICS
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return rows


def save_test(directory: Path, logits: np.ndarray, answer: np.ndarray) -> None:
    """test.npz: "correct" (t,) bool and "logit" (t,) float32, in the test set's order."""
    with replacing(directory / TEST) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, correct=(logits > 0) == answer, logit=logits)
