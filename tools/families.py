"""The families of questions with two examples each, for docs/questions.md: run `python -m tools.families`.

Everything below MARK in the page is written anew, and the pictures in docs/gallery/families.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.question import Questions
from simtown.language.asking.search import ask_families
from simtown.language.asking.template import Family
from simtown.language.meaning.answers import ANSWERS
from simtown.language.meaning.programs import decode
from simtown.render.raster import Raster
from simtown.scenes.silhouette import boxes
from simtown.town.explaining import reason

ROOT = Path(__file__).parents[1]
PAGE, PICTURES = ROOT / "docs" / "questions.md", ROOT / "docs" / "gallery" / "families"
MARK = "<!-- written by python -m tools.families -->\n"
#: Pixels of a side of an example's picture, and the number of the first example.
SIDE, FIRST = 320, 10


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    settings = Settings(questions=("all",), width=SIDE, height=SIDE, seed=11)
    recipe = source_of(settings).recipe("train")
    parts = []
    for number, family in enumerate(recipe.families):
        index = FIRST + 2 * number + np.arange(2)  # every family has streets and weathers of its own
        batch = ask_families(replace(recipe, families=(family,)), index)
        frames = Raster().render(batch.scene, SIDE, SIDE, geometry=False).rgb
        both = np.concatenate([frames[0], np.full((SIDE, 8, 3), 255, np.uint8), frames[1]], axis=1)
        Image.fromarray(both).save(PICTURES / f"{family.name}.webp", quality=82, method=6)
        parts.append(section(family, batch))
    before = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    PAGE.write_text(f"{before}{MARK}\n" + "\n".join(parts), encoding="utf-8")


def section(family: Family, batch: Questions) -> str:
    """What the page says of a family."""
    lines = [f"### {family.name}", "", f"![{family.name}](gallery/families/{family.name}.webp)", ""]
    box = boxes(batch.scene, SIDE, SIDE)
    for row, side in enumerate(("Left", "Right")):
        form = decode(batch.program[row])
        why = reason(batch.scene.scene(row), form, batch.visible[row], box[row])
        lines += [
            f"- {side}: {batch.words[row]} **{ANSWERS[family.answer][batch.answer[row]]}**"
            + f" ({why})" * bool(why)
        ]
    lines += ["", "| program | texts |", "| --- | --- |"]
    for template in family.templates:
        texts = "<br>".join(template.texts)
        lines.append(f"| `{template.program}`<br>{', '.join(template.slots)} | {texts} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
