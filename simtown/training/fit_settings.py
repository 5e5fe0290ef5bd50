"""Every choice that decides the numbers of a run, besides the data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

PROTOCOLS = ("patient", "paper")
PRECISIONS = ("float32", "tf32", "bf16")


@dataclass(frozen=True)
class FitSettings:
    """The settings of a run.

    Attributes:
        model: a name of :data:`simtown.training.models.MODELS` or package.module:Class.
        train_size: the first so many training examples.
        seed: of initial weights, order and dropout.
        options: the model's own, resolved.
        protocol: "paper" stops after `patience` epochs without better validation accuracy. "patient" counts
            them only after `min_steps` steps, takes at least 32 steps between two validations, and
            restarts a dead network with new weights.
        min_steps: steps before "patient" counts validations.
        patience: validations without better accuracy after which training stops. Under either protocol it
            stops once every validation example is right: later weights cannot be better.
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
    """The precision that a run uses; "auto" is "bf16" if the device is faster with it, else "float32".

    A run records the result, not "auto": a run in bfloat16 is another run, and must not stand in one table
    with those in float32.

    Args:
        choice: "auto" or one of :data:`PRECISIONS`.
        device: "cpu" or "cuda".
    """
    if choice != "auto":
        return choice
    if device == "cuda":
        import torch

        return "bf16" if torch.cuda.get_device_capability() >= (8, 0) else "float32"
    from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

    features = get_host_cpu_features()
    matrices, vectors = (features.get(name, False) for name in ("amx-bf16", "avx512bf16"))
    # Intel's with AVX-512 FP16 multiply vectors of bfloat16 half as fast as those of float32
    slow = features.get("avx512fp16", False) and not get_host_cpu_name().startswith("znver")
    return "bf16" if matrices or (vectors and not slow) else "float32"
