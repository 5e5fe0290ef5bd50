"""The registry: which kinds there are and that their order, part of the data format, never changes."""

from hashlib import sha256

import pytest

from simtown.assets.catalogue import _STREET, _VEHICLES, ENTITIES, PROPS, STREET, entity_mesh, prop_mesh


@pytest.mark.parametrize(("first", "digest"), [(60, "a897f548c84d432b"), (102, "b9fdf8b690bec44c")])
def test_entity_order_never_changes(first, digest):
    """Golden: append to ENTITIES, never insert, rename or move."""
    assert len(ENTITIES) >= first
    assert sha256("\n".join(ENTITIES[:first]).encode()).hexdigest()[:16] == digest


def test_first_entities():
    assert ENTITIES[:6] == ("sedan", "fire truck", "school bus", "taxi", "red truck", "green car")


def test_every_name_once():
    assert len(ENTITIES) >= 100
    assert len(set(ENTITIES)) == len(ENTITIES)
    assert len(set(PROPS)) == len(PROPS)
    assert not set(ENTITIES) & set(PROPS)


def test_every_vehicle_is_in_the_list():
    assert set(_VEHICLES) == set(ENTITIES)


def test_groups_make_up_the_props():
    assert [name for group in STREET.values() for name in group] == list(PROPS)
    assert set(STREET) == {"building", "tree", "furniture", "person", "cloud"}
    assert set(_STREET) == set(PROPS)


def test_every_bare_tree_has_a_leafy_one():
    bare = [name for name in STREET["tree"] if name.endswith(" bare")]
    assert len(bare) >= 5
    assert {name.removesuffix(" bare") for name in bare} <= set(STREET["tree"])


def test_unknown_names_are_errors():
    with pytest.raises(KeyError):
        entity_mesh("hovercraft")
    with pytest.raises(KeyError):
        prop_mesh("sedan")
