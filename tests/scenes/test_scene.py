"""The latent state: JSON and arrays, both ways without loss."""

from dataclasses import asdict, fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.language.sampler import Recipe, sample
from simtown.scenes.camera import Camera
from simtown.scenes.scene import Prop, Scene, SceneBatch, Vehicle, Weather, empty_batch
from simtown.scenes.weather import WEATHERS

quick = settings(max_examples=60)

exact = st.floats(-1000, 1000)
single = st.floats(-1000, 1000, width=32).map(lambda x: x + 0.0)


def scenes(number):
    vehicles = st.builds(Vehicle, st.sampled_from(ENTITIES), number, number, number)
    props = st.builds(Prop, st.sampled_from(PROPS), *[number] * 5, st.integers(0, 65535))
    sky = (st.sampled_from(WEATHERS), st.floats(0, 1, width=32), number, number)
    weather = st.builds(Weather, *sky, st.integers(0, 2**32 - 1))
    camera = st.builds(Camera, *[number] * 5, st.floats(0.125, 1000, width=32), number)
    return st.builds(Scene, st.lists(vehicles, max_size=3), st.lists(props, max_size=4), weather, camera)


@pytest.fixture(scope="module")
def batch():
    even = np.full(30, 1 / 30)
    return sample(Recipe(3, "train", even, even, distractor=True, jitter=0.4), np.arange(24)).scene


@quick
@given(scenes(exact))
def test_json_both_ways(scene):
    assert Scene.from_json(scene.to_json()) == scene


@quick
@given(st.lists(scenes(single), min_size=1, max_size=4))
def test_a_batch_gives_its_scenes_back(many):
    batch = SceneBatch.of(many)
    assert len(batch) == len(many)
    assert [batch.scene(i) for i in range(len(many))] == many


def test_sampled_scenes_round_trip(batch):
    for i in range(len(batch)):
        scene = batch.scene(i)
        assert Scene.from_json(scene.to_json()) == scene
        again = SceneBatch.of([scene])
        assert again.scene(0) == scene
        kept = batch.prop[i] >= 0
        assert 0 < kept.sum() < len(kept)  # empty slots close up
        for f in fields(SceneBatch):
            ours, theirs = getattr(batch, f.name), getattr(again, f.name)
            assert ours.dtype == theirs.dtype
            assert np.array_equal(ours[i][kept] if f.name.startswith("prop") else ours[i], theirs[0])


def test_rows_of_a_batch(batch):
    for rows in (slice(3, 9, 2), np.array([7, 7, 0]), np.arange(24) % 5 == 0):
        part = batch[rows]
        for f in fields(SceneBatch):
            assert np.array_equal(getattr(part, f.name), getattr(batch, f.name)[rows])


def test_scenes_of_different_sizes_share_a_batch():
    one = Scene([Vehicle("taxi", 1.0, -1.5)])
    two = Scene([Vehicle("taxi", 1.0, -1.5), Vehicle("SUV", -1.0, 1.5, 3.0)], [Prop("bench", 0.0, 5.0)])
    batch = SceneBatch.of([one, two, Scene()])
    taxi, suv = map(ENTITIES.index, ("taxi", "SUV"))
    assert batch.entity.tolist() == [[taxi, -1], [taxi, suv], [-1, -1]]
    assert batch.prop.tolist() == [[-1], [PROPS.index("bench")], [-1]]


def test_empty_batch_is_the_default_scene():
    batch = empty_batch(2, 2, 3)
    scene = batch.scene(1)
    assert scene.vehicles == scene.props == []
    assert scene.weather.kind == Weather().kind == "clear"
    assert np.allclose(list(asdict(scene.camera).values()), list(asdict(Camera()).values()), rtol=1e-6)
    assert SceneBatch.of([Scene()]).sun.tolist() == batch.sun[:1].tolist()
    assert SceneBatch.of([Scene()]).intensity.tolist() == batch.intensity[:1].tolist()


@pytest.mark.parametrize(
    ("scene", "message"),
    [
        (Scene([Vehicle("hovercraft", 0.0, 0.0)]), "unknown vehicle 'hovercraft'"),
        (Scene([Vehicle("school buss", 0.0, 0.0)]), "unknown vehicle 'school buss': did you mean school bus"),
        (Scene(props=[Prop("dragon", 0.0, 0.0)]), "unknown street kind 'dragon'"),
        (Scene(weather=Weather("hail")), "unknown weather 'hail'"),
    ],
)
def test_unknown_names_are_errors(scene, message):
    with pytest.raises(ValueError, match=message):
        SceneBatch.of([scene])


@pytest.mark.parametrize("most", [2**16 - 1, 2**32 - 1])
@pytest.mark.parametrize("value", [-1, 0, 7, 2**16 - 1, 2**16, 2**32 - 1, 2**32, 10**30, 1.5, "a", None])
def test_styles_and_seeds_are_stored_or_refused(value, most):
    """What a batch takes, it gives back; and it takes what JSON takes."""
    if most == 2**16 - 1:
        scene, name = Scene(props=[Prop("bench", 0.0, 0.0, style=value)]), "prop.style"
    else:
        scene, name = Scene(weather=Weather(seed=value)), "weather.seed"
    if isinstance(value, int) and 0 <= value <= most:
        stored = SceneBatch.of([scene]).scene(0)
        assert [p.style for p in stored.props] == [p.style for p in scene.props]
        assert stored.weather.seed == scene.weather.seed
        assert Scene.from_json(scene.to_json()) == scene
        return
    with pytest.raises(ValueError, match=f"{name} is .* from 0 to {most}"):
        SceneBatch.of([scene])
    with pytest.raises((ValueError, TypeError), match=f"{name} is "):
        Scene.from_json(scene.to_json())
