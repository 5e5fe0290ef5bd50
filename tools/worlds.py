"""The ready worlds: digests of their first examples, a card and a picture of each: `python -m tools.worlds`.

Writes the digests into simtown/datasets/making/worlds.toml, docs/worlds.md below its mark, and
docs/gallery/worlds.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from simtown.core.callbacks import ProgressCallback
from simtown.datasets.making.generate import generate
from simtown.datasets.making.ready_worlds import FREE, ready, worlds
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.showing.preview import random_sheet
from simtown.datasets.source import source_of
from simtown.render.raster import Raster

ROOT = Path(__file__).parents[1]
TABLE, PAGE = ROOT / "simtown" / "datasets" / "making" / "worlds.toml", ROOT / "docs" / "worlds.md"
PICTURES = ROOT / "docs" / "gallery" / "worlds"
MARK = "<!-- written by python -m tools.worlds -->\n"
#: Examples of each split whose digest is kept; pictures of a card, each of another seed, and their size.
FIRST, SHOWN, SIDE = 4, 4, 224


def digests(name: str) -> dict[str, str]:
    """The digests of the first examples of each split, made anew."""
    with TemporaryDirectory() as folder:
        settings = ready(name, n=FIRST)
        generate(settings, Path(folder, name), workers=1, callback=ProgressCallback())
        data = open_dataset(Path(folder, name))
        return {split: data[split].digests([FIRST])[FIRST][:16] for split in data.splits}


def card(name: str) -> str:
    """What the page says of a world."""
    world, usual = worlds()[name], Settings(own_kinds=())
    s = world.settings
    families = source_of(s).family_names()
    asked = ", ".join(families) if len(families) < 12 else f"{len(families)} families"
    vehicles = " to ".join(dict.fromkeys(map(str, s.crowds)))
    counts = ", ".join(f"{count:,} {split}" for split, count in s.counts().items())
    gigabytes = sum(s.counts().values()) * s.example_bytes / 1e9
    others = {key: value for key, value in vars(s).items() if key not in (*FREE, "questions")}
    changed = [f"`{key} = {value}`" for key, value in others.items() if value != getattr(usual, key)]
    rows = {
        "holds": world.holds,
        "questions": asked,
        "kinds, vehicles": f"{s.entities} kinds of vehicles, {vehicles} in a street",
        "pictures": f"{s.width} x {s.height} pixels",
        "examples": f"{counts}; about {gigabytes:.1f} GB",
        "settings": ", ".join(changed) or "the usual ones",
        "make it": f"`simtown generate --world {name}`",
        "cite it": f"{name}, seed 0",
        "first examples": ", ".join(f"{split} `{digest}`" for split, digest in world.sha256.items()),
    }
    table = "\n".join(f"| {key} | {value} |" for key, value in rows.items())
    return f"## {name}\n\n![{name}](gallery/worlds/{name}.webp)\n\n| | |\n| --- | --- |\n{table}\n"


def page() -> str:
    """The whole page: what a person wrote, and below the mark a card each."""
    before = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    return f"{before}{MARK}\n" + "\n".join(map(card, worlds()))


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    text = TABLE.read_text(encoding="utf-8")
    for seed, name in enumerate(worlds()):
        made = ", ".join(f'{split} = "{digest}"' for split, digest in digests(name).items())
        entry = re.compile(rf"(\[{name}\]\nholds = .*\nsettings = .*\n)(?:sha256 = .*\n)?")
        text = entry.sub(rf"\1sha256 = {{ {made} }}\n", text)
        settings = ready(name, n=SHOWN, seed=seed)
        sheet = random_sheet(settings, Raster(), SHOWN * (1 + settings.twins), SIDE, SIDE)
        sheet.save(PICTURES / f"{name}.webp", quality=85, method=6)
    TABLE.write_text(text, encoding="utf-8")
    worlds.cache_clear()
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
