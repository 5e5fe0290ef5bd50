"""From a few words such as "hf:bert-base-uncased" to a scorer: the one place where models are opened.

Nothing of a model's folder is executed: weights are safetensors, and transformers runs no code of a model.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from simtown.core.files import DamagedError
from simtown.core.options import check
from simtown.core.untrusted import RefusedError, inside, open_regular, read_json
from simtown.probes.bars import metered, quietly
from simtown.probes.model_names import KINDS
from simtown.probes.scorers.base import Scorer, ScorerSettings
from simtown.probes.scorers.cache import Cached, fingerprint

#: To be raised when a change gives other answers to the same question: those kept before are then not used.
ANSWERS = "3"
#: Architectures that hold a masked language model's head besides another one.
_PRETRAINED = ("Bert", "Albert", "MobileBert", "FNet", "MegatronBert")
#: Settings of a tokenizer that name a file to read. It finds its own files without them.
_TOKENIZER_FILES = {"vocab", "merges", "vocab_file", "merges_file", "spm_file", "source_spm", "target_spm"}
#: What of a model on the hub matters here.
_PATTERNS = ["*.json", "*.txt", "*.model", "*.safetensors"]


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

        with metered(spec, 0, how.progress) as report:
            sentences = Corpus(path, progress=report).sentences(punctuation=True)
            scorer: Scorer = NGram(spec, sentences, policy=how.policy)
        decisive: tuple[str, ...] = (how.policy,)
    else:
        path = model_directory(place, hub=kind != "lstm")
        scorer = _transformer(kind, spec, path, replace(how, device=device_of(how.device)))
        decisive = (how.dtype, how.policy, how.variant)
    identity = " ".join((kind, ANSWERS, *decisive, fingerprint(path))) if cache else ""
    return Cached(scorer, identity, cache)


def device_of(name: str) -> str:
    """PyTorch's name of a device that is there; auto is a CUDA device where there is one."""
    import torch

    try:
        device = torch.device(("cuda" if torch.cuda.is_available() else "cpu") if name == "auto" else name)
    except RuntimeError:
        raise ValueError(f"unknown device '{name}': choose auto, cpu or cuda") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError("`device=cuda`: PyTorch sees no CUDA device here; use `device=cpu`, or auto")
    return str(device)


def model_directory(place: str, *, hub: bool) -> Path:
    """The directory itself, or that of a model of the Hugging Face hub, fetched unless it was before.

    Raises FileNotFoundError if there is no such model, and for one that is not here unless `hub`.
    """
    path = Path(place)
    if path.is_dir():
        return path
    if not hub or path.is_absolute() or place.startswith("."):
        raise FileNotFoundError(f"{place} is not a directory with a model in it")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        try:
            return Path(snapshot_download(place, allow_patterns=_PATTERNS, local_files_only=True))
        except LocalEntryNotFoundError:
            return Path(snapshot_download(place, allow_patterns=_PATTERNS))
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        neither = f"{place} is neither a directory here nor a model of the Hugging Face hub ({reason})"
        raise FileNotFoundError(f"{neither}: give a directory that holds the model") from error


def _transformer(kind: str, spec: str, path: Path, settings: ScorerSettings) -> Scorer:
    """The scorer of a model's directory."""
    import transformers as tf

    from simtown.probes.scorers import causal, huggingface, masked

    config = _json(path / "config.json")
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
    if is_clip:
        model = load_model(path, tf.CLIPTextModelWithProjection)
        return huggingface.Encoder(spec, model, tokenizer, settings, pooling="projection", normalise=True)
    if head.endswith("ForMaskedLM") or head.removesuffix("ForPreTraining") in _PRETRAINED:
        return masked.Masked(spec, load_model(path, tf.AutoModelForMaskedLM), tokenizer, settings)
    if head.endswith(("ForCausalLM", "LMHeadModel")):
        return causal.Causal(spec, load_model(path, tf.AutoModelForCausalLM), tokenizer, settings)
    return huggingface.Transformer(spec, load_model(path, tf.AutoModel), tokenizer, settings)


def _sentence(spec: str, path: Path, tokenizer: Any, settings: ScorerSettings) -> Scorer:
    """The tower of a sentence encoder, pooled as its files say."""
    import transformers

    from simtown.probes.scorers.huggingface import Encoder

    modules = [str(module["type"]).rpartition(".")[2] for module in _json(path / "modules.json")]
    if modules[:2] != ["Transformer", "Pooling"] or not set(modules[2:]) <= {"Normalize"}:
        known = "only a transformer, pooling and perhaps normalisation can be read"
        raise ValueError(f"{path} is made of {', '.join(modules) or 'nothing'}: {known}")
    config = _json(path / "1_Pooling" / "config.json")
    poolings = {"mean_tokens": "mean", "cls_token": "first", "lasttoken": "last"}
    chosen = [pooling for key, pooling in poolings.items() if config.get(f"pooling_mode_{key}")]
    if len(chosen) != 1:
        raise ValueError(f"{path} pools in a way that is not known here: give another")
    model, normalise = load_model(path, transformers.AutoModel), "Normalize" in modules
    scorer = Encoder(spec, model, tokenizer, settings, pooling=chosen[0], normalise=normalise)
    most = _json(path / "sentence_bert_config.json", {}).get("max_seq_length")
    scorer.longest = min(scorer.longest, most or scorer.longest)
    return scorer


def load_tokenizer(path: Path) -> Any:
    """The tokenizer of a model's directory; raises as :func:`load_model`."""
    import transformers

    return _loaded(path, transformers.AutoTokenizer)


def load_model(path: Path, auto: Any, *, complete: bool = True, **more: Any) -> Any:
    """A model in float32 from a directory's safetensors.

    Args:
        auto: a class of transformers that has `from_pretrained`.
        complete: whether all weights must be there, but for poolers, which nothing uses.
        more: for the model's configuration.

    Raises:
        FileNotFoundError: the directory holds no model.
        RefusedError: it asks for code or files from elsewhere.
        DamagedError: it cannot be loaded.
        ValueError: it is not complete.
    """
    import torch

    options = {"use_safetensors": True, "output_loading_info": True, "dtype": torch.float32}
    model, info = _loaded(path, auto, **options, **more)
    missing = sorted(n for n in info["missing_keys"] if "pooler" not in n and "position_ids" not in n)
    if complete and missing:
        lacks = f"{path} lacks {len(missing)} weights that its config.json names, such as {missing[0]}"
        raise ValueError(f"{lacks}: give a model that was saved with its language-modelling head")
    return model


def _loaded(path: Path, auto: Any, **options: Any) -> Any:
    """What a class of transformers makes of a directory, without bars, warnings, and code of the model."""
    _check_inside(path)
    try:
        with quietly():
            return auto.from_pretrained(path, local_files_only=True, trust_remote_code=False, **options)
    except Exception as error:  # transformers, tokenizers, safetensors and torch each raise their own
        if "trust_remote_code" in str(error):
            other = "give a model whose config.json names no auto_map"
            raise RefusedError(f"{path} needs code of its own, which simtown never runs: {other}") from error
        reason = str(error).strip().partition("\n")[0][:200]
        raise DamagedError(f"{path} cannot be loaded ({type(error).__name__}: {reason})") from error


def _check_inside(path: Path) -> None:
    """Raises RefusedError for a directory that has transformers read or fetch anything outside it, or that
    holds pointers of Git LFS.
    """
    config, tokenizer = _json(path / "config.json"), _json(path / "tokenizer_config.json", {})
    attention = {str(value) for key, value in config.items() if "attn_implementation" in key and value}
    if attention - {"eager", "sdpa"}:
        raise RefusedError(f"{path / 'config.json'} names code of others for attention: delete that line")
    if (path / "adapter_config.json").exists():
        raise RefusedError(f"{path} holds an adapter of another model: merge the two and save the result")
    named = [key for key in _TOKENIZER_FILES if isinstance(tokenizer.get(key), str)]
    if named or tokenizer.get("init_inputs"):
        file, keys = path / "tokenizer_config.json", ", ".join(named) or "init_inputs"
        raise RefusedError(f"{file} names a file to read ({keys}): delete that line")
    for name in _json(path / "model.safetensors.index.json", {}).get("weight_map", {}).values():
        if not inside(path, str(name)).name.endswith(".safetensors"):
            raise RefusedError(f"{path} has weights that are not safetensors ({name}): save the model again")
    for file in (*path.glob("model*.safetensors"), *path.glob("tokenizer.json")):
        open_regular(file).close()  # no pointer of Git LFS


def _json(path: Path, otherwise: Any = None) -> Any:
    """The content of a model's JSON file; links are followed, since the hub's cache is made of them."""
    if not path.is_file():
        if otherwise is None:
            raise FileNotFoundError(f"{path.parent} holds no model of this kind (no {path.name})")
        return otherwise
    try:
        content = read_json(path, follow=True)
        if not isinstance(content, list if path.name == "modules.json" else dict):
            raise ValueError("it does not hold an object")
    except ValueError as error:
        raise DamagedError(f"{path} is damaged ({error}): fetch the model again") from error
    return content
