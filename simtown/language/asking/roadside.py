"""What stands beside the road of streets whose questions are about it."""

from __future__ import annotations

import numpy as np

from simtown.assets.catalogue import PROPS
from simtown.core.streams import Draws
from simtown.language.asking.question import AskingRecipe
from simtown.language.asking.question_world import MOST_COUNT
from simtown.language.meaning.nouns import NOUNS, kinds_meant
from simtown.language.meaning.sights import also_shown
from simtown.scenes.crowd import thin_fog
from simtown.scenes.scene import SceneBatch
from simtown.scenes.street import (
    BUILDINGS,
    PAVEMENT_SLOTS,
    ROADSIDE_SLOTS,
    draw_street,
    kernel_kinds,
    pavement_kinds,
)


def draw_roadside(
    recipe: AskingRecipe,
    scenes: SceneBatch,
    rows: np.ndarray,
    address: np.ndarray,
    things: list[tuple[str, int]],
) -> None:
    """Draw what stands beside the road of some scenes and plant things there, nouns and how many.

    `rows` and `address` are (k,) int64.
    """
    scenes.intensity[rows] = thin_fog(scenes.weather[rows], scenes.intensity[rows], scenes.camera[rows])
    street = draw_street(recipe.stream("street"), address, scenes.weather[rows])
    thing_draws = recipe.stream("things").uniform(address, 2 * MOST_COUNT).tolist()
    animal_draws = recipe.stream("animals").uniform(address, 5).tolist()
    for prop, (noun, number), own, animals in zip(street[0], things, thing_draws, animal_draws, strict=True):
        _let_animals_in(prop, Draws(animals))
        _plant_things(prop, noun, number, Draws(own))
    scenes.prop[rows], scenes.prop_pose[rows], scenes.prop_style[rows] = street


def _let_animals_in(prop: np.ndarray, draws: Draws) -> None:
    """Put up to two animals into free cells of the pavement, so that none is asked for because it is there.

    Args:
        prop: (SLOTS,) int16 kinds, changed in place.
        draws: five numbers.
    """
    cells = [slot for slot in PAVEMENT_SLOTS if prop[slot] < 0]
    for _ in range(min(draws.below(3), len(cells))):
        prop[cells.pop(draws.below(len(cells)))] = PROPS.index(draws.choice(NOUNS["animal"]))


def _plant_things(prop: np.ndarray, noun: str, number: int, draws: Draws) -> None:
    """Put so many things that a noun means beside the road, and take out what could be taken for more.

    What fits into a cell of the pavement goes into cells that are free or have the like; of trees and lamps
    some stay.

    Args:
        prop: (SLOTS,) int16 kinds, as :func:`simtown.scenes.street.draw_street` draws them; changed in place.
        noun: one of STREET_NOUNS.
        number: of things.
        draws: at least twice as many numbers.
    """
    kinds, meant = kernel_kinds(), [PROPS.index(kind) for kind in kinds_meant(noun)]
    people = kinds["person"].tolist()
    fitting = [kind for kind in meant if kind in pavement_kinds()]
    before = prop.tolist()
    if fitting:
        whose = fitting[0] in people
        cells = [slot for slot in PAVEMENT_SLOTS if before[slot] < 0 or (before[slot] in people) == whose]
    else:
        plants = (*kinds["hedge"].tolist(), *kinds["winter_hedge"].tolist())
        cells = [slot for slot in ROADSIDE_SLOTS if before[slot] in meant and before[slot] not in plants]
    alike = [PROPS.index(kind) for kind in also_shown(kinds_meant(noun)) if kind in PROPS]
    prop[BUILDINGS:][np.isin(prop[BUILDINGS:], [*meant, *alike])] = -1
    for _ in range(min(number, len(cells))):
        slot = cells.pop(draws.below(len(cells)))
        prop[slot] = before[slot] if before[slot] in meant else draws.choice(fitting)
