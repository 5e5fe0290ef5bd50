"""Perplexity against a bigram model computed by hand, and against the products of the appendix's equations 7
and 12.
"""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.probes.scorers.base import UnableError
from simtown.probes.scorers.ngram import NGram
from simtown.probes.scorers.oracle import Oracle
from simtown.probes.scorers.wordvectors import Vectors
from simtown.probes.spatial.perplexity import FORMS, cross_entropy, of_sentences, of_texts, perplexity

probabilities = st.lists(st.floats(1e-4, 1.0), min_size=1, max_size=8)


class Bigrams:
    """Unsmoothed bigrams of a few sentences, counted with fractions; it gives a token a word."""

    def __init__(self, *sentences):
        pairs = [pair for s in sentences for pair in zip(["<s>", *s.split()], s.split(), strict=False)]
        self.q = {pair: Fraction(pairs.count(pair), sum(a == pair[0] for a, _ in pairs)) for pair in pairs}

    def of(self, text):
        return [self.q[pair] for pair in zip(["<s>", *text.split()], text.split(), strict=False)]

    def oracle(self, *texts):
        return Oracle(texts={text: [float(q) for q in self.of(text)] for text in texts})


def test_a_bigram_model_by_hand():
    """ "a on b" is 2/3 · 1/2 · 1, since a begins two of three sentences and on follows one of two a; "b" is
    1/3.
    """
    scorer = Bigrams("a on b", "a under b", "b on b").oracle("a on b", "b on b")
    assert of_texts(scorer, ["a on b"]) == pytest.approx(3 ** (1 / 3))
    assert of_texts(scorer, ["a on b"], "sentence") == pytest.approx(3)
    # "b on b": 1/3 · 1 (all that follows b) · 1
    assert of_texts(scorer, ["a on b", "b on b"]) == pytest.approx((3 * 3) ** (1 / 6))
    assert of_texts(scorer, ["a on b", "b on b"], "sentence") == pytest.approx((3 * 3) ** (1 / 2))


def test_the_bigram_scorer_of_the_package_agrees_with_counts():
    """Without a discount the package's own model, of order two, is the maximum-likelihood one."""
    sentences = ["the cat on the mat", "the dog under the mat", "a dog on a mat"]
    mine, theirs = (
        Bigrams(*sentences),
        NGram("bigrams", [s.split() for s in sentences], order=2, discount=0.0),
    )
    for text in (*sentences, "the dog on the mat", "a mat"):
        product = prod(mine.of(text))
        assert of_texts(theirs, [text], "sentence") == pytest.approx(float(1 / product))
        assert of_texts(theirs, [text]) == pytest.approx(float(1 / product) ** (1 / len(text.split())))


@given(st.lists(probabilities, min_size=1, max_size=6))
def test_products_of_equations_7_and_12(sentences):
    logs = [np.log(s) for s in sentences]
    everything = [q for s in sentences for q in s]
    assert of_sentences(logs, "token") == pytest.approx(prod(everything) ** (-1 / len(everything)), rel=1e-9)
    assert of_sentences(logs, "sentence") == pytest.approx(
        prod(map(prod, sentences)) ** (-1 / len(sentences)), rel=1e-9
    )


@given(probabilities)
def test_the_two_forms_agree_on_one_token_each_and_differ_by_length_on_one_sentence(values):
    logs = np.log(values)
    assert of_sentences([logs[i : i + 1] for i in range(len(logs))], "sentence") == pytest.approx(
        of_sentences([logs], "token")
    )
    assert of_sentences([logs], "sentence") == pytest.approx(
        of_sentences([logs], "token") ** len(logs), rel=1e-9
    )


@given(probabilities, st.data())
def test_equation_3_with_other_likelihoods(values, data):
    """Repeating an outcome k times is giving it k times the likelihood."""
    times = data.draw(st.lists(st.integers(0, 4), min_size=len(values), max_size=len(values)).filter(any))
    logs, p = np.log(values), np.array(times) / sum(times)
    assert cross_entropy(logs, p) == pytest.approx(cross_entropy(np.repeat(logs, times)))


def test_log_space_does_not_underflow():
    logs = np.full(5000, np.log(1e-9))
    assert np.exp(logs).prod() == 0.0
    assert perplexity(logs) == pytest.approx(1e9)
    assert of_sentences([logs], "sentence") == float("inf")


def test_a_uniform_model_is_as_perplexed_as_it_has_words():
    assert perplexity(np.log(np.full(7, 1 / 50))) == pytest.approx(50)
    assert perplexity(np.array([0.0, -np.inf])) == float("inf")
    assert perplexity(np.array([0.0, -np.inf]), np.array([1.0, 0.0])) == 1.0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "sentences",
    [[], [np.array([])], [np.array([-1.0]), np.array([])], [np.array([0.5])], [np.array([np.nan])]],
)
def test_what_has_no_perplexity(sentences, form):
    with pytest.raises(ValueError, match=r"perplexity|log-probability"):
        of_sentences(sentences, form)


@pytest.mark.parametrize("p", [[1.0], [0.5, 0.6], [1.5, -0.5]])
def test_likelihoods_that_are_no_distribution(p):
    with pytest.raises(ValueError, match="add up to 1"):
        cross_entropy(np.log([0.5, 0.5]), np.array(p))


def test_vectors_have_no_probabilities():
    with pytest.raises(UnableError):
        of_texts(Vectors("v", ["a"], np.ones((1, 2))), ["a"])
