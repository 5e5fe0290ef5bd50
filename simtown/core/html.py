"""The policy of pages that we write or serve: they run only their own scripts.

It names what is in a page by its hash, and a browser refuses the rest.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256


def policy(page: str, **sources: str) -> str:
    """The Content-Security-Policy of a page: its own <script> and <style> blocks, and these sources.

    Args:
        page: the whole page as it is written or sent; no attribute of it may hold a style or a handler of
            events.
        sources: what else may come from where, such as img="'self' data:"; that of script is added to the
            page's own.
    """
    script, style = (_hashes(page, tag) for tag in ("script", "style"))
    others = "".join(f"; {name}-src {where}" for name, where in sources.items() if name != "script")
    scripts = " ".join(filter(None, (script, sources.get("script"))))
    return (
        f"default-src 'none'; script-src {scripts}; style-src {style}{others}; base-uri 'none'; form-action "
        "'none'"
    )


def _hashes(page: str, tag: str) -> str:
    """Hashes of all blocks of a tag without attributes, as a policy has them."""
    blocks = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
    return (
        " ".join(f"'sha256-{b64encode(sha256(block.encode()).digest()).decode()}'" for block in blocks)
        or "'none'"
    )
