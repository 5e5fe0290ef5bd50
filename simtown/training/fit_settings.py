"""Every choice that decides the numbers of a run, besides the data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simtown.core.options import SettingsError, no_option, option

PROTOCOLS = ("patient", "paper")
PRECISIONS = ("float32", "tf32", "bf16")
_PROTOCOL = "paper: stop after --patience epochs without better accuracy; patient: only after --min-steps."
_MIN_STEPS = "With --protocol patient: steps before patience counts, since models stay at chance at first."
_PATIENCE = "Validations without better accuracy before stopping; none after a perfect one."
_PRECISION = "float32, bf16, on a GPU also tf32; auto: bf16 if the device is faster with it."


@dataclass(frozen=True)
class FitSettings:
    """The settings of a run.

    Each field says what it decides: "results"; "curve", which learning curve the run belongs to; "size", its
    place on the curve; "draw", which repetition it is; or "speed" alone.

    Attributes:
        seed: of initial weights, order and dropout.
        options: the model's own, resolved.
        device: "cpu", "cuda", or "auto", which is "cuda" where PyTorch sees a GPU.

    >>> import simtown
    >>> simtown.FitSettings(model="cnn-lstm", seed=4).learning_rate
    0.001
    """

    model: str = option(
        "pbn", "A name of the list above, or your own model as package.module:Class.", decides="curve"
    )
    train_size: int = option(0, "Use only the first N training examples; 0: all.", decides="size")
    seed: int = no_option(0, decides="draw")
    options: dict[str, Any] = field(default_factory=dict, metadata={"decides": "results"})
    protocol: str = option("patient", _PROTOCOL, choices=PROTOCOLS, decides="results")
    min_steps: int = option(2_000, _MIN_STEPS, low=0, decides="results")
    patience: int = option(10, _PATIENCE, low=1, decides="results")
    batch: int = option(128, "Examples in each step.", low=2, decides="results")
    learning_rate: float = option(
        1e-3, "Learning rate of Adam.", above=0, below=10, flag="lr", decides="results"
    )
    max_steps: int = option(
        0, "Stop after this number of steps, also within an epoch; 0: no limit.", low=0, decides="results"
    )
    stream: bool = option(
        False, "Train on endless new examples; --train-size is the length of an epoch.", decides="size"
    )
    device: str = no_option("auto", decides="speed")
    precision: str = option("float32", _PRECISION, choices=("auto", *PRECISIONS), decides="results")
    compile: bool = option(False, "Use torch.compile.", decides="speed")


def check_examples(settings: FitSettings, counts: Mapping[str, int], place: object) -> None:
    """Raises SettingsError if the data set at a place has too few examples, by split, for a run."""
    have = counts["train"]
    if not 2 <= settings.train_size <= have and not (settings.stream and settings.train_size >= 2):
        limits = f"from 2 to {have}, the training examples of {place}"
        raise SettingsError(f"must be {limits}, not {settings.train_size}", "train_size")
    if not counts["val"] or not counts["test"]:
        missing = "test" if counts["val"] else "validation"
        raise SettingsError(f"{place} has no {missing} examples: generate it with some")


def device_of(choice: str) -> str:
    """The device that a choice means; SettingsError if there is none."""
    import torch

    has_gpu = torch.cuda.is_available()
    if choice not in ("auto", "cpu", "cuda"):
        raise SettingsError(f"unknown device '{choice}': choose auto, cpu or cuda")
    if choice == "cuda" and not has_gpu:
        raise SettingsError("`device=cuda`: PyTorch sees no CUDA device here; use `device=cpu`, or auto")
    return ("cuda" if has_gpu else "cpu") if choice == "auto" else choice


def precision_of(choice: str, device: str) -> str:
    """The precision that a run uses and records; "auto" is "bf16" if the device is faster with it."""
    if choice != "auto":
        return choice
    if device == "cuda":
        import torch

        return "bf16" if torch.cuda.get_device_capability() >= (8, 0) else "float32"
    from simtown.kernels import compiling

    features = compiling.features_here()
    # Intel's with AVX-512 FP16 multiply vectors of bfloat16 half as fast as those of float32
    slow = "avx512_fp16" in features and "authenticamd" not in features
    return "bf16" if "amx_bf16" in features or ("avx512_bf16" in features and not slow) else "float32"
