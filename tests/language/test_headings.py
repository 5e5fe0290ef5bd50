"""No question hangs on a heading that pictures do not show."""

import numpy as np

from simtown.assets.entities import ENTITIES
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.search import ask_families
from simtown.language.meaning.programs import OWN_RELATIONS, decode
from simtown.language.meaning.views import ENDS_ALIKE
from simtown.render.raster import Raster
from simtown.scenes.camera import Camera
from simtown.scenes.placement import LANES
from simtown.scenes.scene import empty_batch

SIDE, PIXEL_DIFFERS, LEAST_DIFFERENT = 256, 24, 0.17


def pictures_of(entity, yaw):
    """Pictures of kinds alone in the middle of the near lane, by day, without shadows to a side."""
    scenes = empty_batch(len(entity), 1, 1)
    scenes.entity[:, 0], scenes.pose[:, 0] = entity, (0, LANES[0][0], yaw)
    scenes.camera[:], scenes.sun[:] = Camera().row(), (-np.pi / 2, 1.2)
    return Raster().render(scenes, SIDE, SIDE, geometry=False).rgb.astype(int)


def test_the_ends_of_a_kind_look_alike_if_its_two_headings_do():
    kinds = np.arange(len(ENTITIES))
    right, left, without = pictures_of(kinds, 0), pictures_of(kinds, np.pi), pictures_of(np.array([-1]), 0)
    covered = (np.abs(right - without).max(axis=3) > 0).sum(axis=(1, 2))
    differs = (np.abs(right - left).max(axis=3) >= PIXEL_DIFFERS).sum(axis=(1, 2))
    alike = np.flatnonzero(differs < LEAST_DIFFERENT * covered)
    assert {ENTITIES[kind] for kind in alike} == {*ENDS_ALIKE}


def test_no_question_hangs_on_the_heading_of_such_a_kind():
    settings = Settings(questions=("all",), entities=60, frequencies="uniform", seed=2)
    batch = ask_families(source_of(settings).recipe("train"), np.arange(1200))
    for program in batch.program:
        words = decode(program).words
        assert not (words & {"direction", *OWN_RELATIONS} and words & {*ENDS_ALIKE})
