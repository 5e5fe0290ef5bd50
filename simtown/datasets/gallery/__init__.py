"""A page to look at a data set: index.html, which holds all of its own code, and a folder data/ beside it that it reads piece by piece.

The page holds a sample of a large split, or all of it if that is asked for; its distributions are of the whole split either way.

Browsers let a page opened from disk read pictures and scripts but no other files, so what the page reads are sheets of thumbnails and
scripts that call one of its functions: ``data/index.js`` (a few bytes an example: what is filtered and counted), ``data/SPLIT-00000.jpg``
(SHEET x SHEET pictures) and ``data/SPLIT-00000.js`` (DETAILS examples: question, boxes, places, masks).
"""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from simtown import terminal
from simtown.datasets.export import choose_splits
from simtown.datasets.export.masks import runs, seen
from simtown.datasets.export.portion import Batch, Portion, plain
from simtown.datasets.marginals import targets
from simtown.datasets.reader import Dataset
from simtown.datasets.stores import url_of
from simtown.files import whole
from simtown.html import policy
from simtown.language.relations import RELATIONS
from simtown.scenes.placement import half_sizes
from simtown.scenes.weather import WEATHERS

#: Examples of a split that a sample holds at most, and neighbours among them: those of a stretch lie in one shard, rarely in two. Scenes
#: are drawn by number, each independent of its neighbours, so stretches stand for the split as well as single examples would.
SAMPLE, STRETCH = 2_000, 100
#: Thumbnails along each side of a sheet, examples in a file of details, longest side of a thumbnail in pixels.
SHEET, DETAILS, THUMB = 8, 256, 192
_QUALITY = [cv2.IMWRITE_JPEG_QUALITY, 88, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
#: Columns of the index: names, and dtypes as typed arrays have them (little-endian). 255 in `other`: there is no third vehicle.
INDEX = {"answer": "u1", "relation": "u1", "weather": "u1", "subject": "u1", "object": "u1", "other": "u1", "margin": "<i2"}
#: What is counted of whole splits besides the kinds of vehicles (:func:`simtown.datasets.summary.count`).
OF_ALL = ("answer", "relation", "weather")


@dataclass(frozen=True)
class Shown:
    """The examples of a split that the page shows: stretches of neighbours, in order.

    Attributes:
        starts: the number in the split of each stretch's first example, ascending.
        stretch: examples of each stretch.
    """

    starts: list[int]
    stretch: int

    def __len__(self) -> int:
        return len(self.starts) * self.stretch


def shown(count: int, everything: bool = False) -> Shown:
    """What the page shows of a split of `count` examples: all of a small one, a sample spread evenly over a large one."""
    if everything or count <= SAMPLE:
        return Shown([0], count)
    stretches = SAMPLE // STRETCH
    return Shown([number * count // stretches for number in range(stretches)], STRETCH)


def gallery(data: Dataset, out: Path, step: Callable[[int], None] = lambda n: None, everything: bool = False) -> None:
    """Write the page of a data set, whole or not at all; `step` is told of every batch's examples.

    Args:
        data: the data set.
        out: the directory to write.
        step: called with the number of examples written since the last call.
        everything: show all examples, not a sample. Memory grows by 60 bytes an example that is shown.

    Raises:
        ForeignDirectoryError: `out` is not empty. DamagedError: a shard cannot be read.
    """
    splits = {name: shown(len(data[name]), everything) for name in choose_splits(data, [])}
    with whole(out, "simtown gallery") as directory:
        pieces = directory / "data"
        pieces.mkdir()
        index = [_write_split(Portion(data, name, step), sample, pieces) for name, sample in splits.items()]
        columns = {name: np.concatenate([part[name] for part in index]) for name in INDEX}
        _write_script(pieces / "index.js", "begin", {**_about(data, splits), "columns": {k: _base64(v) for k, v in columns.items()}})
        (directory / "index.html").write_text(page(data.name), encoding="utf-8")


def page(title: str) -> str:
    """index.html: our markup with our style and script inside, and a policy that lets nothing else run or leave.

    Opened from a disk, the page's own folder is not 'self' to every browser, so it names the scheme.
    """
    markup, style, script = ((files(__name__) / name).read_text(encoding="utf-8") for name in ("page.html", "style.css", "app.js"))
    made = _filled(markup, style=style, script=script)
    return _filled(made, policy=policy(made, script="'self' file:", img="'self' file: data:"), title=html.escape(terminal.plain(title)))


def _filled(markup: str, **parts: str) -> str:
    """Each {name} of the parts, exchanged for its text; none inside a text that was put in."""
    return re.sub("{(" + "|".join(parts) + ")}", lambda match: parts[match[1]], markup)


def thumb_size(width: int, height: int) -> tuple[int, int]:
    """Width and height of a thumbnail in pixels: the picture's own, or less."""
    scale = min(1.0, THUMB / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def _about(data: Dataset, splits: dict[str, Shown]) -> dict[str, Any]:
    """What the page must know besides the examples."""
    s, told, name = data.settings, data.manifest["settings"], terminal.plain(data.place if url_of(data.place) else data.name)
    outlines = half_sizes()
    followed = targets(np.array(told["subject_frequencies"]), np.array(told["object_frequencies"]), s.distractor)
    uniform = {role: np.full(s.entities, 1 / s.entities) for role in followed}
    return {
        "place": shlex.quote(name),
        "size": [s.width, s.height],
        "thumb": thumb_size(s.width, s.height),
        "sheet": SHEET,
        "details": DETAILS,
        "frequencies": s.frequencies,
        "entities": [data.names["entities"][kind] for kind in s.kinds],
        "footprints": [[plain(2 * x) for x in half] for half in outlines[[kind for kind in s.kinds if kind < len(outlines)]]],
        "relations": [asdict(relation) for relation in RELATIONS],
        "asked": s.relations,
        "weathers": WEATHERS,
        "occurring": s.weathers,
        "splits": [
            {
                "name": name,
                "count": len(data[name]),
                "starts": sample.starts,
                "stretch": sample.stretch,
                "counts": _counts(data, name),
                "target": {
                    role: [round(float(p), 7) for p in shares] for role, shares in (uniform if name == "test" else followed).items()
                },
            }
            for name, sample in splits.items()
        ],
    }


def _counts(data: Dataset, split: str) -> dict[str, list[int]]:
    """Of all examples of a split: how many have each answer, relation and weather, and each kind of the world as subject and object."""
    summary, kinds = data.summary(split), data.settings.kinds
    return {name: summary[name] if name in OF_ALL else [summary[name][kind] for kind in kinds] for name in (*OF_ALL, "subject", "object")}


def _write_split(portion: Portion, sample: Shown, pieces: Path) -> dict[str, np.ndarray]:
    """Sheets and details of one split; returns its part of the index."""
    s, ranks = portion.data.settings, portion.data.settings.ranks
    wide, high = thumb_size(s.width, s.height)
    sheet, details = np.zeros((SHEET * high, SHEET * wide, 3), dtype=np.uint8), []
    index: list[dict[str, np.ndarray]] = []
    place = -1
    for batch in _batches(portion, sample):
        index.append(_index(batch, ranks))
        for row in range(len(batch)):
            place += 1
            picture = batch.columns["images"][row][..., ::-1]
            ids = np.zeros((high, wide), dtype=np.uint8) if batch.ids is None else batch.ids[row]
            if (wide, high) != (s.width, s.height):
                picture = cv2.resize(picture, (wide, high), interpolation=cv2.INTER_AREA)
                ids = cv2.resize(ids, (wide, high), interpolation=cv2.INTER_NEAREST)
            last = place == len(sample) - 1
            cell = place % SHEET**2
            y, x = cell // SHEET * high, cell % SHEET * wide
            sheet[y : y + high, x : x + wide] = picture
            if cell == SHEET**2 - 1 or last:
                (pieces / f"{portion.name}-{place // SHEET**2:05d}.jpg").write_bytes(cv2.imencode(".jpg", sheet, _QUALITY)[1].tobytes())
                sheet[:] = 0
            details.append(_detail(batch, row, ids, ranks))
            if len(details) == DETAILS or last:
                _write_script(pieces / f"{portion.name}-{place // DETAILS:05d}.js", "detail", portion.name, place // DETAILS, details)
                details = []
    return {name: np.concatenate([part[name] for part in index]) for name in INDEX}


def _batches(portion: Portion, sample: Shown) -> Iterator[Batch]:
    """The examples of a sample."""
    for start, following in zip(sample.starts, [*sample.starts[1:], None], strict=True):
        if following is not None:
            portion.data[portion.name].fetch_ahead(np.array([following]))
        yield from portion.batches(portion.masked, start, start + sample.stretch)


def _index(batch: Batch, ranks: np.ndarray) -> dict[str, np.ndarray]:
    """The examples' part of the index; vehicles by their rank in the world, as everywhere on the page."""
    c, entity, rows = batch.columns, ranks[batch.scenes.entity], np.arange(len(batch))
    other = entity[rows, 3 - c["subject_slot"] - c["object_slot"]] if entity.shape[1] == 3 else np.full(len(batch), 255)
    roles = {role: ranks[c[role]] for role in ("subject", "object")}
    given = {**c, **roles, "weather": batch.scenes.weather, "other": other, "margin": np.rint(c["margin"] * 100)}  # centimetres
    return {name: given[name].astype(kind) for name, kind in INDEX.items()}


def _detail(batch: Batch, row: int, ids: np.ndarray, ranks: np.ndarray) -> list[Any]:
    """What is shown of one example: question, slots, margin, intensity, camera's place, and for each vehicle all that is known."""
    c, scenes = batch.columns, batch.scenes
    vehicles = []
    for slot, entity in enumerate(ranks[scenes.entity[row]].tolist()):
        found = seen(ids, slot)
        place = [plain(x) for x in scenes.pose[row, slot]]
        box = [round(float(edge), 1) for edge in c["boxes"][row, slot]]
        vehicles.append(
            [entity, *place, *box, plain(c["visible"][row, slot]), runs(found[0]) if found else "", batch.paint(row, slot) or "own"]
        )
    camera = [plain(x) for x in scenes.camera[row]]
    return [c["question"][row].decode(errors="replace"), int(c["subject_slot"][row]), int(c["object_slot"][row]), plain(c["margin"][row]),
            plain(scenes.intensity[row]), [camera[0], camera[1], camera[3], camera[5]], vehicles]  # fmt: skip


def _write_script(path: Path, function: str, *values: Any) -> None:
    """A script that calls a function of the page."""
    words = ", ".join(json.dumps(value, separators=(",", ":")) for value in values)
    path.write_text(f"simtown.{function}({words})\n", encoding="utf-8")


def _base64(column: np.ndarray) -> str:
    return base64.b64encode(column.tobytes()).decode("ascii")
