"""From a few words such as "hf:bert-base-uncased" to a scorer: the one place where models are opened.

Nothing of a model's folder is executed: weights are safetensors, and transformers runs no code of a model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simtown.core.files import DamagedError
from simtown.core.untrusted import RefusedError, inside, read_json
from simtown.probes.quiet import quietly
from simtown.probes.scorers.base import Scorer
from simtown.probes.scorers.cache import Cached, fingerprint
from simtown.probes.scorers.spelling import POLICIES, Policy

#: What can be opened, and by what words; besides, for tests, oracle:FILE.
KINDS = {
    "hf": "hf:ID-OR-DIR, a masked or causal language model or an encoder in Hugging Face's layout",
    "sentence": "sentence:ID-OR-DIR, an encoder in sentence-transformers' layout",
    "clip": "clip:ID-OR-DIR, the text tower of a CLIP",
    "lstm": "lstm:DIR, made by simtown lm train --arch lstm",
    "glove": "glove:FILE, word vectors as text, .gz, or .npy with its words beside it",
    "ngram": "ngram:CORPUS, a trigram model of a text file or of region_descriptions.json",
}
DTYPES = ("float32", "bfloat16", "float16")
#: To be raised when a change gives other answers to the same question: those kept before are then not used.
ANSWERS = "2"
#: Architectures that hold a masked language model's head besides another one.
_PRETRAINED = ("Bert", "Albert", "MobileBert", "FNet", "MegatronBert")
#: For everything that transformers opens.
_LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
#: Settings of a tokenizer that name a file to read. It finds its own files without them.
_TOKENIZER_FILES = {"vocab", "merges", "vocab_file", "merges_file", "spm_file", "source_spm", "target_spm"}
#: What of a model on the hub matters here.
_PATTERNS = ["*.json", "*.txt", "*.model", "*.safetensors"]


def open_scorer(
    spec: str,
    *,
    device: str = "auto",
    dtype: str = "float32",
    policy: Policy = "left-to-right",
    variant: str = "original",
    tokens: int = 1024,
    cache: Path | None = None,
    progress: bool = False,
) -> Scorer:
    """A scorer by its kind and place, such as "hf:bert-base-uncased" or "glove:vectors.txt.gz".

    Args:
        spec: kind and place, see :data:`KINDS`.
        device: auto, cpu, cuda, or another of PyTorch's names.
        dtype: of the weights: float32, bfloat16 or float16.
        policy: for words of several sub-words: first, drop, joint or left-to-right
            (:mod:`simtown.probes.scorers.spelling`).
        variant: of masked models' pseudo-log-likelihood: original, within_word_l2r or whole_word.
        tokens: of a batch at most; 1,024 suits a CPU, a GPU takes more.
        cache: a directory that keeps the answers for another time; without one they are kept in memory.
        progress: draw a bar on stderr when something takes seconds.

    Raises:
        ValueError: an unknown kind, value or device, or a model that lacks what its kind needs.
        FileNotFoundError: there is no such model, here or on the hub.
        DamagedError: files that cannot be read.
    """
    kind, _, place = spec.partition(":")
    if kind not in (*KINDS, "oracle") or not place:
        raise ValueError(f"'{spec}' names no model: write " + "; or ".join(KINDS.values()))
    _check_choice("policy", policy, POLICIES)
    path = Path(place)
    if kind == "glove":
        from simtown.probes.scorers.wordvectors import Vectors

        return Vectors.read(spec, path, progress=progress)
    if kind == "oracle":
        from simtown.probes.scorers.oracle import Oracle

        return Oracle.read(spec, path)
    if kind == "ngram":
        from simtown.probes.scorers.ngram import NGram

        scorer: Scorer = NGram.read(spec, path, policy=policy, progress=progress)
        chosen: tuple[str, ...] = (policy,)
    else:
        from simtown.probes.scorers.huggingface import VARIANTS, ScorerSettings

        _check_choice("variant", variant, VARIANTS)
        _check_choice("dtype", dtype, DTYPES)
        if tokens < 1:
            raise ValueError(f"`tokens` must be at least 1, not {tokens}")
        path = model_directory(place, hub=kind != "lstm")
        settings = ScorerSettings(device_of(device), dtype, policy, variant, tokens, progress)  # type: ignore[arg-type]
        scorer = _transformer(kind, spec, path, settings)
        chosen = (dtype, policy, variant)
    identity = " ".join((kind, ANSWERS, *chosen, fingerprint(path))) if cache else ""
    return Cached(scorer, identity, cache)


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"unknown {name} '{value}': choose {', '.join(choices)}")


def device_of(name: str) -> str:
    """PyTorch's name of a device; auto is a CUDA device where there is one.

    Raises:
        ValueError: there is no such device.
    """
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

    Args:
        place: a directory, or a model's name on the hub.
        hub: whether the hub is asked.

    Raises:
        FileNotFoundError: there is no such model.
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
        raise FileNotFoundError(
            f"{place} is neither a directory here nor a model of the Hugging Face hub ({reason}): give a "
            "directory that holds the model"
        ) from error


def _transformer(kind: str, spec: str, path: Path, settings: Any) -> Scorer:
    """The scorer of a model's directory."""
    import transformers

    config = _json(path / "config.json")
    head, family = str((config.get("architectures") or [""])[0]), str(config.get("model_type", ""))
    if kind == "lstm" and family != "simtown-lstm":
        raise ValueError(f"{path} holds no LSTM made by simtown lm train: open it as hf:{path}")
    if kind == "clip" and family not in ("clip", "clip_text_model"):
        raise ValueError(f"{path} holds no CLIP ({family or 'unknown kind'}): open it as hf:{path}")
    if config.get("is_encoder_decoder"):
        raise ValueError(
            f"{path} holds an encoder-decoder model ({head}), which cannot be asked here: give a masked or a "
            "causal language model, or an encoder"
        )
    if family == "simtown-lstm":
        from simtown.probes.lm import lstm  # noqa: F401  (makes transformers know it)
    tokenizer = load_tokenizer(path)
    if kind == "sentence":
        return _sentence(spec, path, tokenizer, settings)
    if family in ("clip", "clip_text_model"):
        from simtown.probes.scorers.encoder import Encoder

        model = _complete(path, transformers.CLIPTextModelWithProjection)
        return Encoder(spec, model, tokenizer, settings, pooling="projection", normalise=True)
    if head.endswith("ForMaskedLM") or head.removesuffix("ForPreTraining") in _PRETRAINED:
        from simtown.probes.scorers.masked import Masked

        return Masked(spec, _complete(path, transformers.AutoModelForMaskedLM), tokenizer, settings)
    if head.endswith(("ForCausalLM", "LMHeadModel")):
        from simtown.probes.scorers.causal import Causal

        return Causal(spec, _complete(path, transformers.AutoModelForCausalLM), tokenizer, settings)
    from simtown.probes.scorers.huggingface import Transformer

    return Transformer(spec, _complete(path, transformers.AutoModel), tokenizer, settings)


def _sentence(spec: str, path: Path, tokenizer: Any, settings: Any) -> Scorer:
    """The tower of a sentence encoder, pooled as its files say."""
    import transformers

    from simtown.probes.scorers.encoder import Encoder

    modules = [str(module["type"]).rpartition(".")[2] for module in _json(path / "modules.json")]
    if modules[:2] != ["Transformer", "Pooling"] or not set(modules[2:]) <= {"Normalize"}:
        raise ValueError(
            f"{path} is made of {', '.join(modules) or 'nothing'}: only a transformer, pooling and perhaps "
            "normalisation can be read; give another encoder"
        )
    pooling = _json(path / "1_Pooling" / "config.json")
    poolings = {"mean_tokens": "mean", "cls_token": "first", "lasttoken": "last"}
    chosen = [name for key, name in poolings.items() if pooling.get(f"pooling_mode_{key}")]
    if len(chosen) != 1:
        raise ValueError(
            f"{path} pools in a way that is not known here (known: mean, first token, last token): give "
            "another encoder"
        )
    model = _complete(path, transformers.AutoModel)
    normalise = "Normalize" in modules
    scorer = Encoder(spec, model, tokenizer, settings, pooling=chosen[0], normalise=normalise)
    limits = path / "sentence_bert_config.json"
    if limits.is_file():
        scorer.longest = min(scorer.longest, _json(limits).get("max_seq_length") or scorer.longest)
    return scorer


def load_tokenizer(path: Path) -> Any:
    """The tokenizer of a model's directory.

    Raises:
        FileNotFoundError: the directory holds no model.
        RefusedError: it asks for files from elsewhere.
        DamagedError: it cannot be loaded.
    """
    import transformers

    return _loaded(path, transformers.AutoTokenizer)


def load_model(path: Path, auto: Any, **more: Any) -> tuple[Any, dict[str, Any]]:
    """A model in float32 from a directory's safetensors, and what transformers says about their names.

    Args:
        path: the directory.
        auto: a class of transformers that has `from_pretrained`.
        more: for the model's configuration.

    Raises:
        FileNotFoundError: the directory holds no model.
        RefusedError: it asks for code or files from elsewhere.
        DamagedError: it cannot be loaded.
    """
    import torch

    model, info = _loaded(
        path, auto, use_safetensors=True, output_loading_info=True, dtype=torch.float32, **more
    )
    return model, info


def _complete(path: Path, auto: Any) -> Any:
    """A model all of whose weights are in the directory; poolers may be missing, since nothing uses them."""
    model, info = load_model(path, auto)
    missing = sorted(
        name for name in info["missing_keys"] if "pooler" not in name and "position_ids" not in name
    )
    if missing:
        raise ValueError(
            f"{path} lacks {len(missing)} of the weights that its config.json names, such as {missing[0]}: "
            "give a model that was saved with its language-modelling head"
        )
    return model


def _loaded(path: Path, auto: Any, **options: Any) -> Any:
    """What a class of transformers makes of a directory, without bars, warnings, and code of the model."""
    _check_inside(path)
    try:
        with quietly():
            return auto.from_pretrained(path, **_LOCAL, **options)
    except Exception as error:  # transformers, tokenizers, safetensors and torch each raise their own
        if "trust_remote_code" in str(error):
            raise RefusedError(
                f"{path} needs code of its own, which simtown never runs: give a model whose architecture "
                "transformers has itself (its config.json names no auto_map)"
            ) from error
        reason = str(error).strip().partition("\n")[0][:200]
        raise DamagedError(f"{path} cannot be loaded ({type(error).__name__}: {reason})") from error


def _check_inside(path: Path) -> None:
    """Refuse a directory that has transformers read or fetch anything outside it.

    Raises:
        RefusedError: the message names the file.
    """
    config = _json(path / "config.json")
    attention = [value for key, value in config.items() if "attn_implementation" in key and value]
    named = _TOKENIZER_FILES & {
        key for key, value in _json(path / "tokenizer_config.json", {}).items() if isinstance(value, str)
    }
    if set(map(str, attention)) - {"eager", "sdpa"}:
        raise RefusedError(f"{path / 'config.json'} names code of others for attention: delete that line")
    if (path / "adapter_config.json").exists():
        raise RefusedError(f"{path} holds an adapter of another model: merge the two and save the result")
    if named or _json(path / "tokenizer_config.json", {}).get("init_inputs"):
        raise RefusedError(
            f"{path / 'tokenizer_config.json'} names a file to read ({', '.join(named) or 'init_inputs'}): "
            "delete that line"
        )
    for name in _json(path / "model.safetensors.index.json", {}).get("weight_map", {}).values():
        if not inside(path, str(name)).name.endswith(".safetensors"):
            raise RefusedError(f"{path} has weights that are not safetensors ({name}): save the model again")


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
