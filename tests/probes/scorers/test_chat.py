"""Models asked through their chat template, and vision-language models without a picture."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from simtown.probes.scorers import open_scorer
from simtown.probes.scorers.causal import ALONE
from tests.probes.tiny import CLOSE
from tests.vlm import tiny_models

TEMPLATE = (
    "{% for m in messages %}{{m.role[0]}} {{m.content}}\n{% endfor %}{% if add_generation_prompt %}a\n"
    "{{'' if enable_thinking is defined and not enable_thinking else 'he he he'}}{% endif %}"
)


@pytest.fixture(scope="module")
def chat(model, tmp_path_factory):
    path = Path(shutil.copytree(model("gpt2"), tmp_path_factory.mktemp("chat") / "model"))
    (path / "chat_template.jinja").write_text(TEMPLATE)
    return path


def test_a_reply_stands_behind_the_message_and_the_generation_prompt(chat):
    tokenizer = transformers.AutoTokenizer.from_pretrained(chat)
    network = transformers.AutoModelForCausalLM.from_pretrained(chat).eval()

    def reply(message, text):
        before, whole = (
            tokenizer(each, add_special_tokens=False)["input_ids"]
            for each in (f"u {message}\na\n", f"u {message}\na\n{text}")
        )
        with torch.no_grad():
            rows = torch.log_softmax(network(torch.tensor([whole])).logits[0].double(), -1)
        return sum(float(rows[i - 1, whole[i]]) for i in range(len(before), len(whole)))

    scorer = open_scorer(f"hf:{chat}", chat=True)
    scores = scorer.sequence_logprobs(["the sky a bus", "a bus"], [len("the sky "), 0])
    expected = [reply("the sky", "a bus"), reply(ALONE, "a bus")]
    np.testing.assert_allclose([tokens.logprobs.sum() for tokens in scores], expected, **CLOSE)
    assert [sorted({*tokens.words.tolist()}) for tokens in scores] == [[2, 3], [0, 1]]
    answers = scorer.class_logprobs(["is it [BLANK]"], ["yes", "no"])
    np.testing.assert_allclose(answers, [[reply("is it", "yes"), reply("is it", "no")]], **CLOSE)


def test_a_model_without_a_template_is_refused(model):
    for kind in ("llama", "bert"):
        with pytest.raises(ValueError, match="leave out chat"):
            open_scorer(f"hf:{model(kind)}", chat=True)


def test_weights_are_loaded_in_the_dtype_that_was_asked(model, monkeypatch):
    asked = []
    load = transformers.AutoModelForCausalLM.from_pretrained

    def loading(*args, **more):
        asked.append(more["dtype"])
        return load(*args, **more)

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", loading)
    near = open_scorer(f"hf:{model('gpt2')}", dtype="bfloat16").sequence_logprobs(["a red bus"])[0].logprobs
    full = open_scorer(f"hf:{model('gpt2')}").sequence_logprobs(["a red bus"])[0].logprobs
    np.testing.assert_allclose(near, full, rtol=0.1, atol=0.5)
    assert asked == ["bfloat16", "float32"]


@pytest.mark.parametrize("family", ["llava"])
def test_a_vision_language_model_reads_without_a_picture(family, tmp_path):
    path = tiny_models.build(family, tmp_path / family)
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    network = transformers.AutoModelForImageTextToText.from_pretrained(path).eval()
    texts = ["a sedan left of a fire truck", "a sedan left of a sedan", "Is it?"]
    scorer = open_scorer(f"vlm:{path}")
    for text, tokens in zip(texts, scorer.sequence_logprobs(texts), strict=True):
        ids = [tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]
        with torch.no_grad():
            rows = torch.log_softmax(network(torch.tensor([ids])).logits[0].double(), -1)
        expected = [float(rows[i, token]) for i, token in enumerate(ids[1:])]
        np.testing.assert_allclose(tokens.logprobs, expected, **CLOSE)
    answers = open_scorer(f"vlm:{path}", chat=True).class_logprobs(["Is it? [BLANK]"], ["yes", "no"])
    assert np.isfinite(answers).all()
