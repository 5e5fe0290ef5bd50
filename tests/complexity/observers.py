"""Observers whose threshold is known, and what they answer."""

from typing import NamedTuple

import numpy as np
from scipy import special, stats

from simtown.complexity.psychometric import Answers


class Observer(NamedTuple):
    """Sees from `threshold` on; `gaussian` observers follow another curve than the one that is fitted."""

    threshold: float
    spread: float = 0.4
    lapse: float = 0.02
    bias: float = 0.5
    chance: float = 0.5
    gaussian: bool = False

    def accuracy(self, x, yes):
        z = np.log(x / self.threshold) / self.spread
        seen = stats.norm.cdf(z / 1.7) if self.gaussian else special.expit(z)
        guess = np.where(yes > 0, self.bias, np.where(yes < 0, 1 - self.bias, self.chance))
        return guess + (1 - self.lapse - guess) * seen

    def answers(self, n, rng, between=(0.5, 8.0)):
        """Answers to n questions, half of them yes, if the chance is a half."""
        x = np.exp(rng.uniform(*np.log(between), n))
        yes = np.where(rng.random(n) < 0.5, 1, -1) * (self.chance == 0.5)
        right = rng.random(n) < self.accuracy(x, yes)
        return Answers(x, right, np.full(n, self.chance), yes, np.arange(n))


#: What the intervals are measured with: answers and observers.
OBSERVERS = [
    (500, Observer(1.9)),
    (500, Observer(1.0, spread=0.3, lapse=0.05)),
    (500, Observer(1.9, bias=0.7)),
    (1000, Observer(1.9, lapse=0.05, bias=0.3)),
    (2000, Observer(4.0, bias=0.9)),
    (2000, Observer(1.9, spread=0.2, lapse=0.15)),
    (500, Observer(2.0, chance=1 / 9)),
    (1000, Observer(2.0, gaussian=True)),
]
