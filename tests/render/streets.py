"""Scenes that try a renderer on a card: streets in all weathers, close-ups, and full ones."""

import numpy as np

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.bench.engines import the_scenes
from simtown.scenes.camera import Camera
from simtown.scenes.scene import Prop, Scene, SceneBatch, Vehicle, Weather, empty_batch
from simtown.scenes.weather import WEATHERS


def streets(n: int) -> SceneBatch:
    """The benchmark's streets, one weather after the other."""
    batch = the_scenes(64)[np.arange(n)]
    batch.weather[:] = np.arange(n) % len(WEATHERS)
    return batch


def close_up() -> SceneBatch:
    """Things before, at and behind the near plane, in the strongest weathers, by level and tilted cameras."""
    level, turned = Camera(y=0.0, z=1.5), Camera(y=11.0, z=2.0, yaw=2.6)
    cameras = [level, turned, Camera(y=0.0, z=1.5, pitch=1.5), Camera(z=-1.0), Camera(z=30.0, pitch=-1.2)]
    house, lamp = Prop("gabled house", -4.0, 10.0, style=3), Prop("arm lamp", 2.0, 4.0)
    props = [house, lamp, Prop("small cloud", 5.0, 40.0, 12.0)]
    car = Vehicle("sedan", 0.5, -1.85, 0.1, "red")
    scenes = []
    for i, kind in enumerate(WEATHERS):
        sky = Weather(kind, 1.0, 2.4, 0.6, 3)
        scenes += [Scene([car], props, sky, cameras[k % len(cameras)]) for k in (i, i + 1)]
    return SceneBatch.of(scenes)


def crowded(n: int, vehicles: int = 60, props: int = 150) -> SceneBatch:
    """Streets of more things than a block has threads, in any place and turn, some slots empty."""
    random = np.random.default_rng(5)
    batch = empty_batch(n, vehicles, props)
    batch.entity[:] = random.integers(-1, len(ENTITIES), batch.entity.shape)
    batch.prop[:] = random.integers(-1, len(PROPS), batch.prop.shape)
    batch.pose[:] = random.uniform([-20, -8, -7], [20, 30, 7], batch.pose.shape)
    batch.prop_pose[:] = random.uniform([-20, -8, 0, -7, 0.5], [20, 40, 1, 7, 2], batch.prop_pose.shape)
    batch.prop_style[:] = random.integers(0, 65536, batch.prop_style.shape)
    batch.weather[:] = np.arange(n) % len(WEATHERS)
    batch.intensity[:] = random.uniform(0, 1, n)
    batch.sun[:] = random.uniform([-3, 0.05], [3, 1.5], (n, 2))
    batch.fall_seed[:] = random.integers(0, 2**32, n)
    return batch
