"""A run directory: run.json with everything that was chosen, measured and used; the training state; the best weights."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import nn

import simtown
from simtown.datasets.reader import Dataset
from simtown.files import DamagedError, ForeignDirectoryError, load_json, replacing, save_json, versions
from simtown.training.results import FORMAT, RUN, TEST

METRICS, STATE, WEIGHTS, CURVE = "metrics.jsonl", "state.pt", "weights.safetensors", "curve.png"
PROTOCOLS = ("patient", "paper")


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
        precision: "float32", "tf32" or "bf16".
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


def digest(dataset: Dataset, split: str | None = None) -> str:
    """SHA-256 over the checksums of a data set's shards, or of one split's."""
    shards = dataset.manifest["shards"]
    names = sorted(name for name in shards if split is None or name.startswith(f"{split}-"))
    return sha256("".join(shards[name]["sha256"] for name in names).encode()).hexdigest()


def fresh(settings: FitSettings, dataset: Dataset) -> dict[str, Any]:
    """run.json of a run of which nothing is done yet."""
    data, device = dataset.settings, torch.device(settings.device)
    return {
        "format": FORMAT,
        "status": "running",
        "model": settings.model,
        "train_size": settings.train_size,
        "seed": settings.seed,
        "settings": asdict(settings),
        "data": {
            "path": str(dataset.path.resolve()),
            "entities": data.entities,
            "distractor": data.distractor,
            "width": data.width,
            "height": data.height,
            "seed": data.seed,
            "relations": list(data.relations),
            "sha256": digest(dataset),
            "test_id": digest(dataset, "test"),
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
        for key in ("entities", "width", "height", "sha256"):
            run["data"][key]
    except (KeyError, TypeError) as error:
        raise DamagedError(f"{path} is damaged ({error})") from error
    return run


def begin(directory: Path, settings: FitSettings, dataset: Dataset) -> dict[str, Any]:
    """run.json to go on with: a fresh one in an empty directory, the one that is there if it is of these settings and data.

    Raises:
        ForeignDirectoryError: the directory holds something else, or a run that differs; the message says in what.
    """
    now = json.loads(json.dumps(fresh(settings, dataset)))
    if not (directory / RUN).exists():
        other = [p.name for p in directory.iterdir() if not p.name.startswith(".")]
        if other:
            raise ForeignDirectoryError(f"{directory} is not empty and holds no run ({other[0]}): give another --out")
        save_json(directory / RUN, now)
        return now
    there = load(directory)
    differ = [f"{k} {there['settings'].get(k)}, now {v}" for k, v in now["settings"].items() if there["settings"].get(k) != v]
    differ += ["the data set's content"] if there["data"]["sha256"] != now["data"]["sha256"] else []
    if differ:
        raise ForeignDirectoryError(f"{directory} holds a run of another configuration: {'; '.join(differ)}; give another --out")
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
