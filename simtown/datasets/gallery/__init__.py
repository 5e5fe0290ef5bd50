"""A page for looking at a data set: index.html, which holds all of its code, and a folder data/ beside it.

The page shows a sample of a large split, or all of it on request; its distributions are those of the whole
split.

Browsers let a page that is opened from disk read pictures and scripts, but no other files. So the page reads
sheets of thumbnails, and scripts that call one of its functions: ``data/index.js`` (a few bytes an example
for filters and counts), ``data/SPLIT-00000.jpg`` (SHEET x SHEET pictures) and ``data/SPLIT-00000.js``
(DETAILS examples: question, boxes, places, masks).
"""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from simtown.core.files import whole
from simtown.core.pool import ignore
from simtown.core.untrusted import page_policy, printable
from simtown.datasets.export import choose_splits
from simtown.datasets.export.portion import ExportBatch, Portion, plain
from simtown.datasets.marginals import targets
from simtown.datasets.reader import Dataset
from simtown.datasets.remote import url_of
from simtown.language.relations import RELATIONS
from simtown.render.masks import compressed_run_lengths, mask_and_box
from simtown.scenes.placement import half_sizes

#: Most examples of a sample, and neighbouring examples of a stretch, which are in one shard, rarely in two.
#: Neighbouring scenes are independent of each other, so stretches represent the split as well as single
#: examples would.
SAMPLE, STRETCH = 2_000, 100
#: Thumbnails along each side of a sheet, examples in a file of details, and the longest side of a thumbnail,
#: pixels.
SHEET, DETAILS, THUMB = 8, 256, 192
_QUALITY = [
    cv2.IMWRITE_JPEG_QUALITY,
    88,
    cv2.IMWRITE_JPEG_SAMPLING_FACTOR,
    cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,
]
#: Columns of the index: names, and dtypes of typed arrays (little-endian). 255 in `other` means that there is
#: no third vehicle.
INDEX = {
    "answer": "u1",
    "relation": "u1",
    "weather": "u1",
    "subject": "u1",
    "object": "u1",
    "other": "u1",
    "margin": "<i2",
}
#: What is counted of whole splits besides the kinds of vehicles (:func:`simtown.datasets.summaries.count`).
OF_ALL = ("answer", "relation", "weather")


@dataclass(frozen=True)
class GallerySample:
    """The examples of a split that the page shows: stretches of neighbouring examples, in order.

    Attributes:
        starts: the number in the split of each stretch's first example, ascending.
        stretch: examples of each stretch.
    """

    starts: list[int]
    stretch: int

    def __len__(self) -> int:
        return len(self.starts) * self.stretch


def gallery_sample(count: int, everything: bool = False) -> GallerySample:
    """What the page shows of a split of `count` examples.

    It shows all of a small split, and of a large one a sample that is spread evenly over it.
    """
    if everything or count <= SAMPLE:
        return GallerySample([0], count)
    stretches = SAMPLE // STRETCH
    return GallerySample([number * count // stretches for number in range(stretches)], STRETCH)


def gallery(
    data: Dataset, out: Path, progress: Callable[[int], object] = ignore, everything: bool = False
) -> None:
    """Write the page of a data set, whole or not at all.

    Args:
        data: the data set.
        out: the directory to write.
        progress: called with the number of examples written since the last call.
        everything: whether to show all examples, not a sample. Memory grows by 60 bytes an example.

    Raises:
        ForeignDirectoryError: `out` is not empty.
        DamagedError: a shard cannot be read.
    """
    splits = {name: gallery_sample(len(data[name]), everything) for name in choose_splits(data, [])}
    with whole(out, "simtown gallery") as directory:
        pieces = directory / "data"
        pieces.mkdir()
        index = [
            _write_split(Portion(data, name, progress), sample, pieces) for name, sample in splits.items()
        ]
        columns = {name: np.concatenate([part[name] for part in index]) for name in INDEX}
        _write_script(
            pieces / "index.js",
            "begin",
            {**_about(data, splits), "columns": {k: _base64(v) for k, v in columns.items()}},
        )
        (directory / "index.html").write_text(page(data.name), encoding="utf-8")


def page(title: str) -> str:
    """index.html: our markup with our style and script inside, and a policy that allows no other code and no
    connection.

    If the page is opened from disk, some browsers do not regard its own folder as 'self', so the policy names
    the scheme.
    """
    markup, style, script = (
        (files(__name__) / name).read_text(encoding="utf-8") for name in ("page.html", "style.css", "app.js")
    )
    filled = _filled(markup, style=style, script=script)
    return _filled(
        filled,
        policy=page_policy(filled, script="'self' file:", img="'self' file: data:"),
        title=html.escape(printable(title)),
    )


def _filled(markup: str, **parts: str) -> str:
    """Replace each {name} of the parts by its text, but not inside the inserted texts."""
    return re.sub("{(" + "|".join(parts) + ")}", lambda match: parts[match[1]], markup)


def thumb_size(width: int, height: int) -> tuple[int, int]:
    """Width and height of a thumbnail in pixels: the picture's own, or less."""
    scale = min(1.0, THUMB / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def _about(data: Dataset, splits: dict[str, GallerySample]) -> dict[str, Any]:
    """What the page needs besides the examples."""
    s, recorded = data.settings, data.manifest["settings"]
    name = printable(data.place if url_of(data.place) else data.name)
    outlines = half_sizes()
    followed = targets(
        np.array(recorded["subject_frequencies"]), np.array(recorded["object_frequencies"]), s.distractor
    )
    uniform = {role: np.full(s.entities, 1 / s.entities) for role in followed}
    return {
        "place": shlex.quote(name),
        "size": [s.width, s.height],
        "thumb": thumb_size(s.width, s.height),
        "sheet": SHEET,
        "details": DETAILS,
        "frequencies": s.frequencies,
        "entities": [data.names["entities"][kind] for kind in s.kinds],
        "footprints": [
            [plain(2 * x) for x in half]
            for half in outlines[[kind for kind in s.kinds if kind < len(outlines)]]
        ],
        "relations": [
            {"name": relation.name, "axis": relation.axis, "sign": relation.sign, "margin": relation.margin}
            for relation in RELATIONS[: len(data.names["relations"])]
        ],
        "asked": s.relations,
        "weathers": data.names["weathers"],
        "occurring": s.weathers,
        "splits": [
            {
                "name": name,
                "count": len(data[name]),
                "starts": sample.starts,
                "stretch": sample.stretch,
                "counts": _counts(data, name),
                "target": {
                    role: [round(float(p), 7) for p in shares]
                    for role, shares in (uniform if name == "test" else followed).items()
                },
            }
            for name, sample in splits.items()
        ],
    }


def _counts(data: Dataset, split: str) -> dict[str, list[int]]:
    """Counts of a split: examples with each answer, relation and weather, and each kind in either role."""
    summary, kinds = data.summary(split), data.settings.kinds
    return {
        name: summary[name] if name in OF_ALL else [summary[name][kind] for kind in kinds]
        for name in (*OF_ALL, "subject", "object")
    }


def _write_split(portion: Portion, sample: GallerySample, pieces: Path) -> dict[str, np.ndarray]:
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
            assert batch.ids is not None
            ids = batch.ids[row]
            if (wide, high) != (s.width, s.height):
                picture = cv2.resize(picture, (wide, high), interpolation=cv2.INTER_AREA)
                ids = cv2.resize(ids, (wide, high), interpolation=cv2.INTER_NEAREST)
            last = place == len(sample) - 1
            cell = place % SHEET**2
            y, x = cell // SHEET * high, cell % SHEET * wide
            sheet[y : y + high, x : x + wide] = picture
            if cell == SHEET**2 - 1 or last:
                (pieces / f"{portion.name}-{place // SHEET**2:05d}.jpg").write_bytes(
                    cv2.imencode(".jpg", sheet, _QUALITY)[1].tobytes()
                )
                sheet[:] = 0
            details.append(_detail(batch, row, ids, ranks))
            if len(details) == DETAILS or last:
                _write_script(
                    pieces / f"{portion.name}-{place // DETAILS:05d}.js",
                    "detail",
                    portion.name,
                    place // DETAILS,
                    details,
                )
                details = []
    return {name: np.concatenate([part[name] for part in index]) for name in INDEX}


def _batches(portion: Portion, sample: GallerySample) -> Iterator[ExportBatch]:
    """The examples of a sample."""
    for start, following in zip(sample.starts, [*sample.starts[1:], None], strict=True):
        if following is not None:
            portion.data[portion.name].fetch_ahead(np.array([following]))
        yield from portion.batches(True, start, start + sample.stretch)


def _index(batch: ExportBatch, ranks: np.ndarray) -> dict[str, np.ndarray]:
    """The examples' part of the index. Vehicles have their rank in the world, as everywhere on the page."""
    c, entity, rows = batch.columns, ranks[batch.scenes.entity], np.arange(len(batch))
    other = (
        entity[rows, 3 - c["subject_slot"] - c["object_slot"]]
        if entity.shape[1] == 3
        else np.full(len(batch), 255)
    )
    roles = {role: ranks[c[role]] for role in ("subject", "object")}
    centimetres = np.rint(c["margin"] * 100)
    columns = {**c, **roles, "weather": batch.scenes.weather, "other": other, "margin": centimetres}
    return {name: columns[name].astype(kind) for name, kind in INDEX.items()}


def _detail(batch: ExportBatch, row: int, ids: np.ndarray, ranks: np.ndarray) -> list[Any]:
    """The details of one example: question, slots, margin, intensity, camera, and its vehicles."""
    c, scenes = batch.columns, batch.scenes
    vehicles = []
    for slot, entity in enumerate(ranks[scenes.entity[row]].tolist()):
        seen = mask_and_box(ids, slot)
        place = [plain(x) for x in scenes.pose[row, slot]]
        box = [round(float(edge), 1) for edge in c["boxes"][row, slot]]
        vehicles.append(
            [
                entity,
                *place,
                *box,
                plain(c["visible"][row, slot]),
                compressed_run_lengths(seen[0]) if seen else "",
                batch.paint(row, slot),
            ]
        )
    camera = [plain(x) for x in scenes.camera[row]]
    return [
        c["question"][row].decode(errors="replace"),
        int(c["subject_slot"][row]),
        int(c["object_slot"][row]),
        plain(c["margin"][row]),
        plain(scenes.intensity[row]),
        [camera[0], camera[1], camera[3], camera[5]],
        vehicles,
    ]


def _write_script(path: Path, function: str, *values: Any) -> None:
    """A script that calls a function of the page."""
    words = ", ".join(json.dumps(value, separators=(",", ":")) for value in values)
    path.write_text(f"simtown.{function}({words})\n", encoding="utf-8")


def _base64(column: np.ndarray) -> str:
    return base64.b64encode(column.tobytes()).decode("ascii")
