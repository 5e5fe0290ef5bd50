"""What needs no network: vectors, n-grams against tables computed by hand, the oracle."""

import gzip
import itertools
import json
import math

import numpy as np
import pytest

pytest.importorskip("msgspec", reason="needs msgspec: pip install '.[vg]'")

from hypothesis import given
from hypothesis import strategies as st

from simtown.core.files import DamagedError
from simtown.probes.scorers import UnableError, open_scorer
from simtown.probes.scorers.ngram import NGram

MATRIX = np.array([[0.5, -1, 2.25], [1e-3, 0, 7], [3, 3, 3]], dtype=np.float32)
WORDS = ["bus", "Paris", "at name@x.org"]


def _write(path, header=False, rows=MATRIX):
    lines = [f"{w} {' '.join(map(str, r))}" for w, r in zip(WORDS, rows.tolist(), strict=True)]
    text = "\n".join(([f"{len(WORDS)} 3"] if header else []) + lines) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


@pytest.mark.parametrize(
    ("name", "header"), [("v.txt", False), ("v.txt", True), ("v.txt.gz", False), ("v.npy", False)]
)
def test_vectors_of_every_format(tmp_path, name, header):
    path = tmp_path / name
    if name.endswith(".npy"):
        np.save(path, MATRIX)
        (tmp_path / "v.vocab").write_text("\n".join(WORDS) + "\n")
    else:
        _write(path, header)
    scorer = open_scorer(f"glove:{path}")
    assert scorer.abilities == {"word_vector"}
    for word, row in zip(WORDS, MATRIX, strict=True):
        np.testing.assert_array_equal(scorer.word_vector(word), row)
    np.testing.assert_array_equal(scorer.word_vector("Bus"), MATRIX[0])
    assert scorer.word_vector("paris") is None
    with pytest.raises(UnableError, match="vectors of single words"):
        scorer.embed(["bus"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a 1 2 3\nb 1 2\n", "line 2: expected a word and 3 numbers"),
        ("a 1 2 3\nb 1 x 3\n", "line 2"),
        ("", "holds no word vectors"),
        ("word\n", "line 1"),
        ("a 1 2\n\n", "line 2"),
    ],
)
def test_malformed_vectors_are_told_by_line(tmp_path, text, told):
    (tmp_path / "v.txt").write_text(text)
    with pytest.raises(DamagedError, match=told):
        open_scorer(f"glove:{tmp_path / 'v.txt'}")


def test_broken_files_of_vectors(tmp_path):
    _write(tmp_path / "v.txt.gz")
    whole = (tmp_path / "v.txt.gz").read_bytes()
    (tmp_path / "v.txt.gz").write_bytes(whole[:-9])
    with pytest.raises(DamagedError, match="unpacking fails"):
        open_scorer(f"glove:{tmp_path / 'v.txt.gz'}")
    np.save(tmp_path / "v.npy", MATRIX)
    with pytest.raises(FileNotFoundError, match=r"needs a file of its words.*v\.vocab"):
        open_scorer(f"glove:{tmp_path / 'v.npy'}")
    (tmp_path / "v.vocab").write_text("only\n")
    with pytest.raises(DamagedError, match="must hold 1 rows"):
        open_scorer(f"glove:{tmp_path / 'v.npy'}")


# A bigram model by hand. "a b", "a b", "b c": after <s> a a b, after a b b, after b </s> </s> c, after c
# </s>.
SENTENCES = [["a", "b"], ["a", "b"], ["b", "c"]]


def test_a_bigram_model_by_hand():
    model = NGram("n", SENTENCES, order=2, discount=0.5)
    # Continuations: a stands behind <s>; b behind a and <s>; c behind b; </s> behind b and c: 1, 2, 1, 2 of
    # 6, discount 0.5 each.
    uniform = 1 / 5  # a, b, c, the end, the unknown one
    back = 0.5 * 4 / 6 * uniform
    below = {"a": 0.5 / 6 + back, "b": 1.5 / 6 + back, "c": 0.5 / 6 + back}
    after_start = {
        "a": 1.5 / 3 + 0.5 * 2 / 3 * below["a"],
        "b": 0.5 / 3 + 0.5 * 2 / 3 * below["b"],
        "c": 0.5 * 2 / 3 * below["c"],
    }
    after_b = {"c": 0.5 / 3 + 0.5 * 2 / 3 * below["c"], "a": 0.5 * 2 / 3 * below["a"]}
    found = model.class_logprobs(["[BLANK]", "A b [BLANK] c"], ["a", "b", "c", ["a", "c"], "b c", "d"])
    wanted = [
        after_start["a"],
        after_start["b"],
        after_start["c"],
        after_start["a"] + after_start["c"],
        after_start["b"] * after_b["c"],
    ]
    np.testing.assert_allclose(np.exp(found[0, :5]), wanted, rtol=1e-12)
    np.testing.assert_allclose(np.exp(found[1, [0, 2]]), [after_b["a"], after_b["c"]], rtol=1e-12)
    assert np.isnan(found[:, 5]).all()
    one = model.sequence_logprobs(["b, c"])[0]
    assert one.words.tolist() == [0, 0, 1]
    assert one.logprobs[0] == pytest.approx(math.log(after_start["b"]))
    behind_comma = below["c"]  # the comma is unknown: nothing was seen behind it
    assert one.logprobs[2] == pytest.approx(math.log(behind_comma))


sentences = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), min_size=1, max_size=8)


@given(sentences, st.integers(1, 4))
def test_probabilities_behind_any_history_sum_to_one(corpus, order):
    model = NGram("n", corpus, order=order)
    tokens = [1, 2, *model._numbers.values()]
    for length in range(order):
        for history in itertools.islice(itertools.product([0, *tokens], repeat=length), 60):
            assert sum(model.probability(token, history) for token in tokens) == pytest.approx(1)


def test_a_corpus_becomes_a_trigram_model(tmp_path):
    (tmp_path / "c.txt").write_text("The sky is blue\nthe grass is green\nThe sky is blue!\n")
    scorer = open_scorer(f"ngram:{tmp_path / 'c.txt'}")
    blue, green = scorer.class_logprobs(["the sky is [BLANK]"], ["blue", "green"])[0]
    assert blue > green
    with pytest.raises(UnableError):
        scorer.embed(["sky"])


def test_the_oracle_says_what_it_was_told(tmp_path):
    path = tmp_path / "o.json"
    path.write_text(
        json.dumps(
            {
                "classes": {"a [BLANK]": {"x": 0.25, "y": 0.5}},
                "texts": {"a x": [0.5, 0.25]},
                "vectors": {"x": [1, 2]},
            }
        )
    )
    scorer = open_scorer(f"oracle:{path}")
    assert scorer.abilities == {"class_logprobs", "sequence_logprobs", "embed", "word_vector"}
    np.testing.assert_allclose(
        np.exp(scorer.class_logprobs(["a [BLANK]"], ["x", ["x", "y", "y"], "z"])), [[0.25, 0.75, np.nan]]
    )
    one = scorer.sequence_logprobs(["a x"])[0]
    np.testing.assert_allclose(np.exp(one.logprobs), [0.5, 0.25])
    assert one.words.tolist() == [0, 1]
    np.testing.assert_array_equal(scorer.embed(["ax"], [(1, 2)]), [[1, 2]])
    with pytest.raises(ValueError, match="has no answer for"):
        scorer.sequence_logprobs(["b"])
    path.write_text("[1]")
    with pytest.raises(DamagedError, match=r"o\.json (is not JSON|must be a JSON object)"):
        open_scorer(f"oracle:{path}")
