"""What an example's answer must not depend on: columns of a split as small numbers."""

from __future__ import annotations

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.datasets.reader import Split
from simtown.datasets.settings import Settings
from simtown.language.relations import RELATION_NAMES, RELATIONS, relation_numbers

#: The picture as a grid: columns and rows of cells in which a vehicle's middle can lie.
GRID = (8, 4)


def mirrored(settings: Settings) -> bool:
    """Whether the opposite of every relation asked about is asked about too.

    Then where the subject stands says nothing without the relation; otherwise it may say all.
    """
    asked = {(RELATIONS[r].axis, RELATIONS[r].sign) for r in relation_numbers(settings.relations)}
    return all((axis, -sign) in asked for axis, sign in asked)


def roles(settings: Settings) -> tuple[str, str]:
    """What the two vehicles asked about are called here: by their part in the question, or by their place in the scene."""
    return ("subject", "object") if mirrored(settings) else ("first vehicle", "second vehicle")


def role_slots(split: Split, settings: Settings) -> np.ndarray:
    """(n, 2) int64: slots of the two vehicles asked about, in the order of :func:`roles`.

    Subject then object where that tells nothing (:func:`mirrored`), otherwise in the order of their slots.
    """
    if mirrored(settings):
        return np.stack([split.column("subject_slot"), split.column("object_slot")], axis=1).astype(np.int64)
    return np.tile([0, 1], (len(split), 1))


def role_boxes(split: Split, settings: Settings) -> np.ndarray:
    """(n, 2, 4) float64: boxes of the two vehicles asked about, as shares of the picture, in the order of :func:`roles`."""
    boxes = np.take_along_axis(split.column("boxes"), role_slots(split, settings)[:, :, None], axis=1)
    return boxes / np.array([settings.width, settings.height] * 2, dtype=np.float64)


def headings(split: Split, settings: Settings) -> np.ndarray:
    """(n, 2) float64: yaw in [0, 2π) of the two vehicles asked about, in the order of :func:`roles`."""
    yaw = np.take_along_axis(split.column("scene/pose")[..., 2], role_slots(split, settings), axis=1)
    turned: np.ndarray = np.mod(yaw.astype(np.float64), 2 * np.pi)
    return turned


def cells(split: Split, settings: Settings) -> np.ndarray:
    """(n, 2) int64: the cell of GRID in which the middle of each box of :func:`role_boxes` lies."""
    boxes = role_boxes(split, settings)
    middle = (boxes[..., :2] + boxes[..., 2:]) / 2
    place = np.clip((middle * GRID).astype(np.int64), 0, np.array(GRID) - 1)
    return place[..., 1] * GRID[0] + place[..., 0]


def cell_name(cell: int) -> str:
    return f"column {cell % GRID[0] + 1} of {GRID[0]}, row {cell // GRID[0] + 1} of {GRID[1]}"


def groups(split: Split, settings: Settings) -> dict[str, tuple[np.ndarray, list[str]]]:
    """What the share of "yes" is told by: the group of each example, (n,) int64, and the groups' names."""
    place, names = cells(split, settings), [cell_name(c) for c in range(GRID[0] * GRID[1])]
    first, second = roles(settings)
    return {
        "relation": (split.column("relation").astype(np.int64), list(RELATION_NAMES)),
        "subject": (split.column("subject").astype(np.int64), list(ENTITIES)),
        "object": (split.column("object").astype(np.int64), list(ENTITIES)),
        f"{first}'s position": (place[:, 0], names),
        f"{second}'s position": (place[:, 1], names),
    }


def features(split: Split, settings: Settings) -> dict[str, np.ndarray]:
    """Everything the answer must not depend on, by name: (n,) int64 from 0 up."""
    told = {name: numbers for name, (numbers, _) in groups(split, settings).items()}
    subject, relation, obj = told["subject"], told["relation"], told["object"]
    boxes, slots = role_boxes(split, settings), split.column("subject_slot").astype(np.int64)
    height = (boxes[..., 3] - boxes[..., 1]).mean(axis=1)
    visible, index = split.column("visible"), np.arange(len(split))
    turned = np.stack([tenths(yaw) for yaw in headings(split, settings).T], axis=1)
    told |= {
        "subject and object": subject * len(ENTITIES) + obj,
        "question": triples(split),
        "subject and relation": subject * len(RELATIONS) + relation,
        "relation and object": relation * len(ENTITIES) + obj,
        "phrasing": split.column("phrasing").astype(np.int64),
        "subject's slot": slots,
        **{f"{role}'s heading": turned[:, i] for i, role in enumerate(roles(settings))},
        "both headings": 10 * turned[:, 0] + turned[:, 1],
        "weather": split.column("scene/weather").astype(np.int64),
        "weather's strength": tenths(split.column("scene/intensity")),
        "sun's direction": tenths(split.column("scene/sun")[:, 0]),
        "sun's height": tenths(split.column("scene/sun")[:, 1]),
        "size in the picture": tenths(height),
        "distance of the margin from 0": tenths(np.abs(split.column("margin"))),
        "least visible share": tenths(visible[:, :2].min(axis=1)),
        "things in the street": (split.column("scene/prop") >= 0).sum(axis=1).astype(np.int64),
        "place in its pair": index % 2,
        "place in the split": index * 10 // max(len(split), 1),
    }
    if settings.distractor:
        told["distractor"] = split.column("scene/entity")[:, 2].astype(np.int64)
    return {name: np.unique(numbers, return_inverse=True)[1].astype(np.int64) for name, numbers in told.items()}


def triples(split: Split) -> np.ndarray:
    """(n,) int64: a number for each (subject, relation, object)."""
    subject, relation, obj = (split.column(name).astype(np.int64) for name in ("subject", "relation", "object"))
    return (subject * len(RELATIONS) + relation) * len(ENTITIES) + obj


def tenths(values: np.ndarray) -> np.ndarray:
    """(n,) int64: the tenth of the sorted values in which each lies; equal values lie together."""
    edges = np.quantile(values, np.linspace(0.1, 0.9, 9))
    return np.searchsorted(edges, values, side="left").astype(np.int64)
