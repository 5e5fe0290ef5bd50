"""The kernels' pictures are the processor's, byte for byte: run on the processor, every access checked."""

import numpy as np
import pytest

pytest.importorskip("ziglang", reason="needs ziglang: pip install '.[dev]'")

from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.paper import sample
from simtown.render.cuda.engine import Cuda
from simtown.render.raster import Raster
from simtown.scenes.weather import WEATHERS
from tests.cuda.host_card import HostCard
from tests.render.streets import close_up, crowded, streets


def sparse():
    """More slots than a block has threads, most of them empty."""
    batch = crowded(2, 20, 140)
    batch.prop[:, 20:120] = -1
    return batch


def different(batch, width, height, **card):
    """Which of rgb, depth and ids are not the processor's; no scene is left to the processor."""
    engine = Cuda(HostCard(megabytes=3000, **card))
    engine.launch = 10**6
    drawn, expected = engine.render(batch, width, height), Raster().render(batch, width, height)
    assert not engine.too_much
    return [n for n, values in vars(expected).items() if getattr(drawn, n).tobytes() != values.tobytes()]


@pytest.mark.parametrize(("width", "height"), [(64, 64), (97, 65), (33, 140), (128, 128)])
def test_sampled_streets(width, height):
    distractor = width % 2 == 1
    settings = Settings(entities=102, frequencies="uniform", distractor=distractor, jitter=1.0, seed=29)
    batch = sample(source_of(settings).recipe("train"), np.arange(10)).scene
    batch.weather[:] = np.arange(10) % len(WEATHERS)
    assert different(batch, width, height, seed=width + distractor) == []


@pytest.mark.parametrize(
    ("batch", "width", "height"),
    [
        (close_up, 64, 48),
        (lambda: crowded(7, 20, 40), 97, 65),
        (sparse, 48, 32),
        (lambda: streets(7), 160, 288),
    ],
    ids=["close up", "crowded", "more things than a block has threads", "large"],
)
def test_hard_scenes(batch, width, height):
    assert different(batch(), width, height, seed=width) == []


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(256, 256), (512, 512), (1024, 1024)])
def test_large_pictures(width, height):
    assert different(streets(7), width, height) == []
