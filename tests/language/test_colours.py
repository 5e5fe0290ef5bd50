"""The colour of a vehicle: of its own paint, not of who sits on it, and what most of it shows."""

import numpy as np
import pytest

from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.search import ask_families
from simtown.language.meaning.colours import COLOURS, seen
from simtown.language.meaning.views import judge_colours, only_colour
from simtown.scenes.scene import Scene, SceneBatch, Vehicle
from simtown.town import Town

#: Kinds with somebody on them: their own colour, and one that only the clothes have.
WORN = {
    "bicycle": ("blue", "red"),
    "scooter": ("green", "pink"),
    "kick scooter": ("green", "purple"),
    "quad bike": ("green", "white"),
    "forklift": ("red", "blue"),
    "road roller": ("yellow", "blue"),
    "tractor": ("green", "blue"),
}


@pytest.mark.parametrize(("kind", "own", "worn"), [(kind, *colours) for kind, colours in WORN.items()])
def test_clothes_are_not_a_vehicles_colour(kind, own, worn):
    scene = Scene([Vehicle(kind, 0.0, -1.85)])
    shares = dict(zip(COLOURS, seen(SceneBatch.of([scene]))[0, 0], strict=True))
    assert shares[worn] == 0 < shares[own]
    assert Town.from_scene(scene).ask(f"Is the {kind} {worn}?").truth is False
    assert Town.from_scene(scene).ask(f"Is the {kind} {own}?").truth is not False


@pytest.mark.parametrize("paint", ["own", "uniform"])
def test_no_other_colour_covers_more_than_a_clear_one(paint):
    recipe = source_of(Settings(questions=("colour",), seed=4, paint=paint)).recipe("train")
    asked = ask_families(recipe, np.arange(60))
    scenes = asked.scene
    shares, colour = seen(scenes), only_colour(judge_colours(scenes, asked.visible, (256, 144)))
    clear = colour >= 0
    assert clear.sum() > 60
    assert (shares[clear].argmax(axis=1) == colour[clear]).all()
