"""Display in a notebook: pictures with words below them, and the progress of a long call."""

from __future__ import annotations

import io
import sys
from base64 import b64encode
from collections.abc import Iterable
from html import escape
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING, Any

from simtown.core.untrusted import printable

if TYPE_CHECKING:
    import numpy as np

Colour = tuple[int, int, int]
#: The colours of what a question names, in all pictures.
SUBJECT, OBJECT = (38, 110, 220), (226, 110, 20)
#: Seconds between two drawings of a bar.
_EVERY = 0.25


class Described(dict[str, Any]):
    """A dict that shows itself as one sentence; ``dict(it)`` shows everything in it."""

    def __init__(self, content: dict[str, Any], sentence: str) -> None:
        super().__init__(content)
        self._sentence = sentence

    def __repr__(self) -> str:
        return self._sentence


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def is_watched() -> bool:
    """Whether somebody sees the progress of this process: stderr is a terminal, or it is a notebook's."""
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def as_html(text: str) -> str:
    """A text as HTML that shows it as it is."""
    return escape(printable(text))


def marked(text: str, colour: Colour) -> str:
    """A text as HTML, underlined in the colour of its box in a picture."""
    return f'<span style="border-bottom: 3px solid rgb{colour}">{as_html(text)}</span>'


def figure(image: np.ndarray, words: str, width: int, boxes: Iterable[tuple[Any, Colour]] = ()) -> str:
    """A picture with words (HTML) below it, `width` pixels wide on the page, as HTML.

    The pixels of a narrower image, (h, w, 3) uint8, are enlarged, not blurred. A box is x0, y0, x1, y1 in its
    pixels, and a colour.
    """
    from PIL import Image, ImageDraw

    factor = ceil(width / image.shape[1])
    picture = Image.fromarray(image.repeat(factor, axis=0).repeat(factor, axis=1))
    pen, line = ImageDraw.Draw(picture), picture.width // 256 + 1
    for box, colour in boxes:
        x0, y0, x1, y1 = (factor * float(edge) for edge in box)
        pen.rectangle((x0, y0, max(x0, x1 - 1), max(y0, y1 - 1)), outline=colour, width=line)
    data = io.BytesIO()
    picture.save(data, format="WEBP", quality=90)
    source = f"data:image/webp;base64,{b64encode(data.getvalue()).decode()}"
    style = f"display: inline-block; vertical-align: top; margin: 0 12px 12px 0; max-width: {width}px"
    attributes = 'alt="" style="display: block; max-width: 100%; height: auto; border-radius: 4px"'
    return f'<div style="{style}"><img src="{source}" width="{width}" {attributes}>{words}</div>'


class NotebookBar:
    """A bar with words below a notebook's cell, which shows how far a call is."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._drawn = 0.0

    def show(self, words: str, done: int = 0, total: int = 0, last: bool = False) -> None:
        """Draw it, unless it was just drawn; a total of 0 is not known. The last time words replace it."""
        if last or monotonic() - self._drawn > _EVERY:
            self._drawn, value = monotonic(), f'value="{done}" max="{total}"' if total else ""
            bar = (
                "" if last else f'<progress {value} style="width: 240px; vertical-align: middle"></progress> '
            )
            content = {"text/plain": printable(words), "text/html": f"<div>{bar}{as_html(words)}</div>"}
            if self._handle is None:
                from IPython.display import display

                self._handle = display(content, raw=True, display_id=True)
            else:
                self._handle.update(content, raw=True)
