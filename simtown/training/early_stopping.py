"""When a run validates and when it stops: the paper's rule, and the patient one."""

from math import ceil

from simtown.training.fit_settings import FitSettings

#: Fewest steps between two validations under the "patient" protocol, which cost more than small epochs.
CLOSEST = 32


def steps_an_epoch(settings: FitSettings) -> int:
    """Steps in which every training example is visited once."""
    return ceil(settings.train_size / settings.batch)


def examples_in(settings: FitSettings, steps: int) -> int:
    """Examples that so many steps visit, the first of which begins an epoch."""
    epochs, more = divmod(steps, steps_an_epoch(settings))
    return epochs * settings.train_size + more * settings.batch


def between_validations(settings: FitSettings) -> int:
    """Steps from a validation to the next, unless `max_steps` ends the run before."""
    epoch = steps_an_epoch(settings)
    return epoch * ceil(CLOSEST / epoch) if settings.protocol == "patient" else epoch


def steps_to_validation(settings: FitSettings, step: int) -> int:
    """Steps from a validation, after `step` steps, to the next one."""
    steps = between_validations(settings)
    return min(steps, settings.max_steps - step) if settings.max_steps else steps


def least_steps(settings: FitSettings) -> int:
    """Fewest steps of a run, unless every validation example is right before."""
    between = between_validations(settings)
    # validations before patience counts: the first is always the best so far
    uncounted = max(settings.min_steps // between, 1) if settings.protocol == "patient" else 1
    least = (uncounted + settings.patience) * between
    return min(least, settings.max_steps) if settings.max_steps else least


def stale_after(settings: FitSettings, stale: int, better: bool, steps: int) -> int:
    """Validations in a row that were not better and count, up to this one, after `steps` of this network."""
    uncounted = settings.protocol == "patient" and steps <= settings.min_steps
    return 0 if better or uncounted else stale + 1


def reason_to_stop(settings: FitSettings, step: int, best: dict[str, float], stale: int) -> str:
    """Why a run stops after a validation with this best one so far; "" if it goes on."""
    if settings.max_steps and step >= settings.max_steps:
        return f"reached {settings.max_steps} steps"
    if best["val_accuracy"] == 1:  # no later weights can be better
        return "every validation example is right"
    return f"{settings.patience} validations without better accuracy" if stale >= settings.patience else ""
