"""Names of language models: what can be opened; and in results and figures, without folders of a machine."""

import re
from hashlib import sha256
from pathlib import Path

from simtown.core.missing import no_path
from simtown.core.untrusted import figure_text

#: What can be opened, and by what words; besides, for tests, oracle:FILE.
KINDS = {
    "hf": "hf:ID-OR-DIR, a masked or causal language model or an encoder in Hugging Face's layout",
    "sentence": "sentence:ID-OR-DIR, an encoder in sentence-transformers' layout",
    "clip": "clip:ID-OR-DIR, the text tower of a CLIP",
    "vlm": "vlm:ID-OR-DIR, a vision-language model without a picture",
    "openai": "openai:URL#MODEL, a model of a server with OpenAI's protocol",
    "lstm": "lstm:DIR, made by simtown lm train --arch lstm",
    "glove": "glove:FILE, word vectors as text, .gz, or .npy with its words beside it",
    "ngram": "ngram:CORPUS, a trigram model of a text file or of region_descriptions.json",
}
#: The kinds of models in words.
_IN_WORDS = {"lstm": "LSTM", "ngram": "trigrams of"}
#: The digest of a path behind the name of a model.
_PATH = re.compile(r" \(path [0-9a-f]{6}\)$")


def without_folders(model: str) -> str:
    """The name of a model for others: hf:/data/lm/final becomes "hf:lm/final (path 3f2a61)".

    Only a path from the root is shortened.
    """
    kind, colon, place = model.partition(":")
    if not place.startswith(("/", "~")):
        return model
    digest = sha256(place.encode(errors="replace")).hexdigest()[:6]
    return f"{kind}{colon}{'/'.join(Path(place).parts[1:][-2:])} (path {digest})"


def title_of(model: str) -> str:
    """The name of a model in a title: as :func:`without_folders`, without the digest."""
    return _PATH.sub("", without_folders(model))


def slug_of(model: str) -> str:
    """The name of a model as a part of a file's name."""
    return re.sub(r"[^\w.]+", "-", title_of(model)).strip("-.")


def model_problem(spec: str) -> str:
    """What can be said against the name of a language model before it is opened, "" if nothing."""
    kind, colon, place = spec.partition(":")
    if colon and kind not in (*KINDS, "oracle"):
        return f"{spec} is of no known kind: write {'; or '.join(KINDS.values())}"
    is_here = kind not in ("glove", "lstm", "ngram") or not place or Path(place).exists()
    return "" if is_here else f"{spec} cannot be opened: {no_path(Path(place))}"


def in_words(model: str) -> str:
    """The name of a model in a figure's title, without folders and endings: "all-minilm", "LSTM town"."""
    kind, _, place = title_of(model).partition(":")
    name = re.sub(r"(\.(txt|npy|json|gz|zip))+$", "", Path(place.removesuffix("/model") or kind).name)
    words = _IN_WORDS.get(kind, "")
    return figure_text(words if words.lower() == name else f"{words} {name}".strip())
