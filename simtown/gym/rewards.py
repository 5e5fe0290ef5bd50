"""Rewards for training: what a reply earns, in parts.

Evaluations count :meth:`simtown.gym.Task.score` alone.
"""

from __future__ import annotations

from math import fsum
from typing import NamedTuple

from simtown.language.words.grammar import spoken_names
from simtown.language.words.replies import EXACT, IN_PASSING, Gold, miss, read_reply

#: What each part counts in :attr:`Reward.total`.
WEIGHTS = {"answer": 0.7, "distance": 0.2, "format": 0.1}


class Reward(NamedTuple):
    """The parts of a reward, each from 0 to 1.

    Attributes:
        answer: 1 for a right reply, else 0: the task's score.
        distance: of numbers 1 within the tolerance, 1/2 if one tolerance (of counts: 1) beyond it, 1/3 if
            two, and so on; of other answers the same as `answer`.
        format: 1 if the reply states its answer by itself: in tags, in JSON, in a box, as in "Answer: ...",
            or in a sentence that says nothing else. 0 if a longer text names it, and no other.
        unread: 1 if the reply holds no answer, or several; the other parts are 0 then.
    """

    answer: float
    distance: float
    format: float
    unread: float

    @property
    def total(self) -> float:
        """The sum of the parts by :data:`WEIGHTS`: 1 for a right answer that is stated by itself, at most 0.3
        for a wrong one, 0 for none.
        """
        return fsum(weight * getattr(self, part) for part, weight in WEIGHTS.items())


def reward_reply(text: str, gold: Gold) -> Reward:
    """The reward of a reply."""
    reply = read_reply(text, gold.type, gold.choices, spoken_names(gold.type))
    if reply.answer is None:
        return Reward(0.0, 0.0, 0.0, 1.0)
    missed = miss(reply.answer, gold)
    right = float(missed <= EXACT)
    near = right or 1 / (1 + missed / (gold.tolerance or 1.0))
    return Reward(right, near, float(reply.why != IN_PASSING), 0.0)
