"""The families of sequences as playing pictures, which docs/sequences.md includes.

docs/conf.py calls `write` whenever the site is built; `python -m tools.sequences` does it alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from simtown.datasets.family_questions import families_of
from simtown.datasets.reading.reader import Example
from simtown.datasets.settings import MODES, Settings
from simtown.language.asking.sequences import REVERSED
from simtown.language.asking.templates import Family
from tools.families import PAGES, answers_of, made, write_changed

#: Width and height of a picture, and milliseconds that each stands.
SIZE, STANDS = (320, 200), 800
#: Examples of which the page shows the first pair that is a reversal, and the first seed.
CHOICE, SEED = 24, 5


def write(folder: Path = PAGES) -> None:
    """Write the playing pictures, and the text that includes them."""
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    for mode in MODES:
        for family in families_of(Settings(sequence=mode, questions=("all",))):
            lines += part(family, mode, folder, SEED + len(lines))
    write_changed(folder / "playing.md", "\n".join(lines) + "\n")


def part(family: Family, mode: str, folder: Path, seed: int) -> Iterator[str]:
    """The lines of a family: its pair of examples, one beside the other."""
    width, height = SIZE
    size: dict[str, Any] = {"n": CHOICE, "val": 0, "test": 0, "width": width, "height": height, "seed": seed}
    with made(Settings(sequence=mode, questions=(family.name,), **size)) as data:
        reversals = data.train.column("shared")[::2] == REVERSED
        pair = int(reversals.argmax())
        examples = [data.train[2 * pair], data.train[2 * pair + 1]]
    how = "the same pictures in the other order" if reversals[pair] else "one picture is the same"
    yield from (f"### {family.name}", "")
    yield f"`--sequence {mode} --questions {family.name}`; answers: {answers_of(family)}."
    yield from (f"Of this pair, {how}.", "", "::::{grid} 1 2 2 2")
    for number, example in enumerate(examples):
        file = folder / f"{family.name}-{number}-playing.webp"
        play(example, file)
        yield from (":::{grid-item}", f"![{example.question}]({PAGES.name}/{file.name})", "")
        yield from (f"{example.question} **{example.reply}**", ":::")
    yield from ("::::", "")


def play(example: Example, file: Path) -> None:
    """Write an animated picture of an example; each of its pictures has its number."""
    font = ImageFont.load_default(22)
    pictures = []
    for number, pixels in enumerate(example.image, 1):
        picture = Image.fromarray(np.asarray(pixels))
        pen = ImageDraw.Draw(picture)
        label = f"{number} / {len(example.image)}"
        pen.text((SIZE[0] - 8, 6), label, "white", font, "ra", stroke_width=2, stroke_fill="#333")
        pictures.append(picture)
    first, *others = pictures
    first.save(file, save_all=True, append_images=others, duration=STANDS, loop=0, quality=80, method=4)


if __name__ == "__main__":
    write()
