"""Packages that not everybody needs come with an extra: which are missing, and how to install them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

#: Packages whose modules are called otherwise.
_PACKAGES = {"sklearn": "scikit-learn", "spellchecker": "pyspellchecker"}


class MissingExtraError(ImportError):
    """A package of an extra is not installed; the message says how to install it."""


def how_to_install(*extras: str) -> str:
    """The command that installs extras, for messages. simtown is on no package index, so pip needs its sources."""
    return f"pip install '.[{','.join(extras)}]' in a checkout of simtown"


def need(what: str, modules: Iterable[str], *extras: str) -> None:
    """Raises MissingExtraError, in one line that begins with `what`, unless all these modules of these extras are installed."""
    missing = [_PACKAGES.get(name, name) for name in modules if find_spec(name) is None]
    if missing:
        raise MissingExtraError(f"{what} needs {', '.join(missing)}: {how_to_install(*extras)}")
