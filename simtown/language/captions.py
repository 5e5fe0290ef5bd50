"""Region descriptions of scenes, in words: how two vehicles stand, what the vehicles look like and in what weather, what is in the street.

All of them are true of the latent scene. What is left out is a dial: with a reporting bias B, a kind's typical colour goes unsaid with
probability B (Gordon and Van Durme, 2013: nobody says that bananas are yellow). A colour that is not typical is always said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simtown.assets.catalogue import ENTITIES, PROPS, STREET
from simtown.language.colours import COLOURS, colour_sums, seen, tells
from simtown.language.questions import with_article
from simtown.language.relations import LATERAL, RADIAL, RELATION_NAMES, RELATIONS, margins, separations, truths
from simtown.scenes.scene import SceneBatch
from simtown.scenes.street import FRONT
from simtown.scenes.weather import WEATHERS
from simtown.streams import Stream

#: How the relations are worded, in the order of RELATIONS.
WORDED: tuple[str, ...] = tuple({"left of": "to the left of", "right of": "to the right of"}.get(name, name) for name in RELATION_NAMES)
#: How each weather is told.
WEATHER_WORDS: dict[str, str] = {"clear": "in the sun", "cloudy": "under clouds", "rain": "in the rain", "fog": "in the fog",
                                 "snow": "in the snow", "dusk": "at dusk", "night": "at night"}  # fmt: skip


@dataclass(frozen=True)
class Related:
    """How the first two vehicles of n scenes stand, one true relation from each one's side; a caption each, cut around its first relation.

    Attributes:
        before, after: n texts around it.
        relation: (n,) int64, its number.
        true: (n, 4) bool, every one of the first to the other.
        separation: (n, 2) float64 metres from the second vehicle to the first, to the right and away from the viewer.
    """

    before: list[str]
    after: list[str]
    relation: np.ndarray
    separation: np.ndarray
    true: np.ndarray

    def texts(self) -> list[str]:
        """The captions whole: "a bus is behind a taxi and the taxi is to the left of the bus"."""
        return [f"{b} {WORDED[r]} {a}" for b, r, a in zip(self.before, self.relation.tolist(), self.after, strict=True)]


def related(scenes: SceneBatch, seed: int, split: str, start: int = 0) -> Related:
    """Which of a pair comes first, and which of several true relations is told, depends on the seed, the split and the scene's number.

    The scenes are a data set's: some relation holds between their first two vehicles, for something was asked about them. They are
    numbered from `start` on.
    """
    n, every = len(scenes), np.arange(len(RELATIONS))
    apart = separations(scenes.pose, scenes.camera)
    u = Stream(seed, split, "caption").uniform(np.arange(start, start + n), 3)
    first = (u[:, 0] < 0.5).astype(np.int64)
    true = []
    for one, other in ((first, 1 - first), (1 - first, first)):
        each = [truths(margins(apart, np.full(n, r), one, other), np.full(n, r)) == 1 for r in every]
        true.append(np.stack(each, axis=1))
    relation, back = (_choose(t.astype(np.float64), x) for t, x in zip(true, u[:, 1:].T, strict=True))
    names = np.array(ENTITIES)[scenes.entity]
    before, after = [], []
    for i in range(n):
        a, b = str(names[i, first[i]]), str(names[i, 1 - first[i]])
        before.append(f"{with_article(a)} is")
        after.append(f"{with_article(b)} and the {b} is {WORDED[back[i]]} the {a}")
    return Related(before, after, relation, apart[np.arange(n), :, first, 1 - first][:, [LATERAL, RADIAL]], true[0])


def looks(scenes: SceneBatch, seed: int, split: str, bias: float, start: int = 0, typical: np.ndarray | None = None) -> list[str]:
    """n captions of all vehicles' colours and the weather: "the red fire truck and the taxi in the rain", or "the taxi is yellow and …".

    Of every vehicle one colour comes to mind, each as often as it is seen (:func:`simtown.language.colours.seen`); a kind's typical one
    is then left out with probability `bias`. Nothing else changes with `bias`.

    Args:
        start: number of the first scene.
        typical: (entities,) int64 typical colour of each kind; by default its commonest in these scenes.

    Raises:
        ValueError: `bias` is not in [0, 1].
    """
    check_bias(bias)
    n, v = scenes.entity.shape
    shares = seen(scenes)
    if typical is None:
        typical = colour_sums(scenes.entity, shares).argmax(axis=1)
    u = Stream(seed, split, "look").uniform(np.arange(start, start + n), 1 + 2 * v)
    colour = _choose(shares.reshape(n * v, -1), u[:, 1 : 1 + v].ravel()).reshape(n, v)
    left_out = (colour == typical[scenes.entity]) & (u[:, 1 + v :] < bias)
    silent = left_out | np.array([tells(name) for name in ENTITIES])[scenes.entity]
    silent |= ~shares.any(axis=2)
    names, words = np.array(ENTITIES)[scenes.entity].tolist(), np.where(silent, "", np.array(COLOURS)[colour]).tolist()
    told = []
    for i in range(n):
        if u[i, 0] < 0.5:
            each = [f"the {name} is {word or 'on the road'}" for name, word in zip(names[i], words[i], strict=True)]
        else:
            each = [f"the {word} {name}" if word else f"the {name}" for name, word in zip(names[i], words[i], strict=True)]
        told.append(f"{' and '.join(each)} {WEATHER_WORDS[WEATHERS[scenes.weather[i]]]}")
    return told


def check_bias(bias: float) -> None:
    """Raises ValueError for a reporting bias that is no probability."""
    if not 0 <= bias <= 1:
        raise ValueError(f"--bias is a probability from 0 to 1, not {bias}")


def surroundings(scenes: SceneBatch, seed: int, split: str, start: int = 0) -> list[str]:
    """n captions such as "a mailbox by a bakery", each of something in view before the houses; "" where there is none.

    `start`: number of the first scene.
    """
    house, low = _parts()
    there = scenes.prop >= 0
    houses, things = there & house[scenes.prop], there & low[scenes.prop]
    x, y = scenes.prop_pose[:, :, 0], scenes.prop_pose[:, :, 1]
    camera = scenes.camera[:, None]
    things &= (y < FRONT) & (np.abs(x - camera[..., 0]) < 0.45 * (y - camera[..., 1]) / camera[..., 5])
    u = Stream(seed, split, "surroundings").uniform(np.arange(start, start + len(scenes)), scenes.prop.shape[1])
    thing = np.where(things, u, -1.0).argmax(axis=1)
    at = np.arange(len(scenes))
    nearest = np.where(houses, np.abs(x - x[at, thing][:, None]), np.inf).argmin(axis=1)
    both = (things.any(axis=1) & houses.any(axis=1)).tolist()
    pairs = zip(both, scenes.prop[at, thing].tolist(), scenes.prop[at, nearest].tolist(), strict=True)
    return [f"{_named(PROPS[a])} by {_named(PROPS[b])}" if known else "" for known, a, b in pairs]


@lru_cache(maxsize=1)
def _parts() -> tuple[np.ndarray, np.ndarray]:
    """Of every kind of PROPS whether it is a house (p,) bool, and whether it stands in the street (p,) bool."""
    low = {name for group in ("tree", "furniture", "person") for name in STREET[group]}
    return np.array([name in STREET["building"] for name in PROPS]), np.array([name in low for name in PROPS])


def _named(prop: str) -> str:
    """ "a bare oak", "a mailbox", "tall apartments"."""
    name = f"bare {prop.removesuffix(' bare')}" if prop.endswith(" bare") else prop
    return name if name.endswith("s") else with_article(name)


def _choose(weight: np.ndarray, u: np.ndarray) -> np.ndarray:
    """(n,) a column of each row of (n, m) weights, as likely as it weighs, by (n,) numbers in [0, 1)."""
    sums = weight.cumsum(axis=1)
    return (sums > u[:, None] * sums[:, -1:]).argmax(axis=1)


def captions(
    scenes: SceneBatch, seed: int, split: str, bias: float = 0.0, start: int = 0, typical: np.ndarray | None = None
) -> Iterator[str]:
    """All captions, scene after scene: :func:`related`, :func:`looks`, and :func:`surroundings` where there are any.

    Args:
        start, typical: of :func:`looks`. A split may be told in parts, which have its typical colours.
    """
    each = (related(scenes, seed, split, start).texts(), looks(scenes, seed, split, bias, start, typical),
            surroundings(scenes, seed, split, start))  # fmt: skip
    for lines in zip(*each, strict=True):
        yield from filter(None, lines)
