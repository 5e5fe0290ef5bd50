"""Bins, frames and the matrix, against slow and obvious versions of themselves."""

from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.core.files import DamagedError
from simtown.probes.lm.architectures import ARCHITECTURES
from simtown.probes.scorers.base import Scorer
from simtown.probes.scorers.cache import Cached
from simtown.probes.scorers.causal import Causal
from simtown.probes.scorers.huggingface import ScorerSettings
from simtown.probes.scorers.masked import Masked
from simtown.probes.scorers.ngram import NGram
from simtown.probes.spatial import perplexity, suites
from simtown.probes.spatial.lexicon import lexicon
from tests.probes.tiny import CLOSE, redrawn

FORMS_OF = {tuple(form.split()) for form in lexicon()}
LONGEST = max(map(len, FORMS_OF))
words = st.sampled_from(
    ["on", "top", "of", "the", "cat", "left", "side", "to", "in", "front", "and", "upper", "hand"]
)

CORPUS = [
    f"{a} {r} {b}"
    for (a, b), r in product(
        [("the cat", "the mat"), ("a dog", "a tree"), ("man", "street"), ("the cat", "a tree"), ("sign", "")],
        ["on", "under", "next to", "in front of", "on top of"],
    )
] + ["a red bus", "on"]
CORPUS = [" ".join(phrase.split()) for phrase in CORPUS]
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
    return Cached(
        kind(request.param, redrawn(made.model(tokenizer), 0, 0.05), tokenizer, ScorerSettings(device="cpu"))
    )


@given(st.lists(words, max_size=9))
def test_the_longest_relation_is_found_and_the_first_of_several(tokens):
    spans = [
        (b, e)
        for b in range(len(tokens))
        for e in range(b + 1, len(tokens) + 1)
        if tuple(tokens[b:e]) in FORMS_OF
    ]
    best = min(spans, key=lambda s: (s[0] - s[1], s[0]), default=None)
    assert suites.find(tokens, FORMS_OF, LONGEST) == best


def test_bins(bins):
    assert bins.contexts == RELATIONS
    assert bins.phrases == bins.kept == len(CORPUS)
    assert bins.seen == {"on": 6, "under": 5, "next to": 5, "in front of": 5, "on top of": 5}
    assert bins.counts.sum(axis=1).tolist() == [
        6,
        5,
        5,
        5,
    ]  # "on top of" is no context here, and not "on" either
    assert len(bins.frames) == 6  # five pairs, and nothing around "on"
    for context, row in zip(bins.contexts, bins.counts, strict=True):
        rebuilt = sorted(
            suites.substitute(f, context) for f, n in zip(bins.frames, row, strict=True) for _ in range(n)
        )
        assert rebuilt == sorted(
            p for p in CORPUS if suites.find(p.split(), FORMS_OF, LONGEST) and _relation(p) == context
        )


def _relation(phrase):
    tokens = phrase.split()
    return " ".join(tokens[slice(*suites.find(tokens, FORMS_OF, LONGEST))])


def test_rare_words_and_small_contexts_are_left_out():
    phrases = (
        [["cat", "on", "mat"]] * 4
        + [["cat", "under", "mat"]] * 3
        + [["yeti", "on", "mat"]]
        + [["cat", "in", "box"]]
    )
    found = suites.collect(
        phrases, contexts=("on", "under", "in"), common={"cat", "on", "under", "mat", "in", "box"}, least=2
    )
    assert (found.contexts, found.phrases, found.kept) == (("on", "under"), 9, 8)
    with pytest.raises(ValueError, match="too few spatial relations"):
        suites.collect(phrases, contexts=("on", "under", "in"), least=4)


def test_a_sample_is_fair_and_repeats_itself():
    phrases = [[f"w{i}", relation, "x"] for i in range(300) for relation in ("on", "under")]
    found = [suites.collect(phrases, contexts=("on", "under"), most=40, seed=seed) for seed in range(25)]
    again = suites.collect(phrases, contexts=("on", "under"), most=40, seed=3)
    assert (again.frames, again.counts.tolist()) == (found[3].frames, found[3].counts.tolist())
    assert all(f.counts.sum(axis=1).tolist() == [40, 40] for f in found)
    places = [
        int(frame[0][1:])
        for f in found
        for frame, n in zip(f.frames, f.counts[0], strict=True)
        for _ in range(n)
    ]
    assert abs(np.mean(places) - 149.5) < 4 * 87 / np.sqrt(len(places))


@pytest.mark.parametrize("form", ["token", "sentence"])
def test_the_matrix_is_the_naive_loop(bins, scorer, form, tmp_path):
    """Every context's phrases with every relation in its place, scored one text at a time."""
    scores = perplexity.score(scorer, bins, RELATIONS, tmp_path / "scores.npy")
    found = perplexity.perplexities(scores, bins.counts, form)
    for i, relation in enumerate(RELATIONS):
        for j, context in enumerate(bins.contexts):
            texts = [
                suites.substitute(f, relation)
                for f, n in zip(bins.frames, bins.counts[j], strict=True)
                for _ in range(n)
            ]
            naive = [scorer.sequence_logprobs([text])[0] for text in texts]
            bits = sum(one.logprobs.sum() for one in naive)
            over = sum(len(one.logprobs) for one in naive) if form == "token" else len(texts)
            assert found[i, j] == pytest.approx(np.exp(-bits / over), rel=1e-4), (relation, context)


def test_shared_beginnings_change_nothing(scorer):
    texts = [*CORPUS, "cat", CORPUS[0]]
    for one, other in zip(
        scorer.uncached().sequence_logprobs(texts), scorer.sequence_logprobs(texts), strict=True
    ):
        np.testing.assert_allclose(one.logprobs, other.logprobs, **CLOSE)
        assert one.words.tolist() == other.words.tolist()


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
    whole = perplexity.score(scorer, bins, RELATIONS, tmp_path / "whole.npy")
    monkeypatch.setattr(perplexity, "TEXTS", len(RELATIONS))  # a frame a request
    first, second = Once(scorer, 2), Once(scorer, 100)
    with pytest.raises(KeyboardInterrupt):
        perplexity.score(first, bins, RELATIONS, tmp_path / "part.npy")
    told = []
    assert np.array_equal(
        perplexity.score(second, bins, RELATIONS, tmp_path / "part.npy", told.append), whole
    )
    assert first.texts + second.texts == sum(told) == len(bins.frames) * len(RELATIONS)
    assert told[0] == first.texts
    perplexity.score(Once(scorer, 0), bins, RELATIONS, tmp_path / "part.npy")  # nothing is asked again


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY"])
def test_a_damaged_file_of_scores(bins, tmp_path, content):
    (tmp_path / "scores.npy").write_bytes(content)
    with pytest.raises(DamagedError, match="delete it"):
        perplexity.score(NGram("n", [["a"]]), bins, RELATIONS, tmp_path / "scores.npy")


def test_scores_of_other_suites(bins, tmp_path):
    np.save(tmp_path / "scores.npy", np.zeros((2, 2, 2)))
    with pytest.raises(DamagedError, match="other phrases"):
        perplexity.score(NGram("n", [["a"]]), bins, RELATIONS, tmp_path / "scores.npy")


def test_the_corpus_is_a_stream():
    """collect reads its sentences once, and keeps no more than the sample."""
    stream = (["cat", relation, "mat"] for relation in islice(iter(("on", "under") * 50), 100))
    assert suites.collect(stream, contexts=("on", "under"), most=5).counts.sum() == 10
