"""Growth of N* with the world, and comparisons between models, where some values are censored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from simtown.complexity.bootstrap import BootstrapCurve, interval, narrowest
from simtown.complexity.curves import ABOVE, BELOW

#: Least scatter of log N* about a line that the exponent's likelihood allows, 5 %: with none, worlds exactly
#: on a line make it infinite.
LEAST_SCATTER = 0.05


def slopes(
    entities: np.ndarray, samples: np.ndarray, smallest: np.ndarray, largest: np.ndarray
) -> np.ndarray:
    """Exponents (R,): the slope of log N* (R, W) against log entities (W,) over W worlds.

    By maximum likelihood with normal scatter (a Tobit model); without censored worlds it is least squares. A
    censored world says that N* lies beyond its smallest or largest size (W,). NaN where fewer than two worlds
    are uncensored: there the likelihood alone would not bound the slope.
    """
    exact = np.isfinite(samples) & (samples != BELOW)
    z = np.log(np.where(exact, samples, np.where(samples == BELOW, smallest, largest)))
    side = np.where(exact, 0, np.where(samples == BELOW, -1, 1))  # -1: N* is below z, 1: above
    x = np.log(entities) - np.log(entities).mean()
    z -= z.mean(axis=1, keepdims=True)
    result = np.full(len(samples), np.nan)
    identified = exact.sum(axis=1) >= 2
    plain = exact.all(axis=1) & identified
    result[plain] = (z[plain] @ x) / (x @ x)
    censored = identified & ~plain
    if censored.any():
        result[censored] = _tobit(x, z[censored], side[censored])
    return result


def _tobit(x: np.ndarray, z: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Slopes (R,) for x (W,), z and side (R, W), in Olsen's (1978) form, which is concave.

    Its parameters are h = 1 / scatter, and intercept and slope times h. First with the scatter at its least;
    where more would be likelier, all three are free.
    """
    r, most = len(z), 1 / LEAST_SCATTER
    # derivative of the residual
    toward = np.stack([np.broadcast_to(-1.0, z.shape), np.broadcast_to(-x, z.shape), z], axis=2)
    exact = side == 0

    def likelihood(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value (R,), gradient (R, 3) and Hessian (R, 3, 3) at theta (R, 3)."""
        u = np.einsum("rwp,rp->rw", toward, theta)
        v = -side * u  # censored: the log of the normal distribution at v
        log_cdf = log_ndtr(v)
        mills = np.exp(-(v**2) / 2 - np.log(2 * np.pi) / 2 - log_cdf)
        h = np.maximum(theta[:, 2], 1e-9)
        value = np.where(exact, np.log(h)[:, None] - u**2 / 2, log_cdf).sum(axis=1)
        first = np.where(exact, -u, -side * mills)
        second = np.where(exact, -1.0, -mills * (v + mills))
        gradient = np.einsum("rw,rwp->rp", first, toward)
        hessian = np.einsum("rw,rwp,rwq->rpq", second, toward, toward)
        gradient[:, 2] += exact.sum(axis=1) / h
        hessian[:, 2, 2] -= exact.sum(axis=1) / h**2
        return np.where(theta[:, 2] > 0, value, -np.inf), gradient, hessian

    def climb(theta: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Newton's method; free: (R, 3), the parameters that may move."""
        for _ in range(60):
            value, gradient, hessian = likelihood(theta)
            pairs = free[:, :, None] & free[:, None, :]
            curvature = np.where(pairs, -hessian, 0) + np.where(free, 1e-10, 1)[:, :, None] * np.eye(3)
            step = np.linalg.solve(curvature, (gradient * free)[:, :, None])[:, :, 0]
            length = np.ones(r)
            for _ in range(30):
                worse = likelihood(theta + length[:, None] * step)[0] < value - 1e-10
                if not worse.any():
                    break
                length[worse] /= 2
            theta = theta + np.where(worse, 0, length)[:, None] * step
            if np.abs(step).max() < 1e-8:
                break
        return theta

    slope = np.einsum("rw,w->r", z, x) / (x @ x)
    theta = np.stack([np.zeros(r), slope * most, np.full(r, most)], axis=1)
    theta = climb(theta, np.broadcast_to([True, True, False], (r, 3)))
    wider = likelihood(theta)[1][:, 2] < 0
    theta = climb(theta, np.stack([np.ones(r, bool), np.ones(r, bool), wider], axis=1))
    return theta[:, 1] / theta[:, 2]


def contrast(
    coefficients: Sequence[float], curves: Sequence[BootstrapCurve], rule: str, t: int, factor: bool = False
) -> tuple[tuple[float, float, float, float], str]:
    """The sum of coefficients, of which none is 0, times the N* of curves for target number t.

    With `factor` the product of their powers instead.

    Returns:
        The least and the greatest value that censoring leaves open and the ends of the interval; and what the
        interval holds.
    """
    least = most = np.zeros(1)
    for coefficient, curve in zip(coefficients, curves, strict=True):
        samples, sizes = curve.samples[rule][t], curve.sizes
        ends = np.where(samples == ABOVE, sizes[-1], samples), np.where(samples == BELOW, sizes[0], samples)
        if factor:
            with np.errstate(divide="ignore"):
                ends = np.log(ends[0]), np.log(ends[1])
        low, high = ends if coefficient > 0 else ends[::-1]
        least, most = least + coefficient * low, most + coefficient * high
    if factor:
        least, most = np.exp(least), np.exp(most)
    over = narrowest(*(curve.over[t] for curve in curves))
    return (float(least[0]), float(most[0]), interval(least[1:])[0], interval(most[1:])[1]), over


@dataclass(frozen=True)
class WorldNeeds:
    """N* (1 + replicates, W) of one model over worlds (W,), and the ends (W,) of the trained sizes."""

    worlds: np.ndarray
    samples: np.ndarray
    smallest: np.ndarray
    largest: np.ndarray

    @classmethod
    def of(cls, worlds: np.ndarray, curves: Sequence[BootstrapCurve], rule: str, t: int) -> WorldNeeds:
        """Those of a curve for each world (W,), by a rule for target number t."""
        samples = np.stack([curve.samples[rule][t] for curve in curves], axis=1)
        return cls(worlds, samples, *(np.array([curve.sizes[end] for curve in curves]) for end in (0, -1)))

    @property
    def uncensored(self) -> int:
        """Worlds whose N* is not a bound."""
        return int((np.isfinite(self.samples[0]) & (self.samples[0] != BELOW)).sum())

    def treatments(self) -> list[tuple[int, bool]]:
        """Ways to treat one censored world, to see how much an exponent depends on it: (world, dropped).

        It is dropped, or its bound "reached on the smallest set" is taken for its N*.
        """
        first = list(zip(self.worlds.tolist(), self.samples[0].tolist(), strict=True))
        dropped = [(world, True) for world, n in first if n in (BELOW, ABOVE)]
        return dropped + [(world, False) for world, n in first if n == BELOW]

    def slopes(self, treatment: tuple[int, bool] | None = None) -> np.ndarray:
        """Exponents (1 + replicates,)."""
        samples, kept = self.samples, np.ones(len(self.worlds), dtype=bool)
        if treatment is not None:
            world, dropped = treatment
            if dropped:
                kept = self.worlds != world
            else:
                samples = np.where((self.worlds == world) & (samples == BELOW), self.smallest, samples)
        if kept.sum() < 2:
            return np.full(len(samples), np.nan)
        return slopes(self.worlds[kept], samples[:, kept], self.smallest[kept], self.largest[kept])
