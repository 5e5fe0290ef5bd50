"""What is seen beside the road, against the pixels of the pictures."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtown.assets.catalogue import ENTITIES, PROPS, STREET
from simtown.core.streams import Stream
from simtown.language.meaning.limits import THING_PIXELS
from simtown.language.meaning.sights import also_shown, street_pixels, street_sights
from simtown.render.light import THICK, lights
from simtown.render.raster import Raster
from simtown.scenes.crowd import crowd_camera, place_crowds
from simtown.scenes.scene import Prop, Scene, SceneBatch, Vehicle, empty_batch
from simtown.scenes.street import SLOTS, draw_street
from simtown.scenes.weather import WEATHERS
from tests.scenes.cameras import moved_cameras


def streets(n, vehicles=5, seed=0, moved=False):
    """n sampled streets with vehicles, some seen by another camera."""
    rng, index = np.random.default_rng(seed), np.arange(n)
    batch = empty_batch(n, vehicles, SLOTS)
    batch.entity[:] = rng.random((n, 60)).argsort(axis=1)[:, :vehicles]
    batch.camera[:] = moved_cameras(rng, n) if moved else crowd_camera(6).row()
    batch.pose[:], _, placed = place_crowds(
        Stream(seed, "train", "crowd"), index, index, batch.entity, batch.camera
    )
    batch.entity[~placed] = -1
    street = draw_street(Stream(seed, "train", "street"), index, batch.weather)
    batch.prop[:], batch.prop_pose[:], batch.prop_style[:] = street
    return batch


def counted(batch, size):
    """(n, p) pixels of each prop in the picture's ids."""
    ids = Raster().render(batch, *size).ids
    first = 1 + batch.entity.shape[1]
    return np.stack([(ids == first + slot).sum(axis=(1, 2)) for slot in range(batch.prop.shape[1])], axis=1)


@pytest.mark.parametrize(("size", "scale", "moved"), [((256, 144), 1, True), ((192, 192), 16 / 9, False)])
def test_pixels_are_those_of_the_picture(size, scale, moved):
    """But for things that stand in each other, such as a willow's twigs in a wall."""
    batch = streets(150, moved=moved)
    seen, whole = street_pixels(batch, size)
    difference = np.abs(counted(batch, size) * scale - seen)
    assert (difference <= 3).mean() > 0.99
    assert (difference <= 0.02 * whole + 3).mean() > 0.998


def test_what_nothing_hides_shows_whole():
    batch = streets(60)
    alone = replace(batch, entity=np.full_like(batch.entity, -1), prop=np.full_like(batch.prop, -1))
    for slot in range(0, SLOTS, 5):
        alone.prop[:] = -1
        alone.prop[:, slot] = batch.prop[:, slot]
        seen, whole = street_pixels(alone)
        assert np.array_equal(seen, whole)
        assert np.abs(street_pixels(batch)[1][:, slot] - whole[:, slot]).max() == 0


def test_without_vehicles_at_least_as_much_is_seen():
    batch = streets(80, 8)
    emptied = replace(batch, entity=np.full_like(batch.entity, -1))
    more, less = street_pixels(emptied)[0], street_pixels(batch)[0]
    assert (more >= less).mean() > 0.999  # things that stand in each other may change their order
    assert (more > less).any()
    sights = street_sights(batch)
    assert set(np.unique(sights)) == {-1, 0, 1}
    assert (less[sights == 1] >= THING_PIXELS).all()
    assert (less[sights == -1] == 0).all()
    assert (less[sights == 0] > 0).all()


measures = st.floats(-60, 60) | st.sampled_from([-9e5, 9e5])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(Prop, st.sampled_from(PROPS), measures, measures, measures, measures, st.floats(-1, 4))
    ),
    st.lists(st.builds(Vehicle, st.sampled_from(ENTITIES), measures, measures, measures), max_size=8),
)
def test_any_scene_can_be_looked_at(props, vehicles):
    """Behind the camera, without a size, within each other: never more than the picture, and no crash."""
    batch = SceneBatch.of([Scene(vehicles, props), Scene(vehicles[:1], props[:1])])
    for size in ((256, 144), (64, 128), (2048, 32)):
        seen, whole = street_pixels(batch, size)
        assert (seen >= 0).all()
        assert (seen <= whole).all()


def test_kinds_that_show_such_things_too():
    riders = also_shown(STREET["person"])
    assert {"bicycle", "motorcycle", "tractor", "convertible", "taxi"} & riders == {
        "bicycle",
        "motorcycle",
        "convertible",
    }
    assert also_shown(("oak",)) == {"square", "park", "oak bare"}
    assert also_shown(STREET["tree"]) == {"square", "park"}
    assert also_shown(("hydrant", "taxi")) == frozenset()
    assert also_shown(("mailbox",)) == {"pillar box"}
    assert also_shown(("mailbox", "pillar box")) == frozenset()
    assert also_shown(("dog", "cat")) == {"person with dog"}
    assert also_shown(STREET["animal"]) == {"person with dog", "park", "horse cart", "cattle truck"}


def test_in_fog_only_what_is_near_is_seen():
    clear = streets(60)
    foggy = replace(clear, weather=np.full(60, WEATHERS.index("fog"), dtype=np.uint8))
    light = lights(foggy.weather, np.linspace(0, 1, 60), foggy.sun)
    foggy.intensity[:] = np.linspace(0, 1, 60)
    before, after = street_sights(clear), street_sights(foggy)
    assert (after[before < 1] == before[before < 1]).all()
    ahead = foggy.prop_pose[..., 1] - foggy.camera[:, 1:2]
    through = np.exp(-((light[:, THICK, None] * ahead) ** 4))
    assert np.array_equal(after == 1, (before == 1) & (through >= 0.3))
    assert 0.1 < (after == 1).sum() / (before == 1).sum() < 0.9
