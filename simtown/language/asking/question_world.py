"""The world that questions are about: kinds, paints, weathers, numbers of vehicles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from simtown.assets.entities import ENTITIES
from simtown.language.meaning.nouns import GROUPS, OWN_NOUNS, VEHICLE_NOUNS, group_of, kinds_meant
from simtown.language.meaning.programs import LANES, OVER_TIME
from simtown.language.meaning.relations import LATERAL, RELATION_NAMES, RELATIONS
from simtown.language.meaning.views import own_colours, paint_colours
from simtown.scenes.paint import may_change
from simtown.scenes.weather import WEATHERS

#: The most vehicles that are counted.
MOST_COUNT = 3
#: The most that pass another vehicle in a sequence, one in each lane.
MOST_PASSES = 2
#: The most metres that are asked for.
MOST_METRES = 6
#: The axes of the viewer's relations by name.
_AXES = {relation.name: relation.axis for relation in RELATIONS}


@dataclass(frozen=True, eq=False)
class AskedWorld:
    """The world that questions are about.

    Attributes:
        chances: (entities,) float64 of each kind of vehicle, 0 for those that do not exist.
        paint: (36,) float64 chances of each paint, or (0,): every kind keeps its own.
        colours: places in COLOURS of the colours that vehicles can have.
        weathers: places in WEATHERS of those that occur.
        least: vehicles in a scene at least.
        most: vehicles in a scene at most.
        relations: names of the viewer's relations.
        pictures: of a sequence.
    """

    chances: np.ndarray
    paint: np.ndarray
    colours: tuple[int, ...]
    weathers: tuple[int, ...]
    least: int
    most: int
    relations: tuple[str, ...] = RELATION_NAMES
    pictures: int = 1

    @classmethod
    def of(
        cls,
        chances: np.ndarray,
        paint: np.ndarray,
        weathers: Sequence[str],
        least: int,
        most: int,
        relations: tuple[str, ...] = RELATION_NAMES,
    ) -> AskedWorld:
        """A world of (k,) chances of the first k kinds and (36,) or (0,) chances of paints."""
        every = np.zeros(len(ENTITIES))
        every[: len(chances)] = chances
        colours = paint_colours()[np.flatnonzero(paint)] if len(paint) else own_colours()[every > 0]
        named = tuple(sorted({*colours.tolist()} - {-1}))
        numbers = tuple(WEATHERS.index(name) for name in weathers)
        return cls(every, paint, named, numbers, least, most, relations)

    def kinds(self, noun: str) -> np.ndarray:
        """(entities,) float64 chances of the kinds that a noun means."""
        return np.where(means(noun), self.chances, 0.0)

    @cached_property
    def lanes(self) -> tuple[str, ...]:
        """The lanes that the camera shows: nearer ones show no parking strip."""
        return LANES if self.most > 3 else LANES[:2]

    @cached_property
    def lateral(self) -> tuple[str, ...]:
        """The relations that many may have at once, if there are such."""
        return tuple(name for name in self.relations if _AXES[name] == LATERAL) or self.relations

    @cached_property
    def present(self) -> list[tuple[str, float]]:
        """The kinds of this world and their chances."""
        return [(ENTITIES[kind], float(self.chances[kind])) for kind in np.flatnonzero(self.chances)]

    @cached_property
    def several(self) -> list[str]:
        """Nouns for several kinds of this world."""
        nouns = [noun for noun in (*VEHICLE_NOUNS, *OWN_NOUNS) if noun != "vehicle"]
        return [noun for noun in nouns if np.count_nonzero(self.kinds(noun)) > 1]

    @cached_property
    def painted(self) -> bool:
        """Whether vehicles have other paints than their own."""
        return bool(len(self.paint))

    @cached_property
    def answers(self) -> dict[str, tuple[int, ...]]:
        """By type the answers that are asked for, as the evaluator numbers them.

        The picture in the middle of an odd number is none, since a reversal does not exchange it. Where
        vehicles are painted no kind is asked for that keeps its paint, since colours would hint at it.
        """
        kinds = tuple(np.flatnonzero(self.chances * (may_change()[:-1] | (not self.painted))).tolist())
        groups = {group_of(ENTITIES[kind]) for kind in kinds}
        most_count = MOST_COUNT if self.pictures == 1 else MOST_PASSES
        return {
            "truth": (0, 1),
            "count": tuple(range(min(most_count, max(self.most - 1, 1)) + 1)),
            "kind": kinds,
            "group": tuple(place for place, group in enumerate(GROUPS) if group in groups),
            "colour": self.colours,
            "lane": tuple(range(len(self.lanes))),
            "direction": (0, 1),
            "weather": self.weathers,
            "hidden": (0, 1, 2),
            "metres": tuple(range(1, MOST_METRES + 1)),
            "box": (0, 1, 2),
            **{name: tuple(range(len(values))) for name, values in OVER_TIME.items()},
            "picture": tuple(place for place in range(self.pictures) if 2 * place != self.pictures - 1),
            "seat": tuple(range(1, self.pictures)),
            "place": (0, 1),
        }


@cache
def means(noun: str) -> np.ndarray:
    """(entities,) bool: which kinds a noun means."""
    return np.isin(ENTITIES, kinds_meant(noun))
