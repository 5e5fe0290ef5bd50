"""Contact sheets of a data set, of fresh examples, of the catalogue and of the weathers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from PIL import Image

from simtown.assets.catalogue import ENTITIES
from simtown.core.notebook import OBJECT, SUBJECT, Colour
from simtown.core.streams import Stream
from simtown.datasets.names import names
from simtown.datasets.proving.twin_groups import pair_rows
from simtown.datasets.reading.reader import Dataset, asked_of
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.twins import EDITS, WEATHER
from simtown.render.frames import Renderer
from simtown.render.sheet import SheetCell, contact_sheet
from simtown.scenes.placement import LANES
from simtown.scenes.scene import SceneBatch, empty_batch
from simtown.scenes.silhouette import boxes, unclipped_boxes
from simtown.scenes.street import draw_street
from simtown.scenes.weather import WEATHERS

YES, NO = (30, 128, 60), (186, 40, 40)
_REPLY, _GAP = (28, 84, 160), 4
_LEGEND = (("blue: the subject of the question", SUBJECT), ("orange: its object", OBJECT))
#: The longer sides of pictures in a sheet of examples, pixels: usual and large.
EXAMPLE_SIDES = (256, 512)
#: Most of a catalogue's cell that a vehicle fills, of its width and height; the longest lens; and the height
#: of a cell, of its width.
_FILLED, _LONGEST_LENS, _ASPECT = 0.86, 2.4, 2 / 3


def _sheet(
    columns: Mapping[str, np.ndarray],
    images: np.ndarray,
    boxes: np.ndarray,
    named: Mapping[str, list[str]],
    settings: Settings,
) -> Image.Image:
    """A cell a picture with its questions, by the columns and their names; (n, v, 4) boxes of vehicles."""
    asked = [asked_of({n: rows[i] for n, rows in columns.items()}, named) for i in range(len(images))]
    if settings.sequence:
        images = np.stack([_strip(pictures) for pictures in images])
    if settings.twins:
        return _twin_sheet(columns, images, boxes, asked, settings.questions_per_picture)
    cells = [SheetCell(image, [], []) for image in images[:: settings.questions_per_picture]]
    for i, own in enumerate(asked):
        cell, family = cells[i // settings.questions_per_picture], f" ({own['family']})"
        if own["subject"]:  # the paper's
            roles = ((columns["subject_slot"][i], SUBJECT), (columns["object_slot"][i], OBJECT))
            family, cell.boxes[:] = "", [(tuple(boxes[i, slot].tolist()), colour) for slot, colour in roles]
        answer = own["reply"] + family, {"yes": YES, "no": NO}.get(own["reply"], _REPLY)
        cell.lines.extend([(columns["question"][i].decode(), None), answer])
    return contact_sheet(
        cells, max(1, min(6, 1600 // images.shape[2])), () if settings.has_families else _LEGEND
    )


def _strip(pictures: np.ndarray) -> np.ndarray:
    """The pictures of a sequence, (P, h, w, 3), side by side."""
    gap = np.full((pictures.shape[1], _GAP, 3), 255, dtype=np.uint8)
    return np.concatenate([part for picture in pictures for part in (picture, gap)][:-1], axis=1)


def _twin_sheet(
    columns: Mapping[str, np.ndarray],
    images: np.ndarray,
    boxes: np.ndarray,
    asked: Sequence[Mapping[str, str]],
    each: int,
) -> Image.Image:
    """A cell a group of twins: its two pictures side by side, what is edited, its questions and answers."""
    width, cells = images.shape[2], []
    gap = np.full((images.shape[1], _GAP, 3), 255, dtype=np.uint8)
    for number in np.unique(columns["group"]):
        rows = np.flatnonzero(columns["group"] == number)
        slot, edit = int(columns["edited"][rows[0]]), int(columns["edit"][rows[0]])
        lines: list[tuple[str, Colour | None]] = [(EDITS[edit], SUBJECT if edit < WEATHER else None)]
        pairs = rows[pair_rows(len(rows), each)]
        for row, other in pairs.tolist():
            answers = f"{asked[row]['reply']} | {asked[other]['reply']} ({asked[row]['family']})"
            lines += [(columns["question"][row].decode(), None), (answers, _REPLY)]
        image = np.concatenate([images[pairs[0, 0]], gap, images[pairs[0, 1]]], axis=1)
        outlines: list[tuple[tuple[float, float, float, float], Colour]] = []
        for row, shift in zip(pairs[0], (0, width + _GAP), strict=True):
            x0, y0, x1, y1 = boxes[row, slot].tolist() if edit < WEATHER else (0, 0, 0, 0)
            if x1 > x0:
                outlines.append(((x0 + shift, y0, x1 + shift, y1), SUBJECT))
        cells.append(SheetCell(image, lines, outlines))
    most = max(1, min(3, 800 // width))
    return contact_sheet(cells, most, legend=(("blue: the edited vehicle", SUBJECT),))


def dataset_sheet(
    dataset: Dataset, renderer: Renderer, split: str = "train", count: int = 24, large: bool = False
) -> Image.Image:
    """The first examples of a split: picture (drawn again if it is small), question, answer, boxes."""
    examples, settings = dataset[split], dataset.settings
    count += -count % (settings.block if settings.twins else settings.questions_per_picture)
    rows = np.arange(min(count, len(examples)))
    columns, images = examples.rows(examples.columns, rows), examples.images(rows)
    box = columns["boxes"]
    scale = EXAMPLE_SIDES[large] // max(images.shape[-3:-1])
    if scale > 1 and not settings.sequence:
        h, w = images.shape[1] * scale, images.shape[2] * scale
        scenes = examples.scenes(rows)
        images, box = renderer.render(scenes, w, h, geometry=False).rgb, boxes(scenes, w, h)
    return _sheet(columns, images, box, dataset.names, settings)


def random_sheet(settings: Settings, renderer: Renderer, count: int, width: int, height: int) -> Image.Image:
    """New examples of these settings, without a data set, as :func:`dataset_sheet` shows them."""
    count += -count % settings.block if settings.twins else 0
    index = np.arange(count + count % 2)
    examples = source_of(settings).draw("train", index)
    made = source_of(replace(settings, width=width, height=height)).columns(examples, index)
    images = renderer.render(examples.scene[slice(count)], width, height, geometry=False).rgb
    return _sheet(made, images, made["boxes"], names(settings), settings)


def portraits(entities: list[int]) -> SceneBatch:
    """One vehicle a scene, on the near lane, heading right, as large as fits into a picture of 3 : 2."""
    scenes = empty_batch(len(entities), 1, 1)
    scenes.entity[:, 0] = entities
    scenes.pose[:, 0] = (0.0, *LANES[0])
    # the usual eye, a lens as long as the box of the vehicle lets it be, the lower edge below the wheels
    focal, bottom = scenes.camera[:, 5], scenes.camera[:, 6]
    box = unclipped_boxes(scenes.entity, scenes.pose, scenes.camera, 1, 1)
    x0, y0, x1, y1 = (box[:, 0].astype(np.float64) / focal[:, None]).T
    room = _FILLED / np.stack([2 * np.maximum(x1 - 0.5 / focal, 0.5 / focal - x0), (y1 - y0) / _ASPECT])
    below = 1 / focal + bottom - y1
    focal[:] = np.minimum(room.min(axis=0), _LONGEST_LENS)
    bottom[:] = below - (1 - _FILLED) / 2 * _ASPECT / focal
    return scenes


def entity_sheet(renderer: Renderer, entities: list[int], size: int = 192) -> Image.Image:
    """The given entities of the catalogue, each with its number and name."""
    frames = renderer.render(portraits(entities), size, size * 2 // 3, geometry=False)
    drawn = zip(entities, frames.rgb, strict=True)
    cells = [SheetCell(image, [(f"{e + 1}. {ENTITIES[e]}", None)]) for e, image in drawn]
    return contact_sheet(cells, max(1, min(10, 1920 // size)))


def weather_sheet(
    settings: Settings, renderer: Renderer, weathers: list[str], size: int = 320
) -> Image.Image:
    """The same street in the given weathers (across), from light to heavy (down; across if it is one).

    Letters below the pictures can be read in a small copy of the sheet: weather and intensity.
    """
    single = source_of(settings).draw("train", np.array([0])).scene
    copies, cells = np.zeros(len(weathers), dtype=np.int64), []
    for step in (0.1, 0.4, 0.7):
        scene = single[copies]
        scene.weather[:] = [WEATHERS.index(name) for name in weathers]
        scene.intensity[:] = step
        scene.sun[:, 1] = np.where(scene.weather == WEATHERS.index("dusk"), 0.42, 0.9)
        street = Stream(settings.seed, "train", "street")
        scene.prop, scene.prop_pose, scene.prop_style = draw_street(street, copies, scene.weather)
        drawn = zip(renderer.render(scene, size, size, geometry=False).rgb, weathers, strict=True)
        cells += [SheetCell(image, [(f"{name} {step}", None)]) for image, name in drawn]
    columns = len(weathers) if len(weathers) > 1 else len(cells)
    return contact_sheet(cells, columns, text=max(13, size // 8))
