"""Groups of twins: the proof that their pictures differ in one thing, and the accuracies that they allow.

Examples 2j and 2j + 1 ask one question of two pictures whose answers differ: a pair. A group of four is two
pictures with two questions, each with the other answer in the other picture. A guesser of yes or no has a
quarter of the pairs right and a sixteenth of the groups of four; a reader of the words alone has none. With k
questions a picture, 2k examples are a group: those of one picture, then the same of the other.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields

import numpy as np

from simtown.language.asking.twins import (
    ADDED,
    EXCHANGED,
    MOVED,
    NONE,
    PAINTED,
    REMOVED,
    THING,
    TURNED,
    WEATHER,
)
from simtown.scenes.scene import SceneBatch

#: Fields of scenes that may be edited, and columns of a question, which a pair shares.
_EDITED = {"entity", "pose", "paint", "weather", "prop"}
_WORDS = ("question", "tokens", "family", "template", "text", "program")


def pair_rows(n: int, each: int = 1) -> np.ndarray:
    """(n / 2, 2) int64: the two rows of every pair, of n examples in whole groups with `each` questions."""
    return np.arange(n).reshape(-1, 2, each).swapaxes(1, 2).reshape(-1, 2)


def group_outcomes(
    group: np.ndarray, right: np.ndarray, each: int = 1
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Outcomes over whole groups of examples, whose means are accuracies, and the group of each outcome.

    Args:
        group: (n,) int64 the column "group" of all examples of a split, in their order.
        right: (n,) bool, which of them are answered rightly.
        each: `questions_per_picture`.

    Returns:
        "single": (n,) of examples. "pair": (n / 2,) of questions, whether both pictures are right. "group":
        (m,) of the groups of several questions, whether all is right. "consistency": of the pairs with a
        right answer, whether both are.
    """
    pairs = pair_rows(len(group), each)
    two, own = right[pairs], group[pairs[:, 0]]
    pair = np.asarray(two.all(axis=1))
    numbers, place, size = np.unique(own, return_inverse=True, return_counts=True)
    all_right = np.bincount(place, weights=pair, minlength=len(numbers)) == size
    some = two.any(axis=1)
    return {
        "single": (right, group),
        "pair": (pair, own),
        "group": (all_right[size > 1], numbers[size > 1]),
        "consistency": (pair[some], own[some]),
    }


def group_accuracies(group: np.ndarray, right: np.ndarray, each: int = 1) -> dict[str, np.ndarray]:
    """The outcomes of :func:`group_outcomes` alone."""
    return {name: outcomes for name, (outcomes, _) in group_outcomes(group, right, each).items()}


def chances_of_groups(group: np.ndarray, chance: np.ndarray, each: int = 1) -> dict[str, float]:
    """The accuracies of "single", "pair" and "group" that guesses have.

    Args:
        group: see :func:`group_outcomes`.
        chance: (n,) the probability that a guess of an example's answer is right.
        each: `questions_per_picture`.
    """
    pairs = pair_rows(len(group), each)
    pair, own = chance[pairs].prod(axis=1), group[pairs[:, 0]]
    numbers, place, size = np.unique(own, return_inverse=True, return_counts=True)
    products = np.ones(len(numbers))
    np.multiply.at(products, place, pair)
    whole = products[size > 1]
    means = {"single": chance.mean(), "pair": pair.mean(), "group": whole.mean() if len(whole) else np.nan}
    return {name: float(mean) for name, mean in means.items()}


def differences(columns: Mapping[str, np.ndarray], pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edits between the scenes of pairs, (n, 2) rows, from the columns of examples.

    Returns:
        (n,) uint8 of EDITS, NONE where the scenes do not differ in one thing; and (n,) uint8 edited slots.
    """
    scene = {f.name: columns[f"scene/{f.name}"] for f in fields(SceneBatch)}
    one, other = ({name: column[rows] for name, column in scene.items()} for rows in pairs.T)
    differs = {name: np.asarray(one[name] != other[name]) for name in scene}
    count = len(pairs)
    rest = [differs[name].reshape(count, -1) for name in scene.keys() - _EDITED]
    same = ~np.concatenate(rest, axis=1).any(axis=1)
    place, turn = differs["pose"][..., :2].any(axis=2), differs["pose"][..., 2]
    parts = np.stack([differs["entity"], place, turn, differs["paint"]])
    slots, things, sky = parts.any(axis=0), differs["prop"], differs["weather"]
    slot, rows = slots.argmax(axis=1), np.arange(count)
    gone, new = _empty(other, rows, slot), _empty(one, rows, slot)
    numbers = np.stack([slots.sum(axis=1), things.sum(axis=1), sky])
    single = same & (numbers.sum(axis=0) == 1)
    differing = parts[:, rows, slot]
    alone = differing & (differing.sum(axis=0) == 1)
    cases = {WEATHER: sky, THING: numbers[1] == 1, REMOVED: differing[0] & gone, ADDED: differing[0] & new}
    cases |= dict(zip((EXCHANGED, MOVED, TURNED, PAINTED), alone, strict=True))
    edit = np.where(single, np.select([*cases.values()], [*cases], NONE), NONE)
    slot = np.where(edit == THING, things.argmax(axis=1), slot)
    return edit.astype(np.uint8), np.where(np.isin(edit, (WEATHER, NONE)), NONE, slot).astype(np.uint8)


def _empty(scene: Mapping[str, np.ndarray], rows: np.ndarray, slot: np.ndarray) -> np.ndarray:
    """Whether nothing is left of a slot's vehicle."""
    pose = (scene["pose"][rows, slot] == 0).all(axis=1)
    return np.asarray(pose & (scene["entity"][rows, slot] < 0) & (scene["paint"][rows, slot] < 0))


def pair_problems(
    columns: Mapping[str, np.ndarray], each: int, unclear: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Problems of pairs without twins: the first of `each` questions about two pictures are of one
    family and have different answers, but both may be `unclear`, a place in the vocabulary, or -1.

    Yields sentences, and (n,) bool for which examples.
    """
    count = len(columns["value"])
    first, second = np.arange(count).reshape(-1, 2, each)[:, :, 0].T

    def of_examples(wrong: np.ndarray) -> np.ndarray:
        return np.repeat(wrong, 2 * each)

    family, value = columns["family"], columns["value"]
    yield "two neighbours are not of one family", of_examples(family[first] != family[second])
    equal = (value[first] == value[second]) & (value[first] != unclear)
    yield "two neighbours have the same answer", of_examples(equal)
    told = [
        columns[name].reshape(count, -1).view(np.uint8) for name in ("program", "scene/entity", "scene/pose")
    ]
    _, place, times = np.unique(np.concatenate(told, axis=1), axis=0, return_inverse=True, return_counts=True)
    yield "two examples are the same", times[place.reshape(-1)] > 1


def twin_problems(columns: Mapping[str, np.ndarray], each: int = 1) -> Iterator[tuple[str, np.ndarray]]:
    """Problems of the twins of whole groups, with `each` questions of a picture: sentences, and (n,)
    bool for which examples.
    """
    value, group = columns["value"], columns["group"]
    pairs = pair_rows(len(value), each)
    edit, edited = differences(columns, pairs)

    def of_examples(wrong: np.ndarray) -> np.ndarray:
        """Problems of pairs, or with each example of them, in the order of examples."""
        result = np.zeros(len(value), dtype=bool)
        result[pairs] = wrong.reshape(len(pairs), -1)
        return result

    def differing(names: Iterable[str], some: np.ndarray, others: np.ndarray) -> np.ndarray:
        """(k,) bool, which of k rows differ from others in some columns."""
        parts = [(columns[name][some] != columns[name][others]).reshape(len(some), -1) for name in names]
        return np.any([part.any(axis=1) for part in parts], axis=0)

    yield "twins have different words", of_examples(differing(_WORDS, *pairs.T))
    yield "twins have the same answer", of_examples(value[pairs[:, 0]] == value[pairs[:, 1]])
    yield "twins do not differ in one thing", of_examples(edit == NONE)
    stored = np.stack([columns["edit"], columns["edited"]])[:, pairs]
    wrong = (stored != np.stack([edit, edited])[..., None]).any(axis=0)
    yield "twins differ in something else than is stored", of_examples(wrong)
    together = pairs.reshape(-1, max(2, each), 2)  # the pairs of a group, or two of which each is one
    own, first = together[..., :1], together[:, :1, :1]
    shared = (group[own] == group[first]) | (each > 1)
    number = columns["index"][np.where(shared, first, own)] // 2
    yield "a group has another number than its first pair", of_examples(group[together] != number)
    scene = [name for name in columns if name.startswith("scene/")]
    before = np.where(shared, together[:, :1], together)
    other = differing(scene, together.reshape(-1), before.reshape(-1))
    yield "the pictures of a group are not the same two", of_examples(other)
    begins = np.broadcast_to(together[:, :1], together.shape).reshape(-1)
    apart = ~(shared.repeat(2, axis=2).reshape(-1) | differing(scene, together.reshape(-1), begins))
    yield "two pairs about the same pictures are not one group", of_examples(apart)
