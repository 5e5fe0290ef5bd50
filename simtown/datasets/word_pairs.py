"""Minimal pairs of words with the pictures of twins: which of two sentences follows from a context?

An item has two contexts and two targets. Target a is true of picture a and follows from context a, target b
of picture b and context b, and neither of the other one. Both contexts hold the same words equally often.

An item is *copied* if its context says the target word for word. It is *converse* if its context says it the
other way round, so that the words that it shares with a target speak for the wrong one. It is a *hop* if two
facts have to be joined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.core.streams import Stream
from simtown.datasets.reading.reader import SCENE_COLUMNS, Split
from simtown.language.asking.twins import EDITS, WEATHER
from simtown.language.meaning.evaluate import KNOWN, Values, evaluate
from simtown.language.meaning.nouns import group_of, plural
from simtown.language.meaning.programs import COLOURS, DIRECTIONS, LANES, OWN_RELATIONS, Form, encode, stored
from simtown.language.meaning.relations import AXES, LATERAL, LEAST, RADIAL, separations
from simtown.language.meaning.views import judge_colours, only_colour, view_scenes
from simtown.language.words import wording
from simtown.language.words.scene_text import listed
from simtown.scenes.scene import SceneBatch

COPIED, CONVERSE, HOP = "copied", "converse", "hop"
#: Pairs of pictures that are asked about at once.
_AT_ONCE = 2048
#: By domain the attribute that it asks for, and its values.
_ATTRIBUTES = {
    "colour": ("colour", COLOURS),
    "lane": ("lane", LANES),
    "heading": ("direction", DIRECTIONS),
}
#: By domain a relation and what it is the other way round.
_VIEWERS = {"left and right": ("left of", "right of"), "depth": ("in front of", "behind")}
#: By domain the axis of an order, and how it begins from either end.
_ACROSS = (LATERAL, ("from left to right", "from right to left"))
_LISTINGS = {
    "left and right": _ACROSS,
    "order": _ACROSS,
    "depth": (RADIAL, ("from front to back", "from back to front")),
}
_SIDES = ("leftmost", "rightmost")


class WordPair(NamedTuple):
    """An item. `group` is the number of the twins, `row_a` and `row_b` are examples with the pictures."""

    context_a: str
    context_b: str
    target_a: str
    target_b: str
    row_a: int
    row_b: int
    domain: str
    link: str
    edit: str
    group: int


class FlippedFact(NamedTuple):
    """What is true of one of two pictures alone.

    Attributes:
        place: of the two pictures among those that are looked at.
        domain: what it is about.
        of_a: true of the first picture alone, the target first, then what else says so.
        of_b: the same of the second picture.
    """

    place: int
    domain: str
    of_a: list[Form]
    of_b: list[Form]


def first_rows(split: Split) -> np.ndarray:
    """(k,) int64: an example about the first picture of each group of twins."""
    return np.unique(split.column("group"), return_index=True)[1]


def word_pairs(split: Split, rows: np.ndarray, name: str, size: tuple[int, int]) -> Iterator[WordPair]:
    """The items of some groups of twins.

    Args:
        split: of a data set with twins.
        rows: some of :func:`first_rows`.
        name: of the split.
        size: width and height of its pictures.
    """
    for begin in range(0, len(rows), _AT_ONCE):
        yield from _Twins(split, rows[begin : begin + _AT_ONCE], name, size).items()


class _Twins:
    """n pairs of pictures: rows 0 to n - 1 are the first ones, rows n to 2 n - 1 the second ones."""

    def __init__(self, split: Split, rows: np.ndarray, name: str, size: tuple[int, int]) -> None:
        self.n = len(rows)
        self.rows = [*rows.tolist(), *map(split.twin_number, rows.tolist())]
        self.columns = split.rows((*SCENE_COLUMNS, "visible", "edit", "edited", "group"), self.rows)
        self.scenes = SceneBatch.of_columns(self.columns)
        self.size, views = size, view_scenes(self.scenes, size)
        colours = only_colour(judge_colours(self.scenes, self.columns["visible"], size))
        self.values = {"colour": colours, "lane": views.lane, "direction": views.direction}
        with np.errstate(divide="ignore", invalid="ignore"):  # empty slots
            self.apart = separations(self.scenes.pose, self.scenes.camera)
        self.luck = Stream(0, name, "word pairs").uniform(self.columns["group"][: self.n], 4) < 0.5

    def items(self) -> Iterator[WordPair]:
        places = np.flatnonzero(self.columns["edit"][: self.n] < WEATHER)
        facts = [fact for i in places.tolist() for fact in self._facts(i)]
        done = set()
        for fact, holds in zip(facts, self._hold(facts), strict=True):
            if holds and fact[:2] not in done:
                done.add(fact[:2])
                yield from self._items_of(fact)

    def _hold(self, facts: Sequence[FlippedFact]) -> np.ndarray:
        """Whether each fact is surely true of its picture and surely false of the other one."""
        said = [
            (k, own, encode(form))
            for k, fact in enumerate(facts)
            for own, forms in enumerate(fact[2:])
            for form in forms
        ]
        good = np.ones(len(facts), dtype=bool)
        if said:
            which, own, programs = (list(column) for column in zip(*said, strict=True))
            first = np.array([facts[k].place for k in which])
            for picture, at in enumerate((first, first + self.n)):
                values = self._evaluate(programs, at)
                right = (values.state == KNOWN) & (values.answer == (np.array(own) == picture))
                np.logical_and.at(good, which, right)
        return good

    def _evaluate(self, programs: list[list[int]], at: np.ndarray) -> Values:
        return evaluate(self.scenes, stored(programs), self.columns["visible"], self.size, at)

    def _facts(self, i: int) -> Iterator[FlippedFact]:
        """What may be true of one picture of pair i alone."""
        one, other = self.scenes.entity[[i, i + self.n]].tolist()
        x = int(self.columns["edited"][i])
        if one[x] != other[x]:
            yield from self._counts(i, [ENTITIES[kind] for kind in sorted({one[x], other[x]}) if kind >= 0])
            return
        slots = {slot: ENTITIES[kind] for slot, kind in enumerate(one) if kind >= 0 and one.count(kind) == 1}
        if x not in slots:
            return
        phrases = {slot: Form("the", (Form("all", (kind,)),)) for slot, kind in slots.items()}
        for domain, (attribute, words) in _ATTRIBUTES.items():
            values = self.values[attribute][[i, i + self.n], x]
            if min(values) >= 0:
                tests = [Form("has", (attribute, words[value])) for value in values]
                yield FlippedFact(i, domain, *([Form("holds", (phrases[x], test))] for test in tests))
        beside = [slot for slot in slots if slot != x]
        for y in beside:
            a, b = phrases[x], phrases[y]
            for domain, pairs in _VIEWERS.items():
                said, back = pairs[:: 1 if self.luck[i, 0] else -1]
                ways = [
                    [_related(a, said, b), _related(b, back, a)],
                    [_related(b, said, a), _related(a, back, b)],
                ]
                yield FlippedFact(i, domain, *ways)
                yield FlippedFact(i, domain, *ways[::-1])
            for subject, driver in ((a, b), (b, a))[:: 1 if self.luck[i, 1] else -1]:
                for pair in (*permutations(OWN_RELATIONS[:2]), *permutations(OWN_RELATIONS[2:])):
                    yield FlippedFact(i, "driver's", *([_related(subject, seen, driver)] for seen in pair))
        side = _SIDES[int(self.luck[i, 2])]
        for number in range(1, len(slots) + 1):
            nth = Form("the", (Form("nth", (number, side, Form("all", ("vehicle",)))),))
            test = Form("among", (nth,))
            for y in beside:
                ways = [[Form("holds", (phrases[slot], test))] for slot in (x, y)]
                yield FlippedFact(i, "order", *ways)
                yield FlippedFact(i, "order", *ways[::-1])

    def _counts(self, i: int, kinds: Sequence[str]) -> Iterator[FlippedFact]:
        """The numbers of the vehicles that a noun means."""
        for noun in dict.fromkeys([*map(group_of, kinds), "vehicle", *kinds]):
            if noun != "other":
                count = Form("count", (Form("all", (noun,)),))
                values = self._evaluate([encode(count)] * 2, np.array([i, i + self.n]))
                yield FlippedFact(i, "count", *([Form("equal", (count, int(own)))] for own in values.answer))

    def _items_of(self, fact: FlippedFact) -> Iterator[WordPair]:
        """The items of a fact, by link."""
        i, a, b = fact.place, *fact[2:]
        targets, backs = ([sentence(own[place]) for own in (a, b)] for place in (0, -1))
        contexts = {COPIED: targets, CONVERSE: backs}
        wrong = [f"it is wrong to say that {other}" for other in targets[::-1]]
        if len(a) == 1:
            words = _differing(a[0], b[0])
            contexts[COPIED] = [
                f"{own}, not {other}" for own, other in zip(targets, words[::-1], strict=True)
            ]
            contexts[CONVERSE] = [f"{own} instead of {word}" for own, word in zip(wrong, words, strict=True)]
        elif fact.domain == "depth":  # "behind" alone shares too few words with "in front of"
            contexts[CONVERSE] = [f"{own}: {back}" for own, back in zip(wrong, backs, strict=True)]
        if listings := self._listings(fact):
            contexts[HOP] = listings
        edit, group = EDITS[self.columns["edit"][i]], int(self.columns["group"][i])
        for link, own in contexts.items():
            texts = [f"{text[0].upper()}{text[1:]}." for text in (*own, *targets)]
            sides = [*zip(texts[:2], texts[2:], self.rows[i :: self.n], strict=True)]
            if link == CONVERSE:  # as many items of each order, so that a text alone says nothing of it
                sides.reverse()
            columns = (column for pair in zip(*sides, strict=True) for column in pair)
            yield WordPair(*columns, fact.domain, link, edit, group)  # type: ignore[call-arg]

    def _listings(self, fact: FlippedFact) -> list[str]:
        """The order of three or more vehicles of both pictures in words, if it decides and is clear."""
        i, entity = fact.place, self.scenes.entity[fact.place].tolist()
        every = [slot for slot, kind in enumerate(entity) if kind >= 0]
        if fact.domain not in _LISTINGS or len(every) < 3:
            return []
        axis, words = _LISTINGS[fact.domain]
        named = [
            entity.index(ENTITIES.index(form.parts[0].parts[0].parts[0]))
            for form in (fact.of_a[0], fact.of_b[0])
        ]
        chosen = [[*named, slot] for slot in every if slot not in named]
        way = 1 if self.luck[i, 3] else -1
        for slots in [every] if fact.domain == "order" else chosen:
            apart = self.apart[[[i], [i + self.n]], axis][:, 0][:, slots][:, :, slots]
            clear = np.abs(apart) + 9 * np.eye(len(slots)) > LEAST[AXES.index(axis)]
            if clear.all() and len({entity[slot] for slot in slots}) == len(slots):
                ranks = (apart > 0).sum(axis=2).argsort(axis=1)[:, ::way]
                names = [[f"the {ENTITIES[entity[slots[rank]]]}" for rank in own] for own in ranks]
                return [f"{words[::way][0]} are {listed(own)}" for own in names]
        return []


def sentence(form: Form) -> str:
    """A fact in words: "the bus is red", "the number of buses is 2"."""
    if form.name == "equal":
        return f"the number of {plural(form.parts[0].parts[0].parts[0])} is {form.parts[1]}"
    subject, test = form.parts
    return f"{wording.phrase(subject)} is {wording.predicate(test)}"


def _differing(*forms: Form) -> list[str]:
    """The words in which two facts differ."""
    one, other = forms
    if one.name == "equal":
        return [str(form.parts[1]) for form in forms]
    if one.parts[0] != other.parts[0]:
        return [wording.phrase(form.parts[0]) for form in forms]
    return [wording.predicate(form.parts[1]) for form in forms]


def _related(subject: Form, relation: str, other: Form) -> Form:
    return Form("holds", (subject, Form("related", (relation, other))))
