"""Bins, frames and the matrix, against slow and obvious versions of themselves."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.core.files import DamagedError
from simtown.probes.lm.architectures import ARCHITECTURES
from simtown.probes.scorers.base import Scorer, ScorerSettings
from simtown.probes.scorers.cache import Cached
from simtown.probes.scorers.causal import Causal
from simtown.probes.scorers.masked import Masked
from simtown.probes.scorers.ngram import NGram
from simtown.probes.spatial import perplexity, suites
from simtown.probes.spatial.lexicon import lexicon
from tests.probes.tiny import redrawn

FORMS = {tuple(form.split()) for form in lexicon()}
LONGEST = max(map(len, FORMS))
WORDS = "on top of the cat left side to in front and upper hand"
words = st.sampled_from(WORDS.split())
PAIRS = [("the cat", "the mat"), ("a dog", "a tree"), ("man", "street"), ("the cat", "a tree"), ("sign", "")]
PHRASES = product(PAIRS, ["on", "under", "next to", "in front of", "on top of"])
CORPUS = [f"{a} {relation} {b}".strip() for (a, b), relation in PHRASES] + ["a red bus", "on"]
RELATIONS = ("on", "under", "next to", "in front of")


@pytest.fixture(scope="module")
def bins():
    return suites.collect([p.split() for p in CORPUS], contexts=RELATIONS, least=1)


@pytest.fixture(scope="module", params=["ngram", "lstm", "bert-mini", "gpt-mini"])
def scorer(request):
    if request.param == "ngram":
        return NGram("ngram", [p.split() for p in CORPUS])
    made = ARCHITECTURES[request.param]
    tokenizer = made.tokenizer(CORPUS, 300)
    kind = Masked if request.param == "bert-mini" else Causal
    model = redrawn(made.model(tokenizer), 0, 0.05)
    return Cached(kind(request.param, model, tokenizer, ScorerSettings(device="cpu")))


@given(st.lists(words, max_size=9))
def test_the_longest_relation_is_found_and_the_first_of_several(tokens):
    spans = combinations(range(len(tokens) + 1), 2)
    spans_of_forms = [(begin, end) for begin, end in spans if tuple(tokens[begin:end]) in FORMS]
    best = min(spans_of_forms, key=lambda span: (span[0] - span[1], span[0]), default=None)
    assert suites.find(tokens, FORMS, LONGEST) == best


def test_bins(bins):
    assert bins.contexts == RELATIONS
    assert bins.phrases == bins.kept == len(CORPUS)
    assert bins.seen == {"on": 6, "under": 5, "next to": 5, "in front of": 5, "on top of": 5}
    assert len(bins.frames) == 6  # five pairs, and nothing around "on"
    for j, context in enumerate(RELATIONS):
        expected = [phrase for phrase in CORPUS if f" {context} " in f" {phrase} "]
        expected = [phrase for phrase in expected if "on top of" not in phrase]  # not a context, nor "on"
        assert sorted(phrases_of(bins, j, context)) == sorted(expected)


def phrases_of(bins, j, relation):
    """The phrases of context j with a relation in its place."""
    times = zip(bins.frames, bins.counts[j], strict=True)
    return [suites.substitute(frame, relation) for frame, n in times for _ in range(n)]


def test_rare_words_and_small_contexts_are_left_out():
    texts = ["cat on mat"] * 4 + ["cat under mat"] * 3 + ["yeti on mat", "cat in box"]
    phrases, contexts = [text.split() for text in texts], ("on", "under", "in")
    common = {"cat", "on", "under", "mat", "in", "box"}
    bins = suites.collect(phrases, contexts=contexts, common=common, least=2)
    assert (bins.contexts, bins.phrases, bins.kept) == (("on", "under"), 9, 8)
    with pytest.raises(ValueError, match="too few"):
        suites.collect(phrases, contexts=contexts, least=4)


def test_a_sample_is_fair_and_repeats_itself():
    phrases = [[f"w{i}", relation, "x"] for i in range(300) for relation in ("on", "under")]
    samples = [suites.collect(phrases, contexts=("on", "under"), most=40, seed=seed) for seed in range(25)]
    again = suites.collect(phrases, contexts=("on", "under"), most=40, seed=3)
    assert (again.frames, again.counts.tolist()) == (samples[3].frames, samples[3].counts.tolist())
    assert all(bins.counts.sum(axis=1).tolist() == [40, 40] for bins in samples)
    places = [int(phrase.split()[0][1:]) for bins in samples for phrase in phrases_of(bins, 0, "on")]
    assert abs(np.mean(places) - 149.5) < 4 * 87 / np.sqrt(len(places))


@pytest.mark.parametrize("form", ["token", "sentence"])
def test_the_matrix_is_the_naive_loop(bins, scorer, form, tmp_path):
    """Every context's phrases with every relation in its place, scored one text at a time."""
    scores = perplexity.score(scorer, bins, RELATIONS, tmp_path / "scores.npy", print)
    perplexities = perplexity.perplexities(scores, bins.counts, form)
    for (i, relation), (j, context) in product(enumerate(RELATIONS), enumerate(bins.contexts)):
        naive = [scorer.sequence_logprobs([text])[0].logprobs for text in phrases_of(bins, j, relation)]
        total = np.concatenate(naive).sum()
        count = sum(map(len, naive)) if form == "token" else len(naive)
        assert perplexities[i, j] == pytest.approx(np.exp(-total / count), rel=1e-4), (relation, context)


class Once(Scorer):
    """A scorer that is stopped after so many requests, and counts texts."""

    def __init__(self, scorer, requests):
        self.scorer, self.left, self.texts = scorer, requests, 0

    def sequence_logprobs(self, texts):
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        self.texts += len(texts)
        return self.scorer.sequence_logprobs(texts)


def test_a_stopped_run_goes_on(bins, tmp_path, monkeypatch):
    scorer = NGram("ngram", [p.split() for p in CORPUS])
    whole = perplexity.score(scorer, bins, RELATIONS, tmp_path / "whole.npy", print)
    monkeypatch.setattr(perplexity, "TEXTS", len(RELATIONS))  # a frame a request
    first, second = Once(scorer, 2), Once(scorer, 100)
    with pytest.raises(KeyboardInterrupt):
        perplexity.score(first, bins, RELATIONS, tmp_path / "part.npy", print)
    reported = []
    rest = perplexity.score(second, bins, RELATIONS, tmp_path / "part.npy", reported.append)
    assert np.array_equal(rest, whole)
    assert first.texts + second.texts == sum(reported) == len(bins.frames) * len(RELATIONS)
    assert reported[0] == first.texts
    perplexity.score(Once(scorer, 0), bins, RELATIONS, tmp_path / "part.npy", print)  # nothing is asked again


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY", np.zeros((2, 2, 2))])
def test_scores_that_are_damaged_or_of_other_suites(bins, tmp_path, content):
    path = tmp_path / "scores.npy"
    np.save(path, content) if isinstance(content, np.ndarray) else path.write_bytes(content)
    with pytest.raises(DamagedError, match=r"scores\.npy"):
        perplexity.score(NGram("n", [["a"]]), bins, RELATIONS, path, print)
