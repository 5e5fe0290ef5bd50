"""Formats, and their input: a split as a stream of batches, and an example in words.

Long lists are written by many pieces of work. Each writes its own part, with a line of JSON for each entry;
in the end the parts are joined in order.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.assets.palette import PAINTS
from simtown.core.pool import Report, ignore
from simtown.core.portable_png import png_bytes
from simtown.datasets.reading.reader import Dataset, asked_of
from simtown.render.renderers import make_renderer
from simtown.scenes.scene import SceneBatch
from simtown.scenes.sequence import seconds_shown
from simtown.scenes.weather import WEATHERS

#: The folder of an export's parts, which is removed before the export appears.
FOLDER = ".parts"


@dataclass(frozen=True)
class ExportBatch:
    """n consecutive examples of a split, from number `start` on.

    Attributes:
        columns: all of them, pictures and stored masks, as :data:`simtown.datasets.making.shards.LAYOUT` has
            them.
        paints: (n, v) uint8 of PAINTS, what every body shows.
        ids: (n, h, w) uint8 instance ids as in :class:`~simtown.render.frames.Frames`, or None.
        names: what numbers in the columns stand for (:func:`simtown.datasets.names.names`).
        each: how many consecutive examples are about one picture; a batch has all of them.
    """

    start: int
    columns: dict[str, np.ndarray]
    scenes: SceneBatch
    paints: np.ndarray
    ids: np.ndarray | None
    names: Mapping[str, list[str]]
    each: int = 1

    def __len__(self) -> int:
        return len(self.scenes)

    def numbers(self) -> Iterator[tuple[int, int]]:
        """Row in the batch and number in the split of every example."""
        return enumerate(range(self.start, self.start + len(self)))

    def records(self, row: int) -> list[dict[str, Any]]:
        """The :meth:`record` of every example of the picture whose first row this is."""
        return [self.record(own, self.start + own) for own in range(row, row + self.each)]

    def paint(self, row: int, slot: int) -> str:
        """The name of the paint that a vehicle's body shows."""
        return PAINTS[int(self.paints[row, slot])]

    def asked(self, row: int) -> dict[str, Any]:
        """An example's question and answer (:func:`simtown.datasets.reading.reader.asked_of`)."""
        return asked_of({name: column[row] for name, column in self.columns.items()}, self.names)

    def edit(self, row: int) -> str | None:
        """The edit that makes a twin of the other picture: "painted"; None if they differ in more than one
        thing.
        """
        edits, number = self.names["edits"], int(self.columns["edit"][row])
        return edits[number] if number < len(edits) else None

    def answer_box(self, row: int) -> list[float] | None:
        """The box that is asked for, or None."""
        slot = self.columns["number"][row]
        if np.isfinite(self.columns["tolerance"][row]) or not np.isfinite(slot):
            return None
        box: list[float] = self.columns["boxes"][row, int(slot)].tolist()
        return box

    def group(self, row: int) -> int | None:
        """The number of the twins or of the pair of sequences that an example belongs to; None of neither."""
        if "order" in self.columns:
            return (self.start + row) // 2
        return int(self.columns["group"][row]) if "group" in self.columns else None

    def png(self, row: int) -> bytes:
        """A picture as PNG."""
        return png_bytes(self.columns["images"][row])

    def pngs(self, row: int) -> list[bytes]:
        """The picture of an example as PNG, or the pictures of a sequence in the order that it shows."""
        pictures = self.columns["images"][row]
        return [png_bytes(picture) for picture in pictures.reshape(-1, *pictures.shape[-3:])]

    def seconds(self, row: int) -> list[float]:
        """The seconds of the pictures of a sequence as they are shown, from the first one on."""
        seconds, order = self.columns["scene/seconds"][row], self.columns["order"][row]
        return [plain(second) for second in seconds_shown(seconds, order)]

    def write_pictures(self, folder: Path, pattern: str) -> Iterator[tuple[int, int, str]]:
        """Write each picture as PNG; yields its first row, its number, and its file's name by a `pattern`."""
        for row in range(0, len(self), self.each):
            number = (self.start + row) // self.each
            name = pattern.format(number)
            (folder / name).write_bytes(self.png(row))
            yield row, number, name

    def record(self, row: int, number: int) -> dict[str, Any]:
        """An example in words and numbers, for JSON: boxes in pixels, places in metres, yaw in radians."""
        c, scenes, asked, vehicles = self.columns, self.scenes, self.asked(row), []
        for slot in np.flatnonzero(scenes.entity[row] >= 0).tolist():
            box, visible = [plain(edge) for edge in c["boxes"][row, slot]], plain(c["visible"][row, slot])
            place = dict(zip(("x", "y", "yaw"), map(plain, scenes.pose[row, slot]), strict=True))
            about = {"entity": ENTITIES[scenes.entity[row, slot]], "paint": self.paint(row, slot)}
            vehicles.append({**about, "box": box, "visible": visible, **place})
        record: dict[str, Any] = {
            "index": number,
            "question": c["question"][row].decode(),
            "answer": asked["reply"],
        }
        if asked["program"]:
            record |= {name: asked[name] for name in ("family", "program")}
            if "group" in c:
                record |= {"group": int(c["group"][row]), "edit": self.edit(row)}
            if asked["tolerance"] is not None:
                record |= {name: plain(asked[name]) for name in ("number", "tolerance")}
            if edges := self.answer_box(row):
                record["answer_box"] = [*map(plain, edges)]
        else:
            record |= {name: asked[name] for name in ("subject", "relation", "object")}
            record |= {name: int(c[name][row]) for name in ("subject_slot", "object_slot")}
        return record | {
            "margin": plain(c["margin"][row]) if np.isfinite(c["margin"][row]) else None,
            "weather": WEATHERS[scenes.weather[row]],
            "intensity": plain(scenes.intensity[row]),
            "vehicles": vehicles,
        }


@dataclass(frozen=True)
class Portion:
    """Consecutive examples of the split `name` on their way out.

    `number` is that of this portion among those of the split, from 0 on. `progress` is called with the number
    of examples that have been used since the last call.
    """

    data: Dataset
    name: str
    rows: range
    number: int = 0
    progress: Report = ignore

    def batches(self, masks: bool = False) -> Iterator[ExportBatch]:
        """The examples in order; with `masks` batches have ids: stored, or the same pixels drawn again."""
        s, split = self.data.settings, self.data[self.name]
        renderer = make_renderer() if masks and not s.masks else None
        names = ("images", *split.columns, *(("masks",) if s.masks else ()))
        each = s.questions_per_picture
        size = max(1, s.at_once(256) // each) * each
        for start, columns in split.stream(names, size, self.rows.start, self.rows.stop):
            scenes = split.scenes_of(columns)
            drawn = renderer.render(scenes, s.width, s.height).ids if renderer else None
            paints = scenes.body_paints()
            ids = columns.get("masks", drawn)
            yield ExportBatch(start, columns, scenes, paints, ids, self.data.names, each)
            self.progress(len(scenes))

    @contextmanager
    def part(self, directory: Path, name: str) -> Iterator[Callable[[Any], None]]:
        """A function that adds an entry to this portion's part of the list `name` of its split."""
        path = directory / FOLDER / f"{self.name}-{name}-{self.number:06d}"
        with open(path, "w", encoding="utf-8") as file:
            yield lambda entry: file.writelines((json.dumps(entry), "\n"))


@dataclass(frozen=True)
class Format:
    """A format writes portions of a split, in any process and in any order, each into its own files.

    Attributes:
        write: writes a portion into the export's directory; again, if a worker dies.
        finish: joins the files of portions, and writes the files beside the splits.
        folders: that it writes into; "{split}" stands for each split.
        notes: lines for the user, such as the command that reads the export.
        multiple: a portion has as many examples as a shard, but a multiple of this. It does not depend on the
            workers, since files may depend on it.
    """

    write: Callable[[Portion, Path], None]
    finish: Callable[[Dataset, Sequence[str], Path], None] = lambda data, splits, directory: None
    folders: tuple[str, ...] = ()
    multiple: int = 1
    notes: Callable[[Dataset, Sequence[str], Path], Sequence[str]] = lambda data, splits, directory: ()


def plain(x: Any) -> float:
    """A measure as JSON has it: four decimals, a tenth of a millimetre."""
    return round(float(x), 4)


def joined(directory: Path, split: str, name: str) -> Iterator[str]:
    """The entries of a split's list in order, as JSON. Each part is removed when it has been read."""
    for path in sorted((directory / FOLDER).glob(f"{split}-{name}-*")):
        with open(path, encoding="utf-8") as file:
            yield from (line.rstrip("\n") for line in file)
        path.unlink()


def write_lines(path: Path, entries: Iterable[str]) -> None:
    """Write a file of JSON lines."""
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{entry}\n" for entry in entries)


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
