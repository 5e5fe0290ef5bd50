"""From a few words such as "hf:bert-base-uncased" to a scorer: the one place where models are opened."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

from simtown.core.files import LARGEST_JSON, DamagedError, RefusedError, check_name, read_json
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
_PRETRAINED = (
    "BertForPreTraining",
    "AlbertForPreTraining",
    "MobileBertForPreTraining",
    "FNetForPreTraining",
    "MegatronBertForPreTraining",
)
#: For everything that transformers opens: nothing is fetched, no code of a model's directory is run, and
#: nobody is asked about that.
LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
#: Ways of attention that transformers has itself. For any other it may fetch code.
_ATTENTION = ("eager", "sdpa")
#: What the settings of a tokenizer have no need to name: where it lies in the directory, transformers finds
#: it by itself.
_FILES_OF_TOKENIZERS = (
    "vocab",
    "merges",
    "vocab_file",
    "merges_file",
    "spm_file",
    "source_spm",
    "target_spm",
    "gguf_file",
)
#: A model may describe so many times the numbers that its file holds, and so many more: masks, positions and
#: a new head.
MORE, LEAST = 1.5, 2**26
#: So many layers are believed without a look at the weights, of which some models share theirs among layers.
DEEPEST = 200
#: What a model's directory may hold that matters here.
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
        ImportError: a library is missing; the message names it.
    """
    kind, colon, place = spec.partition(":")
    if kind not in (*KINDS, "oracle") or not colon or not place:
        raise ValueError(f"'{spec}' names no model: write " + "; or ".join(KINDS.values()))
    if policy not in POLICIES:
        raise ValueError(
            f"unknown policy '{policy}' for words of several sub-words: choose {', '.join(POLICIES)}"
        )
    path = Path(place)
    if kind == "glove":
        from simtown.probes.scorers.vectors import Vectors

        return Vectors.read(spec, path, progress=progress)
    if kind == "oracle":
        from simtown.probes.scorers.oracle import Oracle

        return Oracle.read(spec, path)
    if kind == "ngram":
        from simtown.probes.scorers.ngram import NGram

        scorer: Scorer = NGram.read(spec, path, policy=policy, progress=progress)
        chosen: tuple[str, ...] = (policy,)
    else:
        from simtown.probes.scorers.transformer import VARIANTS, ScorerSettings

        if variant not in VARIANTS:
            raise ValueError(
                f"unknown variant '{variant}' of pseudo-log-likelihood: choose {', '.join(VARIANTS)}"
            )
        if dtype not in DTYPES:
            raise ValueError(f"unknown dtype '{dtype}': choose {', '.join(DTYPES)}")
        if tokens < 1:
            raise ValueError(f"a batch needs at least 1 token, not {tokens}")
        path = model_directory(place, hub=kind != "lstm")
        settings = ScorerSettings(device_of(device), dtype, policy, variant, tokens, progress)
        scorer = _transformer(kind, spec, path, settings)
        chosen = (dtype, policy, variant)
    identity = " ".join((kind, ANSWERS, *chosen, fingerprint(path))) if cache else ""
    return Cached(scorer, identity, cache)


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
    """The directory itself, or that of a model of the Hugging Face hub.

    A model of the hub is fetched unless it was fetched before.

    Args:
        place: a directory, or a model's name on the hub.
        hub: whether the hub is asked.

    Raises:
        FileNotFoundError: there is no such model.
    """
    path = Path(place)
    if path.is_dir():
        return path
    if not hub or path.is_absolute() or place.startswith(".") or place.count("/") > 1:
        raise FileNotFoundError(f"{place} is no directory with a model in it")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(place, allow_patterns=_PATTERNS, local_files_only=True))
    except HFValidationError:
        raise FileNotFoundError(
            f"{place} is neither a directory nor a model's name on the Hugging Face hub"
        ) from None
    except LocalEntryNotFoundError:
        pass
    try:
        return Path(snapshot_download(place, allow_patterns=_PATTERNS))
    except (HfHubHTTPError, OSError, ValueError) as error:
        missing = type(error).__name__ == "RepositoryNotFoundError"
        why = (
            "the Hugging Face hub has no such model" if missing else "the Hugging Face hub cannot be reached"
        )
        raise FileNotFoundError(
            f"{place} is no directory here, and {why}: give a directory that holds the model"
        ) from None


def _transformer(kind: str, spec: str, path: Path, settings: Any) -> Scorer:
    """The scorer of a model's directory."""
    config = _json(path / "config.json")
    heads = config.get("architectures")
    head, family = (
        str(heads[0]) if isinstance(heads, list) and heads else "",
        str(config.get("model_type", "")),
    )
    if kind == "lstm" and family != "simtown-lstm":
        raise ValueError(f"{path} holds no LSTM made by simtown lm train: open it as hf:{path}")
    if config.get("is_encoder_decoder"):
        raise ValueError(
            f"{path} holds an encoder-decoder model ({head}), which cannot be asked here: give "
            "a masked or a causal language model, or an encoder"
        )
    import transformers

    if family == "simtown-lstm":
        from simtown.probes.lm import lstm  # noqa: F401  (makes transformers know it)
    tokenizer = tokenizer_of(path)
    if kind == "clip" or (kind == "hf" and family in ("clip", "clip_text_model")):
        from simtown.probes.scorers.encoder import Encoder

        if family not in ("clip", "clip_text_model"):
            raise ValueError(f"{path} holds no CLIP ({family or 'unknown kind'}): open it as hf:{path}")
        model = _weights(path, transformers.CLIPTextModelWithProjection)
        return Encoder(spec, model, tokenizer, settings, pooling="projection", normalise=True)
    if kind == "sentence":
        return _sentence(spec, path, tokenizer, settings)
    if head.endswith("ForMaskedLM") or head in _PRETRAINED:
        from simtown.probes.scorers.masked import Masked

        return Masked(spec, _weights(path, transformers.AutoModelForMaskedLM), tokenizer, settings)
    if head.endswith(("ForCausalLM", "LMHeadModel")):
        from simtown.probes.scorers.causal import Causal

        return Causal(spec, _weights(path, transformers.AutoModelForCausalLM), tokenizer, settings)
    from simtown.probes.scorers.transformer import Transformer

    return Transformer(spec, _weights(path, transformers.AutoModel), tokenizer, settings)


def _sentence(spec: str, path: Path, tokenizer: Any, settings: Any) -> Scorer:
    """The tower of a sentence encoder, pooled as its files say."""
    import transformers

    from simtown.probes.scorers.encoder import Encoder

    modules = [str(m.get("type", "")).rpartition(".")[2] for m in _json(path / "modules.json")]
    if modules[:2] != ["Transformer", "Pooling"] or not set(modules[2:]) <= {"Normalize"}:
        raise ValueError(
            f"{path} is made of {', '.join(modules) or 'nothing'}: only a transformer, pooling and "
            "perhaps normalisation can be read; give another encoder"
        )
    pooling = _json(path / "1_Pooling" / "config.json")
    names = {
        "pooling_mode_mean_tokens": "mean",
        "pooling_mode_cls_token": "first",
        "pooling_mode_lasttoken": "last",
    }
    chosen = [name for key, name in names.items() if pooling.get(key)]
    if len(chosen) != 1:
        raise ValueError(
            f"{path} pools in a way that is not known here (known: mean, first token, last token): give "
            "another encoder"
        )
    scorer = Encoder(
        spec,
        _weights(path, transformers.AutoModel),
        tokenizer,
        settings,
        pooling=chosen[0],
        normalise="Normalize" in modules,
    )
    limits = path / "sentence_bert_config.json"
    if limits.is_file():
        scorer.longest = min(scorer.longest, _json(limits).get("max_seq_length") or scorer.longest)
    return scorer


def tokenizer_of(path: Path) -> Any:
    """The tokenizer of a model's directory.

    Raises:
        RefusedError: the directory asks for code or files from elsewhere.
        FileNotFoundError: as :func:`open_scorer`.
        DamagedError: as :func:`open_scorer`.
    """
    import transformers

    _check_configuration(path)
    settings = path / "tokenizer_config.json"
    content = _json(settings, {})
    named = [key for key in _FILES_OF_TOKENIZERS if isinstance(content.get(key), str)] + [
        "init_inputs"
    ] * bool(content.get("init_inputs"))
    if named:
        raise RefusedError(
            f"{settings} names a file to read, which may lie anywhere ({named[0]}): delete that line"
        )
    return loaded(path, lambda: transformers.AutoTokenizer.from_pretrained(path, **LOCAL))


def weights(path: Path, auto: Any, **more: Any) -> tuple[Any, dict[str, Any]]:
    """A model in float32 from a directory's safetensors, and what transformers tells about their names.

    Args:
        path: the directory.
        auto: a class of transformers that has `from_pretrained`.
        more: for the model's configuration.

    Raises:
        RefusedError: the directory asks for code or files from elsewhere, or describes a model that is larger
            than its weights.
        FileNotFoundError: as :func:`open_scorer`.
        DamagedError: as :func:`open_scorer`.
    """
    import torch

    config = _check_configuration(path)
    shapes = loaded(path, lambda: _shapes(path))
    _check_depth(path, config, len(shapes))
    stored = sum(prod(shape) for shape in shapes.values())
    described = loaded(path, lambda: _numbers(path, auto, more))
    if described > MORE * stored + LEAST:
        raise RefusedError(
            f"{path} holds {stored:,} weights, and its config.json describes a model of {described:,}: one "
            "of them is wrong"
        )

    def load() -> Any:
        return auto.from_pretrained(
            path, **LOCAL, **more, use_safetensors=True, output_loading_info=True, dtype=torch.float32
        )

    model, loading_info = loaded(path, load)
    return model, loading_info


def _shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """The shapes of all arrays in a directory's safetensors, by name."""
    from safetensors import safe_open

    names, index = ["model.safetensors"], path / "model.safetensors.index.json"
    if not (path / names[0]).exists() and index.exists():
        names = sorted({check_name(str(name), f"{index}:") for name in _json(index)["weight_map"].values()})
    shapes: dict[str, tuple[int, ...]] = {}
    for name in names:
        if not name.endswith(".safetensors"):
            raise RefusedError(
                f"{index} names {name}, which is no safetensors: save the model with save_pretrained"
            )
        with safe_open(path / name, framework="pt") as file:
            shapes |= {key: tuple(file.get_slice(key).get_shape()) for key in file.keys()}  # noqa: SIM118  (it is no dictionary)
    return shapes


def _numbers(path: Path, auto: Any, more: dict[str, Any]) -> int:
    """How many numbers a model would have, counted without memory for them."""
    import torch
    import transformers

    of_many = auto.__module__.startswith("transformers.models.auto.")
    config = (transformers.AutoConfig if of_many else auto.config_class).from_pretrained(
        path, **LOCAL, **more
    )
    with torch.device("meta"):
        model = auto.from_config(config) if of_many else auto(config)
    return sum(array.numel() for array in (*model.parameters(), *model.buffers()))


def _check_configuration(path: Path) -> dict[str, Any]:
    """The configuration of a model's directory.

    Raises:
        RefusedError: the configuration, or a part of it, asks for code or weights from elsewhere.
    """
    if (path / "adapter_config.json").exists():
        raise RefusedError(
            f"{path} holds an adapter of another model: merge the two (merge_and_unload of peft), and save "
            "the result"
        )
    config: dict[str, Any] = _json(path / "config.json")
    for part in _parts(config):
        for key, value in part.items():
            if key == "quantization_config" and value:
                raise RefusedError(
                    f"{path} holds quantized weights, which simtown does not read: give the model as it "
                    "was before"
                )
            if key == "use_pretrained_backbone" and value:
                raise RefusedError(
                    f"{path} takes some of its weights from elsewhere ({key}): give a model that is complete"
                )
            if "attn_implementation" in key and isinstance(value, str) and value not in _ATTENTION:
                raise RefusedError(
                    f"{path / 'config.json'} asks for others' code ({key}): delete that line, which "
                    "simtown does not need"
                )
    return config


def _check_depth(path: Path, config: dict[str, Any], arrays: int) -> None:
    """Refuse a configuration whose layers would take for ever to make.

    Raises:
        RefusedError: it has more layers than there are arrays of weights.
    """
    for part in _parts(config):
        for key, value in part.items():
            if ("layer" in key or "block" in key) and isinstance(value, int) and value > max(arrays, DEEPEST):
                raise RefusedError(
                    f"{path} holds {arrays:,} arrays of weights, and its config.json describes {value:,} "
                    f"layers ({key})"
                )


def _parts(config: Any) -> list[dict[str, Any]]:
    """The objects of a JSON value, itself among them."""
    parts, left = [], [config]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            parts.append(value)
            left += value.values()
        elif isinstance(value, list):
            left += value
    return parts


def _json(path: Path, otherwise: Any = None) -> Any:
    """An object of a model's JSON file, or a list as modules.json is one; links are followed, since the hub's
    cache is made of them.
    """
    if otherwise is not None and not path.exists():
        return otherwise
    if not path.is_file():
        raise FileNotFoundError(f"{path.parent} holds no model of this kind (no {path.name})")
    try:
        content = read_json(path, LARGEST_JSON, follow=True)
        if not isinstance(content, list if path.name == "modules.json" else dict):
            raise ValueError("it is no object")
    except (OSError, ValueError) as error:
        raise DamagedError(f"{path} is damaged ({error}): fetch the model again") from error
    return content


def _weights(path: Path, auto: Any) -> Any:
    """A model in float32, all of whose weights are in the directory's safetensors; poolers may be missing,
    since nothing here uses them.
    """
    model, loading_info = weights(path, auto)
    missing = sorted(
        name for name in loading_info["missing_keys"] if "pooler" not in name and "position_ids" not in name
    )
    if missing:
        raise ValueError(
            f"{path} lacks {len(missing)} of the weights that its config.json names, such as {missing[0]}: "
            "give a model that was saved with its language-modelling head"
        )
    return model


def loaded(path: Path, load: Callable[[], Any]) -> Any:
    """What `load` gives, without the bars and warnings of transformers.

    Args:
        path: the directory that is read, for messages.
        load: calls transformers.

    Raises:
        RefusedError: the directory asks for code of its own.
        DamagedError: `load` raised anything else; the message is one line.
    """
    try:
        with quietly():
            return load()
    except RefusedError:
        raise
    except Exception as error:  # transformers, tokenizers, safetensors and torch each raise their own
        if "trust_remote_code" in str(error):
            raise RefusedError(
                f"{path} needs code of its own, which simtown never runs, whatever the option: give a "
                "model whose architecture transformers has itself (its config.json names no auto_map)"
            ) from error
        raise DamagedError(
            f"{path} cannot be loaded ({type(error).__name__}: "
            f"{str(error).splitlines()[0][:200] if str(error) else ''})"
        ) from error
