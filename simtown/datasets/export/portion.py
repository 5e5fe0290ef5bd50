"""What every format receives: a split as a stream of batches, and an example in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.assets.palette import PAINTS
from simtown.datasets.reader import SCENE_COLUMNS, Dataset
from simtown.language.relations import RELATION_NAMES
from simtown.render.renderers import make_renderer
from simtown.scenes.paint import body_paints
from simtown.scenes.scene import SceneBatch
from simtown.scenes.weather import WEATHERS

ANSWERS = ("no", "yes")
#: Most pixels, and most examples, of a batch.
_PIXELS, _MOST = 8_000_000, 256
_COLUMNS = (
    "images", "question", "answer", "subject", "relation", "object", "subject_slot", "object_slot",
    "phrasing", "margin", "boxes", "visible", *SCENE_COLUMNS,
)  # fmt: skip


@dataclass(frozen=True)
class ExportBatch:
    """n consecutive examples of a split.

    Attributes:
        start: the first one's number.
        columns: by name, as :data:`simtown.datasets.shards.LAYOUT` has them.
        scenes: the latent state.
        paints: (n, v) uint8 of PAINTS, what every body shows.
        ids: (n, h, w) uint8 instance ids as in :class:`~simtown.render.frames.Frames`, or None.
    """

    start: int
    columns: dict[str, np.ndarray]
    scenes: SceneBatch
    paints: np.ndarray
    ids: np.ndarray | None

    def __len__(self) -> int:
        return len(self.scenes)

    def numbers(self) -> Iterator[tuple[int, int]]:
        """Row in the batch and number in the split of every example."""
        return enumerate(range(self.start, self.start + len(self)))

    def paint(self, row: int, slot: int) -> str:
        """The name of the paint that a vehicle's body shows."""
        return PAINTS[int(self.paints[row, slot])]

    def png(self, row: int) -> bytes:
        """A picture as PNG."""
        return png(self.columns["images"][row][..., ::-1])


class Portion:
    """Consecutive examples of one split on their way out, by default all of it.

    Attributes:
        data: the data set.
        name: of the split.
        rows: the numbers of the examples.
        number: of this portion among those that the split is divided into, from 0 on.
    """

    def __init__(
        self,
        data: Dataset,
        name: str,
        progress: Callable[[int], object],
        rows: range | None = None,
        number: int = 0,
    ) -> None:
        self.data, self.name, self._progress = data, name, progress
        self.rows, self.number = range(len(data[name])) if rows is None else rows, number

    def batches(
        self, masks: bool = False, begin: int | None = None, end: int | None = None
    ) -> Iterator[ExportBatch]:
        """The examples `begin` to `end` - 1 of the split in order, by default those of the portion.

        With `masks` the batches have ids: stored ones, or the same pixels drawn again from the latent scene.
        """
        s, split = self.data.settings, self.data[self.name]
        renderer = make_renderer() if masks and not s.masks else None
        size = max(1, min(_MOST, _PIXELS // (s.width * s.height)))
        onward = begin is None  # whether other portions follow
        begin, end = self.rows.start if begin is None else begin, self.rows.stop if end is None else end
        for start, columns in split.stream(
            (*_COLUMNS, "masks") if s.masks else _COLUMNS, size, begin=begin, end=end, onward=onward
        ):
            scenes = split.scenes_of(columns)
            ids = columns.get("masks")
            if renderer is not None:
                ids = renderer.render(scenes, s.width, s.height).ids
            paints = body_paints(scenes.entity, scenes.paint)
            yield ExportBatch(start, columns, scenes, paints, ids)
            self._progress(len(scenes))


def png(pixels: np.ndarray) -> bytes:
    """A PNG file of (h, w) or blue-green-red (h, w, 3) uint8 pixels.

    Raises ValueError if they cannot be encoded.
    """
    good, data = cv2.imencode(".png", pixels)
    if not good:
        raise ValueError(f"cannot encode a picture of shape {pixels.shape}")
    return data.tobytes()


def plain(x: Any) -> float:
    """A measure as JSON has it: four decimals, a tenth of a millimetre."""
    return round(float(x), 4)


def record(batch: ExportBatch, row: int, number: int) -> dict[str, Any]:
    """An example in words and numbers, as JSON has it: boxes x0, y0, x1, y1 in pixels, places in metres, yaw
    in radians.
    """
    c, scenes = batch.columns, batch.scenes
    vehicles = [
        {
            "entity": ENTITIES[entity],
            "paint": batch.paint(row, slot),
            "box": [plain(edge) for edge in c["boxes"][row, slot]],
            "visible": plain(c["visible"][row, slot]),
            **dict(zip(("x", "y", "yaw"), map(plain, scenes.pose[row, slot]), strict=True)),
        }
        for slot, entity in enumerate(scenes.entity[row])
    ]
    return {
        "index": number,
        "question": c["question"][row].decode(),
        "answer": ANSWERS[int(c["answer"][row])],
        "subject": ENTITIES[c["subject"][row]],
        "relation": RELATION_NAMES[c["relation"][row]],
        "object": ENTITIES[c["object"][row]],
        "subject_slot": int(c["subject_slot"][row]),
        "object_slot": int(c["object_slot"][row]),
        "margin": plain(c["margin"][row]),
        "weather": WEATHERS[scenes.weather[row]],
        "intensity": plain(scenes.intensity[row]),
        "vehicles": vehicles,
    }
