"""The answers of each type, by the number that the evaluator gives them."""

from __future__ import annotations

from simtown.assets.entities import ENTITIES
from simtown.language.meaning.nouns import GROUPS
from simtown.language.meaning.programs import COLOURS, DIRECTIONS, OVER_TIME
from simtown.language.meaning.views import THIRDS
from simtown.scenes.weather import WEATHERS

#: The answers of each type, by the number that the evaluator gives them.
ANSWERS: dict[str, tuple[str, ...]] = {
    "truth": ("no", "yes"),
    "count": tuple(map(str, range(9))),
    "kind": ENTITIES,
    "group": GROUPS,
    "colour": COLOURS,
    "lane": ("near lane", "far lane", "parked"),
    "direction": DIRECTIONS,
    "weather": WEATHERS,
    "hidden": ("none of it", "less than a third", "more than a third"),
    "metres": tuple(f"{metres} m" for metres in range(31)),
    "box": THIRDS,
    **OVER_TIME,
    "picture": tuple(f"picture {number}" for number in range(1, 9)),
}
#: The answer to a question whose value is too close to say.
CANNOT_TELL = "cannot tell"
