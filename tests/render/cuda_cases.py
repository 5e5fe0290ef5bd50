"""The CUDA renderer against the processor's. Run by test_cuda.py in numba's simulator, and as it stands on a machine with a card:

python -m pytest tests/render/cuda_cases.py -m ''
"""

import warnings

import numpy as np
import pytest
from numba import config, cuda

from simtown.datasets.settings import Settings
from simtown.language.sampler import sample
from simtown.render.cuda import arrange, draw, engine
from simtown.render.cuda.engine import Cuda
from simtown.render.engines import CardError, CardWarning, rasteriser, settled
from simtown.render.frames import CardRenderer, Frames
from simtown.render.raster import Raster
from simtown.scenes.camera import Camera
from simtown.scenes.scene import Prop, Scene, SceneBatch, Vehicle, Weather, empty_batch
from simtown.scenes.weather import WEATHERS

simulated = pytest.mark.skipif(not config.ENABLE_CUDASIM, reason="changes what is compiled in: in the simulator only")
pytestmark = pytest.mark.filterwarnings("ignore:.*(overflow|divide by zero|invalid value).*:RuntimeWarning")


@pytest.fixture(scope="module")
def card():
    return Cuda()


def corner(weather, camera=None):
    """A vehicle, a house, a lamp and a cloud: few triangles, every kind of thing."""
    props = [Prop("gabled house", -4.0, 10.0, style=3), Prop("arm lamp", 2.0, 4.0), Prop("small cloud", 5.0, 40.0, 12.0)]
    vehicle = Vehicle("sedan", 0.5, -1.85, 0.1)
    return Scene([vehicle], props, weather=Weather(weather, 0.8, 2.4, 0.6, 3), camera=camera or Camera())


@pytest.fixture(scope="module")
def corners():
    return SceneBatch.of([corner(weather) for weather in WEATHERS])


def equal(a, b):
    for name in ("ids", "depth", "rgb"):
        one, other = getattr(a, name), getattr(b, name)
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        wrong = np.flatnonzero((one != other).reshape(len(one), -1).any(axis=1)) if len(one) else []
        assert not len(wrong), f"{name} of scenes {wrong} differ"


def test_every_weather_is_the_processors_byte_for_byte(card, corners):
    frames = card.render(corners, 32, 32)
    equal(frames, Raster().render(corners, 32, 32))
    assert len(np.unique(frames.ids)) >= 4


@pytest.mark.parametrize("camera", [Camera(y=0.0, z=1.5), Camera(y=11.0, z=2.0, yaw=2.6), Camera(y=0.0, z=1.5, pitch=1.5)])
def test_what_crosses_the_near_plane_is_cut_alike(card, camera):
    batch = SceneBatch.of([corner("dusk", camera)])
    equal(card.render(batch, 37, 32), Raster().render(batch, 37, 32))


def test_bands_of_rows_meet_without_a_seam(card, corners, monkeypatch):
    monkeypatch.setattr(draw, "SHARED", 4 * 104 * 7)
    assert draw.bands(40, 35) == (12, 3, 104)
    equal(card.render(corners[5:6], 40, 35), Raster().render(corners[5:6], 40, 35))


@pytest.mark.parametrize(("width", "height"), [(32, 32), (128, 128), (1024, 1024), (32, 1024), (1024, 32), (97, 193)])
def test_bands_fit_into_shared_memory(width, height):
    count, rows, stride = draw.bands(width, height)
    assert count * rows >= height > (count - 1) * rows
    assert stride >= 2 * width + 1
    assert stride % 32 == 8
    assert (2 * rows + 1) * stride * 4 <= draw.SHARED
    assert 2 * rows + 1 <= draw.MOST_ROWS
    assert draw.SHARED + (draw.MOST_SMALL + draw.MOST_LARGE) * 2 + 8 + draw.MOST_ROWS * 12 <= 48 * 1024


@simulated
def test_triangles_beyond_the_queues_are_filled_all_the_same(card, corners, monkeypatch):
    monkeypatch.setattr(draw, "MOST_LARGE", 3)
    monkeypatch.setattr(draw, "MOST_SMALL", 20)
    equal(card.render(corners[:1], 32, 32), Raster().render(corners[:1], 32, 32))


@simulated
def test_drops_come_in_groups_where_there_are_many(card, monkeypatch):
    monkeypatch.setattr(draw, "MOST_DROPS", 30)
    batch = SceneBatch.of([Scene(weather=Weather(weather, 1.0, 2.4, 0.6, 9)) for weather in ("rain", "snow")])
    equal(card.render(batch, 32, 32), Raster().render(batch, 32, 32))


def test_launches_take_turns_and_leave_the_pictures_as_they_are(corners, monkeypatch):
    monkeypatch.setattr(engine, "BACK", 1)
    equal(Cuda().render(corners[:4], 32, 32), Raster().render(corners[:4], 32, 32))


def test_without_geometry_the_colours_are_the_same(card, corners):
    frames = card.render(corners[:1], 32, 32, geometry=False)
    assert np.array_equal(frames.rgb, Raster().render(corners[:1], 32, 32).rgb)
    assert len(frames.depth) == len(frames.ids) == 0


def test_pictures_can_stay_on_the_card(card, corners):
    assert isinstance(card, CardRenderer)
    there = Frames.blank(2, 40, 32)
    on_card = [cuda.to_device(a) for a in (there.rgb, there.depth, there.ids)]
    card.draw_into(corners[5:7], *on_card)
    equal(Frames(*(a.copy_to_host() for a in on_card)), Raster().render(corners[5:7], 40, 32))
    with pytest.raises(ValueError, match="3 scenes"):
        card.draw_into(corners[:3], on_card[0])


def test_no_scenes_give_no_pictures(card):
    frames = card.render(empty_batch(0, 2, 3), 40, 32)
    assert frames.rgb.shape == (0, 32, 40, 3)


@pytest.mark.parametrize("size", [(31, 64), (64, 1025)])
def test_sizes_out_of_range_are_refused(card, corners, size):
    with pytest.raises(ValueError, match="32 to 1024"):
        card.render(corners, *size)


@simulated
def test_a_scene_of_too_many_triangles_is_named(card, corners, monkeypatch):
    monkeypatch.setattr(arrange, "MOST_TRIANGLES", 250)
    few = SceneBatch.of([Scene(), Scene(), corner("clear"), Scene()])
    with pytest.raises(ValueError, match="scene 2 of the batch"):
        card.render(few, 32, 32)
    monkeypatch.undo()
    equal(card.render(corners[:1], 32, 32), Raster().render(corners[:1], 32, 32))


class FullError(Exception):
    """As numba tells it."""

    def __init__(self):
        super().__init__("[2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY")


def test_a_full_card_is_given_half_as_many_scenes(corners, monkeypatch):
    room, array = 2, engine._Lane.array

    def small(lane, name, shape, *more, **rest):
        if name == "counts" and shape[0] > room:
            raise FullError
        return array(lane, name, shape, *more, **rest)

    monkeypatch.setattr(engine._Lane, "array", small)
    monkeypatch.setattr(engine, "BACK", 4)
    card = Cuda()
    with pytest.warns(CardWarning, match="2 scenes at once"):
        equal(card.render(corners[:3], 32, 32), Raster().render(corners[:3], 32, 32))
    with warnings.catch_warnings():
        warnings.simplefilter("error", CardWarning)
        card.render(corners[:1], 32, 32, geometry=False)
    room = 0
    with pytest.warns(CardWarning, match="1 scenes at once"), pytest.raises(CardError, match="one scene"):
        card.render(corners[:3], 32, 32)


def test_cuda_is_chosen_where_it_works():
    told = []
    assert [settled(device, told.append) for device in ("cpu", "cuda", "auto")] == ["cpu", "cuda", "cuda"]
    assert not told
    assert isinstance(rasteriser("cuda"), Cuda)


@pytest.mark.slow
def test_whole_streets_in_every_weather_are_the_processors(card):
    """Three vehicles, moved cameras, all 102 kinds."""
    count, size = (7, (36, 33)) if config.ENABLE_CUDASIM else (500, (128, 128))
    scenes = sample(
        Settings(entities=102, frequencies="uniform", distractor=True, jitter=1.0, seed=11).recipe("train"), np.arange(count)
    ).scene
    scenes.weather[:] = np.arange(count) % len(WEATHERS)
    equal(card.render(scenes, *size), Raster().render(scenes, *size))
