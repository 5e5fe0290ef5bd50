"""Sizes of an adaptive sweep: those around the one at which a curve reaches a target accuracy.

All functions are pure. What is trained next depends only on the known accuracies: a sweep that was stopped
continues with the sizes that it would have trained anyway.
"""

from collections.abc import Mapping, Sequence
from math import exp, log, sqrt

import numpy as np

from simtown.complexity.curves import ROUNDING, isotonic_fit

#: Sizes that may be trained: these times powers of ten, from `SMALLEST` on; and the paper's own sizes that
#: are not among them.
_STEPS, SMALLEST, _PAPER = (10, 14, 20, 30, 50, 70), 20, (40_000, 60_000)
#: The size with which the first world of a model begins.
FIRST = 2_000
#: Rungs of one step up or down, while all known sizes lie on one side of the target: two rungs are about a
#: doubling.
STRIDE = 2
#: Rungs beyond either end of the bracket that are trained too. Without them, an interval that leaves the
#: bracket has no end.
MARGIN = 1
#: Exponents of growth with the world that are believed; what two noisy worlds say may lie outside.
_GROWTH = (0.0, 3.0)


def ladder(largest: int) -> tuple[int, ...]:
    """Sizes that a search may visit, ascending, up to `largest`: each about 1.4 times the one before it."""
    steps = {step * 10**zeros for zeros in range(len(str(largest))) for step in _STEPS}
    return tuple(sorted({n for n in steps | set(_PAPER) if SMALLEST <= n <= largest} | {largest}))


def crossing(accuracy: Mapping[int, float], target: float) -> tuple[int | None, int | None]:
    """The largest known size below the target and the smallest that reaches it, by the never-falling fit.

    None for a side on which there is none.
    """
    sizes = sorted(accuracy)
    if not sizes:
        return None, None
    fit = isotonic_fit(np.array([[accuracy[n] for n in sizes]]), np.ones(len(sizes)))[0]
    reached = int((fit < target - ROUNDING).sum())
    return (sizes[reached - 1] if reached else None), (sizes[reached] if reached < len(sizes) else None)


def next_size(
    rungs: Sequence[int],
    accuracy: Mapping[int, float],
    target: float,
    first: float = FIRST,
    margin: int = MARGIN,
) -> int | None:
    """The size to train next, None if the need is known as well as the ladder can tell it.

    That is: the never-falling fit reaches the target between neighbouring rungs, and `margin` rungs beyond
    either of them are trained; or the smallest rung reaches the target; or the largest does not. Rungs are
    the sizes that may be trained, ascending; known accuracies of other sizes count too. A search begins with
    the rung nearest to `first`.
    """
    if not accuracy:
        return nearest(rungs, first)
    low, high = crossing(accuracy, target)
    if high is None:
        above = [n for n in rungs if n > max(accuracy)]
        return above[min(STRIDE, len(above)) - 1] if above else None
    if low is None:
        below = [n for n in rungs if n < min(accuracy)]
        return below[-min(STRIDE, len(below))] if below else None
    between = [n for n in rungs if low < n < high]
    if between:
        return between[(len(between) - 1) // 2]
    below, above = [n for n in rungs if n <= low][::-1], [n for n in rungs if n >= high]
    beyond = below[: margin + 1] + above[: margin + 1]
    return next((n for n in beyond if n not in accuracy), None)


def worth_training(sizes: Sequence[int], need: float, jumps: bool) -> int | None:
    """The size that would say most about a need, in two digits; None if more seeds would say more.

    A need beyond the sizes (0 or infinite) or at their edge takes a size farther out, a jump the middle of
    its bracket, any other need itself.
    """
    step = sizes[-1] / sizes[-2] if len(sizes) > 1 else 2.0
    after = int(np.searchsorted(sizes, need))
    if after == len(sizes) or (jumps and after == len(sizes) - 1):
        size = sizes[-1] * min(step, 2.0)
    elif after == 0 or (jumps and after == 1):
        size = sizes[0] / 2
    else:
        size = sqrt(sizes[after - 1] * sizes[after]) if jumps else need
    size = max(round(float(f"{size:.2g}")), 1)
    return None if any(0.9 < size / n < 1.1 for n in sizes) else size


def nearest(rungs: Sequence[int], size: float) -> int:
    """The rung that is nearest in ratio."""
    return min(rungs, key=lambda n: abs(log(n / max(size, 1e-9))))


def need(accuracy: Mapping[int, float], target: float) -> float | None:
    """About how many examples the target takes, from the accuracies by size.

    A bound if the largest size does not reach the target or the smallest already does; None if nothing is
    known.
    """
    low, high = crossing(accuracy, target)
    if low is None or high is None:
        return high if low is None else low
    return exp((log(low) + log(high)) / 2)


def first_size(entities: int, distractor: bool, needs: Mapping[tuple[int, bool], float]) -> float:
    """The size with which a search begins: the need that other worlds of the model predict.

    `needs` are by (entities, distractor).

    The same world comes first, with other seeds, or without or with the distractor. Otherwise it is the need
    of the nearest world times the growth seen so far, which is the ratio of entities while only one world is
    known.
    """
    if not needs:
        return FIRST
    for condition in (distractor, not distractor):
        if (entities, condition) in needs:
            return needs[entities, condition]
    same_condition = {k: n for (k, condition), n in needs.items() if condition == distractor}
    by_world = same_condition or {k: n for (k, _), n in needs.items()}
    exponent = 1.0
    if len(by_world) > 1:
        slope = np.polyfit(np.log(list(by_world)), np.log(list(by_world.values())), 1)[0]
        exponent = float(np.clip(slope, *_GROWTH))
    nearest_world = min(by_world, key=lambda k: abs(log(k / entities)))
    return by_world[nearest_world] * (entities / nearest_world) ** exponent
