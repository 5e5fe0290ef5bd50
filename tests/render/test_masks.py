"""Masks of single things: their boxes, and COCO's run lengths as pycocotools has them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from simtown.render.masks import compressed_run_lengths, mask_and_box, run_lengths


@given(arrays(bool, st.tuples(st.integers(1, 40), st.integers(1, 40))))
def test_run_lengths_are_those_of_pycocotools(mask):
    coco = pytest.importorskip("pycocotools.mask", reason="needs pycocotools: pip install '.[dev]'")
    theirs = coco.encode(np.asfortranarray(mask.astype(np.uint8)))
    assert compressed_run_lengths(mask) == theirs["counts"].decode()
    ids = mask.astype(np.uint8)
    if mask.any():
        x, y, w, h = coco.toBbox(theirs)
        assert mask_and_box(ids, 0)[1] == (x, y, x + w, y + h)
    else:
        assert mask_and_box(ids, 0) is None


def test_run_lengths_begin_with_the_background():
    assert run_lengths(np.array([[True, False], [True, False]])) == [0, 2, 2]
    assert run_lengths(np.array([[False, True], [False, False]])) == [2, 1, 1]
    assert run_lengths(np.zeros((2, 3), dtype=bool)) == [6]
