"""A page for looking at a data set: index.html, which holds all of its code, and a folder data/ beside it.

Browsers let a page that is opened from disk read pictures and scripts, but no other files. So the page reads
sheets of thumbnails, and scripts that call one of its functions: ``data/index.js`` (a few bytes an example
for filters and counts), ``data/SPLIT-00000.jpg`` (SHEET x SHEET pictures), ``data/SPLIT-00000.js``
(DETAILS examples: question, boxes, places, masks) and ``data/large/SPLIT-0.jpg`` (one example, drawn again).

Of two data sets there are two such pages, in the folders a/ and b/, and index.html shows them beside each
other. Each tells what is chosen on it, and the other one follows.
"""

import base64
import html
import json
import re
import shlex
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from simtown.core.files import is_complete, replacing, whole
from simtown.core.pool import Report, ignore
from simtown.core.untrusted import page_policy, printable
from simtown.datasets.addresses import url_of
from simtown.datasets.export import choose_splits
from simtown.datasets.export.portion import ExportBatch, Portion, plain
from simtown.datasets.family_questions import kinds_named
from simtown.datasets.making.manifests import SEAL
from simtown.datasets.proving.marginals import targets_of
from simtown.datasets.reading.reader import Dataset
from simtown.language.meaning.programs import Form, decode
from simtown.language.meaning.relations import RELATIONS
from simtown.render.masks import compressed_run_lengths, mask_and_box, picture_file
from simtown.render.renderers import make_renderer
from simtown.scenes.placement import half_sizes
from simtown.scenes.scene import SceneBatch
from simtown.scenes.sequence import stored_pictures

#: Most examples of a sample, and examples of a stretch, which are in one shard, rarely in two. Neighbouring
#: scenes are independent, so stretches represent the split as well as single examples would.
SAMPLE, STRETCH = 1_000, 100
#: Thumbnails along each side of a sheet, examples in a file of details, and the longest sides of a thumbnail,
#: at most, and of a large picture, at least.
SHEET, DETAILS, THUMB, LARGE = 8, 256, 192, 384
_QUALITY: dict[str, Any] = {"quality": 88, "subsampling": 0}
#: Large pictures: 20 kB and 1 ms each at 384 pixels, where WebP takes 12 kB and 3 ms.
_LARGE_QUALITY: dict[str, Any] = {"quality": 80}
#: Before the names of columns that hold all pictures of sequences, (n, P, ...).
_ALL = "all/"
#: Threads that write large pictures, a batch each, and pictures that one draws at once: memory of a few is
#: used again, that of many comes cleared from the kernel.
_THREADS, _DRAWN = 2, 32
#: Columns of the index, and dtypes of their typed arrays. 255 in `other`: there is no third vehicle.
_NUMBERS = ("answer", "relation", "weather", "subject", "object", "other")
INDEX = {**dict.fromkeys(_NUMBERS, "u1"), "margin": "<i2"}
#: The most vehicles of a scene of families, and the index of their examples: which kinds are there (255 in
#: an empty slot).
_SLOTS = 8
FAMILY_INDEX = {
    **dict.fromkeys(("family", "weather"), "u1"), "value": "<u2", "margin": "<i2",
    **{f"kind{i}": "u1" for i in range(_SLOTS)},
}  # fmt: skip
#: Instead of the centimetres of a margin, where there is none.
_NO_MARGIN = -32_768
#: Says why an example's answer is what it is (:func:`simtown.town.explaining.reason`).
Reason = Callable[..., str]


def gallery_sample(count: int, everything: bool = False, block: int = 2) -> list[range]:
    """The part of a split that the page shows: all of it, or stretches of equal length, spread evenly over
    it, that begin with a block of examples.
    """
    if everything or count <= SAMPLE:
        return [range(count)]
    stretches = SAMPLE // STRETCH
    starts = [number * count // stretches // block * block for number in range(stretches)]
    return [range(start, start + STRETCH) for start in starts]


def gallery(
    data: Dataset,
    out: Path,
    *,
    progress: Report = ignore,
    everything: bool = False,
    large: bool | None = None,
    reason: Reason | None = None,
    other: Dataset | None = None,
) -> bool:
    """Write the page of a data set into the directory `out`, whole or not at all.

    It shows a sample, or `everything`; memory grows by 60 bytes an example. `progress` is called with the
    number of examples written since the last call.

    Args:
        data: the data set.
        out: the directory.
        progress: see above.
        everything: whether every example is shown.
        large: whether every example that is shown is drawn again, at LARGE pixels; by default a sample is.
        reason: says why answers of families are what they are.
        other: a second data set, which is shown beside the first one.

    Returns:
        Whether it was written: False if `out` holds this page already.

    Raises:
        ForeignDirectoryError: `out` holds something else.
        DamagedError: a shard cannot be read.
    """
    large = not everything if large is None else large
    origin = {"command": "simtown gallery", "data": data.manifest[SEAL], "all": everything, "name": data.name}
    origin |= {"large": large} | ({"other": other.manifest[SEAL], "beside": other.name} if other else {})
    if is_complete(out, origin):
        return False
    with whole(out, "simtown gallery", origin) as directory:
        if other is None:
            _write_page(data, directory, progress, everything, large, reason)
        else:
            for folder, own in (("a", data), ("b", other)):
                (directory / folder).mkdir()
                _write_page(own, directory / folder, progress, everything, large, reason)
            pair = page(f"{data.name} and {other.name}", "pair.html", frame="'self' file:")
            (directory / "index.html").write_text(pair, encoding="utf-8")
    return True


def _write_page(
    data: Dataset, directory: Path, progress: Report, everything: bool, large: bool, reason: Reason | None
) -> None:
    """Write the page of one data set; of sequences a town, which shows one moment, knows no reasons."""
    reason = None if data.settings.sequence else reason
    splits = {
        name: gallery_sample(len(data[name]), everything, data.settings.block)
        for name in choose_splits(data, [])
    }
    pieces = directory / "data"
    (pieces / "large" if large else pieces).mkdir(parents=True)
    about, index = _about(data, splits) | {"large": large, "shots": data.settings.shots}, []
    for (name, sample), split in zip(splits.items(), about["splits"], strict=True):
        columns, split["longest"] = _write_split(data, name, sample, pieces, progress, large, reason=reason)
        index.append(columns)
    columns = {name: np.concatenate([part[name] for part in index]) for name in index[0]}
    packed = {name: base64.b64encode(column.tobytes()).decode() for name, column in columns.items()}
    write_script(pieces / "index.js", "simtown.begin", {**about, "columns": packed})
    (directory / "index.html").write_text(page(data.name), encoding="utf-8")


def page(title: str, markup: str = "page.html", **sources: str) -> str:
    """index.html: our markup, style and script, and a policy that allows no other code and no connection.

    Some browsers do not regard a page's folder on disk as 'self', so the policy names the scheme.
    """
    names = (markup, "base.css", "style.css", "app.js")
    texts = [(files(__name__) / name).read_text(encoding="utf-8") for name in names]
    return assemble(title, texts[0], texts[1] + texts[2], texts[3], **sources)


def base_style() -> str:
    """The style that our pages share."""
    return (files(__name__) / "base.css").read_text(encoding="utf-8")


def assemble(title: str, markup: str, style: str, script: str, **sources: str) -> str:
    """A page of a markup with {title}, {style}, {script} and {policy}.

    The policy lets it read pictures and scripts beside it, and nothing else.
    """
    filled = _filled(markup, style=style, script=script)
    policy = page_policy(filled, script="'self' file:", img="'self' file: data:", **sources)
    return _filled(filled, policy=policy, title=html.escape(printable(title)))


def _filled(markup: str, **parts: str) -> str:
    """Replace each {name} of the parts by its text, but not inside the inserted texts."""
    return re.sub("{(" + "|".join(parts) + ")}", lambda match: parts[match[1]], markup)


def thumb_size(width: int, height: int) -> tuple[int, int]:
    """Width and height of a thumbnail in pixels: the picture's own, or less."""
    scale = min(1.0, THUMB / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def _about(data: Dataset, splits: dict[str, list[range]]) -> dict[str, Any]:
    """Facts that the page needs besides the examples."""
    s, outlines = data.settings, half_sizes()
    known, measures = RELATIONS[: len(data.names["relations"])], ("name", "axis", "sign", "margin")
    families = {name: data.names[name] for name in ("families", "answers")} if s.has_families else {}
    return families | {
        "place": shlex.quote(printable(data.place if url_of(data.place) else data.name)),
        "size": [s.width, s.height],
        "thumb": thumb_size(s.width, s.height),
        "sheet": SHEET,
        "details": DETAILS,
        "each": s.questions_per_picture,
        "block": s.block,
        "frequencies": s.frequencies,
        "entities": [data.names["entities"][kind] for kind in s.kinds],
        "footprints": [[plain(2 * x) for x in outlines[kind]] for kind in s.kinds if kind < len(outlines)],
        "relations": [{name: getattr(relation, name) for name in measures} for relation in known],
        "asked": s.relations,
        "weathers": data.names["weathers"],
        "occurring": s.weathers,
        "splits": [_about_split(data, name, sample) for name, sample in splits.items()],
    }


def _about_split(data: Dataset, split: str, sample: list[range]) -> dict[str, Any]:
    """Facts of a split that the page needs; `counts` are those of all its examples, of kinds in
    either role.
    """
    summary, kinds = data.summary(split), data.settings.kinds
    about = {"name": split, "count": len(data[split]), "stretch": len(sample[0])}
    about["starts"] = [stretch.start for stretch in sample]
    if data.settings.has_families:
        counts: dict[str, list[int]] = {name: summary[name] for name in ("family", "value", "weather")}
        return about | {"counts": counts | {"kind": [summary["kind"][kind] for kind in kinds]}}
    of_kinds = {role: [summary[role][kind] for kind in kinds] for role in ("subject", "object")}
    targets = targets_of(data, split).items()
    return about | {
        "counts": {name: summary[name] for name in ("answer", "relation", "weather")} | of_kinds,
        "target": {role: [round(float(p), 7) for p in shares] for role, shares in targets},
    }


def _write_split(
    data: Dataset,
    name: str,
    sample: list[range],
    pieces: Path,
    progress: Report,
    large: bool,
    *,
    reason: Reason | None,
) -> tuple[dict[str, np.ndarray], str]:
    """Write pictures and details of one split.

    Returns its part of the index, an array a column, and its longest question.
    """
    s = data.settings
    wide, high = thumb_size(s.width, s.height)
    sheet, details = np.zeros((SHEET * high, SHEET * wide, 3), dtype=np.uint8), []
    index: list[dict[str, np.ndarray]] = []
    place, last, longest = 0, sum(map(len, sample)) - 1, b""
    batches = _batches(data, name, sample, progress)
    for batch in _with_large(batches, pieces / "large", name) if large else batches:
        index.append(_index(batch, s.ranks))
        longest = max(longest, *batch.columns["question"].tolist(), key=len)
        assert batch.ids is not None
        for row, ids in enumerate(batch.ids):
            picture = batch.columns["images"][row]
            if (wide, high) != (s.width, s.height):
                picture = _resized(picture, wide, high, "BOX")
                ids = _resized(ids, wide, high, "NEAREST")
            cell = place % SHEET**2
            y, x = cell // SHEET * high, cell % SHEET * wide
            sheet[y : y + high, x : x + wide] = picture
            if cell == SHEET**2 - 1 or place == last:
                (pieces / f"{name}-{place // SHEET**2:05d}.jpg").write_bytes(
                    picture_file(sheet, "JPEG", **_QUALITY)
                )
                sheet[:] = 0
            details.append(_detail(batch, row, ids, s.ranks, reason))
            if len(details) == DETAILS or place == last:
                number = place // DETAILS
                write_script(pieces / f"{name}-{number:05d}.js", "simtown.detail", name, number, details)
                details = []
            place += 1
    columns = {column: np.concatenate([part[column] for part in index]) for column in index[0]}
    return columns, longest.decode(errors="replace")


def _with_large(batches: Iterable[ExportBatch], folder: Path, name: str) -> Iterator[ExportBatch]:
    """The batches; threads write their large pictures while they are used."""
    place, writing = 0, deque[Future[None]]()
    with ThreadPoolExecutor(_THREADS) as threads:
        for batch in batches:
            if len(writing) == _THREADS:  # else they would pile up
                writing.popleft().result()
            writing.append(threads.submit(_write_large, batch, folder, name, place))
            place += len(batch)
            yield batch
        for written in writing:
            written.result()


def _write_large(batch: ExportBatch, folder: Path, name: str, place: int) -> None:
    """Write large pictures, a file each: drawn at a multiple of their size, or as they are stored.

    Those of a sequence stand side by side. `place` is the first one's on the page.
    """
    stored = batch.columns.get(_ALL + "images", batch.columns["images"][:, None])
    shots, height, width = stored.shape[1:4]
    times, renderer = -(-LARGE // max(width, height)), make_renderer()
    for first in range(0, len(stored), _DRAWN):
        rows = slice(first, first + _DRAWN)
        pictures = stored[rows]
        if times > 1:
            scenes = _all_scenes(batch, rows) if shots > 1 else batch.scenes[rows]
            drawn = renderer.render(scenes, width * times, height * times, geometry=False).rgb
            pictures = drawn.reshape(-1, shots, *drawn.shape[1:])
        for number, row in enumerate(pictures, place + first):
            picture = np.concatenate(row, axis=1)
            (folder / f"{name}-{number}.jpg").write_bytes(picture_file(picture, "JPEG", **_LARGE_QUALITY))


def _resized(pixels: np.ndarray, wide: int, high: int, how: str) -> np.ndarray:
    """Pixels in another size, by one of Pillow's ways."""
    return np.asarray(Image.fromarray(pixels).resize((wide, high), Image.Resampling[how]))


def _batches(data: Dataset, name: str, sample: list[range], progress: Report) -> Iterator[ExportBatch]:
    """The examples of a sample."""
    for rows, following in zip(sample, [*sample[1:], range(0)], strict=True):
        if following:
            data[name].fetch_ahead(np.array(following[:1]))
        batches = Portion(data, name, rows, progress=progress).batches(masks=True)
        yield from map(_first_pictures, batches) if data.settings.sequence else batches


def _all_scenes(batch: ExportBatch, rows: slice) -> SceneBatch:
    """The scenes of all pictures of some sequences."""
    columns = {name: values[rows] for name, values in batch.columns.items() if name.startswith(_ALL)}
    return SceneBatch.of_columns(
        {name.removeprefix(_ALL): values.reshape(-1, *values.shape[2:]) for name, values in columns.items()}
    )


def _first_pictures(batch: ExportBatch) -> ExportBatch:
    """The first pictures of sequences, with what these show, and all behind the names of _ALL."""
    n, shots = batch.columns["order"].shape
    every = stored_pictures(batch.columns)
    scenes = every[::shots]
    own = {name: batch.columns[name][:, 0] for name in ("images", "boxes", "visible")}
    own[_ALL + "images"] = batch.columns["images"]
    own |= {
        _ALL + name: values.reshape(n, shots, *values.shape[1:]) for name, values in every.columns().items()
    }
    height, width = own["images"].shape[1:3]
    return replace(
        batch,
        columns={**batch.columns, **own, **scenes.columns()},
        scenes=scenes,
        paints=scenes.body_paints(),
        ids=make_renderer().render(scenes, width, height).ids,
    )


def _index(batch: ExportBatch, ranks: np.ndarray) -> dict[str, np.ndarray]:
    """The examples' part of the index. Vehicles have their rank in the world, as everywhere on the page."""
    c, entity, rows = batch.columns, ranks[batch.scenes.entity], np.arange(len(batch))
    centimetres = np.rint(np.clip(100 * c["margin"], -32_767, 32_767))
    margin = np.where(np.isfinite(c["margin"]), centimetres, _NO_MARGIN)
    columns, form = {**c, "weather": batch.scenes.weather, "margin": margin}, FAMILY_INDEX
    if "family" in c:
        kinds = np.full((len(batch), _SLOTS), 255)
        kinds[:, : entity.shape[1]] = np.where(batch.scenes.entity >= 0, entity, 255)
        columns |= {f"kind{i}": kinds[:, i] for i in range(_SLOTS)}
    else:
        third, form = 3 - c["subject_slot"] - c["object_slot"], INDEX
        columns["other"] = entity[rows, third] if entity.shape[1] == 3 else np.full(len(batch), 255)
        columns |= {role: ranks[c[role]] for role in ("subject", "object")}
    return {name: columns[name].astype(kind) for name, kind in form.items()}


def _detail(
    batch: ExportBatch, row: int, ids: np.ndarray, ranks: np.ndarray, reason: Reason | None
) -> list[Any]:
    """The details of one example: question, slots, margin, intensity, camera, its vehicles; if it is of a
    family, what else its program names among these, its program, the answer in metres or as a box, if it is
    that, and the reason; and if it is a twin the number of its group, and what differs.
    """
    c, scenes = batch.columns, batch.scenes
    things: list[list[Any]] = []
    for slot, entity in enumerate(ranks[scenes.entity[row]].tolist()):
        if scenes.entity[row, slot] < 0:
            continue
        place = [plain(x) for x in scenes.pose[row, slot]]
        box = [round(float(edge), 1) for edge in c["boxes"][row, slot]]
        visible, paint = plain(c["visible"][row, slot]), batch.paint(row, slot)
        things.append([entity, *place, *box, visible, compressed_run_lengths(ids == slot + 1), paint])
    slots = [int(c[role][row]) for role in ("subject_slot", "object_slot")]
    camera = [plain(scenes.camera[row, i]) for i in (0, 1, 3, 5)]
    margin = plain(c["margin"][row]) if np.isfinite(c["margin"][row]) else None
    question = c["question"][row].decode(errors="replace")
    detail = [question, *slots, margin, plain(scenes.intensity[row]), camera, things]
    if "family" in c:
        program = decode(c["program"][row])
        why = reason and reason(scenes.scene(row), program, c["visible"][row], c["boxes"][row])
        asked, exact = batch.asked(row), ""
        things += _street_things(batch, row, ids, program)
        if asked["tolerance"] is not None:
            exact = f"{asked['number']:.2f} m, right within {asked['tolerance']:.2f} m"
        detail += [asked["program"], exact, why or ""]
    if "group" in c:
        detail += [int(c["group"][row]), batch.edit(row) or ""]
    return detail


def _street_things(batch: ExportBatch, row: int, ids: np.ndarray, program: Form) -> list[list[Any]]:
    """Things beside the road that a program names, as vehicles are in :func:`_detail`, but by name, without a
    paint, and with a visible share only if that is 0.
    """
    things, scenes = [], batch.scenes
    named = kinds_named(program)
    assert batch.ids is not None
    for prop, number in zip(scenes.scene(row).props, scenes.ids(row)[1], strict=True):
        if prop.kind in named:
            seen = mask_and_box(batch.ids[row], number - 1)
            box, visible = (seen[1], None) if seen else ((0.0,) * 4, 0.0)
            place = map(plain, (prop.x, prop.y, prop.yaw))
            things.append([prop.kind, *place, *box, visible, compressed_run_lengths(ids == number), ""])
    return things


def write_script(path: Path, function: str, *values: Any) -> None:
    """A script that calls a function of the page."""
    words = ", ".join(json.dumps(value, separators=(",", ":")) for value in values)
    with replacing(path) as temporary:
        temporary.write_text(f"{function}({words})\n", encoding="utf-8")
