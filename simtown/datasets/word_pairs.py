"""Minimal pairs of words with the pictures of twins: which of two sentences follows from a context?

An item has two contexts and two targets. Target a is true of picture a and follows from context a, target b
of picture b and context b, and neither of the other one. Both contexts hold the same words equally often.

An item is *copied* if its context says the target word for word. It is *converse* if its context says it the
other way round, so that the words that it shares with a target speak for the wrong one. It is a *hop* if two
facts have to be joined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.core.streams import Stream
from simtown.datasets.reading.reader import SCENE_COLUMNS, Split
from simtown.language.asking.twins import EDITS, EXCHANGED, MOVED, PAINTED, TURNED, WEATHER
from simtown.language.meaning.evaluate import KNOWN, evaluate
from simtown.language.meaning.forms import ORDINALS, Form
from simtown.language.meaning.limits import ASIDE
from simtown.language.meaning.nouns import group_of, plural
from simtown.language.meaning.programs import COLOURS, DIRECTIONS, LANES, encode, stored
from simtown.language.meaning.relations import DRIVER_RELATIONS, LATERAL, RADIAL, RELATIONS, separations
from simtown.language.meaning.views import Views
from simtown.language.words import wording
from simtown.language.words.scene_text import listed
from simtown.scenes.scene import SceneBatch

COPIED, CONVERSE, HOP = "copied", "converse", "hop"
#: Pairs of pictures that are asked about at once.
_AT_ONCE = 2048
_VIEWERS = {(relation.axis, relation.sign): relation for relation in RELATIONS}
_DRIVERS = {(relation.axis, relation.sign): relation for relation in DRIVER_RELATIONS}
#: How orders begin, by axis and direction.
_LISTINGS = {
    LATERAL: ("from left to right", "from right to left"),
    RADIAL: ("from front to back", "from back to front"),
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


class Fact(NamedTuple):
    """What is true in one of two pictures alone.

    Attributes:
        place: of the two pictures among those that are looked at.
        domain: what it is about.
        of_a: true in the first picture alone, the target first, then what else says so.
        of_b: the same of the second picture.
    """

    place: int
    domain: str
    of_a: tuple[Form, ...]
    of_b: tuple[Form, ...]

    def of(self, picture: int) -> tuple[Form, ...]:
        """What is true in picture 0 or 1 alone."""
        return self.of_b if picture else self.of_a


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
        self.rows, self.others = rows, np.array([split.twin_number(row) for row in rows.tolist()], dtype=int)
        columns = split.rows((*SCENE_COLUMNS, "visible", "edit", "edited", "group"), [*rows, *self.others])
        self.scenes, self.n = SceneBatch.of_columns(columns), len(rows)
        self.edit, self.slot, self.group = (columns[own][: self.n] for own in ("edit", "edited", "group"))
        self.views = Views(self.scenes, columns["visible"], size)
        with np.errstate(divide="ignore", invalid="ignore"):  # empty slots
            self.apart = separations(self.scenes.pose, self.scenes.camera)
        self.luck = Stream(0, name, "word pairs").uniform(self.group, 16)

    def items(self) -> Iterator[WordPair]:
        facts = [fact for i in np.flatnonzero(self.edit < WEATHER).tolist() for fact in self._facts(i)]
        done: set[tuple[int, str]] = set()
        for fact, holds in zip(facts, self._hold(facts), strict=True):
            if holds and (fact.place, fact.domain) not in done:
                done.add((fact.place, fact.domain))
                yield from self._of(fact)

    def _hold(self, facts: Sequence[Fact]) -> np.ndarray:
        """Whether each fact is surely true in its picture and surely false in the other one."""
        said = [(k, form, own) for k, fact in enumerate(facts) for own in (0, 1) for form in fact.of(own)]
        which, forms, own = zip(*said, strict=True) if said else ((), (), ())
        place = np.array([facts[k].place for k in which], dtype=int)
        programs = stored([encode(form) for form in forms])
        good = np.ones(len(facts), dtype=bool)
        for picture in (0, 1):
            values = evaluate(
                self.scenes, programs, self.views.visible, self.views.size, place + picture * self.n
            )
            right = (values.state == KNOWN) & (values.answer == (np.array(own) == picture))
            np.logical_and.at(good, np.array(which, dtype=int), right)
        return good

    def _facts(self, i: int) -> Iterator[Fact]:
        """What may be true in one picture of pair i alone, by its edit."""
        one, other = self.scenes.entity[[i, i + self.n]].tolist()
        edit, x, luck = int(self.edit[i]), int(self.slot[i]), self.luck[i]
        known = [s for s, kind in enumerate(one) if kind >= 0 and one.count(kind) == other.count(kind) == 1]
        beside = sorted((s for s in known if s != x), key=lambda s: luck[s])
        if edit >= EXCHANGED:
            yield from self._counts(i, {one[x], other[x]} - {-1})
        elif x not in known:
            return
        elif edit == PAINTED:
            yield from self._values(i, x, "colour", COLOURS, self.views.colour)
        elif edit == TURNED:
            yield from self._values(i, x, "heading", DIRECTIONS, self.views.direction)
            for y in beside:
                yield from self._seen_by(i, y, x)
        elif edit == MOVED:
            yield from self._values(i, x, "lane", LANES, self.views.lane)
            for y in beside:
                yield from self._related(i, x, y)
                yield from self._seen_by(i, *((x, y) if luck[9] < 0.5 else (y, x)))
            if len(known) == len([kind for kind in one if kind >= 0]):
                yield from self._ordered(i, known)

    def _values(
        self, i: int, x: int, domain: str, words: Sequence[str], values: np.ndarray
    ) -> Iterator[Fact]:
        """The values of an attribute of a vehicle in both pictures, if they differ."""
        a, b = values[i, x], values[i + self.n, x]
        if a != b and min(a, b) >= 0:
            attribute = "direction" if domain == "heading" else domain
            tests = [Form("has", (attribute, words[value])) for value in (a, b)]
            of_a, of_b = (Form("holds", (self._the(i, x), test)) for test in tests)
            yield Fact(i, domain, (of_a,), (of_b,))

    def _related(self, i: int, x: int, y: int) -> Iterator[Fact]:
        """Two vehicles that stand the other way round in the other picture."""
        for axis, domain in ((LATERAL, "left and right"), (RADIAL, "depth")):
            sign = 1 if self.luck[i, 10 + axis] < 0.5 else -1
            said, back = (_VIEWERS[axis, own].name for own in (sign, -sign))
            x_, y_ = (x, y) if sign * self.apart[i, axis, x, y] > 0 else (y, x)

            def says(one: int, relation: str, other: int) -> Form:
                return Form("holds", (self._the(i, one), Form("related", (relation, self._the(i, other)))))

            of_a, of_b = (says(x_, said, y_), says(y_, back, x_)), (says(y_, said, x_), says(x_, back, y_))
            yield Fact(i, domain, of_a, of_b)

    def _seen_by(self, i: int, x: int, y: int) -> Iterator[Fact]:
        """Where the driver of y sees x."""
        for axis in (LATERAL, RADIAL) if self.luck[i, 12] < 0.5 else (RADIAL, LATERAL):
            for sign in (1, -1):
                tests = [
                    Form("related", (_DRIVERS[axis, own].name, self._the(i, y))) for own in (sign, -sign)
                ]
                of_a, of_b = (Form("holds", (self._the(i, x), test)) for test in tests)
                yield Fact(i, "driver's", (of_a,), (of_b,))

    def _ordered(self, i: int, slots: Sequence[int]) -> Iterator[Fact]:
        """Which vehicle is the n-th from one side."""
        side = self.luck[i, 13] < 0.5
        orders = [self._ranks(row, slots, LATERAL)[:: 1 if side else -1] for row in (i, i + self.n)]
        for number, (a, b) in enumerate(zip(*orders, strict=True), 1):
            if a != b:
                nth = Form("nth", (number, _SIDES[not side], Form("all", ("vehicle",))))
                test = Form("among", (Form("the", (nth,)),))
                of_a, of_b = (Form("holds", (self._the(i, own), test)) for own in (a, b))
                yield Fact(i, "order", (of_a,), (of_b,))

    def _counts(self, i: int, kinds: set[int]) -> Iterator[Fact]:
        """The numbers of the vehicles that a noun means."""
        names = [ENTITIES[kind] for kind in sorted(kinds)]
        nouns = dict.fromkeys([*map(group_of, names), "vehicle", *names])
        for noun in nouns:
            if noun != "other":
                counts = [Form("count", (Form("all", (noun,)),))]
                program = stored([encode(counts[0])]).repeat(2, axis=0)
                at = np.array([i, i + self.n])
                values = evaluate(self.scenes, program, self.views.visible, self.views.size, at)
                of_a, of_b = (Form("equal", (counts[0], int(value))) for value in values.answer)
                yield Fact(i, "count", (of_a,), (of_b,))

    def _of(self, fact: Fact) -> Iterator[WordPair]:
        """The items of a fact, by link."""
        i, (a, b) = fact.place, (fact.of_a, fact.of_b)
        targets = sentence(a[0]), sentence(b[0])
        contexts: dict[str, tuple[str, ...]]
        if len(a) > 1:
            said_back: tuple[str, ...] = sentence(a[1]), sentence(b[1])
            if fact.domain == "depth":  # "behind" alone shares too few words with "in front of"
                wrong = zip(targets[::-1], said_back, strict=True)
                said_back = tuple(f"it is wrong to say that {not_so}: {so}" for not_so, so in wrong)
            contexts = {COPIED: targets, CONVERSE: said_back}
        else:
            words = _differing(a[0], b[0])
            said = tuple(zip(targets, words, targets[::-1], words[::-1], strict=True))
            contexts = {
                COPIED: tuple(f"{own}, not {there}" for own, _, _, there in said),
                CONVERSE: tuple(
                    f"it is wrong to say that {wrong} instead of {word}" for _, word, wrong, _ in said
                ),
            }
        contexts |= self._hops(fact)
        edit, rows = EDITS[self.edit[i]], (int(self.rows[i]), int(self.others[i]))
        for link, texts in contexts.items():
            one, other, *both = (f"{text[0].upper()}{text[1:]}." for text in (*texts, *targets))
            yield WordPair(one, other, both[0], both[1], *rows, fact.domain, link, edit, int(self.group[i]))

    def _hops(self, fact: Fact) -> dict[str, tuple[str, ...]]:
        """Contexts from which the targets follow by two facts, if there are such."""
        i, rows, luck = fact.place, (fact.place, fact.place + self.n), self.luck[fact.place]
        slots = {ENTITIES[k]: s for s, k in enumerate(self.scenes.entity[i].tolist()) if k >= 0}
        first = 1 if luck[14] < 0.5 else -1
        if fact.domain in ("left and right", "depth", "order"):
            axis = RADIAL if fact.domain == "depth" else LATERAL
            words = _LISTINGS[axis]
            every = list(slots.values())
            x, y = (slots[form.parts[0].parts[0].parts[0]] for form in (fact.of_a[0], fact.of_b[0]))
            chosen = [every] if fact.domain == "order" else [[x, y, z] for z in every if z not in (x, y)]
            least = _VIEWERS[axis, 1].margin
            listable = [own for own in chosen if all(self._clear(row, own, axis, least) for row in rows)]
            asked = next(iter(listable), [])
            if len(asked) < 3:
                return {}
            orders = [self._ranks(row, asked, axis)[::first] for row in rows]
            names = [listed([f"the {ENTITIES[self.scenes.entity[i, s]]}" for s in order]) for order in orders]
            return {HOP: tuple(f"{words[first < 0]} are {own}" for own in names)}
        if fact.domain == "count":
            return {}
        subject = fact.of_a[0].parts[0]
        x, side = slots[subject.parts[0].parts[0]], "left" if first > 0 else "right"
        others = [s for s in slots.values() if s != x]
        if not others or any((-first * self.apart[row, LATERAL, x, others] <= ASIDE).any() for row in rows):
            return {}
        words_a, words_b = _differing(fact.of_a[0], fact.of_b[0])
        place = f"{ORDINALS[0]} vehicle from the {side}"
        ends = f" is the {place}. The {place} is {wording.phrase(subject)}"
        pairs = (words_a, words_b), (words_b, words_a)
        if luck[15] < 0.5:
            return {HOP: tuple(f"{so}, not {other},{ends}" for so, other in pairs)}
        return {HOP: tuple(f"not {other} but {so}{ends}" for so, other in pairs)}

    def _ranks(self, row: int, slots: Sequence[int], axis: int) -> list[int]:
        """Slots from left to right, or from front to back."""
        apart = self.apart[row, axis][np.ix_(slots, slots)]
        return [slots[place] for place in (apart > 0).sum(axis=1).argsort(kind="stable")]

    def _clear(self, row: int, slots: Sequence[int], axis: int, least: float) -> bool:
        """Whether all of some vehicles stand clearly one after the other."""
        apart = np.abs(self.apart[row, axis][np.ix_(slots, slots)])
        return bool((apart + np.eye(len(slots)) * 2 * least > least).all())

    def _the(self, i: int, slot: int) -> Form:
        """The vehicle of a slot by its kind."""
        return Form("the", (Form("all", (ENTITIES[self.scenes.entity[i, slot]],)),))


def sentence(form: Form) -> str:
    """A fact in words: "the bus is red", "the number of buses is 2"."""
    if form.name == "equal":
        return f"the number of {plural(form.parts[0].parts[0].parts[0])} is {form.parts[1]}"
    subject, test = form.parts
    return f"{wording.phrase(subject)} is {wording.predicate(test)}"


def _differing(one: Form, other: Form) -> tuple[str, str]:
    """The words in which two facts differ."""
    if one.name == "equal":
        return str(one.parts[1]), str(other.parts[1])
    which = int(one.parts[1] != other.parts[1])
    say = wording.predicate if which else wording.phrase
    return say(one.parts[which]), say(other.parts[which])
