"""The protocol of a source of questions, and what its implementations share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from simtown.scenes.scene import SceneBatch

#: Columns or pictures by name, the example first.
Columns = Mapping[str, np.ndarray]
#: (proposed, accepted) counts of rejection loops, by name.
Tried = dict[str, tuple[int, int]]
#: How much a measure may differ from that of a stored scene, whose numbers are rounded.
_ROUNDED = 1e-6
#: Problems of n rows: a sentence, and (n,) bool for which rows.
Problems = Iterator[tuple[str, np.ndarray]]


#: Arrays of shards that questions of families have beside the others or in another
#: form. A program has m words.
FAMILY_ARRAYS: dict[str, str] = {
    "question": "S256",
    "tokens": "<u2 48",
    "family": "u1",
    "template": "u1",
    "text": "u1",
    "program": "<i2 m",
    "value": "<i2",
    "number": "<f4",
    "tolerance": "<f4",
}
#: Arrays of sequences, which have k pictures.
SEQUENCE_ARRAYS = {
    "boxes": "<f4 k v 4",
    "visible": "<f4 k v",
    "sequence": "<i8",
    "order": "u1 k",
    "shared": "u1",
    "scene/motion": "<f4 v 3",
    "scene/seconds": "<f4 k",
    "scene/cameras": "<f4 k 7",
    "scene/edited": "u1",
    "scene/edit_entity": "<i2",
    "scene/edit_pose": "<f4 3",
    "scene/edit_paint": "i1",
}
#: Arrays of twins.
TWIN_ARRAYS = {"group": "<i8", "edit": "u1", "edited": "u1"}


class QuestionSource(Protocol):
    """A kind of question. What `draw` returns has the scenes as `scene` and (n, v) visible shares.

    Attributes:
        arrays: arrays of a shard that only these questions have, or have in a form of their own.
        answer_column: the column that numbers the answers.
        batch: examples that are sampled at once.
    """

    arrays: dict[str, str]
    answer_column: str
    batch: int

    def check_names(self) -> None:
        """Raises SettingsError for an unknown family."""

    def check(self) -> None:
        """Raises SettingsError, or another ValueError, if such questions cannot be asked."""

    def notes(self) -> Iterator[str]:
        """Facts that who makes such a data set should know, in sentences without a capital or a full stop."""

    def family_names(self) -> tuple[str, ...]:
        """The names of the families that are asked: of `all` those that this world can ask."""

    def vocabulary(self) -> tuple[str, ...]:
        """Every token of the questions, by id."""

    def recipe(self, split: str) -> Any:
        """The recipe from which the examples of a split are drawn."""

    def draw(self, split: str, index: np.ndarray) -> Any:
        """The examples of a split with the numbers `index`, (n,) int64. Raises ImpossibleError."""

    def pictures(self, drawn: Any) -> SceneBatch:
        """The scenes of the pictures that a shard stores of some examples, one after the other."""

    def shown(self, drawn: Any, rows: np.ndarray) -> SceneBatch:
        """The scenes of the pictures that some of the examples show, one example after the other."""

    def tried(self, drawn: Any) -> Tried:
        """Counts of the rejection loops of some examples."""

    def columns(self, drawn: Any, index: np.ndarray) -> dict[str, np.ndarray]:
        """All columns of n examples except pictures, by name, the example first."""

    def names(self) -> dict[str, list[str]]:
        """Names for numbers that only these questions have, or name otherwise."""

    def problems(self, stored: Columns, split: str, quick: bool) -> Problems:
        """Problems of stored rows that no settings make; a `quick` check draws none of them again."""

    def faults(self, drawn: Any, split: str) -> Problems:
        """Problems of examples: questions that are too close to call, compositions that are held out."""

    def unknown_numbers(self, stored: Columns) -> np.ndarray:
        """(n,) bool: which rows hold a number that stands for nothing."""

    def implied(self, stored: Columns, visible: np.ndarray) -> Any:
        """The examples that belong to stored scenes and questions, with these visible shares.

        Raises ValueError or LookupError for rows that no settings make.
        """


def as_stored(stored: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """The stored measures where they differ by rounding alone, otherwise those that were measured."""
    return np.where(np.abs(stored - measured) <= _ROUNDED, stored, measured).astype(stored.dtype)
