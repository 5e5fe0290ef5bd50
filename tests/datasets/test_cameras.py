"""Data sets whose cameras vary: proven, with masks and depth of the same view."""

import numpy as np
import pytest

from simtown import Settings, generate, open_dataset
from simtown.core.options import SettingsError
from simtown.datasets.proving.verify import verify
from simtown.datasets.source import check_settings
from simtown.render.raster import Raster

SMALL = {"n": 24, "val": 4, "test": 8, "width": 64, "height": 48, "entities": 30, "cameras": "varied"}
WORLDS = {"paper": {"distractor": True}, "families": {"questions": ("all",), "twins": True}}


@pytest.mark.parametrize("world", WORLDS)
def test_a_data_set_of_varied_cameras_is_proven(tmp_path, world):
    generate(Settings(masks=True, depth=True, **SMALL, **WORLDS[world]), tmp_path / "data")
    verify(tmp_path / "data")
    split = open_dataset(tmp_path / "data").train
    scenes = split.scenes()
    assert len(np.unique(scenes.camera[:, 0])) >= len(split) / 4
    frames = Raster().render(scenes, 64, 48)
    assert (split.images(np.arange(len(split)), "depth") == frames.depth).all()
    assert split[3].scene.camera.x == scenes.camera[3, 0]


def test_sequences_have_cameras_of_their_own():
    with pytest.raises(SettingsError, match="single pictures"):
        check_settings(Settings(sequence="time", **SMALL))
