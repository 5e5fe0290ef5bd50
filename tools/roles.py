"""Sphinx roles in docstrings (:func:`simtown.generate`) as links of the reference; mkdocs runs this (see
mkdocs.yml).
"""

import re
from typing import Any

import griffe

#: :kind:`name`, :kind:`~whole.name` for its last part, or :kind:`text <whole.name>`.
ROLE = re.compile(r":(class|func|meth|data|mod|attr|exc):`(~?)([\w.]+)(?: <([\w.]+)>)?`")


class Roles(griffe.Extension):
    """Docstrings say :func:`simtown.x.y`, or :func:`y` of what their module knows, to who reads the code; the
    site wants links.
    """

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called for the package itself, which is no object of another."""
        self._link(pkg)

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for everything else that was read."""
        self._link(obj)

    def _link(self, obj: griffe.Object) -> None:
        def link(role: re.Match[str]) -> str:
            kind, short, text, name = role.groups()
            name = name or text
            whole = name.startswith("simtown.")
            try:
                target = name if whole else obj.resolve(name)
            except griffe.NameResolutionError:
                target = ""
            shown = f"<code>{text.rpartition('.')[2] if short else text}</code>"
            if not target.startswith("simtown."):
                return shown
            # A whole name that leads nowhere fails the build. Other names, and data without a docstring, may
            # have no place on the site.
            optional = "" if whole and kind != "data" else " optional"
            return f'<autoref identifier="{target}"{optional}>{shown}</autoref>'

        if obj.docstring:
            obj.docstring.value = ROLE.sub(link, obj.docstring.value)
