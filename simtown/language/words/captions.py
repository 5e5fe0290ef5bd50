"""Captions of scenes: how two vehicles stand, their colours and the weather, and the things in the street.

All of them are true of the latent scene. With a reporting bias B, a caption omits a kind's typical colour
with probability B (Gordon and Van Durme, 2013: people do not say that bananas are yellow). It always names a
colour that is not typical.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simtown.assets.catalogue import ENTITIES, NAMED_BY_COLOUR, PROPS, STREET
from simtown.assets.entities import with_article
from simtown.core.streams import Stream
from simtown.language.meaning.colours import COLOURS, colour_sums, named, seen
from simtown.language.meaning.relations import AXES, LATERAL, LEAST, RADIAL, RELATIONS, SIGNS, separations
from simtown.scenes.scene import SceneBatch
from simtown.scenes.street import FRONT
from simtown.scenes.weather import WEATHER_KINDS

#: How captions word the relations, in the order of RELATIONS.
WORDED: tuple[str, ...] = tuple(relation.caption for relation in RELATIONS)
#: Whether each kind of PROPS is a house, and whether it stands in the street: (p,) bool each.
_HOUSES = np.isin(PROPS, STREET["building"])
_LOW = np.isin(PROPS, (*STREET["tree"], *STREET["furniture"], *STREET["person"], *STREET["animal"]))


@dataclass(frozen=True)
class Related:
    """Captions of how two vehicles of each of n scenes stand, cut around the first relation.

    Attributes:
        before: n texts before the relation, and `after` as many after it; "" if no two vehicles can be named.
        relation: (n,) int64, its number.
        separation: (n, 2) float64 metres from the second vehicle to the first, to the right and ahead.
        true: (n, 4) bool, every relation of the first vehicle to the second.
    """

    before: list[str]
    after: list[str]
    relation: np.ndarray
    separation: np.ndarray
    true: np.ndarray

    def texts(self) -> list[str]:
        """The whole captions: "a bus is behind a taxi and the taxi is to the left of the bus"; or ""."""
        rows = zip(self.before, self.relation.tolist(), self.after, strict=True)
        return [before and f"{before} {WORDED[relation]} {after}" for before, relation, after in rows]


def related(scenes: SceneBatch, seed: int, split: str, start: int = 0) -> Related:
    """The relations of two vehicles of each scene, a true one in each direction.

    They are the first two of which some relation is true, each the only one of its kind. Which of them comes
    first, and which of several true relations is said, depends on the seed, the split and the scene's number.
    Scenes are numbered from `start` on.
    """
    n, rows = len(scenes), np.arange(len(scenes))[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):  # empty slots
        apart = separations(scenes.pose, scenes.camera)
    u = Stream(seed, split, "caption").uniform(np.arange(start, start + n), 3)
    pair, nameable = _pairs(scenes, apart)
    first, second = np.where(u[:, :1] < 0.5, pair[:, ::-1], pair).T
    pairs = ((first[:, None], second[:, None]), (second[:, None], first[:, None]))
    true = [apart[rows, AXES, subject, obj] * SIGNS > LEAST for subject, obj in pairs]
    relation, back = (_choose(t.astype(np.float64), x) for t, x in zip(true, u[:, 1:].T, strict=True))
    names = np.array(ENTITIES)[scenes.entity]
    before, after = [], []
    for i in range(n):
        a, b = str(names[i, first[i]]), str(names[i, second[i]])
        before.append(f"{with_article(a)} is" if nameable[i] else "")
        after.append(f"{with_article(b)} and the {b} is {WORDED[back[i]]} the {a}")
    separation = apart[rows, [LATERAL, RADIAL], first[:, None], second[:, None]]
    return Related(before, after, relation, separation, true[0])


def _alone(entity: np.ndarray) -> np.ndarray:
    """(n, v) bool: which vehicles are the only ones of their kind."""
    return (entity[:, :, None] == entity[:, None]).sum(axis=2) == 1


def _pairs(scenes: SceneBatch, apart: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, 2) int64 slots of the vehicles that a caption relates, and (n,) bool: whether there are such."""
    nameable = _alone(scenes.entity) & (scenes.entity >= 0)
    slots = np.stack(np.triu_indices(scenes.entity.shape[1], 1), axis=1)
    least = np.array(LEAST)[[AXES.index(LATERAL), AXES.index(RADIAL)], None]
    fits = (np.abs(apart[:, :, slots[:, 0], slots[:, 1]]) > least).any(axis=1)
    fits &= nameable[:, slots].all(axis=2)
    return slots[fits.argmax(axis=1)], fits.any(axis=1)


def looks(
    scenes: SceneBatch,
    seed: int,
    split: str,
    bias: float,
    *,
    start: int = 0,
    typical: np.ndarray | None = None,
    every: bool = False,
) -> list[str]:
    """n captions of the vehicles' colours and the weather: "the red fire truck and the taxi in the rain".

    Each vehicle gets its body's colour or another that much of it has
    (:func:`simtown.language.meaning.colours.named`); with `every`, any colour, as often as it is seen. The
    typical colour of a kind is then left out with probability `bias`, which changes nothing else. `typical`,
    (entities,) int64, is each kind's commonest colour in these scenes by default. `start` is the number of
    the first scene.
    """
    n, v = scenes.entity.shape
    shares = (seen if every else named)(scenes)
    if typical is None:
        typical = colour_sums(scenes.entity, shares).argmax(axis=1)
    u = Stream(seed, split, "look").uniform(np.arange(start, start + n), 1 + 2 * v)
    colour = _choose(shares.reshape(n * v, -1), u[:, 1 : 1 + v].ravel()).reshape(n, v)
    left_out = (colour == typical[scenes.entity]) & (u[:, 1 + v :] < bias)
    silent = left_out | np.array([name in NAMED_BY_COLOUR for name in ENTITIES])[scenes.entity]
    silent |= ~shares.any(axis=2)
    names = np.array(ENTITIES)[scenes.entity].tolist()
    words = np.where(silent, "", np.array(COLOURS)[colour]).tolist()
    lines = []
    alone = _alone(scenes.entity)
    for i in range(n):
        vehicles = []
        for j in np.flatnonzero(scenes.entity[i] >= 0).tolist():
            name, word = names[i][j], words[i][j]
            if u[i, 0] < 0.5:
                subject = f"the {name}" if alone[i, j] else with_article(name)
                vehicles.append(f"{subject} is {word or 'on the road'}")
            else:
                vehicles.append(f"the {word} {name}" if word else f"the {name}")
        vehicles = list(dict.fromkeys(vehicles))
        lines.append(f"{' and '.join(vehicles)} {WEATHER_KINDS[scenes.weather[i]].caption}")
    return lines


def surroundings(scenes: SceneBatch, seed: int, split: str, start: int = 0) -> list[str]:
    """n captions such as "a mailbox by a bakery", each of a thing in view in front of the houses.

    The caption is "" if there is no such thing. `start` is the number of the first scene.
    """
    present = scenes.prop >= 0
    houses, things = present & _HOUSES[scenes.prop], present & _LOW[scenes.prop]
    x, y = scenes.prop_pose[:, :, 0], scenes.prop_pose[:, :, 1]
    camera = scenes.camera[:, None]
    things &= (y < FRONT) & (np.abs(x - camera[..., 0]) < 0.45 * (y - camera[..., 1]) / camera[..., 5])
    at = np.arange(len(scenes))
    u = Stream(seed, split, "surroundings").uniform(start + at, scenes.prop.shape[1])
    thing = np.where(things, u, -1.0).argmax(axis=1)
    nearest = np.where(houses, np.abs(x - x[at, thing][:, None]), np.inf).argmin(axis=1)
    shown = (things.any(axis=1) & houses.any(axis=1)).tolist()
    pairs = zip(shown, scenes.prop[at, thing].tolist(), scenes.prop[at, nearest].tolist(), strict=True)
    return [f"{_named(PROPS[a])} by {_named(PROPS[b])}" if seen_both else "" for seen_both, a, b in pairs]


def _named(prop: str) -> str:
    """ "a bare oak", "a mailbox", "tall apartments"."""
    name = f"bare {prop.removesuffix(' bare')}" if prop.endswith(" bare") else prop
    return name if name.endswith("s") else with_article(name)


def _choose(weight: np.ndarray, u: np.ndarray) -> np.ndarray:
    """(n,) a random column of each row of (n, m) weights, by (n,) uniform numbers."""
    sums = weight.cumsum(axis=1)
    return (sums > u[:, None] * sums[:, -1:]).argmax(axis=1)


def captions(
    scenes: SceneBatch,
    seed: int,
    split: str,
    *,
    bias: float = 0.0,
    start: int = 0,
    typical: np.ndarray | None = None,
    every: bool = False,
) -> Iterator[str]:
    """All captions, scene by scene: of :func:`related`, of :func:`looks`, and of :func:`surroundings` if any.

    The parts of a split need the typical colours (:func:`looks`) of the whole split.
    """
    each = (
        related(scenes, seed, split, start).texts(),
        looks(scenes, seed, split, bias, start=start, typical=typical, every=every),
        surroundings(scenes, seed, split, start),
    )
    for lines in zip(*each, strict=True):
        yield from filter(None, lines)
