"""All kernels one after the other on the scenes that are hard for them, every access checked, against the
processor's pictures.
"""

import numpy as np
import pytest

pytest.importorskip("cuda.bindings", reason="needs cuda-bindings: pip install '.[dev]'")

from simtown.render.cuda.engine import Cuda
from simtown.render.raster import Raster
from tests.cuda.emulated_card import EmulatedCard
from tests.render.streets import close_up, crowded


@pytest.mark.parametrize(
    ("batch", "width", "height"),
    [(close_up(), 64, 48), (crowded(7, 20, 40), 97, 65)],
    ids=["close up", "crowded"],
)
def test_pictures_are_the_processors(batch, width, height):
    engine = Cuda(EmulatedCard())
    drawn, expected = engine.render(batch, width, height), Raster().render(batch, width, height)
    assert not any(lane.failed(len(batch)).size for lane in engine._lanes), "the processor has helped"
    for name in ("rgb", "depth", "ids"):
        differ = getattr(drawn, name) != getattr(expected, name)
        assert not differ.any(), f"{name} of scenes {np.unique(np.nonzero(differ)[0])}"
