"""Long lists that many pieces of work write.

Each piece writes its own part, with a line of JSON for each entry. In the end the parts are joined in order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from simtown.datasets.export.portion import Portion

#: The folder of an export's parts, which is removed before the export appears.
FOLDER = ".parts"


@contextmanager
def part(directory: Path, portion: Portion, name: str) -> Iterator[Callable[[Any], None]]:
    """A function that adds an entry to the portion's part of the list `name` of its split."""
    path = directory / FOLDER / f"{portion.name}-{name}-{portion.number:06d}"
    with open(path, "w", encoding="utf-8") as file:
        yield lambda entry: file.writelines((json.dumps(entry), "\n"))


def joined(directory: Path, split: str, name: str) -> Iterator[str]:
    """The entries of a split's list in order, as JSON. Each part is removed when it has been read."""
    for path in sorted((directory / FOLDER).glob(f"{split}-{name}-*")):
        with open(path, encoding="utf-8") as file:
            yield from (line.rstrip("\n") for line in file)
        path.unlink()


def write_listing(path: Path, head: dict[str, Any], lists: Mapping[str, Iterable[str]]) -> None:
    """Write a JSON file with the keys of `head`, then those of `lists`, whose entries are JSON already."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(head[key])}" for key in head))
        for key, entries in lists.items():
            file.write(f",\n{json.dumps(key)}: [")
            for number, entry in enumerate(entries):
                file.write((",\n" if number else "\n") + entry)
            file.write("\n]")
        file.write("\n}\n")
