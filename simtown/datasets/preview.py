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


def _cells(
    images: np.ndarray, questions: list[str], answers: np.ndarray, boxes: np.ndarray, slots: np.ndarray
) -> list[SheetCell]:
    """A cell an example; boxes (n, v, 4), and slots (n, 2) of subject and object."""
    return [
        SheetCell(
            image,
            [(question, None), ("yes", YES) if answer else ("no", NO)],
            [(tuple(box[s].tolist()), SUBJECT), (tuple(box[o].tolist()), OBJECT)],
        )
        for image, question, answer, box, (s, o) in zip(images, questions, answers, boxes, slots, strict=True)
    ]


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
    questions = [question.decode() for question in columns["question"]]
    slots = np.stack([columns["subject_slot"], columns["object_slot"]], axis=1)
    cells = _cells(images, questions, columns["answer"], box, slots)
    return contact_sheet(cells, columns=max(1, 1280 // images.shape[2]))


def random_sheet(settings: Settings, renderer: Renderer, count: int, width: int, height: int) -> Image.Image:
    """New examples of these settings, without a data set, as :func:`dataset_sheet` shows them."""
    examples: Examples = sample(settings.recipe("train"), np.arange(count + count % 2))
    scene = examples.scene[slice(0, count)]
    images, box = renderer.render(scene, width, height, geometry=False).rgb, boxes(scene, width, height)
    slots = np.stack([examples.subject, examples.object], axis=1)[:count]
    entities = np.take_along_axis(scene.entity, slots, axis=1)
    questions = [
        text(ENTITIES[subject], RELATION_NAMES[examples.relation[i]], ENTITIES[obj], examples.phrasing[i])
        for i, (subject, obj) in enumerate(entities)
    ]
    return contact_sheet(
        _cells(images, questions, examples.answer[:count], box, slots), columns=max(1, 1280 // width)
    )


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
    settings: Settings, renderer: Renderer, weathers: list[str], size: int = 320
) -> Image.Image:
    """The same street in the given weathers (across), from light to heavy (down)."""
    single = sample(settings.recipe("train"), np.array([0])).scene
    copies, cells = np.zeros(len(weathers), dtype=np.int64), []
    for step in (0.1, 0.5, 1.0):
        scene = single[copies]
        scene.weather[:] = [WEATHERS.index(name) for name in weathers]
        scene.intensity[:] = step
        scene.sun[:, 1] = np.where(scene.weather == WEATHERS.index("dusk"), 0.42, 0.9)
        street = Stream(settings.seed, "train", "street")
        scene.prop, scene.prop_pose, scene.prop_style = draw_street(street, copies, scene.weather)
        images = renderer.render(scene, size, size, geometry=False).rgb
        cells += [
            SheetCell(image, [(f"{name}, intensity {step}", None)])
            for image, name in zip(images, weathers, strict=True)
        ]
    return contact_sheet(cells, columns=len(weathers))
