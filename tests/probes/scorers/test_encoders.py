"""Hidden states and their pooling against transformers asked directly; sentence encoders and CLIP."""

import functools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from simtown.probes.scorers import UnableError, open_scorer
from tests.probes.tiny import CAUSAL, CLOSE, MASKED, MIXING

TEXTS = ["the banana is yellow.", "he bought a turquoise, worn-out coat.", "bus", "the banana is yellow."]


@functools.cache
def loaded(path):
    """Transformers' tokenizer and model."""
    model = transformers.AutoModel.from_pretrained(path).eval()
    return transformers.AutoTokenizer.from_pretrained(path), model


@functools.cache
def states(path, text, layer=-1):
    tokenizer, model = loaded(path)
    encoded = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
    with torch.no_grad():
        hidden = model(input_ids=encoded["input_ids"], output_hidden_states=True).hidden_states[layer][0]
    return hidden.numpy(), encoded["offset_mapping"][0].tolist()


@pytest.mark.parametrize("kind", ["bert", "encoder", "gpt2", "fnet", "xlnet encoder"])
@pytest.mark.parametrize(("layer", "pooling"), [(-1, "mean"), (0, "mean"), (1, "first"), (-1, "last")])
def test_hidden_states_are_pooled_over_the_text_or_a_span(model, kind, layer, pooling):
    path = model(kind)
    scorer = open_scorer(f"hf:{path}", tokens=32)
    pool = {"mean": lambda h: h.mean(0), "first": lambda h: h[0], "last": lambda h: h[-1]}[pooling]
    whole = scorer.embed(TEXTS, layer=layer, pooling=pooling)
    assert whole.dtype == np.float32
    np.testing.assert_allclose(whole, [pool(states(path, text, layer)[0]) for text in TEXTS], **CLOSE)
    spans = [(4, 10), (12, 21), (0, 3), (14, 15)]
    for text, span, found in zip(TEXTS, spans, scorer.embed(TEXTS, spans, layer, pooling), strict=True):
        hidden, offsets = states(path, text, layer)
        inside = [i for i, (a, b) in enumerate(offsets) if text[a:b].strip() and b > span[0]]
        inside = [i for i in inside if text[offsets[i][0] : span[1]].strip()]
        np.testing.assert_allclose(found, pool(hidden[inside]), **CLOSE)


def test_only_models_that_padding_tells_on_take_texts_of_one_length_alone(model):
    """The others keep their full batches."""
    kinds = (*MASKED, *MIXING, *CAUSAL, "encoder", "clip")
    equal = {kind for kind in kinds if open_scorer(f"hf:{model(kind)}").uncached().sees_padding}
    assert equal == set(MIXING)


def test_a_span_that_touches_nothing_and_a_layer_that_is_not_there(model):
    scorer = open_scorer(f"hf:{model('bert')}")
    with pytest.raises(ValueError, match="a bus"):
        scorer.embed(["a bus"], [(1, 2)])
    with pytest.raises(ValueError, match="0 to 2"):
        scorer.embed(["a bus"], layer=3)


def test_a_words_vector_is_the_mean_of_its_pieces(model):
    tokenizer, bert = loaded(model("bert"))
    matrix = bert.get_input_embeddings().weight.detach().numpy()
    scorer = open_scorer(f"hf:{model('bert')}")
    pieces = tokenizer("turquoise", add_special_tokens=False)["input_ids"]
    assert len(pieces) > 1
    np.testing.assert_allclose(scorer.word_vector("turquoise"), matrix[pieces].mean(0), **CLOSE)
    assert scorer.word_vector("東京") is None


@pytest.fixture
def sentence(model, tmp_path):
    """A function that makes a directory in sentence-transformers' layout."""

    def make(pooling="mean_tokens", normalise=True, longest=None):
        path = Path(shutil.copytree(model("encoder"), tmp_path / f"sentence-{pooling}-{normalise}-{longest}"))
        names = ["Transformer", "Pooling", *(["Normalize"] if normalise else [])]
        modules = [{"idx": i, "type": f"sentence_transformers.models.{n}"} for i, n in enumerate(names)]
        (path / "modules.json").write_text(json.dumps(modules))
        (path / "1_Pooling").mkdir()
        (path / "1_Pooling" / "config.json").write_text(json.dumps({f"pooling_mode_{pooling}": True}))
        if longest:
            (path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": longest}))
        return path

    return make


@pytest.mark.parametrize("pooling", ["mean_tokens", "cls_token"])
@pytest.mark.parametrize("normalise", [True, False])
def test_a_sentence_encoder_pools_as_its_files_say(sentence, pooling, normalise):
    path = sentence(pooling, normalise)
    hidden = [states(path, text)[0] for text in TEXTS]
    wanted = np.array([h[0] if pooling == "cls_token" else h.mean(0) for h in hidden])
    if normalise:
        wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    scorer = open_scorer(f"sentence:{path}")
    np.testing.assert_allclose(scorer.embed(TEXTS), wanted, **CLOSE)
    np.testing.assert_allclose(scorer.word_vector("bus"), wanted[2], **CLOSE)
    span = open_scorer(f"hf:{path}").embed(TEXTS[:1], [(4, 10)])
    np.testing.assert_allclose(scorer.embed(TEXTS[:1], [(4, 10)]), span, **CLOSE)


def test_a_sentence_encoder_cuts_what_is_too_long(sentence):
    path = sentence(longest=12)
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    long = "the banana is yellow and the sky is blue and the grass is green"
    kept = tokenizer.decode(tokenizer(long, add_special_tokens=False)["input_ids"][:10])
    assert len(kept) < len(long)
    np.testing.assert_allclose(*open_scorer(f"sentence:{path}").embed([long, kept]), **CLOSE)


def test_other_poolings_and_modules_are_refused(sentence):
    with pytest.raises(ValueError, match="pools"):
        open_scorer(f"sentence:{sentence('max_tokens')}")
    path = sentence()
    (path / "modules.json").write_text(json.dumps([{"type": "x.WordEmbeddings"}]))
    with pytest.raises(ValueError, match="made of WordEmbeddings"):
        open_scorer(f"sentence:{path}")


def test_clip_gives_its_projection_at_length_one(model):
    path = model("clip")
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    tower = transformers.CLIPModel.from_pretrained(path).eval()
    with torch.no_grad():
        found = [tower.get_text_features(**tokenizer(text, return_tensors="pt")) for text in TEXTS]
    vectors = [getattr(features, "pooler_output", features)[0].numpy() for features in found]
    wanted = [vector / np.linalg.norm(vector) for vector in vectors]
    for spec in (f"clip:{path}", f"hf:{path}"):
        scorer = open_scorer(spec)
        np.testing.assert_allclose(scorer.embed(TEXTS), wanted, **CLOSE)
        np.testing.assert_allclose(scorer.word_vector("bus"), wanted[2], **CLOSE)


@pytest.mark.parametrize("kind", ["encoder", "clip"])
def test_a_tower_without_a_head_has_no_probabilities(model, kind):
    scorer = open_scorer(f"hf:{model(kind)}")
    assert scorer.abilities == {"embed", "word_vector"}
    with pytest.raises(UnableError):
        scorer.class_logprobs(["[BLANK]"], ["bus"])
    with pytest.raises(UnableError):
        scorer.sequence_logprobs(["bus"])
