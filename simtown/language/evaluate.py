"""The values of programs over many scenes at once, in strong Kleene logic.

A truth is 1, -1, or 0 where it is too close to say. A set is two arrays: what surely belongs to it, and what
possibly does. Programs of one skeleton, which differ in their words alone, are evaluated together.

- "the" means the one member of a set. If there may be another, or perhaps none, nothing is said of it.
- "every" member has a property only if there is one. Nothing stands in a relation to itself, so that "every
  bus" next to a bus means every other one.
- What is nearest to a thing is another thing.
- What stands beside the road has no driver, colour, lane or direction: that it has one is false, and what it
  has cannot be asked. It is possibly there if little of it shows; what could be taken for it, or shows some,
  is possibly one (:mod:`simtown.language.sights`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.language.colours import seen
from simtown.language.programs import (
    COLOURS,
    DIRECTIONS,
    ENTITY,
    LANES,
    NODES,
    NUMBER,
    OWN_RELATIONS,
    PROP,
    WORD,
    WORDS,
)
from simtown.language.relations import AXES, LEAST, RELATION_NAMES, SIGNS
from simtown.language.solids import SOLID_RELATIONS
from simtown.language.views import HIDDEN, HIDDEN_MARGIN, Views, alike, members
from simtown.scenes.weather import WEATHERS

#: Whether a program has a value in a scene, something is too close to say, or it asks about what is not
#: there, or not once.
KNOWN, CLOSE, ILL_POSED = range(3)
#: Thirds of the picture in which the middle of a box may be.
THIRDS = ("left third", "middle third", "right third")
#: How near to the border of a third is too close, in thirds.
_BORDER = 0.05
#: Metres to the viewer or another thing within which neither is nearer.
NEARER = 0.5
#: A relation of a driver has the margin of the viewer's relation of its axis.
OWN = {
    "driver-left": (0, -1, 0.5),
    "driver-right": (0, 1, 0.5),
    "driver-front": (1, 1, 1.5),
    "driver-behind": (1, -1, 1.5),
}
#: Words of programs that ask for colours.
_COLOURED = [WORD + WORDS.index(word) for word in ("colour", *COLOURS)]
#: Words that may differ between programs of one skeleton, by the class that stands for them.
_CLASSES = {
    "relation": RELATION_NAMES, "own": OWN_RELATIONS, "colour": COLOURS, "lane": LANES,
    "direction": DIRECTIONS, "weather": WEATHERS,
}  # fmt: skip
_CLASS_OF = {WORD + WORDS.index(word): name for name, words in _CLASSES.items() for word in words}


class Values(NamedTuple):
    """The values of n programs.

    Attributes:
        answer: (n,) int64: 1 or 0 for yes or no, a count, or the number of a kind, colour, lane, direction,
            weather or share hidden; metres rounded for a distance; the third of the picture for a box.
        number: (n,) float64 metres of a distance, the slot of a box, else nan.
        state: (n,) int8 KNOWN, CLOSE or ILL_POSED; the answer means nothing unless it is KNOWN.
        margin: (n,) float64 metres by which the least clear of the relations that were looked at holds or
            fails; inf if there is none.
        idle: (n,) bool: whether some part of the program changes nothing: a filter that surely leaves out no
            sure member, or an order of fewer than two sure members.
    """

    answer: np.ndarray
    number: np.ndarray
    state: np.ndarray
    margin: np.ndarray
    idle: np.ndarray


#: (n, s) int8 truth of each slot, and (n, s) float64 metres by which it is decided.
Judged: TypeAlias = tuple[np.ndarray, np.ndarray]


class SlotSet(NamedTuple):
    """A set: (n, s) bool, what surely and what possibly belongs to it."""

    sure: np.ndarray
    possible: np.ndarray


@dataclass
class ProgramNode:
    """A node of a skeleton: its name, its parts, or the column of its word."""

    name: str
    column: int
    parts: list[ProgramNode] = field(default_factory=list)


def skeletons(stored: np.ndarray) -> Iterator[np.ndarray]:
    """The rows of (n, LENGTH) programs that have one skeleton each: arrays of row numbers."""
    if not len(stored):
        return
    keys = _key()[stored.astype(np.int64) + 1]
    _, inverse = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(inverse.reshape(-1), kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(inverse.reshape(-1)[order])) + 1)


@cache
def _key() -> np.ndarray:
    """By the number of a word plus one, what stands for it in a skeleton."""
    table = np.arange(WORD + len(WORDS) + 1)
    table[NUMBER + 1 : ENTITY + 1] = NUMBER
    table[ENTITY + 1 : PROP + 1] = ENTITY
    table[PROP + 1 : WORD + 1] = PROP
    for number, name in _CLASS_OF.items():
        table[number + 1] = WORD + len(WORDS) + 1 + list(_CLASSES).index(name)
    nouns = [number + 1 for number in members() if number >= WORD]
    vehicles = [number for number in nouns if members()[number - 1][: len(ENTITIES)].any()]
    table[vehicles] = ENTITY
    table[list(set(nouns) - set(vehicles))] = PROP
    return table


def tree(words: np.ndarray, column: int = 0) -> tuple[ProgramNode, int]:
    """The node or word at a column of a stored program, and the column behind it."""
    number = int(words[column])
    if number >= 8 * len(NODES):
        name = "" if number < WORD else WORDS[number - WORD]
        return ProgramNode(name, column), column + 1
    node, behind = ProgramNode(NODES[number // 8], column), column + 1
    for _ in range(number % 8):
        part, behind = tree(words, behind)
        node.parts.append(part)
    return node, behind


def evaluate(
    scenes: Any, stored: np.ndarray, visible: np.ndarray | None = None, size: tuple[int, int] = (256, 144)
) -> Values:
    """The values of (n, LENGTH) stored programs, each in its scene of a batch of n.

    Args:
        scenes: a SceneBatch.
        stored: programs as :func:`simtown.language.programs.stored` makes them.
        visible: (n, v) visible shares of vehicles, if they are known.
        size: width and height of the picture, pixels.
    """
    n = len(stored)
    out = Values(
        np.zeros(n, int), np.full(n, np.nan), np.zeros(n, np.int8), np.full(n, np.inf), np.zeros(n, bool)
    )
    shares = np.zeros((*scenes.entity.shape, len(COLOURS)))
    coloured = np.isin(stored, _COLOURED).any(axis=1)
    shares[coloured] = seen(scenes[coloured])
    for rows in skeletons(stored) if n else ():
        words = stored[rows].astype(np.int64)
        things = bool(((words >= PROP) & (_key()[words + 1] == PROP)).any())
        views = Views(scenes[rows], None if visible is None else visible[rows], size, things, shares[rows])
        for whole, part in zip(out, BatchEvaluator(views, words).values(), strict=True):
            whole[rows] = part
    return out


class BatchEvaluator:
    """Evaluates programs of one skeleton, a row of `words` each, in the scenes of `views`."""

    def __init__(self, views: Views, words: np.ndarray) -> None:
        n = len(words)
        self.views, self.words, self.rows = views, words, np.arange(n)
        self.ill_posed, self.idle = np.zeros(n, bool), np.zeros(n, bool)
        self.margin = np.full(n, np.inf)
        self._subjects = views.kind >= 0  # (n, s) bool: of which slots a predicate is judged

    def values(self) -> Values:
        """The values of the programs."""
        root, _ = tree(self.words[0])
        answer, number, close = self._question(root)
        state = np.where(self.ill_posed, ILL_POSED, np.where(close, CLOSE, KNOWN)).astype(np.int8)
        return Values(answer, number, state, self.margin, self.idle)

    def _place(self, word: ProgramNode, names: tuple[str, ...]) -> np.ndarray:
        """(n,) places in `names` of a word of each program."""
        return np.asarray(_places(names)[self.words[:, word.column] - WORD])

    def _number(self, word: ProgramNode) -> np.ndarray:
        return np.asarray(self.words[:, word.column] - NUMBER)

    # Questions: (n,) answers, numbers, and whether they are too close to say.

    def _question(self, node: ProgramNode) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        nothing = np.full(len(self.rows), np.nan)
        if node.name == "query":
            return self._query(node)
        if node.name == "count":
            low, high = self._count(node)
            return low, nothing, low != high
        truth = self._truth(node)
        return (truth == 1).astype(np.int64), nothing, truth == 0

    def _truth(self, node: ProgramNode) -> np.ndarray:
        """(n,) int8 truth of a question of yes or no."""
        name, parts = node.name, node.parts
        if name == "not":
            return -self._truth(parts[0])
        if name in ("and", "or"):
            truths = np.stack([self._truth(part) for part in parts])
            return np.asarray(truths.min(axis=0) if name == "and" else truths.max(axis=0))
        if name == "holds":
            return self._holds(*parts)
        if name == "exist":
            sure, possible = self.members(parts[0])
            return _kleene(sure.any(axis=1), possible.any(axis=1))
        if name == "weather":
            places = np.stack([self._place(word, WEATHERS) for word in parts])
            truth = np.where((places == self.views.weather).any(axis=0), 1, -1)
            return np.where(self.views.weather < 0, 0, truth).astype(np.int8)
        (low, high), (other_low, other_high) = self._count(parts[0]), self._count(parts[1])
        if name == "equal":
            surely = (low == high) & (other_low == other_high) & (low == other_low)
            return _kleene(surely, (low <= other_high) & (other_low <= high))
        if name in ("fewer", "utmost"):
            low, high, other_low, other_high = other_low, other_high, low, high
        strict = name in ("more", "fewer")
        return _kleene(low >= other_high + strict, high >= other_low + strict)

    def _count(self, node: ProgramNode) -> Judged:
        """(n,) the least and the greatest number of members of a set, or a number twice."""
        if node.name != "count":
            number = self._number(node)
            return number, number
        sure, possible = self.members(node.parts[0])
        return sure.sum(axis=1), possible.sum(axis=1)

    def _query(self, node: ProgramNode) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        attribute = node.parts[0].name
        nothing = np.full(len(self.rows), np.nan)
        if attribute == "weather":
            weather = self.views.weather
            return weather, nothing, weather < 0
        slot, close = self.unique(node.parts[1])
        if attribute == "distance":
            other, unclear = self.unique(node.parts[2])
            self.ill_posed |= (slot == other) & ~close & ~unclear
            metres = self.views.distance(slot, other)
            return np.rint(metres).astype(np.int64), metres, close | unclear
        beside = slot >= self.views.vehicles
        self.ill_posed |= beside & ~close
        slot = np.where(beside, 0, slot)
        if attribute == "box":
            box = self.views.boxes[self.rows, slot]
            third = (box[:, 0] + box[:, 2]) * (len(THIRDS) / 2) / self.views.size[0]
            near = np.min([np.abs(third - border) for border in range(1, len(THIRDS))], axis=0) < _BORDER
            return np.clip(third.astype(np.int64), 0, 2), slot.astype(np.float64), close | near
        value = self.views.value(attribute)[self.rows, slot]
        return value, nothing, close | (value < 0)

    # Sets and phrases.

    def members(self, node: ProgramNode) -> SlotSet:
        """The members of a set."""
        name, parts = node.name, node.parts
        if name == "all":
            return self._all(parts[0])
        if name == "union":
            each = [self._meant(part) for part in parts]
            return SlotSet(
                np.any([part.sure for part in each], axis=0), np.any([p.possible for p in each], axis=0)
            )
        if name in ("most", "nth"):
            return self._first(node)
        of = self.members(parts[0])
        truth = self._judge_of(of.possible, parts[1])
        self.idle |= ~(of.sure & (truth == -1)).any(axis=1)
        return SlotSet(of.sure & (truth == 1), of.possible & (truth >= 0))

    def _judge_of(self, slots: np.ndarray, predicate: ProgramNode) -> np.ndarray:
        """(n, s) truth of a predicate of some slots, (n, s) bool."""
        before, self._subjects = self._subjects, slots
        truth, margin = self.judge(predicate)
        self._subjects = before
        self._least(np.where(slots, margin, np.inf).min(axis=1))
        return truth

    def _meant(self, phrase: ProgramNode) -> SlotSet:
        """What "the ..." or "a ..." may mean."""
        sure, possible = self.members(phrase.parts[0])
        if phrase.name == "the":
            sure = sure & ~self.unique(phrase)[1][:, None]
        return SlotSet(sure, possible)

    def _all(self, noun: ProgramNode) -> SlotSet:
        table, places = _nouns()
        place, kind, sight = places[self.words[:, noun.column]][:, None], self.views.kind, self.views.sight
        belongs = table[place, kind]
        return SlotSet(belongs & (sight == 1), (belongs | alike()[place, kind]) & (sight >= 0))

    def _first(self, node: ProgramNode) -> SlotSet:
        """The member that comes first, or n-th, in an order."""
        nth = node.name == "nth"
        order, members, *to = node.parts[nth:]
        of = self.members(members)
        if to:
            end = self._meant(to[0])
            of = SlotSet(of.sure & ~end.possible, of.possible & ~end.sure)
        place = self._number(node.parts[0])[:, None] - 1 if nth else np.zeros((len(self.rows), 1), int)
        before, margin = self._before(order, *to)
        other = ~np.eye(before.shape[1], dtype=bool)
        least = (of.sure[:, :, None] & other & (before == 1)).sum(axis=1)
        most = (of.possible[:, :, None] & other & (before >= 0)).sum(axis=1)
        self.idle |= of.sure.sum(axis=1) < 2
        result = SlotSet(
            of.sure & (least == most) & (least == place), of.possible & (least <= place) & (place <= most)
        )
        pairs = of.possible[:, :, None] & result.possible[:, None] & other
        self._least(np.where(pairs, np.abs(margin), np.inf).min(axis=(1, 2)))
        return result

    def _before(self, order: ProgramNode, to: ProgramNode | None = None) -> Judged:
        """(n, s, s) truth of whether slot i comes before slot j in an order, and metres by which it does.

        What is nearest or farthest is so to the viewer, or to what a phrase means.
        """
        if to is not None:
            end, close = self.unique(to)
            slots = range(self.views.kind.shape[1])
            value = np.stack([self.views.distance(np.full(len(end), slot), end) for slot in slots], axis=1)
            value = value * (-1 if order.name == "nearest" else 1)
            margin = value[:, :, None] - value[:, None, :]
            return np.where(close[:, None, None], 0, _truths(margin, NEARER)), margin
        if order.name in ("leftmost", "rightmost"):
            sign = -1 if order.name == "leftmost" else 1
            margin = sign * self.views.viewer[:, 0]
            return _truths(margin, LEAST[0]), margin
        if order.name in ("nearest", "farthest"):
            value = self.views.away * (-1 if order.name == "nearest" else 1)
        else:
            value = self.views.bulk * (1 if order.name == "biggest" else -1)
        margin = value[:, :, None] - value[:, None, :]
        return _truths(margin, NEARER), margin

    def unique(self, node: ProgramNode) -> Judged:
        """(n,) the slot that "the ..." means, and whether it is too close to say which one."""
        sure, possible = self.members(node.parts[0])
        number, at_most = sure.sum(axis=1), possible.sum(axis=1)
        self.ill_posed |= (at_most == 0) | (number > 1)
        slot = np.where(number > 0, sure.argmax(axis=1), possible.argmax(axis=1))
        return slot, (number != 1) | (at_most != 1)

    # Predicates: (n, s) truth, and metres by which it is decided.

    def judge(self, node: ProgramNode) -> Judged:
        """Of which slots a predicate is true."""
        name, parts = node.name, node.parts
        if name == "not":
            truth, margin = self.judge(parts[0])
            return -truth, margin
        if name in ("and", "or"):
            return _joined(name, [self.judge(part) for part in parts])
        if name == "has":
            return self._padded(self._has(*parts)), self._no_margin()
        if name == "related":
            return self._related(*parts)
        if name == "same":
            value = self.views.value(parts[0].name)
            known = value >= 0
            equal = np.where(value[:, :, None] == value[:, None], 1, -1)
            table = self._padded(np.where(known[:, :, None] & known[:, None], equal, 0))
            return self._over(parts[1], table, np.full(table.shape, np.inf))
        if name == "compared":
            return self._compared(*parts)
        sure, possible = self._meant(parts[0])  # of "among"
        return _kleene(sure, possible), self._no_margin()

    def _has(self, attribute: ProgramNode, value: ProgramNode) -> np.ndarray:
        """(n, v) truth of whether each vehicle's attribute has a value."""
        if attribute.name == "colour":
            return self.views.colours[self.rows, :, self._place(value, COLOURS)]
        if attribute.name == "sight":
            truth = _truths(1.0 - self.views.visible - HIDDEN[0], HIDDEN_MARGIN[0])
            return truth if value.name == "partly hidden" else -truth
        actual = self.views.value(attribute.name)
        names = {"lane": LANES, "direction": DIRECTIONS}[attribute.name]
        truth = np.where(actual == self._place(value, names)[:, None], 1, -1)
        return np.where((actual < 0) & (attribute.name == "direction"), 0, truth)

    def _related(self, relation: ProgramNode, *phrases: ProgramNode) -> Judged:
        if relation.name == "between":
            return self._between(*phrases)
        if relation.name in OWN_RELATIONS:
            table = np.array([OWN[name] for name in OWN_RELATIONS])
            axis, sign, least = table[self._place(relation, OWN_RELATIONS)].T
            apart = self.views.driver
        else:
            place = self._place(relation, RELATION_NAMES)
            axis, sign, least = (np.array(column)[place] for column in (AXES, SIGNS, LEAST))
            apart = self.views.viewer
        margin = sign[:, None, None] * apart[self.rows, axis.astype(np.int64)]
        truth = np.where(margin > least[:, None, None], 1, np.where(margin < -least[:, None, None], -1, 0))
        if relation.name in OWN_RELATIONS:
            truth[:, :, self.views.vehicles :] = -1
        return self._over(phrases[0], truth, np.abs(margin))

    def _between(self, one: ProgramNode, other: ProgramNode) -> Judged:
        (a, unclear), (b, close) = self.unique(one), self.unique(other)
        self.ill_posed |= (a == b) & ~unclear & ~close
        margin = np.full(self.views.kind.shape, -np.inf)
        rows, slots = np.nonzero(self._subjects)
        margin[rows, slots] = self.views.between(rows, slots, a[rows], b[rows])
        margin[self.rows, a] = margin[self.rows, b] = -np.inf
        truth = np.where((unclear | close)[:, None], 0, _truths(margin, SOLID_RELATIONS["between"].margin))
        return truth.astype(np.int8), np.abs(margin)

    def _compared(self, order: ProgramNode, phrase: ProgramNode, to: ProgramNode | None = None) -> Judged:
        if to is None:
            before, margin = self._before(order)
            return self._over(phrase, before, np.abs(margin))
        before, margin = self._before(order, to)
        end = _kleene(*self._meant(to))
        truth, gap = self._over(phrase, before, np.abs(margin), end)
        return np.where(end == 1, -1, truth), gap

    def _over(
        self, phrase: ProgramNode, table: np.ndarray, margin: np.ndarray, end: np.ndarray | None = None
    ) -> Judged:
        """(n, s) truth of a relation of slot i to what a phrase means, from (n, s, s) truths of i to j.

        With `end`, (n, s) truth of which slot is that from which all distances are taken, it is left out.
        """
        if phrase.name in ("and", "or"):
            return _joined(phrase.name, [self._over(part, table, margin, end) for part in phrase.parts])
        if phrase.name == "the":
            slot, close = self.unique(phrase)
            truth = table[self.rows, :, slot].astype(np.int8)
            truth[self.rows, slot] = -1  # nothing stands so to itself
            if end is not None:
                self.ill_posed |= (end[self.rows, slot] == 1) & ~close
            return np.where(close[:, None], 0, truth), margin[self.rows, :, slot]
        belongs = self._belongs(phrase)
        if end is not None:
            belongs = np.minimum(belongs, -end)
        others = np.where(np.eye(table.shape[1], dtype=bool), -1, belongs[:, None])
        least = np.where(others >= 0, margin, np.inf).min(axis=2)
        return _quantified(phrase.name, others, table), least

    def _holds(self, phrase: ProgramNode, predicate: ProgramNode) -> np.ndarray:
        """(n,) truth of a predicate of what a phrase means."""
        if phrase.name in ("and", "or"):
            truths = [self._holds(part, predicate) for part in phrase.parts]
            return np.asarray(np.min(truths, axis=0) if phrase.name == "and" else np.max(truths, axis=0))
        if phrase.name == "the":
            slot, close = self.unique(phrase)
            truth = self._judge_of(np.arange(self.views.kind.shape[1]) == slot[:, None], predicate)
            return np.where(close, 0, truth[self.rows, slot])
        belongs = self._belongs(phrase)
        return _quantified(phrase.name, belongs, self._judge_of(belongs >= 0, predicate))

    def _belongs(self, phrase: ProgramNode) -> np.ndarray:
        """(n, s) truth of whether each slot is one of those that "a", "every" or "no" is about."""
        sure, possible = self.members(phrase.parts[0])
        if phrase.name == "every":
            self.ill_posed |= ~possible.any(axis=1)
        return _kleene(sure, possible)

    def _least(self, margin: np.ndarray) -> None:
        self.margin = np.minimum(self.margin, np.abs(margin))

    def _no_margin(self) -> np.ndarray:
        return np.full(self.views.kind.shape, np.inf)

    def _padded(self, truth: np.ndarray) -> np.ndarray:
        """Truths of all slots from those of vehicles: what stands beside the road has no such attribute."""
        missing = self.views.kind.shape[1] - truth.shape[1]
        around = ((0, 0), *[(0, missing)] * (truth.ndim - 1))
        return np.pad(truth.astype(np.int8), around, constant_values=-1)


@cache
def _nouns() -> tuple[np.ndarray, np.ndarray]:
    """(nouns, kinds + 1) bool which kinds each noun means, and by the number of a word its row."""
    places = np.full(WORD + len(WORDS), -1)
    places[list(members())] = np.arange(len(members()))
    return np.stack([*members().values()]), places


@cache
def _places(names: tuple[str, ...]) -> np.ndarray:
    """By the place of a word in WORDS, its place in some names, or -1."""
    return np.array([names.index(word) if word in names else -1 for word in WORDS])


def _truths(margin: np.ndarray, least: float) -> np.ndarray:
    return np.where(margin > least, 1, np.where(margin < -least, -1, 0)).astype(np.int8)


def _kleene(surely: Any, possibly: Any) -> np.ndarray:
    return np.where(surely, 1, np.where(possibly, 0, -1)).astype(np.int8)


def _joined(join: str, each: list[Judged]) -> Judged:
    """Truths that "and" or "or" joins, and the least margins."""
    truths, margins = zip(*each, strict=True)
    return np.asarray((np.min if join == "and" else np.max)(truths, axis=0)), np.min(margins, axis=0)


def _quantified(quantifier: str, belongs: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Truth, over the last axis, of something of "a", "every" or "no" one of those that belong."""
    if quantifier == "every":
        return np.minimum(np.maximum(-belongs, truth).min(axis=-1), belongs.max(axis=-1)).astype(np.int8)
    some = np.minimum(belongs, truth).max(axis=-1).astype(np.int8)
    return np.asarray(-some if quantifier == "no" else some)
