"""Every choice that decides the numbers of a run, besides the data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from simtown.core.options import option
from simtown.kernels import compiling

PROTOCOLS = ("patient", "paper")
PRECISIONS = ("float32", "tf32", "bf16")


@dataclass(frozen=True)
class FitSettings:
    """The settings of a run.

    Attributes:
        seed: of initial weights, order and dropout.
        options: the model's own, resolved.
        device: "cpu" or "cuda".
    """

    model: str = option("pbn", "A name of the list above, or your own model as package.module:Class.")
    train_size: int = option(0, "Use only the first N training examples; 0: all.")
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    protocol: str = option(
        "patient",
        "paper: stop after --patience epochs without better validation accuracy; patient: only after "
        "--min-steps.",
        choices=PROTOCOLS,
    )
    min_steps: int = option(
        2_000,
        "With --protocol patient: steps before patience counts, since models stay at chance at first.",
        low=0,
    )
    patience: int = option(
        10, "Validations without better accuracy before stopping; none after a perfect one.", low=1
    )
    batch: int = option(128, "Examples in each step.", low=2)
    learning_rate: float = option(1e-3, "Learning rate of Adam.", above=0, below=10, flag="lr")
    max_steps: int = option(0, "Stop after this number of steps, also within an epoch; 0: no limit.", low=0)
    stream: bool = option(
        False, "Train on new examples without end; --train-size is then the length of an epoch."
    )
    device: str = "cpu"
    precision: str = option(
        "float32",
        "float32, bf16, on a GPU also tf32; auto: bf16 if the device is faster with it.",
        choices=PRECISIONS,
    )
    compile: bool = option(False, "Use torch.compile.")


def precision_of(choice: str, device: str) -> str:
    """The precision that a run uses; "auto" is "bf16" if the device is faster with it, else "float32".

    A run records the result, not "auto": a run in bfloat16 is another run, and must not stand in one table
    with those in float32.
    """
    if choice != "auto":
        return choice
    if device == "cuda":
        import torch

        return "bf16" if torch.cuda.get_device_capability() >= (8, 0) else "float32"
    features = compiling.features_here()
    # Intel's with AVX-512 FP16 multiply vectors of bfloat16 half as fast as those of float32
    slow = "avx512_fp16" in features and "authenticamd" not in features
    return "bf16" if "amx_bf16" in features or ("avx512_bf16" in features and not slow) else "float32"
