"""Questions about what stands beside the road, against the pixels of the pictures."""

from dataclasses import replace

import numpy as np
import pytest

from simtown.assets.catalogue import ENTITIES, PROPS, STREET
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.families import families
from simtown.language.asking.search import ask_families
from simtown.language.meaning.limits import THING_PIXELS
from simtown.language.meaning.nouns import NOUNS, STREET_NOUNS
from simtown.language.meaning.programs import decode
from simtown.language.meaning.sights import also_shown
from simtown.render.raster import Raster

RECIPE = replace(
    source_of(Settings(entities=40, questions=("all",), seed=7)).recipe("train"),
    families=(families()["street"], families()["street-exist"]),
)


@pytest.fixture(scope="module")
def batch():
    return ask_families(RECIPE, np.arange(500))


def test_the_answer_is_what_the_picture_shows(batch):
    """A thing of which a pixel shows is counted, and nothing that could be taken for one is in sight."""
    ids, vehicles = Raster().render(batch.scene, 256, 144).ids, batch.scene.entity.shape[1]
    for row, answer in enumerate(batch.answer):
        noun = decode(batch.program[row]).parts[0].parts[0]
        kinds = NOUNS.get(noun, (noun,))
        numbers, pixels = np.unique(ids[row], return_counts=True)
        slots = {int(i) - 1 - vehicles: p for i, p in zip(numbers, pixels, strict=True) if i > vehicles}
        shown = {PROPS[batch.scene.prop[row, slot]]: p for slot, p in slots.items()}
        counted = [p for slot, p in slots.items() if PROPS[batch.scene.prop[row, slot]] in kinds]
        families_of = RECIPE.families[batch.family[row]]
        assert answer == (len(counted) if families_of.name == "street" else bool(counted)), batch.words[row]
        if counted:
            assert min(counted) > THING_PIXELS / 2 or families_of.name == "street-exist"
        alike = also_shown(kinds)
        if not (families_of.name == "street-exist" and answer):
            assert not alike & {ENTITIES[kind] for kind in batch.scene.entity[row] if kind >= 0}
            assert all(p <= 3 for kind, p in shown.items() if kind in alike)


def test_every_noun_is_asked_with_every_answer(batch):
    nouns = [decode(program).parts[0].parts[0] for program in batch.program]
    assert set(nouns) == set(STREET_NOUNS)
    counts = np.bincount(batch.answer[batch.family == 0], minlength=4)
    assert counts.min() > 0.15 * counts.sum()
    assert batch.tried[:, 0].mean() < 4


def test_an_animal_is_no_sign_that_it_is_asked_for(batch):
    """Animals that are not asked about stand in streets whose answer is no, and in those where it is yes."""
    other = np.zeros(len(batch.answer), dtype=bool)
    for row, props in enumerate(batch.scene.prop):
        noun = decode(batch.program[row]).parts[0].parts[0]
        strange = {*STREET["animal"]} - {*NOUNS.get(noun, (noun,))}
        other[row] = bool(strange & {PROPS[prop] for prop in props if prop >= 0})
    assert all(0.4 < other[(batch.answer > 0) == truth].mean() < 0.8 for truth in (False, True))
