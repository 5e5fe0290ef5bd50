"""Verdicts of ``simtown check``: whether a probe's difference reaches the model.

Without the difference both questions of a pair get one answer, or each a guess: at most a quarter of the
pairs are solved, a ninth where there are three answers to choose among. So a probe is *delivered* if more
answers are right than guesses (an exact binomial test), and *not delivered* if fewer pairs are solved than of
the control (Fisher's exact test), and beyond guesses at most half as many answers are right.
Both tests are made after each number of pairs in LOOKS alone, at a level for all of them together.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cache
from math import comb, nan
from typing import Any, NamedTuple

import msgspec
import numpy as np
from scipy import special

from simtown.complexity.intervals import paired_difference
from simtown.vlm.check_probes import LENGTHS, PROBES

#: Pairs after which a probe is judged.
LOOKS = (4, 6, 8, 12, 16, 24)
#: Pairs before which no probe is called not delivered.
MANY = 8
#: Levels of the tests: 3 % for all numbers of pairs together. Fewer pairs than MANY cannot show a loss.
_DELIVERED_LEVEL, _LOST_LEVEL = 0.03 / len(LOOKS), 0.03 / sum(look >= MANY for look in LOOKS)
#: Probability that guesses are right so often above which a probe is in doubt: its control is asked then.
_DOUBT = 0.06
#: Share of a control's pairs that a model solves which can tell.
_ENOUGH = 0.6
DELIVERED, NOT_DELIVERED, CANNOT_TELL = "delivered", "not delivered", "cannot tell"
#: By how much twice the log-likelihood may fall within a 95 % interval: more than 3.84, since there are few
#: answers; and the log spread of a threshold.
_DROP, _SPREAD = 5.0, 0.25
#: The least and the largest threshold that is considered, pixels.
_ENDS = 1.0, 512.0


class PairRow(NamedTuple):
    """What became of a pair of a probe.

    Attributes:
        test: whether its first question is answered rightly, and its second.
        control: the same of the control's questions; None if they were not asked.
        pixels: length of the vehicle, where a probe makes it smaller.
        choices: answers that each question may have.
    """

    test: tuple[bool, bool]
    control: tuple[bool, bool] | None
    pixels: int
    choices: int = 2


class Verdict(msgspec.Struct, kw_only=True):
    """What a probe found.

    Attributes:
        probe: its name.
        about: what is delivered or not.
        verdict: "delivered", "not delivered" or "cannot tell".
        found: a sentence about it; "" if there is nothing to say.
        pairs: how many were asked.
        test: the share of them that the probe solves.
        control: the share that the control solves; NaN if it was not asked.
        difference: `control` less `test`.
        low: lower end of its 95 % interval.
        high: upper end.
        p: of Fisher's test, one-sided, corrected over all probes.
    """

    probe: str
    about: str
    verdict: str = CANNOT_TELL
    found: str = ""
    pairs: int = 0
    test: float = nan
    control: float = nan
    difference: float = nan
    low: float = nan
    high: float = nan
    p: float = 1.0


def judge(verdicts: Sequence[Verdict], rows: Mapping[str, Sequence[PairRow]]) -> None:
    """Fill the shares of all verdicts, and give a verdict where the tests allow one.

    Args:
        verdicts: of all probes; one that is not CANNOT_TELL keeps its verdict.
        rows: the pairs of each probe by its name.
    """
    judged = [own for own in verdicts if rows.get(own.probe)]
    tests = [[sum(row.test) for row in rows[own.probe]] for own in judged]
    # a control that was not asked is taken to do as well as its probe
    controls = [[sum(row.control or row.test) for row in rows[own.probe]] for own in judged]
    tables, chances = [], []
    for test, control in zip(tests, controls, strict=True):
        both = test + control
        tables.append(_chances(both.count(2), both.count(0), len(test)))
        chances.append(tables[-1][control.count(2), -control.count(0)])
    for own, test, control, p in zip(judged, tests, controls, correct(chances, tables), strict=True):
        own.pairs, own.p = len(test), float(p)
        own.test = test.count(2) / own.pairs
        own.control = control.count(2) / own.pairs if all(row.control for row in rows[own.probe]) else nan
        own.difference = own.control - own.test
        choices, is_adaptive = rows[own.probe][0].choices, PROBES[own.probe].is_adaptive
        level = _DELIVERED_LEVEL / (len(LENGTHS) if is_adaptive else 1)  # for all lengths together
        beyond, of_control = (sum(right) * choices - 2 * own.pairs for right in (test, control))
        is_half = own.control > 0 and 2 * beyond <= of_control
        if own.verdict != CANNOT_TELL:
            continue
        if own.pairs >= MANY and p < _LOST_LEVEL and is_half:
            own.verdict = NOT_DELIVERED
        elif _by_guessing(sum(test), 2 * own.pairs, choices) < level:
            own.verdict = DELIVERED


@cache
def _chances(solved: int, wrong: int, pairs: int) -> dict[tuple[int, int], float]:
    """The probability that a control does so well if the pairs of control and test are exchanged at random.

    Args:
        solved: pairs that control and test solve together.
        wrong: pairs of which both answers are wrong, together.
        pairs: of each.

    Returns:
        By the pairs that the control solves, and the negative of those that it has wrong: of controls that
        solve equally many, the one with fewer wrong does better.
    """
    ways = {
        (own, -own_wrong): comb(solved, own)
        * comb(wrong, own_wrong)
        * comb(2 * pairs - solved - wrong, pairs - own - own_wrong)
        for own in range(min(solved, pairs) + 1)
        for own_wrong in range(min(wrong, pairs - own) + 1)
    }
    best = sorted(ways, reverse=True)
    return dict(zip(best, np.cumsum([ways[own] for own in best]) / comb(2 * pairs, pairs), strict=True))


def correct(chances: Sequence[float], tables: Sequence[Mapping[Any, float]]) -> np.ndarray:
    """(n,) probabilities of n tests together: Holm's correction, by what each test can show at all.

    A test counts with the largest probability it can have that is at most the one in question (Tarone 1990):
    pairs of which nearly all are solved cannot show a loss, and cost nothing.

    Args:
        chances: (n,) the probability of each test.
        tables: (n,) all probabilities that it can have, in ascending order.
    """
    order = np.argsort(chances, kind="stable")
    possible = [[0.0, *table.values()] for table in tables]
    sums = [
        sum(own[bisect_right(own, chances[place]) - 1] for own in map(possible.__getitem__, order[rank:]))
        for rank, place in enumerate(order)
    ]
    result = np.ones(len(order))
    result[order] = np.minimum(np.maximum.accumulate(sums), 1)
    return result


def _by_guessing(right: int, answers: int, choices: int) -> float:
    """The probability that guesses are right so often."""
    return float(special.bdtrc(right - 1, answers, 1 / choices))


def is_doubtful(rows: Sequence[PairRow]) -> bool:
    """Whether answers could well be guesses, so that the control has to say why."""
    right = sum(sum(row.test) for row in rows)
    return bool(rows) and _by_guessing(right, 2 * len(rows), rows[0].choices) > _DOUBT


def is_too_hard(rows: Sequence[PairRow]) -> bool:
    """Whether a model that solves _ENOUGH of a probe's control would hardly solve so few of it."""
    solved = sum(row.control == (True, True) for row in rows)
    return all(row.control for row in rows) and bool(special.bdtr(solved, len(rows), _ENOUGH) < 0.05)


def add_interval(own: Verdict, rows: Sequence[PairRow]) -> None:
    """Fill the 95 % interval of a verdict's difference, where the control was asked."""
    if own.difference == own.difference:
        found = paired_difference([all(row.control or ()) for row in rows], [all(row.test) for row in rows])
        own.low, own.high = found["low"], found["high"]


class Smallest(NamedTuple):
    """The length of the smallest vehicle that is seen, in pixels of what was sent, and its 95 % interval."""

    pixels: float
    low: float
    high: float

    def __str__(self) -> str:
        if self.low == _ENDS[0]:
            return f"at most {self.high:.0f} pixels"
        if self.high == _ENDS[1]:
            return f"over {self.low:.0f} pixels"
        return f"{self.pixels:.0f} pixels ({self.low:.0f} to {self.high:.0f})"


def smallest_seen(pixels: Sequence[int], right: Sequence[bool]) -> Smallest:
    """The length at which half of the vehicles are seen, by maximum likelihood; others are guessed.

    Args:
        pixels: (n,) lengths of the vehicles that were asked about.
        right: (n,) whether the answer was right.

    Returns:
        The length with its interval, within _ENDS.
    """
    grid = np.geomspace(*_ENDS, 181)
    seen = special.expit(np.log(np.asarray(pixels, float) / grid[:, None]) / _SPREAD)
    chance = 0.5 + 0.47 * seen  # a few replies are wrong however large a vehicle is
    likelihood = np.log(np.where(np.asarray(right), chance, 1 - chance)).sum(axis=1)
    inside = grid[2 * (likelihood.max() - likelihood) <= _DROP]
    return Smallest(grid[likelihood.argmax()], inside[0], inside[-1])
