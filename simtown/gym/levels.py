"""The levels of the gym: each of the first nine adds kinds, vehicles, weathers or families to the one before;
three more show several pictures.

They are frozen: a level and a seed mean the same questions and pictures in every release.
"""

from typing import NamedTuple

from simtown.datasets.settings import Settings
from simtown.scenes.weather import WEATHERS

#: Width and height of all pictures, pixels: one size, so that every batch has as many image tokens.
SIZE = 224


class Level(NamedTuple):
    """One level.

    Attributes:
        entities: kinds of vehicles.
        vehicles: in a street, as `--vehicles` has it.
        questions: the families.
        weathers: that occur.
        margin: metres. Where answers depend on places, both of a pair hold by so much if one of four pairs of
            streets has such margins.
        adds: what is new, in words.
        sequence: what differs between the pictures of a task (`--sequence`); "" for one picture.

    >>> import simtown.gym
    >>> far = simtown.gym.Level(20, "3", ("relations",), ("clear",), margin=2.0, adds="wide margins")
    >>> simtown.gym.Street(far, seed=7)[0].question
    'Is it true that the school bus is to the right of the ice-cream van?'
    """

    entities: int
    vehicles: str
    questions: tuple[str, ...]
    weathers: tuple[str, ...]
    margin: float
    adds: str
    sequence: str = ""

    def settings(self, seed: int) -> Settings:
        """The settings of the data set that this level's tasks come from."""
        return Settings(
            entities=self.entities,
            n=2,
            val=0,
            test=0,
            width=SIZE,
            height=SIZE,
            seed=seed,
            frequencies="uniform",
            weathers=self.weathers,
            questions=self.questions,
            crowd=self.vehicles,
            sequence=self.sequence,
        )


_FAIR = WEATHERS[:2]
_SEEN = ("exist", "kind", "colour", "lane")
_PLACED = (*_SEEN, "relations", "where", "heading", "nearest")
_COUNTED = (*_PLACED, "count", "weather", "order", "street", "street-exist")
_HARD = (*_COUNTED, "compare", "distance", "driver", "group")
_MOVING = ("goes", "backs", "pace", "faster", "passes", "order", "when")
_VIEWS = ("camera", "seat", "match", "same-time")
#: The levels from 1 on: nine of one picture, each harder than the one before, and three of several.
#:
#: >>> import simtown.gym
#: >>> [level.entities for level in simtown.gym.LEVELS]
#: [5, 10, 15, 20, 31, 40, 60, 102, 102, 31, 31, 31]
LEVELS: tuple[Level, ...] = (
    Level(5, "2", _SEEN, _FAIR, 0, "what is there: five kinds, their colours and lanes"),
    Level(10, "2", _PLACED, _FAIR, 1.5, "where it is, by wide margins"),
    Level(15, "2-4", _PLACED, WEATHERS, 1, "more vehicles, all weathers"),
    Level(20, "3-4", _COUNTED, WEATHERS, 0.5, "counts, the weather, the order along the road"),
    Level(31, "3-5", _HARD, WEATHERS, 0, "comparisons, metres, the driver's view; any margin"),
    Level(40, "3-6", (*_HARD, "hidden", "same", "between"), WEATHERS, 0, "what is hidden, alike, between"),
    Level(60, "3-6", ("all",), WEATHERS, 0, "two and three hops, logic: every family"),
    Level(102, "4-7", ("all",), WEATHERS, 0, "every kind of vehicle, up to seven in a street"),
    Level(102, "5-8", ("hops", "logic", "compare", "count", "distance", "hidden", "driver", "same", "between",
                       "hops-heading", "order"), WEATHERS, 0, "only what is hard, up to eight vehicles"),
    Level(31, "2-4", _MOVING, _FAIR, 0, "four moments: what drives where, how fast, past what", "time"),
    Level(31, "2-4", ("happened",), _FAIR, 0, "before and after: what happened", "change"),
    Level(31, "2-4", _VIEWS, _FAIR, 0, "several cameras: where they stand, what is what", "views"),
)  # fmt: skip
#: How many of these are of one picture; a curriculum climbs through them.
SINGLE = 9
