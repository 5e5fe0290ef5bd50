"""Contact sheets: pictures in a grid with words under them."""

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from simtown.core.notebook import Colour

_PAPER, _INK, _MARGIN = (250, 248, 243), (46, 48, 56), 10
#: Pixels of a letter.
_TEXT = 13


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
    """Half of `most` to `most` columns for `count` cells, such that the last row is as full as can be."""
    most = min(count, most)
    return min(range(most, most // 2, -1), key=lambda columns: (-count % columns) / columns)


def contact_sheet(
    cells: list[SheetCell], most: int, legend: Collection[tuple[str, Colour]] = (), text: int = _TEXT
) -> Image.Image:
    """The cells in even rows of at most `most`; all pictures are of one size.

    A `legend`, (words, colour) each, stands in a line above them. `text` is the height of letters in pixels.
    """
    font, line_height = ImageFont.load_default(size=text), text * 5 // 4
    h, w = cells[0].image.shape[:2]
    columns = even_columns(len(cells), most)
    wrapped = [[(line, ink) for words, ink in c.lines for line in _wrap(words, font, w)] for c in cells]
    caption = max((len(lines) for lines in wrapped), default=0) * line_height + 4
    rows = -(-len(cells) // columns)
    top = _MARGIN + (line_height + _MARGIN // 2 if legend else 0)
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
            draw.rectangle(corners, outline=colour, width=max(1, h // 128))
        for j, (words, ink) in enumerate(lines):
            draw.text((x, y + h + 2 + j * line_height), words, fill=ink or _INK, font=font)
    return sheet


def _wrap(words: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, width: int) -> list[str]:
    """Lines that are no wider than `width` pixels."""
    lines, line = [], ""
    for word in words.split():
        longer = f"{line} {word}".strip()
        if line and font.getlength(longer) > width:
            lines.append(line)
            line = word
        else:
            line = longer
    return [*lines, line]
