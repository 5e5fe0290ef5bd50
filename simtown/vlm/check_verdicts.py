"""Verdicts of ``simtown check``: whether a probe's difference reaches the model.

A pair counts as *solved* if both of its questions are answered rightly. Without the difference both get one
answer, or each a guess, and at most a quarter of the pairs is solved. So a probe is *delivered* if more pairs
are solved than that (an exact binomial test), and *not delivered* if fewer are solved than of the control
(Fisher's exact test, by Holm's correction over all probes), and at most half as many. Both tests are made
after each number of pairs in LOOKS alone, at a level that leaves 5 % for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from math import comb
from typing import NamedTuple

import msgspec
import numpy as np
from scipy import special, stats

from simtown.complexity.intervals import holm, paired_difference

#: Pairs after which a probe is judged.
LOOKS = (4, 6, 8, 12, 16)
#: Pairs before which no probe is called not delivered.
MANY = 8
#: Levels of the tests: 5 % for all numbers of pairs together. Fewer pairs than MANY cannot show a loss.
_DELIVERED_LEVEL, _LOST_LEVEL = 0.05 / len(LOOKS), 0.05 / sum(look >= MANY for look in LOOKS)
#: Share of the pairs that guesses solve at most.
GUESSED = 0.25
#: Share of a control's pairs that a model solves which can tell.
_ENOUGH = 0.6
DELIVERED, NOT_DELIVERED, CANNOT_TELL = "delivered", "not delivered", "cannot tell"
#: By how much twice the log-likelihood may fall within a 95 % interval: more than 3.84, since there are few
#: answers; and the log spread of a threshold.
_DROP, _SPREAD = 5.0, 0.25


class PairRow(NamedTuple):
    """What became of a pair of a probe.

    Attributes:
        test: whether its first question is answered rightly, and its second.
        control: the same of the control's questions.
        pixels: length of the vehicle, where a probe makes it smaller.
    """

    test: tuple[bool, bool]
    control: tuple[bool, bool]
    pixels: int


class Verdict(msgspec.Struct, kw_only=True):
    """What a probe found.

    Attributes:
        probe: its name.
        about: what is delivered or not.
        verdict: "delivered", "not delivered" or "cannot tell".
        found: a sentence about it; "" if there is nothing to say.
        pairs: how many were asked.
        test: the share of them that the probe solves.
        control: the share that the control solves.
        difference: `control` less `test`.
        low: lower end of its 95 % interval.
        high: upper end.
        p: of Fisher's test, one-sided, by Holm's correction over all probes.
    """

    probe: str
    about: str
    verdict: str = CANNOT_TELL
    found: str = ""
    pairs: int = 0
    test: float = float("nan")
    control: float = float("nan")
    difference: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    p: float = 1.0


def judge(verdicts: Sequence[Verdict], rows: Mapping[str, Sequence[PairRow]]) -> None:
    """Fill the shares of all verdicts, and give a verdict where the tests allow one.

    Args:
        verdicts: of all probes; one that is not CANNOT_TELL keeps its verdict.
        rows: the pairs of each probe by its name.
    """
    judged, probabilities = [own for own in verdicts if rows.get(own.probe)], []
    for own in judged:
        test, control = solved(rows[own.probe])
        own.pairs, own.test, own.control = len(test), float(test.mean()), float(control.mean())
        own.difference = own.control - own.test
        wrong = sum(not any(row.test) for row in rows[own.probe])
        control_wrong = sum(not any(row.control) for row in rows[own.probe])
        counts = int(control.sum()), int(test.sum()), control_wrong, wrong
        probabilities.append(_by_exchange(*counts, own.pairs))
    for own, p in zip(judged, holm(probabilities), strict=True):
        own.p = float(p)
        if own.verdict != CANNOT_TELL:
            continue
        guessed = _by_guessing(round(own.test * own.pairs), own.pairs)
        if own.pairs >= MANY and own.p < _LOST_LEVEL and own.test <= own.control / 2:
            own.verdict = NOT_DELIVERED
        elif guessed < _DELIVERED_LEVEL:
            own.verdict = DELIVERED


@cache
def _by_exchange(control: int, test: int, control_wrong: int, wrong: int, pairs: int) -> float:
    """The probability that a control does so well if the pairs of control and test are exchanged at random.

    Args:
        control: pairs of it that are solved.
        test: pairs of the test that are solved.
        control_wrong: pairs of it of which both answers are wrong; of controls that solve equally many, the
            one with fewer of them does better.
        wrong: the same of the test.
        pairs: of each.
    """
    solved, rest = control + test, 2 * pairs - control - test - control_wrong - wrong
    ways = sum(
        comb(solved, own) * comb(control_wrong + wrong, own_wrong) * comb(rest, pairs - own - own_wrong)
        for own, own_wrong in product(range(solved + 1), range(control_wrong + wrong + 1))
        if (own, -own_wrong) >= (control, -control_wrong) and own + own_wrong <= pairs
    )
    return ways / comb(2 * pairs, pairs)


@cache
def _by_guessing(count: int, pairs: int) -> float:
    """The probability that guesses solve so many pairs."""
    return float(stats.binom.sf(count - 1, pairs, GUESSED))


def is_too_hard(own: Verdict) -> bool:
    """Whether a model that solves _ENOUGH of a probe's control would hardly solve so few of it."""
    return bool(stats.binom.cdf(round(own.control * own.pairs), own.pairs, _ENOUGH) < 0.05)


def solved(rows: Sequence[PairRow]) -> tuple[np.ndarray, np.ndarray]:
    """(n,) bool each: which pairs of a probe are solved, and which of its control."""
    return np.array([all(row.test) for row in rows]), np.array([all(row.control) for row in rows])


def add_interval(own: Verdict, rows: Sequence[PairRow]) -> None:
    """Fill the 95 % interval of a verdict's difference."""
    test, control = solved(rows)
    found = paired_difference(control, test)
    own.low, own.high = found["low"], found["high"]


class Smallest(NamedTuple):
    """The length of the smallest vehicle that is seen, in pixels of what was sent, and its 95 % interval."""

    pixels: float
    low: float
    high: float

    def __str__(self) -> str:
        if self.low == 0:
            return f"at most {self.high:.0f} pixels"
        if self.high == float("inf"):
            return f"over {self.low:.0f} pixels"
        return f"{self.pixels:.0f} pixels ({self.low:.0f} to {self.high:.0f})"


def smallest_seen(pixels: Sequence[int], right: Sequence[bool]) -> Smallest:
    """The length at which half of the vehicles are seen, by maximum likelihood; others are guessed.

    Args:
        pixels: (n,) lengths of the vehicles that were asked about.
        right: (n,) whether the answer was right.

    Returns:
        Ends of the interval are 0 and infinity if they lie beyond all lengths.
    """
    grid = np.geomspace(1.0, 512.0, 181)
    seen = special.expit(np.log(np.asarray(pixels, float) / grid[:, None]) / _SPREAD)
    chance = 0.5 + 0.47 * seen  # a few replies are wrong however large a vehicle is
    likelihood = np.log(np.where(np.asarray(right), chance, 1 - chance)).sum(axis=1)
    inside = grid[2 * (likelihood.max() - likelihood) <= _DROP]
    low = 0.0 if inside[0] == grid[0] else float(inside[0])
    high = float("inf") if inside[-1] == grid[-1] else float(inside[-1])
    return Smallest(float(grid[likelihood.argmax()]), low, high)
