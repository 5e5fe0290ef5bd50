"""The ranges of a data set's columns: an index that stands for nothing is found before it is used."""

from __future__ import annotations

import numpy as np

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.assets.palette import PAINTS
from simtown.datasets.settings import Settings
from simtown.language.questions import PHRASINGS
from simtown.language.relations import RELATION_NAMES
from simtown.scenes.scene import LARGEST_MEASURE
from simtown.scenes.weather import WEATHERS

_MEASURES = (
    "margin",
    "boxes",
    "visible",
    "scene/pose",
    "scene/prop_pose",
    "scene/intensity",
    "scene/sun",
    "scene/camera",
)
_KINDS = ("subject", "object", "scene/entity")


class ColumnLimits:
    """The allowed values of each column of a data set.

    Args:
        settings: of the data set.
        vocabulary: number of tokens.
    """

    def __init__(self, settings: Settings, vocabulary: int) -> None:
        self._exists = settings.ranks[: len(ENTITIES)] >= 0
        self._limits: dict[str, tuple[int, int]] = {
            "tokens": (0, vocabulary - 1),
            "answer": (0, 1),
            "subject": (0, len(self._exists) - 1),
            "object": (0, len(self._exists) - 1),
            "relation": (0, len(RELATION_NAMES) - 1),
            "subject_slot": (0, 1),  # the third vehicle is never asked about
            "object_slot": (0, 1),
            "phrasing": (0, len(PHRASINGS) - 1),
            "scene/entity": (-1, len(self._exists) - 1),
            "scene/paint": (-1, len(PAINTS) - 1),
            "scene/prop": (-1, len(PROPS) - 1),
            "scene/weather": (0, len(WEATHERS) - 1),
        }

    def valid(self, name: str, rows: np.ndarray) -> bool:
        """Whether all values of some rows of a column, in today's layout, are allowed."""
        if not rows.size:
            return True
        if name == "question":
            return all(_is_line(text) for text in rows.tolist())
        if name in _MEASURES:
            return bool((np.abs(rows) <= LARGEST_MEASURE).all())  # false if it is not a number
        if name not in self._limits:
            return True
        numbers = rows.view(np.uint8) if rows.dtype == bool else rows
        low, high = self._limits[name]
        if numbers.min() < low or numbers.max() > high:
            return False
        return name not in _KINDS or bool(self._exists[numbers[numbers >= 0]].all())


def _is_line(text: bytes) -> bool:
    try:
        return text.decode().isprintable()
    except UnicodeDecodeError:
        return False
