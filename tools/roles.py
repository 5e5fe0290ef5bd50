"""Sphinx roles in docstrings (:func:`simtown.generate`) as links of the reference; mkdocs runs this (see mkdocs.yml)."""

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|data|mod|attr):`~?([\w.]+)`")


def _linked(role: re.Match[str]) -> str:
    name = role.group(1)
    return f"[`{name}`][{name}]" if name.startswith("simtown.") and ":data:" not in role.group() else f"`{name}`"


class Roles(griffe.Extension):
    """Docstrings say :func:`simtown.x.y` to who reads the code; mkdocstrings wants [`simtown.x.y`][simtown.x.y]."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for everything that was read."""
        if obj.docstring:
            obj.docstring.value = ROLE.sub(_linked, obj.docstring.value)
