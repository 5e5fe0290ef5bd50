"""Asking a model the battery of ``simtown check``, harder and more only where that tells."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from simtown.language.words.replies import score_reply
from simtown.vlm.check_probes import LENGTHS, PROBES, EmptyStreet, Pair, Probe
from simtown.vlm.check_verdicts import (
    CANNOT_TELL,
    DELIVERED,
    LOOKS,
    MANY,
    NOT_DELIVERED,
    PairRow,
    Verdict,
    add_interval,
    is_doubtful,
    is_too_hard,
    judge,
    smallest_seen,
)
from simtown.vlm.vision_model import Query, Said, VisionModel, normalise

#: Pixels of a side of a picture.
SIDE = 448
#: Questions that are asked again, one at a time.
REPEATED = 8
#: The place of the first length of adaptive probes.
_FIRST = 3
#: Shares of the pairs of a length that are solved if it is seen, and that are not if it is not seen.
_SEEN, _UNSEEN = 0.75, 0.45
#: Pairs of an adaptive probe at a new length.
_STEP = 2
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
        right: by key whether the reply gives the right answer; one that gives none is wrong. A question that
            was refused is not in it.
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
            key, own = query.key, normalise(said, query)
            self.queries[key], self.said[key] = query, own
            if not own.refused:
                self.right[key] = score_reply(own.text, query.gold) == 1
            bar(1)

    def may_hold(self, probe: Probe) -> bool:
        """Whether the model can be given what a probe needs."""
        return not probe.needs or bool(getattr(self.model, probe.needs))

    def plan(self, name: str) -> dict[str, Query]:
        """Add pairs to a probe, or the control to those in doubt; gives what to ask."""
        probe, pixels, rows = PROBES[name], self.length(name), self.rows(name)
        pairs, is_doubted = self.pairs.setdefault(name, []), is_doubtful(rows)
        done = sum(length == pixels for *_, length in pairs)
        if not is_doubted or all(row.control for row in rows):
            looks = (_STEP, *LOOKS) if probe.is_adaptive else LOOKS
            upto = min(look for look in looks if look > done)
            stages = [EmptyStreet(number, SIDE, pixels) for number in range(done, upto)]
            pairs += [(probe.test(stage), probe.control(stage), pixels) for stage in stages]
            done = upto
        asked: list[Query] = []
        for test, control, length in pairs:
            if length == pixels:
                asked += [*test, *control] if is_doubted or done >= MANY else test
        return {query.key: query for query in asked if query.key not in self.said}

    def every_row(self, name: str) -> list[PairRow]:
        """What became of a probe's pairs, without those of which a question was refused."""

        def answers(pair: Pair) -> tuple[bool, bool] | None:
            first, second = (self.right.get(query.key) for query in pair)
            return None if first is None or second is None else (first, second)

        return [
            PairRow(both, answers(control), pixels, len(test[0].gold.choices))
            for test, control, pixels in self.pairs.get(name, ())
            if (both := answers(test))
        ]

    def length(self, name: str) -> int:
        """The length of a probe's next vehicles."""
        return next_length(self.every_row(name)) if PROBES[name].is_adaptive else LENGTHS[_FIRST]

    def rows(self, name: str) -> list[PairRow]:
        """The pairs of a probe with vehicles of its length."""
        pixels = self.length(name)
        return [row for row in self.every_row(name) if row.pixels == pixels]

    def judge(self) -> None:
        """Judge all probes, adaptive ones at the length that tells most."""
        judge([*self.verdicts.values()], {name: self.rows(name) for name in self.pairs})

    def is_open(self, name: str) -> bool:
        """Whether more pairs of a probe may tell: it is undecided, and its control is solved at times."""
        if self.verdicts[name].verdict != CANNOT_TELL:
            return False
        rows = self.rows(name)
        is_refused = name in self.pairs and not self.every_row(name)
        return not is_refused and len(rows) < LOOKS[-1] and not is_too_hard(rows)

    def is_suspect(self, name: str) -> bool:
        """Whether a probe is in doubt, or still looks for its length."""
        rows = self.rows(name)
        return name in self.pairs and (len(rows) < LOOKS[0] or is_doubtful(rows))


def ask_battery(
    model: VisionModel, most: int, bar: Any = lambda count: None, like: Battery | None = None
) -> Battery:
    """Ask a model the battery.

    Args:
        model: the model.
        most: questions that may be asked.
        bar: receives how many were answered.
        like: the battery of another model: its questions are asked first.

    Raises UnreachableError if the model stops answering.
    """
    battery, shuffle = Battery(model, most - REPEATED - 1), random.Random(0).shuffle
    if like:
        battery.pairs = {name: [*pairs] for name, pairs in like.pairs.items()}
        once = [query for key, query in like.queries.items() if not key.startswith((_AGAIN, _BLIND))]
        battery.ask(once, bar)
    given_up = {name for name, probe in PROBES.items() if not battery.may_hold(probe)}
    while True:
        battery.judge()
        still_open = [name for name in PROBES if name not in given_up and battery.is_open(name)]
        if not still_open or battery.verdicts["picture"].verdict == NOT_DELIVERED:
            break
        # what looks lost is decided before the rest gets more questions
        suspects = sorted(
            filter(battery.is_suspect, still_open), key=lambda name: battery.verdicts[name].test
        )
        planned: dict[str, Query] = {}
        for name in suspects[:1] or still_open:
            before = battery.pairs.get(name, [])[:]
            fresh = battery.plan(name)
            is_stuck = not fresh and len(before) == len(battery.pairs[name])
            if is_stuck or len(battery.said) + len({*planned, *fresh}) > battery.most:
                battery.pairs[name] = before
                given_up.add(name)
            else:
                planned |= fresh
        asked = [*planned.values()]
        shuffle(asked)  # a server that refuses a kind of question must not refuse many in a row
        battery.ask(asked, bar)
    ask_again(battery, bar)
    finish(battery)
    return battery


def next_length(rows: Sequence[PairRow]) -> int:
    """The length of the next vehicles: smaller while they are seen, larger while they are not.

    They are seen if the control is solved, or the probe where the control was not asked.
    """
    shares: dict[int, float] = {}
    largest = max((row.pixels for row in rows), default=0)
    for pixels in {row.pixels for row in rows}:
        own = [row for row in rows if row.pixels == pixels]
        share = sum(all(row.control or row.test) for row in own) / len(own)
        # two unlucky pairs must not lead to larger vehicles than any before
        is_enough = pixels < largest or len(own) >= LOOKS[0]
        is_known = share >= _SEEN or (is_enough and all(row.control for row in own))
        shares[pixels] = share if is_known else _SEEN - 0.01
    place = LENGTHS.index(min(shares, default=LENGTHS[_FIRST]))
    if shares.get(LENGTHS[place], 0) >= _SEEN:
        return LENGTHS[max(place - 2, 0)]
    while shares.get(LENGTHS[place], 1) <= _UNSEEN and place + 1 < len(LENGTHS):
        place += 1
    return LENGTHS[place]


def ask_again(battery: Battery, bar: Any) -> None:
    """Ask some questions again, each alone, before which they went out with others; and one without its
    picture, whose tokens are counted.
    """
    keys = sorted(key for key in battery.said if key.startswith("sight:"))[:REPEATED]
    for key in keys:
        battery.ask([replace(battery.queries[key], key=f"{_AGAIN}{key}")], bar)
    for key in keys[:1]:
        battery.ask([replace(battery.queries[key], key=f"{_BLIND}{key}", pictures=())], bar)


def finish(battery: Battery) -> None:
    """Judge what needs no pairs, and say what was found."""
    verdicts = battery.verdicts
    for name, probe in PROBES.items():
        rows = battery.rows(name)
        if rows:
            add_interval(verdicts[name], rows)
        verdicts[name].found = _found(battery, verdicts[name], probe, rows)
    verdicts["repeat"] = _repeat(battery)
    verdicts["tokens"] = _tokens(battery)


def _repeat(battery: Battery) -> Verdict:
    """Whether the same question gets the same reply, with others and alone."""
    own = Verdict(probe="repeat", about="the same reply to the same question")
    again = [key for key in battery.said if key.startswith(_AGAIN)]
    differing = sum(battery.said[key].text != battery.said[key.removeprefix(_AGAIN)].text for key in again)
    own.pairs, own.test = len(again), 1 - differing / max(len(again), 1)
    if differing:
        own.verdict = NOT_DELIVERED
        own.found = f"{differing} of {len(again)} replies differ when asked again alone, at temperature 0"
    elif again:
        own.verdict = DELIVERED
    return own


def _tokens(battery: Battery) -> Verdict:
    """Whether a picture takes tokens, where the server counts them."""
    own = Verdict(probe="tokens", about="tokens for a picture")
    sides = {"small:": SIDE // 2, "sight:": SIDE, "resolution:": SIDE * 2}
    read = {
        name: median([said.read for key, said in battery.said.items() if key.startswith(name)] or [0])
        for name in (_BLIND, *sides)
    }
    without = read[_BLIND]
    if not (without and read["sight:"]):
        own.found = "the model does not say how many tokens it read"
        return own
    own.verdict = DELIVERED if read["sight:"] > without else NOT_DELIVERED
    own.found = f"a question takes {without:,.0f} without a picture"
    for name, side in sides.items():
        own.found += f", {read[name]:,.0f} with one of {side} × {side}" if read[name] else ""
    return own


def _found(battery: Battery, own: Verdict, probe: Probe, rows: Sequence[PairRow]) -> str:
    """What a probe found, in words."""
    if not battery.may_hold(probe):
        return f"the model takes no {'messages before it' if 'turns' in probe.needs else 'second picture'}"
    said, pairs = battery.said, battery.pairs.get(own.probe, [])
    refused = [said[query.key] for test, *_ in pairs for query in test if said[query.key].refused]
    if refused:
        return f"refused: {refused[0].problem:.160}"
    words = ""
    if own.verdict == NOT_DELIVERED:
        # of three colours the first two may be exchanged
        exchanged = [
            score_reply(said[first.key].text, second.gold) and score_reply(said[second.key].text, first.gold)
            for (first, second), *_ in pairs
            if second.gold.answer == second.gold.choices[1]
        ]
        is_reversed = probe.reversed and 2 * sum(exchanged) > len(exchanged)
        words = probe.reversed if is_reversed else probe.lost
    elif own.verdict == CANNOT_TELL and rows:
        few = own.control < 0.5
        words = "the model solves too few of the controls" if few else "undecided: a part may be lost"
    if own.probe == "resolution" and rows:
        every = battery.every_row(own.probe)
        seen = {
            2 * SIDE: [(row.pixels, row.test[0]) for row in every],
            SIDE // 2: [(row.pixels, row.control[0]) for row in every if row.control],
        }
        sides = [
            f"{smallest_seen(*zip(*own, strict=True))} in a picture of {side}"
            for side, own in seen.items()
            if own
        ]
        words = f"{words}; smallest vehicle that is seen: {', '.join(sides)}".removeprefix("; ")
    return words
