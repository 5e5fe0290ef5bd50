"""Packages that not everybody needs come with an extra: which are missing, and how to install them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

#: The modules of each extra without which its commands cannot work.
_MODULES = {
    "train": ("torch", "tensorboard", "safetensors", "scipy", "matplotlib"),
    "vg": ("pyarrow", "lemminflect", "spellchecker", "textblob", "matplotlib"),
    "probes": ("torch", "transformers", "sklearn", "scipy", "lemminflect", "pyarrow", "matplotlib"),
    "audit": ("sklearn", "scipy"),
    "vlm": ("torch", "transformers", "scipy", "pyarrow", "requests", "matplotlib"),
}
#: Packages that have another name than their module.
_PACKAGES = {"sklearn": "scikit-learn", "spellchecker": "pyspellchecker"}


class MissingExtraError(ImportError):
    """A package of an extra is not installed; the message says how to install it."""


def how_to_install(*extras: str) -> str:
    """The command that installs extras, for messages. pip needs the sources: simtown is on no index."""
    return f"pip install '.[{','.join(extras)}]' in a checkout of simtown"


def need(*extras: str, modules: Sequence[str] = (), what: str = "this command") -> None:
    """Check that extras are installed.

    Args:
        extras: their names.
        modules: those of their modules that are needed; by default all that their commands use.
        what: what needs them, for the message.

    Raises:
        MissingExtraError: a module is missing.
    """
    names = modules or [name for extra in extras for name in _MODULES[extra]]
    missing = [_PACKAGES.get(name, name) for name in names if find_spec(name) is None]
    if missing:
        raise MissingExtraError(f"{what} needs {', '.join(missing)}: {how_to_install(*extras)}")
