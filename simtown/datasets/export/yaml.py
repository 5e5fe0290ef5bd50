"""YAML in block style, as far as headers and settings need it, with strings quoted as in JSON."""

from __future__ import annotations

import json
from typing import Any

from simtown.core.untrusted import printable


def yaml(value: Any, indent: int = 0) -> str:
    """The lines of a dict of dicts, lists, strings, numbers and booleans."""
    margin, out = " " * indent, ""
    for key, item in value.items():
        name = key if isinstance(key, str) and key.isidentifier() else _scalar(key)
        if isinstance(item, dict) and item:
            out += f"{margin}{name}:\n{yaml(item, indent + 2)}"
        elif isinstance(item, list) and item:
            out += f"{margin}{name}:\n" + "".join(f"{margin}- {_entry(entry, indent + 2)}" for entry in item)
        else:
            out += f"{margin}{name}: {_scalar(item)}\n"
    return out


def _entry(item: Any, indent: int) -> str:
    return yaml(item, indent)[indent:] if isinstance(item, dict) else f"{_scalar(item)}\n"


def _scalar(item: Any) -> str:
    return json.dumps(printable(item) if isinstance(item, str) else item)
