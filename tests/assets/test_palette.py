"""The palette: names, colours and tints."""

import numpy as np
import pytest

from simtown.assets import palette


def test_materials_are_valid_and_found_by_their_names():
    names = [m.name for m in palette.MATERIALS]
    assert [palette.material(n) for n in names] == list(range(len(names)))
    with pytest.raises(KeyError):
        palette.material("tartan")
    for paint in palette.MATERIALS:
        assert 0 <= paint.kind <= palette.CLOUD
        assert tuple(round(255 * c) for c in paint.colour) == tuple(paint.rgb.to_bytes(3, "big"))


def test_tints():
    for tints in (palette.WALL_TINTS, palette.ROOF_TINTS, palette.CLOTH_TINTS):
        table = palette.rgb_table(tints)
        assert (table.dtype, table.shape) == (np.float32, (palette.TINTS, 3))
        assert np.round(table * 255).astype(int).tolist() == [list(t.to_bytes(3, "big")) for t in tints]
        assert len(set(tints)) == palette.TINTS
