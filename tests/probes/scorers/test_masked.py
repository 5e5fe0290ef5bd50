"""Masked models against loops that ask transformers one text at a time and look at all logits."""

import functools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from simtown.probes.scorers import open_scorer
from tests.probes.tiny import CLOSE, MASKED, MIXING

CONTEXTS = ["the [BLANK] is yellow.", "[BLANK] is a colour"]
CONTEXTS += ["a car stands behind the [BLANK] bus of the town.", CONTEXTS[0]]
CONTEXTS += ['it is "[BLANK]".', "([BLANK])", "a red-[BLANK], green coat"]
TARGETS = ["banana", "turquoise", "unhappiest", ["red", "the"], ["yellowish", "yellow", "yellow"]]
TEXTS = ["the banana is yellow.", "he bought a turquoise, worn-out coat.", "bus", "the banana is yellow."]


class Naive:
    """One forward for every question, which is asked once."""

    def __init__(self, path):
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(path)
        self.model = transformers.AutoModelForMaskedLM.from_pretrained(path).eval()
        self._cached = functools.cache(self._forward)

    def logprobs(self, ids):
        return self._cached(tuple(ids))

    def _forward(self, ids):
        with torch.no_grad():
            return torch.log_softmax(self.model(torch.tensor([ids])).logits[0].double(), -1).numpy()

    def word(self, context, word, policy):
        """Of the whole sentence, what lies in the word or is the space before it."""
        mask, begin = self.tokenizer.mask_token_id, context.index("[BLANK]")
        encoded = self.tokenizer(context.replace("[BLANK]", word), return_offsets_mapping=True)
        ids, spans = encoded["input_ids"], encoded["offset_mapping"]
        within = [i for i, (a, b) in enumerate(spans) if a < begin + len(word) and b > begin]
        at, pieces = within[0], ids[within[0] : within[-1] + 1]
        ids[at : at + len(pieces)] = [mask]
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


@pytest.fixture(scope="module")
def naive(path):
    return Naive(path)


@pytest.mark.parametrize("policy", ["first", "drop", "joint", "left-to-right"])
def test_classes_as_a_loop_finds_them(path, naive, policy):
    logprobs = open_scorer(f"hf:{path}", policy=policy, tokens=64).class_logprobs(CONTEXTS, TARGETS)
    expected = [[naive.target(context, target, policy) for target in TARGETS] for context in CONTEXTS]
    np.testing.assert_allclose(logprobs, expected, **CLOSE)
    assert np.isnan(logprobs).any() == (policy == "drop")


@pytest.mark.parametrize("variant", ["original", "within_word_l2r", "whole_word"])
def test_texts_as_a_loop_finds_them(path, naive, variant):
    scores = open_scorer(f"hf:{path}", variant=variant, tokens=64).sequence_logprobs(TEXTS)
    for text, of_text in zip(TEXTS, scores, strict=True):
        np.testing.assert_allclose(of_text.logprobs, naive.sequence(text, variant), **CLOSE)


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


def test_a_tokenizer_whose_mask_leaves_the_space_before_it_alone_changes_nothing(path, tmp_path):
    copy = Path(shutil.copytree(path, tmp_path / "copy"))
    settings = json.loads((copy / "tokenizer.json").read_text())
    for token in settings["added_tokens"]:
        if "mask" in token["content"].lower():
            token["lstrip"] = not token["lstrip"]
    (copy / "tokenizer.json").write_text(json.dumps(settings))
    other, usual = (open_scorer(f"hf:{p}").class_logprobs(CONTEXTS, TARGETS) for p in (copy, path))
    np.testing.assert_allclose(other, usual, **CLOSE)


BAD = [(context, "red") for context in ("no gap", "[BLANK] [BLANK]", "the [MASK] is [BLANK]")]
BAD += [("[BLANK] " + "bus " * 60, "red"), *(("[BLANK]", target) for target in ("", [], ["red", " "]))]


@pytest.mark.parametrize(("context", "target"), BAD)
def test_what_cannot_be_asked_is_refused(model, context, target):
    with pytest.raises(ValueError, match=r"BLANK|MASK|40 tokens|target"):
        open_scorer(f"hf:{model('bert')}").class_logprobs([context], [target])


def test_a_text_as_long_as_the_model_is_read_and_a_longer_one_refused(path, naive, tmp_path):
    """Also if the tokenizer does not say how long."""
    copy = Path(shutil.copytree(path, tmp_path / "copy"))
    settings = json.loads((copy / "tokenizer_config.json").read_text())
    (copy / "tokenizer_config.json").write_text(json.dumps(settings | {"model_max_length": 10**30}))
    scorer = open_scorer(f"hf:{copy}")
    most = {"roberta": 38, "xlm-roberta": 38, "distilbert": 512}.get(naive.model.config.model_type, 40)
    with torch.no_grad(), pytest.raises((IndexError, RuntimeError)):
        naive.model(torch.full((1, most + 1), 5))
    longest = " ".join(["the"] * (most - 2))
    assert len(scorer.sequence_logprobs([longest])[0].logprobs) == most - 2
    for asked in (scorer.sequence_logprobs, scorer.embed):
        with pytest.raises(ValueError, match=f"{most} tokens"):
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
