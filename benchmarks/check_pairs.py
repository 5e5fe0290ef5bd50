"""Draw a pair of each probe of `simtown check`, for docs/check.md.

python benchmarks/check_pairs.py --out docs/check-pairs.webp
"""

import numpy as np
from machine import options
from PIL import Image, ImageDraw, ImageFont

from simtown.vlm.check_battery import SIDE
from simtown.vlm.check_page import middle
from simtown.vlm.check_probes import PROBES, EmptyStreet

#: Pixels of a picture's height, of a column, and of the words above a pair.
HEIGHT, COLUMN, WORDS = 96, 640, 22
#: Pixels of the middle that is shown of probes with a small vehicle.
MIDDLE = 64


def beside(pictures, height):
    """Pictures beside each other, of one height."""
    small = []
    for picture in pictures:
        image = Image.fromarray(picture)
        small.append(image.resize((max(1, round(image.width * height / image.height)), height)))
    row = Image.new("RGB", (sum(own.width + 4 for own in small) - 4, height), "white")
    x = 0
    for own in small:
        row.paste(own, (x, 0))
        x += own.width + 4
    return row


def cell(name, probe, font):
    """The pictures of a pair, each question's behind its answer."""
    rows = []
    for query in probe.test(EmptyStreet(0, SIDE)):
        pictures = [picture for turn in query.messages for picture in turn.pictures]
        if probe.is_adaptive:
            pictures = [middle(picture, MIDDLE) for picture in pictures]
        rows.append((query.gold.answer, beside(pictures, HEIGHT) if pictures else None))
    result = Image.new("RGB", (COLUMN, HEIGHT + 2 * WORDS + 16), "white")
    draw = ImageDraw.Draw(result)
    choices = query.gold.choices
    among = f" ({', '.join(choices)})" if len(choices) > 2 else ""
    draw.text((0, 0), f"{name}: {probe.about}{among}", "black", font)
    x = 0
    for answer, shown in rows:
        draw.text((x, WORDS), f"“{answer}”", "#625f68", font)
        if shown:
            result.paste(shown, (x, 2 * WORDS))
        x += (shown.width if shown else 150) + 16
    return np.asarray(result)


def main() -> None:
    args = options(__doc__, out="docs/check-pairs.webp")
    font = ImageFont.load_default(14)
    cells = [cell(name, probe, font) for name, probe in PROBES.items() if name != "system-text"]
    half = -(-len(cells) // 2)
    columns = [np.vstack(cells[start : start + half]) for start in (0, half)]
    Image.fromarray(np.hstack(columns)).save(args.out, quality=85)


if __name__ == "__main__":
    main()
