"""The palette: names, colours and tints."""

import numpy as np
import pytest

from simtown.assets import palette


def test_names_are_unique_and_found():
    names = [m.name for m in palette.MATERIALS]
    assert len(set(names)) == len(names)
    assert [palette.material(n) for n in names] == list(range(len(names)))
    with pytest.raises(KeyError):
        palette.material("tartan")


@pytest.mark.parametrize("paint", palette.MATERIALS, ids=lambda m: m.name)
def test_materials_are_valid(paint):
    assert 0 <= paint.rgb <= 0xFFFFFF
    assert 0 <= paint.kind <= palette.CLOUD
    assert tuple(round(255 * c) for c in paint.colour) == tuple(paint.rgb.to_bytes(3, "big"))


def test_tints():
    for tints in (palette.WALL_TINTS, palette.ROOF_TINTS, palette.CLOTH_TINTS):
        table = palette.rgb_table(tints)
        assert table.dtype == np.float32
        assert table.shape == (palette.TINTS, 3)
        assert np.round(table * 255).astype(int).tolist() == [list(t.to_bytes(3, "big")) for t in tints]
        assert len(set(tints)) == palette.TINTS
