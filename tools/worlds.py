"""The ready worlds: digests of their first examples, the table of docs/worlds.md, and a page for each.

`python -m tools.worlds` writes the digests into simtown/datasets/making/worlds.toml and the table into
docs/worlds.md; docs/conf.py calls `write` whenever the site is built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from simtown.core.callbacks import ProgressCallback
from simtown.datasets.making.generate import generate
from simtown.datasets.making.ready_worlds import FREE, ready, worlds
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from tools.families import made, shown, write_changed

ROOT = Path(__file__).parents[1]
TABLE, PAGE = ROOT / "simtown" / "datasets" / "making" / "worlds.toml", ROOT / "docs" / "worlds.md"
PAGES = ROOT / "docs" / "worlds"
MARKS = "<!-- made by: python -m tools.worlds -->\n\n", "\n\n<!-- end -->"
#: Examples of each split whose digest is kept.
FIRST = 4


def digests(name: str) -> dict[str, str]:
    """The digests of the first examples of each split, made anew."""
    with TemporaryDirectory() as folder:
        settings = ready(name, n=FIRST)
        generate(settings, Path(folder, name), workers=1, callback=ProgressCallback())
        data = open_dataset(Path(folder, name))
        return {split: data[split].digests([FIRST])[FIRST][:16] for split in data.splits}


def streets(settings: Settings) -> str:
    """How many vehicles stand in a street."""
    return " to ".join(dict.fromkeys(map(str, settings.crowds)))


def table() -> str:
    """The table of all worlds."""
    lines = ["| world | what it is for | kinds | vehicles | families |", "| --- | --- | ---: | --- | ---: |"]
    for name, world in worlds().items():
        s = world.settings
        cells = [world.holds, s.entities, streets(s), len(source_of(s).family_names())]
        lines.append(f"| [{name}](worlds/{name}.md) | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def page() -> str:
    """The page of all worlds with its table made anew."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, after = text.partition(MARKS[0])
    return f"{before}{MARKS[0]}{table()}{MARKS[1]}{after.partition(MARKS[1])[2]}"


def write(folder: Path = PAGES, names: tuple[str, ...] = ()) -> None:
    """Write the page of each world, with its pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, name in enumerate(worlds(), 100):
        if name in names or not names:
            write_changed(folder / f"{name}.md", "\n".join(card(name, seed, folder)) + "\n")


def card(name: str, seed: int, folder: Path) -> Iterator[str]:
    """The lines of a world's page; its pictures, of another seed, are written beside it."""
    world, usual = worlds()[name], Settings(own_kinds=())
    s = world.settings
    counts = ", ".join(f"{count:,} {split}" for split, count in s.counts().items())
    gigabytes = sum(s.counts().values()) * s.example_bytes / 1e9
    others = {key: value for key, value in vars(s).items() if key not in (*FREE, "questions")}
    changed = [f"`{key} = {value}`" for key, value in others.items() if value != getattr(usual, key)]
    families = source_of(s).family_names()
    rows = {
        "make it": f"`simtown generate --world {name}`",
        "cite it": f"{name}, seed 0",
        "questions": ", ".join(families) if len(families) < 25 else f"all {len(families)} families",
        "kinds, vehicles": f"{s.entities} kinds of vehicles, {streets(s)} in a street",
        "pictures": f"{s.width} x {s.height} pixels",
        "examples": f"{counts}; about {gigabytes:.1f} GB",
        "settings": ", ".join(changed) or "the usual ones",
        "first examples": ", ".join(f"{split} `{digest}`" for split, digest in world.sha256.items()),
    }
    yield from (f"# {name}", "", world.holds, "")
    with made(ready(name, n=8, val=0, test=0, seed=seed)) as data:
        numbers = (0, 1) if s.twins else (0, 3, 4)  # a pair of twins; else one of each pair
        yield from shown([data.train[number] for number in numbers], folder, name)
    yield from ("| | |", "| --- | --- |", *(f"| {key} | {value} |" for key, value in rows.items()), "")


def main() -> None:
    text = TABLE.read_text(encoding="utf-8")
    for name in worlds():
        new = ", ".join(f'{split} = "{digest}"' for split, digest in digests(name).items())
        entry = re.compile(rf"(\[{name}\]\nholds = .*\nsettings = .*\n)(?:sha256 = .*\n)?")
        text = entry.sub(rf"\1sha256 = {{ {new} }}\n", text)
    TABLE.write_text(text, encoding="utf-8")
    worlds.cache_clear()
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
