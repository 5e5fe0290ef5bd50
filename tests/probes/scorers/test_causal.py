"""Causal models, our LSTM among them, against loops that ask transformers one text at a time."""

import functools

import numpy as np
import pytest
import torch
import transformers

from simtown.probes.scorers import open_scorer
from tests.probes.tiny import CAUSAL, CLOSE, SENTENCES

CONTEXTS = ["the [BLANK] is yellow.", "[BLANK] is a colour", "a car stands behind the [BLANK]"]
CONTEXTS += ["the [BLANK] is not seen", 'it is "[BLANK]" .', "([BLANK])", "a red,[BLANK]"]
TARGETS = ["banana", "turquoise bus", "bus", ["red", "the"], ["yellow", "worn-out bus", "yellow"]]
TEXTS = [*SENTENCES, "bus", SENTENCES[0]]


class Naive:
    """One forward for every question, which is asked once."""

    def __init__(self, path):
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(path)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(path).eval()
        self.sequence = functools.cache(self._sequence)

    def tokens(self, text):
        return self.tokenizer.bos_token_id, *self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def _sequence(self, ids):
        with torch.no_grad():
            logprobs = torch.log_softmax(self.model(torch.tensor([ids])).logits[0].double(), -1).numpy()
        return [logprobs[i, token] for i, token in enumerate(ids[1:])]

    def target(self, context, target, policy):
        begin, logprobs = context.split("[BLANK]")[0], {}
        start = self.tokens(begin.rstrip())
        for word in [target] if isinstance(target, str) else target:
            pieces = self.tokens(begin + word)[len(start) :]
            pieces = pieces[:1] if policy == "first" else pieces
            if policy != "drop" or len(pieces) == 1:
                logprobs[pieces] = sum(self.sequence(start + pieces)[len(start) - 1 :])
        return np.log(np.exp(list(logprobs.values())).sum()) if logprobs else np.nan


@pytest.fixture(scope="module", params=CAUSAL)
def path(request, model):
    import simtown.probes.lm.lstm  # noqa: F401  (makes transformers know it)

    return model(request.param)


@pytest.fixture(scope="module")
def naive(path):
    return Naive(path)


@pytest.mark.parametrize("policy", ["first", "drop", "joint", "left-to-right"])
def test_classes_as_a_loop_finds_them(path, naive, policy):
    logprobs = open_scorer(f"hf:{path}", policy=policy).class_logprobs(CONTEXTS, TARGETS)
    expected = [[naive.target(context, target, policy) for target in TARGETS] for context in CONTEXTS]
    np.testing.assert_allclose(logprobs, expected, **CLOSE)
    np.testing.assert_array_equal(logprobs[0], logprobs[3])  # what stands behind the gap is not seen


def test_texts_as_a_loop_finds_them(path, naive):
    expected = [naive.sequence(naive.tokens(text)) for text in TEXTS]
    for tokens in (1, 64, 4096):
        scores = open_scorer(f"hf:{path}", tokens=tokens).sequence_logprobs(TEXTS)
        for text, logprobs in zip(scores, expected, strict=True):
            np.testing.assert_allclose(text.logprobs, logprobs, **CLOSE)


def test_neither_small_batches_nor_a_model_that_keeps_no_state_change_anything(path):
    usual = open_scorer(f"hf:{path}").class_logprobs(CONTEXTS, TARGETS)
    in_small_batches = open_scorer(f"hf:{path}", tokens=1).class_logprobs(CONTEXTS, TARGETS)
    np.testing.assert_allclose(in_small_batches, usual, **CLOSE)
    scorer = open_scorer(f"hf:{path}", tokens=30).uncached()
    forward = scorer.model.forward
    scorer.model.forward = lambda **inputs: forward(**{**inputs, "use_cache": False})
    np.testing.assert_allclose(scorer.class_logprobs(CONTEXTS, TARGETS), usual, **CLOSE)


def test_tokens_know_their_words(path, naive):
    text = "he bought a yellowish, worn-out  coat."
    (scores,) = open_scorer(f"hf:{path}").sequence_logprobs([text])
    tokenizer = naive.tokenizer
    tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
    letters = np.array([len(tokenizer.decode([token]).strip()) for token in tokens])
    # the visible letters so far say which word a token ends in
    words = np.searchsorted(np.cumsum([len(word) for word in text.split()]), letters.cumsum())
    np.testing.assert_array_equal(scores.words[letters > 0], words[letters > 0])


@pytest.mark.parametrize("kind", ["looking ahead", "xlm", "xlnet"])
def test_a_model_that_looks_ahead_is_refused(kind, model):
    with pytest.raises(ValueError, match="causal"):
        open_scorer(f"hf:{model(kind)}")


def test_minicons_agrees(model):
    pytest.importorskip("minicons", reason="needs minicons: pip install minicons")
    from minicons.scorer import IncrementalLMScorer

    other = IncrementalLMScorer(str(model("gpt2")), device="cpu")
    other.model.eval()
    ours = open_scorer(f"hf:{model('gpt2')}").sequence_logprobs(TEXTS[:5])
    theirs = other.token_score(TEXTS[:5], bos_token=True)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.logprobs, [score for _, score in b][1:], **CLOSE)
