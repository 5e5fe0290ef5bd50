"""The features that an answer must not depend on, as small numbers; and what is counted of all examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.datasets.settings import Settings
from simtown.language.meaning.relations import RELATION_NAMES, RELATIONS
from simtown.scenes.placement import LEAST_VISIBLE

#: Columns of n examples by name (:data:`simtown.datasets.making.shards.LAYOUT`).
Columns = Mapping[str, np.ndarray]
#: The picture as a grid: columns and rows of cells in which a vehicle's middle can lie.
GRID = (8, 4)
#: The name of the column with the number of things in the street, which replaces the things themselves.
THINGS = "things"
#: How many questions there are about a subject, a relation and an object.
TRIPLES = len(ENTITIES) * len(RELATIONS) * len(ENTITIES)

#: Examples of a split that statistics which need whole columns are computed from at most.
SAMPLE = 200_000
#: The columns that are read of every example.
COLUMNS = (
    "answer", "subject", "object", "relation", "phrasing", "subject_slot", "object_slot", "margin", "boxes",
    "visible", "scene/entity", "scene/pose", "scene/camera", "scene/weather", "scene/intensity", "scene/sun",
    "scene/prop",
)  # fmt: skip
#: Metres beyond a relation's own margin within which a question is close.
CLOSE = 0.25
#: Visible share below which a vehicle counts as hidden in good part.
HIDDEN = 0.6


def mirrored(settings: Settings) -> bool:
    """Whether the opposite of every relation asked about is asked about too.

    Then the place of the subject says nothing without the relation; otherwise it may give the answer away.
    """
    directions = {(r.axis, r.sign) for r in RELATIONS if r.name in settings.relations}
    return all((axis, -sign) in directions for axis, sign in directions)


def roles(settings: Settings) -> tuple[str, str]:
    """The names of the two vehicles asked about: by their role in the question, or by their slot."""
    return ("subject", "object") if mirrored(settings) else ("first vehicle", "second vehicle")


def question_slots(columns: Columns) -> np.ndarray:
    """(n, 2) int64: slots of subject and object."""
    return np.stack([columns["subject_slot"], columns["object_slot"]], axis=1).astype(np.int64)


def role_slots(columns: Columns, settings: Settings) -> np.ndarray:
    """(n, 2) int64: slots of the two vehicles asked about, in the order of :func:`roles`."""
    slots = question_slots(columns)
    return slots if mirrored(settings) else np.tile([0, 1], (len(slots), 1))


def role_boxes(columns: Columns, settings: Settings) -> np.ndarray:
    """(n, 2, 4) float64: boxes of the two vehicles as shares of the picture, ordered as :func:`roles`."""
    boxes = np.take_along_axis(columns["boxes"], role_slots(columns, settings)[:, :, None], axis=1)
    return boxes / np.array([settings.width, settings.height] * 2, dtype=np.float64)


def headings(columns: Columns, settings: Settings) -> np.ndarray:
    """(n, 2) float64: yaw in [0, 2π) of the two vehicles asked about, in the order of :func:`roles`."""
    yaw = np.take_along_axis(columns["scene/pose"][..., 2], role_slots(columns, settings), axis=1)
    return np.asarray(np.mod(yaw.astype(np.float64), 2 * np.pi))


def group_names(settings: Settings) -> dict[str, list[str]]:
    """The groups by which the share of "yes" is counted, with their names."""
    (across, down), cells = GRID, []
    for row in range(1, down + 1):
        cells += [f"column {column} of {across}, row {row} of {down}" for column in range(1, across + 1)]
    positions = {f"{role}'s position": cells for role in roles(settings)}
    kinds = list(ENTITIES)
    return {"relation": list(RELATION_NAMES), "subject": kinds, "object": kinds, **positions}


def groups(columns: Columns, settings: Settings) -> dict[str, np.ndarray]:
    """The group of each example, (n,) int64, by the keys of :func:`group_names`."""
    boxes = role_boxes(columns, settings)
    middle = (boxes[..., :2] + boxes[..., 2:]) / 2
    column, row = np.moveaxis(np.clip((middle * GRID).astype(np.int64), 0, np.array(GRID) - 1), -1, 0)
    numbers = [columns["relation"], columns["subject"], columns["object"], *(row * GRID[0] + column).T]
    return dict(zip(group_names(settings), (n.astype(np.int64) for n in numbers), strict=True))


def features(columns: Columns, rows: np.ndarray, length: int, settings: Settings) -> dict[str, np.ndarray]:
    """Every feature that the answer must not depend on, by name: (n,) int64 from 0 up.

    `rows` are the (n,) numbers of the examples in a split of this length.
    """
    table = groups(columns, settings)
    subject, relation, obj = table["subject"], table["relation"], table["object"]
    boxes = role_boxes(columns, settings)
    turned = [tenths(yaw) for yaw in headings(columns, settings).T]
    table |= {
        "subject and object": subject * len(ENTITIES) + obj,
        "question": triples(columns),
        "subject and relation": subject * len(RELATIONS) + relation,
        "relation and object": relation * len(ENTITIES) + obj,
        "phrasing": columns["phrasing"],
        "subject's slot": columns["subject_slot"],
        **{f"{role}'s heading": turned[i] for i, role in enumerate(roles(settings))},
        "both headings": 10 * turned[0] + turned[1],
        "weather": columns["scene/weather"],
        "weather's strength": tenths(columns["scene/intensity"]),
        "sun's direction": tenths(columns["scene/sun"][:, 0]),
        "sun's height": tenths(columns["scene/sun"][:, 1]),
        "size in the picture": tenths((boxes[..., 3] - boxes[..., 1]).mean(axis=1)),
        "distance of the margin from 0": tenths(np.abs(columns["margin"])),
        "least visible share": tenths(columns["visible"][:, :2].min(axis=1)),
        "things in the street": columns[THINGS],
        "place in its pair": rows % 2,
        "place in the split": rows * 10 // max(length, 1),
    }
    if settings.distractor:
        table["distractor"] = columns["scene/entity"][:, 2]
    numbered = {name: np.unique(numbers, return_inverse=True)[1] for name, numbers in table.items()}
    return {name: numbers.astype(np.int64) for name, numbers in numbered.items()}


def firsts(group: np.ndarray) -> np.ndarray:
    """The first row of each group of twins."""
    return np.unique(group, return_index=True)[1]


def triples(columns: Columns) -> np.ndarray:
    """(n,) int64: a number for each (subject, relation, object), below TRIPLES."""
    subject, relation, obj = (columns[name].astype(np.int64) for name in ("subject", "relation", "object"))
    return (subject * len(RELATIONS) + relation) * len(ENTITIES) + obj


def tenths(values: np.ndarray) -> np.ndarray:
    """(n,) int64: the tenth of the sorted values that each is in; equal values are in one tenth."""
    edges = np.quantile(values, np.linspace(0.1, 0.9, 9))
    return np.searchsorted(edges, values, side="left").astype(np.int64)


@dataclass
class Counts:
    """Counts of the examples of a split.

    Attributes:
        examples: how many there are.
        kinds: scenes that show each set of kinds of vehicles; a set is a sorted tuple, -1 for an empty slot.
        unseen: questions about a vehicle less than LEAST_VISIBLE visible, or scenes with one.
    """

    examples: int
    kinds: Counter[tuple[int, ...]]
    unseen: int

    def add(self, other: Counts) -> None:
        """Add those of other examples to these."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(value, dict):
                for key, count in value.items():
                    mine[key] = mine.get(key, 0) + count
            else:
                setattr(self, name, min(mine, value) if name == "least" else mine + value)


@dataclass
class SplitCounts(Counts):
    """Counts of the paper's questions.

    Attributes:
        answers: by the keys of :func:`group_names`, (groups, 2) int64: examples answered no, and yes.
        triples: (TRIPLES,) int64 examples that ask each question.
        ambiguous: questions nearer than the relation's margin.
        close: questions less than CLOSE beyond it.
        hidden: questions about a vehicle less than HIDDEN visible.
        least: the least visible share of a vehicle that is asked about.
    """

    answers: dict[str, np.ndarray]
    triples: np.ndarray
    ambiguous: int
    close: int
    hidden: int
    least: float

    @classmethod
    def of(cls, columns: Columns, settings: Settings) -> SplitCounts:
        """Counts of n > 0 examples."""
        answer, names = columns["answer"].astype(np.int64), group_names(settings)
        visible = np.take_along_axis(columns["visible"], question_slots(columns), axis=1).min(axis=1)
        distance = np.abs(columns["margin"].astype(np.float64))
        margin = np.array([relation.margin for relation in RELATIONS])[columns["relation"]]
        answers = {}
        for what, numbers in groups(columns, settings).items():
            counts = np.bincount(2 * numbers + answer, minlength=2 * len(names[what]))
            answers[what] = counts.reshape(-1, 2)
        return cls(
            len(answer),
            answers=answers,
            triples=np.bincount(triples(columns), minlength=TRIPLES),
            kinds=Counter(map(tuple, np.sort(columns["scene/entity"], axis=1).tolist())),
            ambiguous=int((distance < margin - 1e-6).sum()),
            close=int((distance < margin + CLOSE).sum()),
            unseen=int((visible < LEAST_VISIBLE - 1e-6).sum()),
            hidden=int((visible < HIDDEN).sum()),
            least=float(visible.min()),
        )


def sample_rows(length: int, together: int = 2) -> np.ndarray:
    """(m,) int64: the examples that are kept, m ≤ SAMPLE: all, or so many `together` at equal distances."""
    if length <= SAMPLE:
        return np.arange(length)
    first = np.arange(SAMPLE // together) * (length // together) // (SAMPLE // together)
    return (together * first[:, None] + np.arange(together)).ravel()
