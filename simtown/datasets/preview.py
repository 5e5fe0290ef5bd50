"""Contact sheets of a data set, of fresh examples, of the catalogue and of the weathers."""

from __future__ import annotations

import numpy as np
from PIL import Image

from simtown.assets.catalogue import ENTITIES
from simtown.core.streams import Stream
from simtown.datasets.reader import Dataset
from simtown.datasets.settings import Settings
from simtown.language.questions import text
from simtown.language.relations import RELATION_NAMES
from simtown.language.sampler import Examples, sample
from simtown.render.frames import Renderer
from simtown.render.sheet import SheetCell, contact_sheet
from simtown.scenes.placement import LANES
from simtown.scenes.scene import SceneBatch, empty_batch
from simtown.scenes.silhouette import boxes
from simtown.scenes.street import draw_street
from simtown.scenes.weather import WEATHERS

SUBJECT, OBJECT, YES, NO = (38, 110, 220), (226, 110, 20), (30, 128, 60), (186, 40, 40)


def _question_cell(
    image: np.ndarray, question: str, answer: bool, subject_box: np.ndarray, object_box: np.ndarray
) -> SheetCell:
    marks = [(tuple(map(float, subject_box)), SUBJECT), (tuple(map(float, object_box)), OBJECT)]
    return SheetCell(image, [(question, None), ("yes", YES) if answer else ("no", NO)], marks)  # type: ignore[arg-type]


def dataset_sheet(
    dataset: Dataset, renderer: Renderer, split: str = "train", count: int = 24, large: bool = False
) -> Image.Image:
    """The first examples of a split: picture, question, answer, boxes (subject blue, object orange).

    If `large` is true, the pictures are drawn again, larger.
    """
    examples = dataset[split]
    rows = np.arange(min(count, len(examples)))
    columns = examples.rows(("question", "answer", "subject_slot", "object_slot", "boxes"), rows)
    images, box = examples.images(rows), columns["boxes"]
    if large or max(images.shape[1:3]) < 128:
        scale = max(1, (512 if large else 160) // max(images.shape[1:3]))
        h, w = min(images.shape[1] * scale, 1024), min(images.shape[2] * scale, 1024)
        scenes = examples.scenes(rows)
        images, box = renderer.render(scenes, w, h, geometry=False).rgb, boxes(scenes, w, h)
    cells = [
        _question_cell(
            images[i],
            columns["question"][i].decode(),
            bool(columns["answer"][i]),
            box[i, columns["subject_slot"][i]],
            box[i, columns["object_slot"][i]],
        )
        for i in rows
    ]
    return contact_sheet(cells, columns=max(1, 1280 // images.shape[2]))


def random_sheet(settings: Settings, renderer: Renderer, count: int, width: int, height: int) -> Image.Image:
    """New examples of these settings, without a data set, as :func:`dataset_sheet` shows them."""
    examples: Examples = sample(settings.recipe("train"), np.arange(count + count % 2))
    scene = examples.scene[slice(0, count)]
    images, box = renderer.render(scene, width, height, geometry=False).rgb, boxes(scene, width, height)
    cells = []
    for i in range(count):
        s, o = examples.subject[i], examples.object[i]
        question = text(
            ENTITIES[scene.entity[i, s]],
            RELATION_NAMES[examples.relation[i]],
            ENTITIES[scene.entity[i, o]],
            examples.phrasing[i],
        )
        cells.append(_question_cell(images[i], question, bool(examples.answer[i]), box[i, s], box[i, o]))
    return contact_sheet(cells, columns=max(1, 1280 // width))


def _portraits(entities: list[int], weather: str) -> SceneBatch:
    """One vehicle a scene, on the near lane, heading right, with the camera closer."""
    scenes = empty_batch(len(entities), 1, 1)
    scenes.entity[:, 0] = entities
    scenes.pose[:, 0] = (0.0, *LANES[0])
    scenes.weather[:] = WEATHERS.index(weather)
    # the default camera's eye with a longer lens, its lower edge just below the wheels
    scenes.camera[:, 5], scenes.camera[:, 6] = 1.6, -0.53
    return scenes


def entity_sheet(
    renderer: Renderer, entities: list[int], size: int = 192, weather: str = "clear"
) -> Image.Image:
    """The given entities of the catalogue, each with its number and name."""
    frames = renderer.render(_portraits(entities, weather), size, size * 3 // 4, geometry=False)
    cells = [
        SheetCell(image, [(f"{e + 1}. {ENTITIES[e]}", None)])
        for e, image in zip(entities, frames.rgb, strict=True)
    ]
    return contact_sheet(cells, columns=max(1, min(10, 1920 // size)))


def weather_sheet(
    settings: Settings,
    renderer: Renderer,
    weathers: list[str],
    size: int = 320,
    steps: tuple[float, ...] = (0.1, 0.5, 1.0),
) -> Image.Image:
    """The same street in the given weathers (across), from light to heavy (down)."""
    single = sample(settings.recipe("train"), np.array([0])).scene
    cells = []
    for step in steps:
        scene = single[np.zeros(len(weathers), dtype=np.int64)]
        scene.weather[:] = [WEATHERS.index(name) for name in weathers]
        scene.intensity[:] = step
        scene.sun[:, 1] = np.where(scene.weather == WEATHERS.index("dusk"), 0.42, 0.9)
        street = draw_street(
            Stream(settings.seed, "train", "street"), np.zeros(len(weathers), dtype=np.int64), scene.weather
        )
        scene.prop, scene.prop_pose, scene.prop_style = street
        images = renderer.render(scene, size, size, geometry=False).rgb
        cells += [
            SheetCell(image, [(f"{name}, intensity {step}", None)])
            for image, name in zip(images, weathers, strict=True)
        ]
    return contact_sheet(cells, columns=len(weathers))
