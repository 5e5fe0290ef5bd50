"""Groups of twins: the proof that their pictures differ in one thing, and the accuracies that they allow.

Examples 2j and 2j + 1 ask one question of two pictures whose answers differ: a pair. A group of four is two
pictures with two questions, each with the other answer in the other picture. Whoever guesses yes or no has a
quarter of the pairs right and a sixteenth of the groups of four; whoever sees the words alone, none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

import numpy as np

from simtown.language.twins import ADDED, EXCHANGED, MOVED, NONE, PAINTED, REMOVED, THING, TURNED, WEATHER
from simtown.scenes.scene import SceneBatch

#: Fields of scenes that may be edited, and columns of a question, which a pair shares.
_EDITED = {"entity", "pose", "paint", "weather", "prop"}
_WORDS = ("question", "tokens", "family", "template", "text", "program")


def group_accuracies(group: np.ndarray, right: np.ndarray) -> dict[str, np.ndarray]:
    """What the right answers to whole groups of examples amount to.

    Args:
        group: (n,) int64 the column "group" of all examples of a split, in their order.
        right: (n,) bool, which of them are answered rightly.

    Returns:
        Outcomes whose means are the accuracies. "single": (n,) of examples. "pair": (n / 2,) of questions,
        whether both pictures are right. "group": (m,) of the groups of four, whether all is right.
        "consistency": of the pairs with a right answer, whether both are.
    """
    two = right.reshape(-1, 2)
    pair, own = np.asarray(two.all(axis=1)), group[::2]
    numbers, place, size = np.unique(own, return_inverse=True, return_counts=True)
    all_right = np.bincount(place, weights=pair, minlength=len(numbers)) == size
    return {
        "single": right,
        "pair": pair,
        "group": all_right[size == 2],
        "consistency": pair[two.any(axis=1)],
    }


def differences(columns: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The edits that make scenes 2j + 1 of scenes 2j, from the columns of 2 n examples.

    Returns:
        (n,) uint8 of EDITS, NONE where the scenes do not differ in one thing; and (n,) uint8 edited slots.
    """
    scene = {f.name: columns[f"scene/{f.name}"] for f in fields(SceneBatch)}
    one, other = ({name: column[begin::2] for name, column in scene.items()} for begin in (0, 1))
    differs = {name: np.asarray(one[name] != other[name]) for name in scene}
    count = len(differs["weather"])
    rest = [differs[name].reshape(count, -1) for name in scene.keys() - _EDITED]
    same = ~np.concatenate(rest, axis=1).any(axis=1)
    place, turn = differs["pose"][..., :2].any(axis=2), differs["pose"][..., 2]
    parts = np.stack([differs["entity"], place, turn, differs["paint"]])
    slots, things, sky = parts.any(axis=0), differs["prop"], differs["weather"]
    slot, rows = slots.argmax(axis=1), np.arange(count)
    kind, moved, turned, painted = parts[:, rows, slot]
    gone, new = _empty(other, rows, slot), _empty(one, rows, slot)
    numbers = [slots.sum(axis=1), things.sum(axis=1), sky.astype(np.int64)]
    vehicle, thing, weather = ([n == (place == own) for place, n in enumerate(numbers)] for own in range(3))
    edit = np.select(
        [
            ~same, np.all(weather, axis=0), np.all(thing, axis=0), ~np.all(vehicle, axis=0),
            kind & gone, kind & new, kind & ~(moved | turned | painted), moved & ~(kind | turned | painted),
            turned & ~(kind | moved | painted), painted & ~(kind | moved | turned),
        ],
        [NONE, WEATHER, THING, NONE, REMOVED, ADDED, EXCHANGED, MOVED, TURNED, PAINTED], NONE,
    )  # fmt: skip
    slot = np.where(edit == THING, things.argmax(axis=1), slot)
    return edit.astype(np.uint8), np.where(np.isin(edit, (WEATHER, NONE)), NONE, slot).astype(np.uint8)


def _empty(scene: Mapping[str, np.ndarray], rows: np.ndarray, slot: np.ndarray) -> np.ndarray:
    """Whether nothing is left of a slot's vehicle."""
    pose = (scene["pose"][rows, slot] == 0).all(axis=1)
    return np.asarray(pose & (scene["entity"][rows, slot] < 0) & (scene["paint"][rows, slot] < 0))


def twin_problems(columns: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """What is wrong with the twins of whole groups of four examples: sentences, and (n,) bool for which."""
    edit, edited = differences(columns)
    value, group = columns["value"], columns["group"]

    def of_pairs(wrong: np.ndarray) -> np.ndarray:
        return np.asarray(wrong.repeat(2))

    words = [columns[name].reshape(len(value), -1) for name in _WORDS]
    yield (
        "twins have different words",
        of_pairs(np.any([(w[::2] != w[1::2]).any(axis=1) for w in words], axis=0)),
    )
    yield "twins have the same answer", of_pairs(value[::2] == value[1::2])
    yield "twins do not differ in one thing", of_pairs(edit == NONE)
    wrong = (columns["edit"] != edit.repeat(2)) | (columns["edited"] != edited.repeat(2))
    yield "twins differ in something else than is stored", wrong
    pair = columns["index"] // 2
    shared = (group[2::4] == group[::4]).repeat(4)
    first = np.where(shared, pair // 2 * 2, pair)
    yield "a group has another number than its first pair", group != first
    pictures = [
        column.reshape(len(value), -1) for name, column in columns.items() if name.startswith("scene/")
    ]
    halves = [
        (p.reshape(-1, 2, 2, p.shape[1])[:, 0] != p.reshape(-1, 2, 2, p.shape[1])[:, 1]) for p in pictures
    ]
    other = np.any([half.any(axis=(1, 2)) for half in halves], axis=0).repeat(4)
    yield "the pictures of a group are not the same two", shared & other
