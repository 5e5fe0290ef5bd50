"""When a run stops: the two rules, as training follows them and as a finished run's validations show them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from simtown.training.fit_settings import FitSettings

#: Fewest steps between two validations under the "patient" protocol: a small set's epochs would cost less
#: than validating them.
CLOSEST = 32


def between_validations(settings: FitSettings) -> int:
    """Steps from a validation to the next, unless `max_steps` ends a run before."""
    epoch = ceil(settings.train_size / settings.batch)
    return epoch * ceil(CLOSEST / epoch) if settings.protocol == "patient" else epoch


def least_steps(settings: FitSettings, best: int = 0) -> int:
    """Steps that a run takes at least: it stops `patience` validations after its best, or at `max_steps`.

    Unless every validation example is right before. `best`: the step of the best validation so far.
    """
    between = between_validations(settings)
    before = max(best, settings.min_steps) if settings.protocol == "patient" else best
    # validations before patience counts: the first is always the best so far
    uncounted = max(before // between, 1)
    least = (uncounted + settings.patience) * between
    return min(least, settings.max_steps) if settings.max_steps else least


def stale_after(settings: FitSettings, stale: int, better: bool, steps: int) -> int:
    """Validations in a row that count and were not better: so many up to this one, `stale` before it.

    `steps`: of this network; one that was dead and restarted began anew.
    """
    uncounted = settings.protocol == "patient" and steps <= settings.min_steps
    return 0 if better or uncounted else stale + 1


def reason_to_stop(settings: FitSettings, step: int, best: float, stale: int) -> str:
    """Why a run stops after a validation; "" if it goes on.

    Args:
        settings: of the run.
        step: of the whole run.
        best: the best validation accuracy so far.
        stale: as :func:`stale_after` returns it.
    """
    if settings.max_steps and step >= settings.max_steps:
        return f"reached {settings.max_steps} steps"
    if best == 1:  # no later weights can be better
        return "every validation example is right"
    return f"{settings.patience} validations without better accuracy" if stale >= settings.patience else ""


def end_of(
    settings: FitSettings, steps: Sequence[int], accuracies: Sequence[float]
) -> tuple[int, str] | None:
    """After how many of these validations a run with these settings stops, and why.

    None if it would go on, or validates at other steps.

    Args:
        settings: of the run, which was never restarted.
        steps: of each validation.
        accuracies: of each validation, so exact that two that differ differ here.
    """
    between, best, stale = between_validations(settings), -1.0, 0
    for number, (step, accuracy) in enumerate(zip(steps, accuracies, strict=True), 1):
        due = between * number
        if step != (min(due, settings.max_steps) if settings.max_steps else due):
            return None
        stale, best = stale_after(settings, stale, accuracy > best, step), max(best, accuracy)
        if reason := reason_to_stop(settings, step, best, stale):
            return number, reason
    return None
