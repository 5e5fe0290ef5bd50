"""Learning curves beyond their largest size: three shapes, weighted by how well they foresaw that size.

The shapes are a power law with a ceiling, an exponential with a ceiling, and a logistic curve in log n. Each
is linear in two parameters once the others are on a grid, so all replicates are fitted at once.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

#: Sizes that a fit takes at least, with the largest left out.
_LEAST_SIZES = 3
#: How far fits may go beyond the largest size; and if they foresaw it.
NEAR, FAR = 2.0, 4.0
_PLACES = 60
#: By how much errors beyond exceed those that were seen: of four simulated shapes of curves.
_CAUTION = 1.5
#: A shape: from log n (n,) to its rise (grid, n), for each of its parameters on a grid.
_Shape = Callable[[np.ndarray], np.ndarray]


class Beyond(NamedTuple):
    """Scores (1 + replicates, places) at sizes (places,) from the largest size on."""

    sizes: np.ndarray
    scores: np.ndarray


def look_beyond(sizes: np.ndarray, means: np.ndarray, luck: np.ndarray) -> Beyond | None:
    """The curves of means (1 + replicates, S) beyond the largest size; None if there are fewer than 4 sizes.

    The error with which the shapes foresee the largest size from the others, and their disagreement, go into
    the replicates, by `luck`, a standard normal number each. Curves never fall, and stay below 1.
    """
    if len(sizes) <= _LEAST_SIZES:
        return None
    log_n = np.log(sizes)
    last, step = log_n[-1], log_n[-1] - log_n[-2]
    earlier = log_n[:-1]
    foreseen = [_extend(shape, earlier, means[:1, :-1], log_n[-1:])[0, 0] for shape in _shapes(earlier)]
    errors, usual = np.array(foreseen) - means[0, -1], means[1:, -1].std()
    weight = 1 / (errors**2 + usual**2 + 1e-6)
    weight /= weight.sum()
    error = float(np.sqrt(weight @ errors**2))
    far = FAR if error <= 2 * usual else NEAR
    places = np.linspace(last, last + np.log(far), _PLACES)
    shapes = np.stack([_extend(shape, log_n, means, places) for shape in _shapes(log_n)])
    mean = np.einsum("f,frp->rp", weight, shapes)
    apart = np.sqrt(np.einsum("f,fp->p", weight, (shapes[:, 0] - mean[0]) ** 2))
    doubt = _CAUTION * np.hypot(apart, error * (places - last) / step)
    # the curve goes on from its measured end
    scores = mean + (means[:, -1:] - mean[:, :1]) + luck[:, None] * doubt
    scores = np.maximum.accumulate(np.clip(scores, means[:, -1:], 1), axis=1)
    return Beyond(np.exp(places), scores)


def _shapes(log_n: np.ndarray) -> list[_Shape]:
    """The three shapes, with grids that suit these sizes."""
    extent = log_n[-1] - log_n[0]
    powers = np.geomspace(0.05, 3, 16)[:, None]
    rates = np.geomspace(0.3, 30, 16)[:, None]
    steep, middle = (
        axis.reshape(-1, 1)
        for axis in np.meshgrid(np.geomspace(1, 20, 8) / extent, log_n[0] + extent * np.linspace(0, 1.2, 7))
    )
    return [
        lambda x: -np.exp(-powers * (x - log_n[0])),
        lambda x: -np.exp(-rates * np.exp(x - log_n[-1])),
        lambda x: 1 / (1 + np.exp(-steep * (x - middle))),
    ]


def _extend(shape: _Shape, log_n: np.ndarray, means: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Scores (R, places) of the least-squares fit to means (R, S): a + b times the shape, b at least 0."""
    rise = shape(log_n)  # (G, S)
    centred = rise - rise.mean(axis=1, keepdims=True)
    level = means.mean(axis=1, keepdims=True)
    slope = np.maximum((means - level) @ centred.T / np.maximum((centred**2).sum(axis=1), 1e-12), 0)  # (R, G)
    squares = ((means - level) ** 2).sum(axis=1)[:, None] - slope**2 * (centred**2).sum(axis=1)
    best = squares.argmin(axis=1)
    beyond = shape(places)[best] - rise[best].mean(axis=1, keepdims=True)
    return level + slope[np.arange(len(means)), best][:, None] * beyond
