"""What needs no network: vectors, n-grams against tables computed by hand, the oracle."""

import gzip
import itertools
import json

import numpy as np
import pytest
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


@pytest.mark.parametrize("name", ["v.txt", "head.txt", "v.txt.gz", "v.npy"])
def test_vectors_of_every_format(tmp_path, name):
    path = tmp_path / name
    if name.endswith(".npy"):
        np.save(path, MATRIX)
        (tmp_path / "v.vocab").write_text("\n".join(WORDS) + "\n")
    else:
        _write(path, header=name == "head.txt")
    scorer = open_scorer(f"glove:{path}")
    assert scorer.abilities == {"word_vector"}
    for word, row in zip(WORDS, MATRIX, strict=True):
        np.testing.assert_array_equal(scorer.word_vector(word), row)
    np.testing.assert_array_equal(scorer.word_vector("Bus"), MATRIX[0])
    assert scorer.word_vector("paris") is None
    with pytest.raises(UnableError, match="vectors of single words"):
        scorer.embed(["bus"])


@pytest.mark.parametrize("text", ["\ufeffcafe\u0301 1 2", "\ufeff1 2\r\ncafé 1 2\r\n", "b 3 4\n  café 1 2\n"])
def test_vectors_that_other_programs_wrote(tmp_path, text):
    (tmp_path / "v.txt").write_bytes(text.encode())
    vectors = open_scorer(f"glove:{tmp_path / 'v.txt'}")
    assert [vectors.word_vector(word).tolist() for word in ("café", "cafe\u0301")] == [[1, 2]] * 2


MALFORMED = [(text, "txt line 2") for text in (b"a 1 2 3\nb 1 2\n", b"a 1 2 3\nb 1 x 3\n", b"a 1 2\n\n")]
MALFORMED += [(f"2 {size}\na 1 2 3\n".encode(), "line [12]") for size in (10**9, "9" * 5000, "²")]
MALFORMED += [(b"", "v.txt"), (b"word\n", "line 1"), (b"a 1\ncaf\xe9 1\n", "line 2 is not UTF-8")]
MALFORMED += [(b"1 1\nbus \0\0\x80?\n", "v.txt is binary"), (b"version https://git-lfs", "of Git LFS")]


@pytest.mark.parametrize(("content", "named"), MALFORMED)
def test_malformed_vectors_are_named_by_line(tmp_path, content, named):
    (tmp_path / "v.txt").write_bytes(content)
    with pytest.raises((DamagedError, ValueError), match=named):
        open_scorer(f"glove:{tmp_path / 'v.txt'}")


def test_broken_files_of_vectors(tmp_path):
    _write(tmp_path / "v.txt.gz")
    (tmp_path / "v.txt.gz").write_bytes((tmp_path / "v.txt.gz").read_bytes()[:-9])
    with pytest.raises(DamagedError, match=r"v\.txt\.gz"):
        open_scorer(f"glove:{tmp_path / 'v.txt.gz'}")
    np.save(tmp_path / "v.npy", MATRIX)
    with pytest.raises(FileNotFoundError, match=r"v\.vocab"):
        open_scorer(f"glove:{tmp_path / 'v.npy'}")
    (tmp_path / "v.vocab").write_text("only\n")
    with pytest.raises(DamagedError, match=r"v\.npy"):
        open_scorer(f"glove:{tmp_path / 'v.npy'}")


# A bigram model by hand. After <s>: a a b; after a: b b; after b: </s> </s> c; after c: </s>.
SENTENCES = [["a", "b"], ["a", "b"], ["b", "c"]]


def test_a_bigram_model_by_hand():
    model = NGram("n", SENTENCES, order=2, discount=0.5)
    # a stands behind <s>; b behind a and <s>; c behind b; </s> behind b and c: 1, 2, 1, 2 of 6 continuations
    uniform = 1 / 5  # a, b, c, the end, the unknown one
    below = np.array([0.5, 1.5, 0.5]) / 6 + 0.5 * 4 / 6 * uniform
    a, b, c = np.array([1.5, 0.5, 0]) / 3 + 0.5 * 2 / 3 * below
    a_behind_b, _, c_behind_b = np.array([0, 0, 0.5]) / 3 + 0.5 * 2 / 3 * below
    targets = ["a", "b", "c", ["a", "c"], "b c", "d"]
    at_start, behind_b = model.class_logprobs(["[BLANK]", "A b [BLANK] c"], targets)
    np.testing.assert_allclose(np.exp(at_start), [a, b, c, a + c, b * c_behind_b, np.nan], rtol=1e-12)
    np.testing.assert_allclose(np.exp(behind_b[[0, 2, 5]]), [a_behind_b, c_behind_b, np.nan], rtol=1e-12)
    (scores,) = model.sequence_logprobs(["b, c"])
    assert scores.words.tolist() == [0, 0, 1]
    # the comma is unknown: nothing was seen behind it
    np.testing.assert_allclose(np.exp(scores.logprobs[[0, 2]]), [b, below[2]], rtol=1e-12)


sentences = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), min_size=1, max_size=8)


@given(sentences, st.integers(1, 4))
def test_probabilities_behind_any_history_sum_to_one(corpus, order):
    model = NGram("n", corpus, order=order)
    tokens = [1, 2, *model._numbers.values()]
    for length in range(order):
        for history in itertools.islice(itertools.product([0, *tokens], repeat=length), 60):
            assert sum(model.probability(token, history) for token in tokens) == pytest.approx(1)


def test_a_corpus_becomes_a_trigram_model(tmp_path):
    (tmp_path / "c.txt").write_text("The sky is bléu\nthe grass is green\nThe sky is bléu!\n")
    scorer = open_scorer(f"ngram:{tmp_path / 'c.txt'}")
    blue, green = scorer.class_logprobs(["the sky is [BLANK]"], ["ble\u0301u", "green"])[0]
    assert blue > green
    with pytest.raises(UnableError):
        scorer.embed(["sky"])


def test_the_oracle_answers_from_its_tables(tmp_path):
    path = tmp_path / "o.json"
    classes, texts, vectors = {"a [BLANK]": {"x": 0.25, "y": 0.5}}, {"a x": [0.5, 0.25]}, {"x": [1, 2]}
    path.write_text(json.dumps({"classes": classes, "texts": texts, "vectors": vectors}))
    scorer = open_scorer(f"oracle:{path}")
    assert scorer.abilities == {"class_logprobs", "sequence_logprobs", "embed", "word_vector"}
    logprobs = scorer.class_logprobs(["a [BLANK]"], ["x", ["x", "y", "y"], "z"])
    np.testing.assert_allclose(np.exp(logprobs), [[0.25, 0.75, np.nan]])
    (scores,) = scorer.sequence_logprobs(["a x"])
    np.testing.assert_allclose(np.exp(scores.logprobs), [0.5, 0.25])
    assert scores.words.tolist() == [0, 1]
    np.testing.assert_array_equal(scorer.embed(["ax"], [(1, 2)]), [[1, 2]])
    with pytest.raises(ValueError, match="has no answer for"):
        scorer.sequence_logprobs(["b"])
    path.write_text("[1]")
    with pytest.raises(DamagedError, match=r"o\.json"):
        open_scorer(f"oracle:{path}")
