"""YAML in block style, as far as headers and settings need it, with strings quoted as in JSON."""

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
            out += f"{margin}{name}:\n"
            for entry in item:
                lines = yaml(entry, indent + 2).lstrip() if isinstance(entry, dict) else f"{_scalar(entry)}\n"
                out += f"{margin}- {lines}"
        else:
            out += f"{margin}{name}: {_scalar(item)}\n"
    return out


def _scalar(item: Any) -> str:
    return json.dumps(printable(item) if isinstance(item, str) else item)
