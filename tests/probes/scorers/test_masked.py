"""Masked models against loops that ask transformers one text at a time and look at all logits."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from simtown.probes.scorers import open_scorer
from simtown.probes.scorers.huggingface import Query
from tests.probes.tiny import CLOSE, MASKED, MIXING

CONTEXTS = ["the [BLANK] is yellow.", "[BLANK] is a colour"]
CONTEXTS += ["a car stands behind the [BLANK] bus of the town.", CONTEXTS[0]]
TARGETS = ["banana", "turquoise", "unhappiest", ["red", "the"], ["yellowish", "yellow", "yellow"]]
TEXTS = ["the banana is yellow.", "he bought a turquoise, worn-out coat.", "bus", "the banana is yellow."]


class Naive:
    """One forward for every question."""

    def __init__(self, path):
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(path)
        self.model = transformers.AutoModelForMaskedLM.from_pretrained(path).eval()

    def logprobs(self, ids):
        with torch.no_grad():
            return torch.log_softmax(self.model(torch.tensor([ids])).logits[0].double(), -1).numpy()

    def pieces(self, word, first):
        """Byte-level pieces of a word behind a space have the space in them; WordPiece's do not."""
        return self.tokenizer(word if first else " " + word, add_special_tokens=False)["input_ids"]

    def word(self, context, word, policy):
        mask, hole = self.tokenizer.mask_token_id, context.replace("[BLANK]", self.tokenizer.mask_token)
        ids = self.tokenizer(hole)["input_ids"]
        at, pieces = ids.index(mask), self.pieces(word, context.startswith("[BLANK]"))
        if policy == "first":
            pieces = pieces[:1]
        if policy == "drop" and len(pieces) > 1:
            return None
        filled, total = [mask] * len(pieces), 0.0
        for j, piece in enumerate(pieces):
            total += self.logprobs(ids[:at] + filled + ids[at + 1 :])[at + j, piece]
            if policy == "left-to-right":
                filled[j] = piece
        return tuple(pieces), total

    def target(self, context, target, policy):
        words = [target] if isinstance(target, str) else target
        logprobs = dict(filter(None, (self.word(context, word, policy) for word in words)))
        return np.log(np.exp(list(logprobs.values())).sum()) if logprobs else np.nan

    def sequence(self, text, variant):
        encoded = self.tokenizer(text, return_special_tokens_mask=True)
        ids, words, logprobs = encoded["input_ids"], encoded.word_ids(), []
        for i, special in enumerate(encoded["special_tokens_mask"]):
            if special:
                continue
            hidden = list(ids)
            for j in range(len(ids)):
                in_word = words[j] == words[i]
                later = variant == "within_word_l2r" and in_word and j > i
                if j == i or later or (variant == "whole_word" and in_word):
                    hidden[j] = self.tokenizer.mask_token_id
            logprobs.append(self.logprobs(hidden)[i, ids[i]])
        return logprobs


@pytest.fixture(scope="module", params=(*MASKED, *MIXING))
def path(request, model):
    return model(request.param)


@pytest.mark.parametrize("policy", ["first", "drop", "joint", "left-to-right"])
def test_classes_as_a_loop_finds_them(path, policy):
    naive = Naive(path)
    logprobs = open_scorer(f"hf:{path}", policy=policy, tokens=64).class_logprobs(CONTEXTS, TARGETS)
    expected = [[naive.target(context, target, policy) for target in TARGETS] for context in CONTEXTS]
    np.testing.assert_allclose(logprobs, expected, **CLOSE)
    assert np.isnan(logprobs).any() == (policy == "drop")


@pytest.mark.parametrize("variant", ["original", "within_word_l2r", "whole_word"])
def test_texts_as_a_loop_finds_them(path, variant):
    naive = Naive(path)
    scores = open_scorer(f"hf:{path}", variant=variant, tokens=64).sequence_logprobs(TEXTS)
    for text, of_text in zip(TEXTS, scores, strict=True):
        np.testing.assert_allclose(of_text.logprobs, naive.sequence(text, variant), **CLOSE)


def test_probabilities_of_the_whole_vocabulary_sum_to_one(path):
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    ids = tokenizer(f"the {tokenizer.mask_token} is yellow.")["input_ids"]
    query = Query(tuple(ids), ids.index(tokenizer.mask_token_id), range(len(tokenizer)))
    (logprobs,) = open_scorer(f"hf:{path}").uncached().query_logprobs([query])
    assert np.exp(logprobs).sum() == pytest.approx(1, abs=1e-4)


def test_batches_budgets_order_and_company_change_nothing(path):
    in_one_batch, alone = (open_scorer(f"hf:{path}", tokens=tokens) for tokens in (4096, 1))
    scorer = open_scorer(f"hf:{path}").uncached()
    classes = in_one_batch.class_logprobs(CONTEXTS, TARGETS)
    np.testing.assert_allclose(classes, alone.class_logprobs(CONTEXTS, TARGETS), **CLOSE)
    np.testing.assert_allclose(classes[::-1], scorer.class_logprobs(CONTEXTS[::-1], TARGETS), **CLOSE)
    np.testing.assert_allclose(classes[:, [2]], scorer.class_logprobs(CONTEXTS, TARGETS[2:3]), **CLOSE)
    for text, scores in zip(TEXTS, in_one_batch.sequence_logprobs(TEXTS), strict=True):
        np.testing.assert_allclose(scores.logprobs, scorer.sequence_logprobs([text])[0].logprobs, **CLOSE)


@pytest.mark.parametrize(("kind", "word"), [("bert", "東京"), ("lstm", "zebra")])
def test_unknown_words_have_no_probability(model, kind, word):
    scorer = open_scorer(f"{'lstm' if kind == 'lstm' else 'hf'}:{model(kind)}")
    unknown, either, bus = scorer.class_logprobs(["the [BLANK]"], [word, [word, "bus"], "bus"])[0]
    assert np.isnan(unknown)
    assert either == pytest.approx(bus)


@pytest.mark.parametrize("takes_the_space", [True, False])
def test_what_stands_around_a_gap_is_what_stands_around_the_word(path, takes_the_space, tmp_path):
    """Also by a tokenizer whose mask leaves the space before it alone."""
    copy = Path(shutil.copytree(path, tmp_path / "copy"))
    settings = json.loads((copy / "tokenizer.json").read_text())
    for token in settings["added_tokens"]:
        if "mask" in token["content"].lower():
            token["lstrip"] = takes_the_space
    (copy / "tokenizer.json").write_text(json.dumps(settings))
    scorer = open_scorer(f"hf:{copy}").uncached()
    for sentence, word in (("the banana is yellow.", "yellow"), ("a car stands behind the bus .", "behind")):
        ((before, after),) = scorer._gaps([sentence.replace(word, "[BLANK]")])
        assert [*before, *scorer.spelling(word), *after] == scorer.tokenizer(sentence)["input_ids"]
    usual = open_scorer(f"hf:{path}").class_logprobs(CONTEXTS, TARGETS)
    np.testing.assert_allclose(scorer.class_logprobs(CONTEXTS, TARGETS), usual, **CLOSE)


BAD = [(context, "red") for context in ("no gap", "[BLANK] [BLANK]", "the [MASK] is [BLANK]")]
BAD += [("[BLANK] " + "bus " * 60, "red"), *(("[BLANK]", target) for target in ("", [], ["red", " "]))]


@pytest.mark.parametrize(("context", "target"), BAD)
def test_what_cannot_be_asked_is_refused(model, context, target):
    with pytest.raises(ValueError, match=r"BLANK|MASK|40 tokens|target"):
        open_scorer(f"hf:{model('bert')}").class_logprobs([context], [target])


def test_a_text_as_long_as_the_model_is_read_and_a_longer_one_refused(path, tmp_path):
    """Also if the tokenizer does not say how long."""
    copy = Path(shutil.copytree(path, tmp_path / "copy"))
    settings = json.loads((copy / "tokenizer_config.json").read_text())
    (copy / "tokenizer_config.json").write_text(json.dumps(settings | {"model_max_length": 10**30}))
    scorer, naive = open_scorer(f"hf:{copy}"), Naive(path)
    most = {"roberta": 38, "distilbert": 512}.get(naive.model.config.model_type, 40)
    with torch.no_grad(), pytest.raises((IndexError, RuntimeError)):
        naive.model(torch.full((1, most + 1), 5))
    longest = " ".join(["the"] * (most - 2))
    assert len(scorer.sequence_logprobs([longest])[0].logprobs) == most - 2
    for asked in (scorer.sequence_logprobs, scorer.embed):
        with pytest.raises(ValueError, match=f"takes at most {most} tokens"):
            asked([f"{longest} the"])


def test_minicons_agrees(model):
    pytest.importorskip("minicons", reason="needs minicons: pip install minicons")
    from minicons.scorer import MaskedLMScorer

    other = MaskedLMScorer(str(model("bert")), device="cpu")
    other.model.eval()
    other.tokenizer.batch_encode_plus = other.tokenizer.__call__  # which transformers 5 has no more
    for variant in ("original", "within_word_l2r"):
        ours = open_scorer(f"hf:{model('bert')}", variant=variant).sequence_logprobs(TEXTS)
        theirs = other.token_score(TEXTS, PLL_metric=variant)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a.logprobs, [score for _, score in b], **CLOSE)
