"""The registry, whose order is a part of the data format, and the palette."""

from hashlib import sha256

import numpy as np
import pytest

from simtown.assets import catalogue, palette
from simtown.assets.catalogue import ENTITIES, POSES, PROPS, STREET, STREET_MESHES, mesh_in_pose, pose_of

#: Golden: the first so many names, and their digest. Append a kind, never insert, rename or move one.
ORDERS = [(ENTITIES, 60, "a897f548c84d432b"), (ENTITIES, 102, "b9fdf8b690bec44c")]
ORDERS += [(PROPS, 89, "30396e1b64cbcc1a"), (PROPS, 96, "c0b99bb787960300"), (PROPS, 104, "d8521d263164c96c")]


@pytest.mark.parametrize(("names", "first", "digest"), ORDERS)
def test_order_never_changes(names, first, digest):
    """An instance stores a kind's number, so data sets keep their meaning."""
    assert len(names) >= first
    assert sha256("\n".join(names[:first]).encode()).hexdigest()[:16] == digest


def test_people_have_three_poses_under_one_name():
    """A style picks the pose, whatever else it picks; things of one pose have one mesh."""
    assert STREET_MESHES[: len(PROPS)] == tuple((name, 0) for name in PROPS)
    assert len(set(STREET_MESHES)) == len(STREET_MESHES) == len(PROPS) + (POSES - 1) * len(STREET["person"])
    styles = np.arange(65536, dtype=np.uint16)
    assert (np.bincount(pose_of(styles)) > 65536 / POSES - 200).all()
    for tint in range(100):
        assert set(pose_of(styles[tint::100]).tolist()) == set(range(POSES))
    for name in PROPS:
        numbers = {mesh_in_pose(name, pose) for pose in range(POSES)}
        assert {STREET_MESHES[k][0] for k in numbers} == {name}
        assert len(numbers) == (POSES if name in STREET["person"] else 1)


def test_every_name_once_and_in_a_group():
    assert set(catalogue.VEHICLES) == set(ENTITIES)
    assert len({*ENTITIES, *PROPS}) == len(ENTITIES) + len(PROPS)
    assert sorted(name for group in STREET.values() for name in group) == sorted(PROPS)
    assert set(STREET) == {"building", "tree", "furniture", "person", "cloud", "animal"}


def test_every_bare_tree_has_a_leafy_one():
    bare = [name for name in STREET["tree"] if name.endswith(" bare")]
    assert len(bare) >= 5
    assert {name.removesuffix(" bare") for name in bare} <= set(STREET["tree"])


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
