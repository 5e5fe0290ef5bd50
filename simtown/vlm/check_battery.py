"""Asking a model the battery of ``simtown check``, harder and more only where that tells."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from simtown.language.words.replies import score_reply
from simtown.vlm.check_probes import PROBES, EmptyStreet, Pair, Probe
from simtown.vlm.check_verdicts import (
    CANNOT_TELL,
    DELIVERED,
    LOOKS,
    NOT_DELIVERED,
    PairRow,
    Verdict,
    add_interval,
    is_too_hard,
    judge,
    smallest_seen,
    solved,
)
from simtown.vlm.vision_model import Query, Said, VisionModel, normalise

#: Pixels of a side of a picture.
SIDE = 448
#: Questions that are asked again, one at a time.
REPEATED = 8
#: Lengths of vehicles in adaptive probes: the first, the least and the largest. They change by a factor of 2.
_FIRST, _LEAST, _MOST = 12, 3, 96
#: Pairs of an adaptive probe at a new length.
_STEP = 2
#: Difference from which on a probe is asked further before others.
_SUSPECT = 0.5
#: Beginning of the key of a question that is asked again.
_AGAIN = "again-"
#: Beginning of the key of a question that is asked without its picture.
_BLIND = "blind-"


@dataclass(eq=False)
class Battery:
    """What a model was asked and replied.

    Attributes:
        model: the model.
        most: questions that may be asked.
        queries: by key.
        said: replies by key.
        right: by key whether the reply gives the right answer; one that gives none is wrong.
        pairs: by probe the pairs of the probe and its control, with the length of the vehicle.
        verdicts: by probe.
    """

    model: VisionModel
    most: int
    queries: dict[str, Query] = field(default_factory=dict)
    said: dict[str, Said] = field(default_factory=dict)
    right: dict[str, bool] = field(default_factory=dict)
    pairs: dict[str, list[tuple[Pair, Pair, int]]] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.verdicts = {name: Verdict(probe=name, about=probe.about) for name, probe in PROBES.items()}

    def ask(self, queries: Iterable[Query], bar: Any) -> None:
        """Ask, and keep what is said. Raises UnreachableError if the model stops answering."""
        for query, said in self.model.ask(queries):
            self.queries[query.key], self.said[query.key] = query, normalise(said, query)
            self.right[query.key] = score_reply(self.said[query.key].text, query.gold) == 1
            bar(1)

    def may_hold(self, probe: Probe) -> bool:
        """Whether the model can be given what a probe needs."""
        return not probe.needs or bool(getattr(self.model, probe.needs))

    def plan(self, name: str, numbers: Iterable[int], pixels: int) -> dict[str, Query]:
        """Add pairs to a probe, and give those of their questions that lack a reply."""
        probe, fresh = PROBES[name], dict[str, Query]()
        for number in numbers:
            stage = EmptyStreet(number, SIDE, pixels)
            test, control = probe.test(stage), probe.control(stage)
            self.pairs.setdefault(name, []).append((test, control, pixels))
            fresh |= {query.key: query for query in (*test, *control) if query.key not in self.said}
        return fresh

    def rows(self) -> dict[str, list[PairRow]]:
        """What became of the pairs of each probe, without those of which a question was refused."""

        def outcome(pair: Pair) -> tuple[bool, bool]:
            return self.right[pair[0].key], self.right[pair[1].key]

        return {
            name: [
                PairRow(outcome(test), outcome(control), pixels)
                for test, control, pixels in pairs
                if not any(self.said[query.key].refused for query in (*test, *control))
            ]
            for name, pairs in self.pairs.items()
        }

    def judge(self) -> dict[str, list[PairRow]]:
        """Judge all probes, adaptive ones at the length that tells most; gives the rows that were judged."""
        rows = self.rows()
        for name, own in rows.items():
            length = self.length(name, own)
            rows[name] = [row for row in own if row.pixels == length]
        judge([*self.verdicts.values()], rows)
        return rows

    def length(self, name: str, rows: Sequence[PairRow]) -> int:
        """The length of a probe's next vehicles."""
        return next_length(rows) if PROBES[name].is_adaptive else _FIRST


def ask_battery(model: VisionModel, most: int, bar: Any = lambda count: None) -> Battery:
    """Ask a model the battery.

    Args:
        model: the model.
        most: questions that may be asked.
        bar: receives how many were answered.

    Raises UnreachableError if the model stops answering.
    """
    battery, shuffle = Battery(model, most - REPEATED - 1), random.Random(0).shuffle
    still_open = [name for name, probe in PROBES.items() if battery.may_hold(probe)]
    rows: dict[str, list[PairRow]] = {}
    while still_open and battery.verdicts["picture"].verdict != NOT_DELIVERED:
        # what looks lost is decided before the rest gets more questions
        suspects = [name for name in still_open if battery.verdicts[name].difference >= _SUSPECT]
        planned: dict[str, Query] = {}
        for name in suspects or [*still_open]:
            before = battery.pairs.get(name, [])[:]
            pixels = battery.length(name, rows.get(name, ()))
            done = sum(length == pixels for *_, length in before)
            looks = (_STEP, *LOOKS) if PROBES[name].is_adaptive else LOOKS
            fresh = battery.plan(name, range(done, min(look for look in looks if look > done)), pixels)
            if len(battery.said) + len({*planned, *fresh}) > battery.most:
                battery.pairs[name] = before
                still_open.remove(name)
            else:
                planned |= fresh
        asked = [*planned.values()]
        shuffle(asked)  # a server that refuses a kind of question must not refuse many in a row
        battery.ask(asked, bar)
        battery.judge()
        rows = battery.rows()
        still_open = [name for name in still_open if _is_worth_more(battery.verdicts[name], rows[name])]
    ask_again(battery, bar)
    finish(battery)
    return battery


def _is_worth_more(own: Verdict, rows: Sequence[PairRow]) -> bool:
    """Whether more pairs of a probe may tell: it is undecided, and its control is solved at times."""
    if not own.pairs:  # all were refused, or the next vehicles are the first of their length
        return bool(rows)
    return own.verdict == CANNOT_TELL and not is_too_hard(own) and own.pairs < LOOKS[-1]


def next_length(rows: Sequence[PairRow]) -> int:
    """The length of the next vehicles: smaller while both pairs are solved, larger if the control is not."""
    length = _FIRST
    while own := [row for row in rows if row.pixels == length]:
        test, control = (share.mean() for share in solved(own))
        if control <= 0.25:
            larger = min(2 * length, _MOST)
            if larger == length or any(row.pixels == larger for row in rows):
                return larger
            length = larger
        elif min(test, control) >= 0.75 and length > _LEAST:
            length //= 2
        else:
            break
    return length


def ask_again(battery: Battery, bar: Any) -> None:
    """Ask some questions again, each alone, before which they went out with others; and one without its
    picture, whose tokens are counted.
    """
    keys = sorted(key for key in battery.said if key.startswith("sight:"))[:REPEATED]
    for key in keys:
        battery.ask([replace(battery.queries[key], key=f"{_AGAIN}{key}")], bar)
    for key in keys[:1]:
        battery.ask([replace(battery.queries[key], key=f"{_BLIND}{key}", pictures=())], bar)


def is_again(key: str) -> bool:
    """Whether a key is that of a question of :func:`ask_again`."""
    return key.startswith((_AGAIN, _BLIND))


def finish(battery: Battery) -> None:
    """Judge what needs no pairs, and say what was found."""
    verdicts, rows = battery.verdicts, battery.judge()
    verdicts["repeat"] = _repeat(battery)
    verdicts["tokens"] = _tokens(battery)
    for name, probe in PROBES.items():
        if rows.get(name):
            add_interval(verdicts[name], rows[name])
        verdicts[name].found = _found(battery, verdicts[name], probe, rows.get(name, []))


def _repeat(battery: Battery) -> Verdict:
    """Whether the same question gets the same reply, with others and alone."""
    own = Verdict(probe="repeat", about="the same reply to the same question")
    again = [key for key in battery.said if key.startswith(_AGAIN)]
    said = [(battery.said[key].text, battery.said[key.removeprefix(_AGAIN)].text) for key in again]
    differing = sum(one != other for one, other in said)
    own.pairs, own.test = len(said), 1 - differing / max(len(said), 1)
    if differing:
        own.verdict = NOT_DELIVERED
        own.found = f"{differing} of {len(said)} replies differ when asked again alone, at temperature 0"
    elif said:
        own.verdict = DELIVERED
    return own


def _tokens(battery: Battery) -> Verdict:
    """Whether a picture takes tokens, where the server counts them."""
    own = Verdict(probe="tokens", about="tokens for a picture")
    read = {name: _median_read(battery, name) for name in (_BLIND, "sight:", "small:", "resolution:")}
    without = read[_BLIND]
    if not (without and read["sight:"]):
        own.found = "the model does not say how many tokens it read"
        return own
    own.verdict = DELIVERED if read["sight:"] > without else NOT_DELIVERED
    own.found = f"a question takes {without:,.0f} without a picture"
    for name, side in (("small:", SIDE // 2), ("sight:", SIDE), ("resolution:", SIDE * 2)):
        own.found += f", {read[name]:,.0f} with one of {side} × {side}" if read[name] else ""
    return own


def _median_read(battery: Battery, name: str) -> float:
    """Tokens that questions took whose keys begin with a name."""
    return median([said.read for key, said in battery.said.items() if key.startswith(name)] or [0])


def _found(battery: Battery, own: Verdict, probe: Probe, rows: Sequence[PairRow]) -> str:
    """What a probe found, in words."""
    if not battery.may_hold(probe):
        return f"the model takes no {'messages before it' if 'turns' in probe.needs else 'second picture'}"
    refusals = Counter(
        said.problem
        for test, _, _ in battery.pairs.get(own.probe, [])
        for query in test
        if (said := battery.said[query.key]).refused
    )
    if refusals:
        return f"refused: {refusals.most_common(1)[0][0]:.160}"
    words = ""
    if own.verdict == NOT_DELIVERED:
        both_wrong = sum(not any(row.test) for row in rows)
        words = probe.reversed if probe.reversed and both_wrong > len(rows) / 2 else probe.lost
    elif own.verdict == CANNOT_TELL and rows:
        few = own.control < 0.5
        words = "the model solves too few of the controls" if few else "undecided: a part may be lost"
    if own.probe == "resolution" and rows:
        rows = battery.rows()[own.probe]
        lengths = [row.pixels for row in rows]
        large = smallest_seen(lengths, [row.test[0] for row in rows])
        small = smallest_seen(lengths, [row.control[0] for row in rows])
        sides = f"in a picture of {2 * SIDE}: {large}; of {SIDE // 2}: {small}"
        words = f"{words}; smallest vehicle that is seen {sides}".removeprefix("; ")
    return words
