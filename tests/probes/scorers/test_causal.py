"""Causal models, our LSTM among them, against loops that ask transformers one text at a time."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install '.[probes]'")
transformers = pytest.importorskip("transformers", reason="needs transformers: pip install '.[probes]'")

from simtown.probes.scorers import open_scorer  # noqa: E402
from tests.probes.tiny import CAUSAL, CLOSE, SENTENCES  # noqa: E402

CONTEXTS = [
    "the [BLANK] is yellow.",
    "[BLANK] is a colour",
    "a car stands behind the [BLANK]",
    "the [BLANK] is not seen",
]
TARGETS = ["banana", "turquoise bus", "bus", ["red", "the"], ["yellow", "worn-out bus", "yellow"]]
TEXTS = [*SENTENCES, "bus", SENTENCES[0]]


class Naive:
    """One forward for every question."""

    def __init__(self, path):
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(path)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(path).eval()

    def tokens(self, text):
        return [self.tokenizer.bos_token_id, *self.tokenizer(text, add_special_tokens=False)["input_ids"]]

    def sequence(self, ids):
        with torch.no_grad():
            logprobs = torch.log_softmax(self.model(torch.tensor([ids])).logits[0].double(), -1).numpy()
        return [logprobs[i, token] for i, token in enumerate(ids[1:])]

    def target(self, context, target, policy):
        begin, found = context.split("[BLANK]")[0].rstrip(), {}
        for word in [target] if isinstance(target, str) else target:
            start = self.tokens(begin)
            pieces = self.tokens(f"{begin} {word}" if begin else word)[len(start) :]
            pieces = pieces[:1] if policy == "first" else pieces
            if policy != "drop" or len(pieces) == 1:
                found[tuple(pieces)] = sum(self.sequence(start + pieces)[len(start) - 1 :])
        return np.log(np.exp(list(found.values())).sum()) if found else np.nan


@pytest.fixture(scope="module", params=CAUSAL)
def path(request, model):
    import simtown.probes.lm.lstm  # noqa: F401  (makes transformers know it)

    return model(request.param)


@pytest.mark.parametrize("policy", ["first", "drop", "joint", "left-to-right"])
def test_classes_as_a_loop_finds_them(path, policy):
    naive = Naive(path)
    found = open_scorer(f"hf:{path}", policy=policy).class_logprobs(CONTEXTS, TARGETS)
    np.testing.assert_allclose(
        found, [[naive.target(c, t, policy) for t in TARGETS] for c in CONTEXTS], **CLOSE
    )
    np.testing.assert_array_equal(found[0], found[3])  # what stands behind the gap is not seen


def test_texts_as_a_loop_finds_them(path):
    naive = Naive(path)
    for tokens in (1, 64, 4096):
        for text, one in zip(
            TEXTS, open_scorer(f"hf:{path}", tokens=tokens).sequence_logprobs(TEXTS), strict=True
        ):
            np.testing.assert_allclose(one.logprobs, naive.sequence(naive.tokens(text)), **CLOSE)


def test_a_model_that_keeps_no_state_says_the_same(path):
    usual = open_scorer(f"hf:{path}").class_logprobs(CONTEXTS, TARGETS)
    scorer = open_scorer(f"hf:{path}", tokens=30).uncached()
    plain = scorer.model.forward
    scorer.model.forward = lambda **inputs: plain(**{**inputs, "use_cache": False})
    np.testing.assert_allclose(scorer.class_logprobs(CONTEXTS, TARGETS), usual, **CLOSE)


def test_few_tokens_a_batch_change_nothing(path):
    usual = open_scorer(f"hf:{path}").class_logprobs(CONTEXTS, TARGETS)
    np.testing.assert_allclose(
        open_scorer(f"hf:{path}", tokens=1).class_logprobs(CONTEXTS, TARGETS), usual, **CLOSE
    )


def test_tokens_know_their_words(path):
    text = "he bought a yellowish, worn-out  coat."
    one = open_scorer(f"hf:{path}").sequence_logprobs([text])[0]
    tokenizer, ends, words, seen = Naive(path).tokenizer, np.cumsum([len(w) for w in text.split()]), [], 0
    for token in tokenizer(text, add_special_tokens=False)[
        "input_ids"
    ]:  # visible letters so far say which word a token ends in
        letters = len(tokenizer.decode([token]).strip())
        seen += letters
        words.append(int(np.searchsorted(ends, seen)) if letters else None)
    assert [mine for mine, theirs in zip(one.words, words, strict=True) if theirs is not None] == [
        w for w in words if w is not None
    ]


def test_an_unknown_word_has_no_probability(model):
    found = open_scorer(f"lstm:{model('lstm')}").class_logprobs(
        ["the [BLANK]"], ["zebra", "bus", ["zebra", "bus"]]
    )[0]
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(found[2])


@pytest.mark.parametrize("kind", ["looking ahead", "xlm", "xlnet"])
def test_a_model_that_looks_ahead_is_refused(kind, model):
    with pytest.raises(ValueError, match="no causal language model") as error:
        open_scorer(f"hf:{model(kind)}")
    assert "\n" not in str(error.value)


def test_minicons_agrees(model):
    pytest.importorskip("minicons", reason="needs minicons: pip install minicons")
    from minicons.scorer import IncrementalLMScorer

    other = IncrementalLMScorer(str(model("gpt2")), device="cpu")
    other.model.eval()
    ours = open_scorer(f"hf:{model('gpt2')}").sequence_logprobs(TEXTS[:5])
    theirs = other.token_score(TEXTS[:5], bos_token=True)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.logprobs, [score for _, score in b][1:], **CLOSE)
