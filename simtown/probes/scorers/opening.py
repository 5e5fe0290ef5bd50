"""From a few words such as "hf:bert-base-uncased" to a scorer: the one place where scorers are opened."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from simtown.core.options import check
from simtown.core.pretrained import (
    fingerprint,
    load_model,
    load_tokenizer,
    model_directory,
    model_json,
)
from simtown.core.progress import progress_of
from simtown.probes.model_names import KINDS
from simtown.probes.scorers.base import Scorer, ScorerSettings
from simtown.probes.scorers.cache import Cached
from simtown.training.fit_settings import device_of

#: To be raised when a change gives other answers to the same question: those kept before are then not used.
ANSWERS = "3"
#: Architectures that hold a masked language model's head besides another one.
_PRETRAINED = ("Bert", "Albert", "MobileBert", "FNet", "MegatronBert")


def open_scorer(spec: str, *, cache: Path | None = None, **settings: Any) -> Scorer:
    """A scorer by its kind and place, such as "hf:bert-base-uncased" or "glove:vectors.txt.gz".

    Args:
        spec: kind and place, see :data:`KINDS`.
        cache: a directory that keeps the answers for another time; without one they are kept in memory.
        settings: of :class:`simtown.probes.scorers.base.ScorerSettings`.

    Raises:
        ValueError: an unknown kind, value or device, or a model that lacks what its kind needs.
        FileNotFoundError: there is no such model, here or on the hub.
        DamagedError: files that cannot be read.
    """
    kind, _, place = spec.partition(":")
    if kind not in (*KINDS, "oracle") or not place:
        raise ValueError(f"'{spec}' names no model: write " + "; or ".join(KINDS.values()))
    how = ScorerSettings(**settings)
    check(how)
    path = Path(place)
    if kind == "glove":
        from simtown.probes.scorers.wordvectors import Vectors

        return Vectors.read(spec, path, progress=how.progress)
    if kind == "oracle":
        from simtown.probes.scorers.oracle import Oracle

        return Oracle.read(spec, path)
    if kind == "ngram":
        from simtown.probes.corpus import Corpus
        from simtown.probes.scorers.ngram import NGram

        with progress_of(spec, 0, how.progress) as report:
            sentences = Corpus(path, progress=report).sentences(punctuation=True)
            scorer: Scorer = NGram(spec, sentences, policy=how.policy)
        decisive: tuple[str, ...] = (how.policy, fingerprint(path) if cache else "")
    elif kind == "openai":
        from simtown.probes.scorers.served import Served

        scorer = Served(spec, place, how)
        decisive = (place, "chat" * how.chat)
    else:
        path = model_directory(place, hub=kind != "lstm", revision=how.revision)
        scorer = _transformer(kind, spec, path, replace(how, device=device_of(how.device)))
        settled = how.dtype, how.policy, how.variant, "chat" * how.chat
        decisive = (*settled, fingerprint(path) if cache else "")
    identity = " ".join((kind, ANSWERS, *decisive)) if cache else ""
    return Cached(scorer, identity, cache)


def _transformer(kind: str, spec: str, path: Path, settings: ScorerSettings) -> Scorer:
    """The scorer of a model's directory."""
    import transformers as tf

    from simtown.probes.scorers import causal, huggingface, masked

    config = model_json(path / "config.json")
    head, family = str((config.get("architectures") or [""])[0]), str(config.get("model_type", ""))
    is_clip = family in ("clip", "clip_text_model")
    if kind == "lstm" and family != "simtown-lstm":
        raise ValueError(f"{path} holds no LSTM made by simtown lm train: open it as hf:{path}")
    if kind == "clip" and not is_clip:
        raise ValueError(f"{path} holds no CLIP ({family or 'unknown kind'}): open it as hf:{path}")
    if config.get("is_encoder_decoder"):
        other = "give a masked or a causal language model, or an encoder"
        raise ValueError(f"{path} holds an encoder-decoder model ({head}), which cannot be asked: {other}")
    if family == "simtown-lstm":
        from simtown.probes.lm import lstm  # noqa: F401  (makes transformers know it)
    tokenizer = load_tokenizer(path)
    if kind == "sentence":
        return _sentence(spec, path, tokenizer, settings)
    load = partial(load_model, path, dtype=settings.dtype)
    if is_clip:
        model = load(tf.CLIPTextModelWithProjection)
        return huggingface.Encoder(spec, model, tokenizer, settings, pooling="projection", normalise=True)
    is_causal = kind == "vlm" or head.endswith(("ForCausalLM", "LMHeadModel"))
    if settings.chat and not is_causal:
        raise ValueError(f"{path} holds no model that writes ({head}): leave out chat")
    if is_causal:
        auto = tf.AutoModelForImageTextToText if kind == "vlm" else tf.AutoModelForCausalLM
        scorer = causal.Chat if settings.chat else causal.Causal
        return scorer(spec, load(auto), tokenizer, settings)
    if head.endswith("ForMaskedLM") or head.removesuffix("ForPreTraining") in _PRETRAINED:
        return masked.Masked(spec, load(tf.AutoModelForMaskedLM), tokenizer, settings)
    return huggingface.Transformer(spec, load(tf.AutoModel), tokenizer, settings)


def _sentence(spec: str, path: Path, tokenizer: Any, settings: ScorerSettings) -> Scorer:
    """The tower of a sentence encoder, pooled as its files say."""
    import transformers

    from simtown.probes.scorers.huggingface import Encoder

    modules = [str(module["type"]).rpartition(".")[2] for module in model_json(path / "modules.json")]
    if modules[:2] != ["Transformer", "Pooling"] or not set(modules[2:]) <= {"Normalize"}:
        known = "only a transformer, pooling and perhaps normalisation can be read"
        raise ValueError(f"{path} is made of {', '.join(modules) or 'nothing'}: {known}")
    config = model_json(path / "1_Pooling" / "config.json")
    poolings = {"mean_tokens": "mean", "cls_token": "first", "lasttoken": "last"}
    chosen = [pooling for key, pooling in poolings.items() if config.get(f"pooling_mode_{key}")]
    if len(chosen) != 1:
        raise ValueError(f"{path} pools in a way that is not known here: give another")
    model = load_model(path, transformers.AutoModel, dtype=settings.dtype)
    normalise = "Normalize" in modules
    scorer = Encoder(spec, model, tokenizer, settings, pooling=chosen[0], normalise=normalise)
    most = model_json(path / "sentence_bert_config.json", {}).get("max_seq_length")
    scorer.longest = min(scorer.longest, most or scorer.longest)
    return scorer
