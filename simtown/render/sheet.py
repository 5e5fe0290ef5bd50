"""Contact sheets: pictures in a grid with words under them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from simtown.core.notebook import Colour

_PAPER, _INK, _MARGIN = (250, 248, 243), (46, 48, 56), 10


@dataclass
class SheetCell:
    """One picture of a sheet.

    Attributes:
        image: (h, w, 3) uint8.
        lines: (text, colour or None) under it.
        boxes: (x0, y0, x1, y1 pixels, colour) drawn on it.
    """

    image: np.ndarray
    lines: list[tuple[str, Colour | None]]
    boxes: list[tuple[tuple[float, float, float, float], Colour]] = field(default_factory=list)


def even_columns(count: int, most: int) -> int:
    """At most `most` columns for `count` cells: the most that leave a last row two thirds full, if any do."""
    most = min(count, most)
    full = {columns: 1 - (-count % columns) / columns for columns in range(most, most // 2, -1)}
    return next(
        (columns for columns, share in full.items() if share >= 2 / 3), max(full, key=full.__getitem__)
    )


def contact_sheet(
    cells: list[SheetCell], most: int, text: int = 13, legend: tuple[tuple[str, Colour], ...] = ()
) -> Image.Image:
    """The cells in even rows of at most `most`, text `text` pixels high; all pictures of one size.

    A `legend`, (words, colour) each, stands in a line above them.
    """
    font = ImageFont.load_default(size=text)
    h, w = cells[0].image.shape[:2]
    columns = even_columns(len(cells), most)
    wrapped = [[piece for words, colour in c.lines for piece in _wrap(words, colour, font, w)] for c in cells]
    caption = max((len(lines) for lines in wrapped), default=0) * int(text * 1.3) + 4
    rows = -(-len(cells) // columns)
    top = _MARGIN + (int(text * 1.3) + _MARGIN // 2 if legend else 0)
    size = (_MARGIN + columns * (w + _MARGIN), top + rows * (h + caption + _MARGIN))
    sheet = Image.new("RGB", size, _PAPER)
    draw = ImageDraw.Draw(sheet)
    x = _MARGIN
    for meaning, box_colour in legend:
        draw.text((x, _MARGIN // 2), meaning, fill=box_colour, font=font)
        x += round(font.getlength(meaning)) + 2 * _MARGIN
    for i, (cell, lines) in enumerate(zip(cells, wrapped, strict=True)):
        x, y = _MARGIN + i % columns * (w + _MARGIN), top + i // columns * (h + caption + _MARGIN)
        sheet.paste(Image.fromarray(cell.image), (x, y))
        for (x0, y0, x1, y1), colour in cell.boxes:
            corners = (x + max(x0, 0), y + max(y0, 0), x + min(x1, w) - 1, y + min(y1, h) - 1)
            draw.rectangle(corners, outline=colour, width=max(1, w // 128))
        for j, (words, ink) in enumerate(lines):
            draw.text((x, y + h + 2 + j * int(text * 1.3)), words, fill=ink or _INK, font=font)
    return sheet


def _wrap(
    words: str, colour: Colour | None, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, width: int
) -> list[tuple[str, Colour | None]]:
    """Lines that are no wider than `width` pixels."""
    lines, line = [], ""
    for word in words.split():
        longer = f"{line} {word}".strip()
        if line and font.getlength(longer) > width:
            lines.append((line, colour))
            line = word
        else:
            line = longer
    return [*lines, (line, colour)]
