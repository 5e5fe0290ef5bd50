"""Trees of rows hold every row once, and models that can read them are given them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.probes.scorers import open_scorer
from simtown.probes.scorers.batching import grow, shared
from tests.probes.tiny import CLOSE, SENTENCES

rows_of_tokens = st.lists(
    st.lists(st.integers(0, 2), min_size=1, max_size=7).map(tuple), min_size=1, max_size=30
)


@given(rows_of_tokens, st.sampled_from([0, 1, 8, 64]))
def test_a_tree_spells_its_rows_and_a_node_sees_its_own_row_alone(rows, most):
    trees, places = grow(rows, most)
    for row, (number, path) in zip(rows, places, strict=True):
        tree = trees[number]
        assert tuple(tree.ids[node] for node in path) == row
        assert [tree.depths[node] for node in path] == list(range(len(row)))
        for node in path:
            seen = [i for i in range(len(tree.ids)) if i <= node < tree.ends[i]]
            assert seen == path[: path.index(node) + 1]
    distinct = {row[:end] for row in rows for end in range(1, len(row) + 1)}
    assert sum(len(tree.ids) for tree in trees) >= len(distinct)
    if not most:
        assert not any(tree.branches for tree in trees)


@given(st.text("ab"), st.text("ab"))
def test_shared_beginnings(a, b):
    count = shared(a, b)
    assert a[:count] == b[:count]
    assert a[count : count + 1] != b[count : count + 1] or count == len(a) == len(b)


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_beginnings_are_read_once_by_a_model_that_can(model, kind):
    scorer = open_scorer(f"hf:{model(kind)}").uncached()
    texts = [f"{SENTENCES[2]} {end}" for end in ("the sky", "a bus", "a coat", "the town")]
    alone = [scorer.sequence_logprobs([text])[0].logprobs for text in texts]
    read = []
    forward = scorer.model.forward
    scorer.model.forward = lambda **inputs: read.append(inputs["input_ids"].numel()) or forward(**inputs)
    together = scorer.sequence_logprobs(texts)
    for one, of_all in zip(alone, together, strict=True):
        np.testing.assert_allclose(one, of_all.logprobs, **CLOSE)
    assert sum(read) < sum(map(len, alone)) / 1.5


def test_only_what_stands_behind_a_context_is_scored(model):
    for kind in ("gpt2", "bert"):
        scorer = open_scorer(f"hf:{model(kind)}")
        text, context = "the sky is blue", "the sky "
        (whole,), (end,) = (scorer.sequence_logprobs([text], begin) for begin in (None, [len(context)]))
        behind = whole.words >= 2
        np.testing.assert_allclose(end.logprobs, whole.logprobs[behind], **CLOSE)
        np.testing.assert_array_equal(end.words, whole.words[behind])
