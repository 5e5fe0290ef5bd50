"""A town and a question about it as an example of a data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simtown.datasets.making.hand_made import HandMadeError, make_example
from simtown.town.checks import TownError

if TYPE_CHECKING:
    from simtown.datasets.reading.reader import Example
    from simtown.town.town import Town


def make(town: Town, question: str, size: tuple[int, int]) -> Example:
    """The example; see :meth:`simtown.Town.example`."""
    answer = town.ask(question)
    scene, seen = town.to_scene(size), town.render(size).seen()
    pairs = zip(scene.vehicles, town.vehicles, strict=True)
    scene.vehicles = [vehicle for vehicle, thing in pairs if thing.name in seen]
    try:
        made = make_example(scene, question, size)
    except HandMadeError as error:
        raise TownError(str(error)) from error
    said = answer.value if answer.truth is None else "yes" if answer.truth else "no"
    if (answer.truth is not None or isinstance(answer.value, int)) and str(said) != made.reply:
        problem = f"the answer is {said} in the town, and {made.reply} by the rules of data sets"
        raise TownError(f"{problem}: give a larger `size`, or move things")
    return made
