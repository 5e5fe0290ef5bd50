"""Names of models in results, pages and figures: without folders of the machine they were asked on."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

#: The digest of a path behind the name of a model.
_PATH = re.compile(r" \(path [0-9a-f]{6}\)$")


def without_folders(model: str) -> str:
    """The name of a model for others: hf:/home/ann/lm/final becomes "hf:lm/final (path 3f2a61)".

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
