"""The lexicon of spatial relations against the released one."""

import gzip
import json

from simtown.probes.spatial import lexicon
from simtown.probes.spatial.lexicon import CONTEXTS, RELATIONS


def test_sizes_and_order():
    assert (len(RELATIONS), len(CONTEXTS)) == (67, 57)
    assert list(RELATIONS) == sorted(set(RELATIONS))
    assert set(RELATIONS) <= set(lexicon.lexicon())


def test_the_words_of_the_tests_are_relations():
    words = {word for pair in (*lexicon.OPPOSITES, *lexicon.KINDS) for word in pair}
    assert words | {*lexicon.JUDGED, *lexicon.FUNCTIONAL, *lexicon.GEOMETRIC} <= set(RELATIONS)


def test_variants():
    forms = {"to the left hand side of": "left", "on the upper and left of": "upper_left"}
    forms |= {"in between": "between", "no relation": "no relation"}
    assert {form: lexicon.simple(form) for form in forms} == forms


def test_the_released_lists(reference):
    lists = json.loads((reference / "relations_67_contexts_57.json").read_text(encoding="utf-8"))
    assert (list(RELATIONS), list(CONTEXTS)) == (lists["relations_67"], lists["contexts_57"])
    with gzip.open(reference / "relation_variants.tsv.gz", "rt", encoding="utf-8") as file:
        released = dict(line.rstrip("\n").split("\t") for line in list(file)[1:])
    assert lexicon.lexicon() == released
