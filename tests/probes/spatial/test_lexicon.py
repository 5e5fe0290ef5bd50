"""The lexicon of spatial relations against the released one."""

import gzip
import json

import pytest

from simtown.probes.spatial.lexicon import (
    CONTEXTS,
    FUNCTIONAL,
    GEOMETRIC,
    JUDGED,
    KINDS,
    OPPOSITES,
    RELATIONS,
    lexicon,
    simple,
)


def test_sizes_and_order():
    assert len(RELATIONS) == len(set(RELATIONS)) == 67
    assert len(CONTEXTS) == 57
    assert list(RELATIONS) == sorted(RELATIONS)
    assert set(RELATIONS) <= set(lexicon())


def test_the_words_of_the_tests_are_relations():
    words = (
        {w for pair in (*OPPOSITES, *KINDS) for w in pair} | set(JUDGED) | set(FUNCTIONAL) | set(GEOMETRIC)
    )
    assert words <= set(RELATIONS)


@pytest.mark.parametrize(
    ("form", "relation"),
    [
        ("to the left hand side of", "left"),
        ("on the upper and left of", "upper_left"),
        ("in between", "between"),
        ("no relation", "no relation"),
    ],
)
def test_variants(form, relation):
    assert simple(form) == relation


def test_the_released_lists(reference):
    lists = json.loads((reference / "relations_67_contexts_57.json").read_text(encoding="utf-8"))
    assert (list(RELATIONS), list(CONTEXTS)) == (lists["relations_67"], lists["contexts_57"])
    with gzip.open(reference / "relation_variants.tsv.gz", "rt", encoding="utf-8") as file:
        released = dict(line.rstrip("\n").split("\t") for line in list(file)[1:])
    assert lexicon() == released
