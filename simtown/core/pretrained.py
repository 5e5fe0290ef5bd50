"""Models of Hugging Face's transformers: where they lie, how they are loaded, and what identifies them.

Nothing of a model's folder is executed: weights are safetensors, and transformers runs no code of a model.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

from simtown.core.extras import MissingExtraError
from simtown.core.files import DamagedError
from simtown.core.untrusted import RefusedError, cause, inside, open_regular, read_json

#: Settings of a tokenizer that name a file to read. It finds its own files without them.
_TOKENIZER_FILES = {"vocab", "merges", "vocab_file", "merges_file", "spm_file", "source_spm", "target_spm"}
#: What of a model on the hub matters here.
_PATTERNS = ["*.json", "*.txt", "*.model", "*.safetensors", "*.jinja"]
#: Seconds until the hub must answer.
_PATIENCE = 5.0
#: What decides a model's answers: weights, vocabulary, configuration.
CONTENT = (".safetensors", ".json", ".txt", ".model", ".jinja")


def fingerprint(path: Path) -> str:
    """A digest of the file, or of the names and contents of the model files under the directory."""
    whole = blake2b(digest_size=16)
    files = [path]
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.suffix in CONTENT and p.is_file())
    for file in files:
        with open(file, "rb") as content:
            digest = file_digest(content, "sha256").hexdigest()
        name = file.relative_to(path) if path.is_dir() else ""
        whole.update(f"{name}\0{digest}\0".encode())
    return whole.hexdigest()


def model_directory(place: str, *, hub: bool, revision: str | None = None) -> Path:
    """The directory itself, or that of a model of the Hugging Face hub, fetched unless it was before.

    `revision` of the hub's model is a branch, a tag or a commit; None: the main branch.

    Raises FileNotFoundError if there is no such model, and for one that is not here unless `hub`.
    """
    path = Path(place)
    if path.is_dir():
        return path
    if not hub or path.is_absolute() or place.startswith("."):
        raise FileNotFoundError(f"{place} is not a directory with a model in it")
    from huggingface_hub import constants, get_session, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    download = partial(snapshot_download, place, revision=revision, allow_patterns=_PATTERNS)
    problem = unfetched = "it cannot be fetched from the Hugging Face hub"
    try:
        try:
            return Path(download(local_files_only=True))
        except LocalEntryNotFoundError:
            problem = "the Hugging Face hub cannot be reached"
            get_session().head(constants.ENDPOINT, timeout=_PATIENCE)  # a download is tried again for minutes
            problem = unfetched
            return Path(download())
    except Exception as error:  # the hub's library, and that with which it fetches, each raise their own
        reason = str(error).strip().partition("\n")[0]
        absent = f"{place} is not a directory here, and {problem} ({reason})"
        raise FileNotFoundError(f"{absent}: give a directory that holds the model") from error


def load_tokenizer(path: Path) -> Any:
    """The tokenizer of a model's directory; raises as :func:`load_model`."""
    import transformers

    return _loaded(path, transformers.AutoTokenizer)


def load_image_processor(path: Path) -> Any:
    """The image processor of a model's directory; raises as :func:`load_model`."""
    import transformers

    return _loaded(path, transformers.AutoImageProcessor)


def load_processor(path: Path) -> Any:
    """The processor that makes a model's input of pictures and texts; raises as :func:`load_model`."""
    import transformers

    return _loaded(path, transformers.AutoProcessor)


def load_model(path: Path, auto: Any, *, complete: bool = True, dtype: str = "float32", **more: Any) -> Any:
    """A model from a directory's safetensors.

    Args:
        auto: a class of transformers that has `from_pretrained`.
        complete: whether all weights must be there, but for poolers, which nothing uses.
        dtype: a type of PyTorch's, or "auto": that of the stored weights.
        more: for the model's configuration.

    Raises:
        FileNotFoundError: the directory holds no model.
        RefusedError: it asks for code or files from elsewhere.
        DamagedError: it cannot be loaded.
        ValueError: it is not complete.
    """
    options = {"use_safetensors": True, "output_loading_info": True, "dtype": dtype}
    model, info = _loaded(path, auto, **options, **more)
    missing = sorted(n for n in info["missing_keys"] if "pooler" not in n and "position_ids" not in n)
    if complete and missing:
        lacks = f"{path} lacks {len(missing)} weights that its config.json names, such as {missing[0]}"
        raise ValueError(f"{lacks}: give a model that was saved with all of them")
    return model


def _loaded(path: Path, auto: Any, **options: Any) -> Any:
    """An object of a class of transformers, loaded from a directory without bars, warnings, and code of the
    model.
    """
    _check_inside(path)
    try:
        with quietly():
            return auto.from_pretrained(path, local_files_only=True, trust_remote_code=False, **options)
    except Exception as error:  # transformers, tokenizers, safetensors and torch each raise their own
        if "trust_remote_code" in str(error):
            other = "give a model whose config.json names no auto_map"
            raise RefusedError(f"{path} needs code of its own, which simtown never runs: {other}") from error
        reason = cause(error)[:200]
        if isinstance(error, ImportError):
            missing = reason.partition(". ")[0]
            raise MissingExtraError(
                f"{path} needs a package that is missing ({missing}): install it"
            ) from error
        raise DamagedError(f"{path} cannot be loaded ({reason}): fetch the model again") from error


def _check_inside(path: Path) -> None:
    """Raises RefusedError for a directory that has transformers read or fetch anything outside it, or that
    holds pointers of Git LFS.
    """
    config, tokenizer = model_json(path / "config.json"), model_json(path / "tokenizer_config.json", {})
    attention = {str(value) for key, value in config.items() if "attn_implementation" in key and value}
    if attention - {"eager", "sdpa"}:
        raise RefusedError(f"{path / 'config.json'} names code of others for attention: delete that line")
    if (path / "adapter_config.json").exists():
        raise RefusedError(f"{path} holds an adapter of another model: merge the two and save the result")
    named = [key for key in _TOKENIZER_FILES if isinstance(tokenizer.get(key), str)]
    if named or tokenizer.get("init_inputs"):
        file, keys = path / "tokenizer_config.json", ", ".join(named) or "init_inputs"
        raise RefusedError(f"{file} names a file to read ({keys}): delete that line")
    for name in model_json(path / "model.safetensors.index.json", {}).get("weight_map", {}).values():
        if not inside(path, str(name)).name.endswith(".safetensors"):
            raise RefusedError(f"{path} has weights that are not safetensors ({name}): save the model again")
    for file in (*path.glob("model*.safetensors"), *path.glob("tokenizer.json")):
        open_regular(file).close()  # no pointer of Git LFS


def model_json(path: Path, otherwise: Any = None) -> Any:
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
        raise DamagedError(f"{path} is damaged ({cause(error)}): fetch the model again") from error
    return content


@contextmanager
def quietly() -> Iterator[None]:
    """Silence all but errors while a model is loaded or saved."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
