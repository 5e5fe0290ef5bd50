"""Asking a model the battery of ``simtown check``, harder and more only where that tells."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from simtown.language.words.replies import score_reply
from simtown.vlm.check_probes import PROBES, Pair, Probe, Stage
from simtown.vlm.check_verdicts import (
    CANNOT_TELL,
    DELIVERED,
    LOOKS,
    NOT_DELIVERED,
    PairRow,
    Verdict,
    add_interval,
    judge,
    smallest_seen,
)
from simtown.vlm.vision_model import Query, Said, VisionModel, normalise

#: Pixels of a side of a picture.
SIDE = 448
#: Questions that are asked again, one at a time.
REPEATED = 8
#: Lengths of the smallest vehicles: the first, and by how much it changes from look to look; and their ends.
_FIRST, _STEP, _LEAST, _MOST = 24, 1.6, 4, 64
#: Beginning of the key of a question that is asked again.
_AGAIN = "again-"


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
            stage = Stage(number, SIDE, pixels)
            test, control = probe.test(stage), probe.control(stage)
            self.pairs.setdefault(name, []).append((test, control, pixels))
            fresh |= {query.key: query for query in (*test, *control) if query.key not in self.said}
        return fresh

    def rows(self) -> dict[str, list[PairRow]]:
        """What became of the pairs of each probe."""

        def outcome(pair: Pair) -> tuple[bool, bool]:
            return self.right[pair[0].key], self.right[pair[1].key]

        return {
            name: [PairRow(outcome(test), outcome(control), pixels) for test, control, pixels in pairs]
            for name, pairs in self.pairs.items()
        }

    def judge(self) -> dict[str, list[PairRow]]:
        """Judge all probes by what is there; gives the rows."""
        rows = self.rows()
        judge([*self.verdicts.values()], rows)
        return rows


def ask_battery(model: VisionModel, most: int, bar: Any = lambda count: None) -> Battery:
    """Ask a model the battery.

    Args:
        model: the model.
        most: questions that may be asked.
        bar: receives how many were answered.

    Raises UnreachableError if the model stops answering.
    """
    battery, shuffle = Battery(model, most - REPEATED), random.Random(0).shuffle
    still_open = {name: _FIRST for name, probe in PROBES.items() if battery.may_hold(probe)}
    done = 0
    for count in LOOKS:
        planned: dict[str, Query] = {}
        for name, pixels in still_open.items():
            fresh = battery.plan(name, range(done, count), pixels)
            if len(battery.said) + len({*planned, *fresh}) > battery.most:
                del battery.pairs[name][done:]
            else:
                planned |= fresh
        asked = [*planned.values()]
        shuffle(asked)  # a server that refuses a kind of question must not refuse many in a row
        battery.ask(asked, bar)
        rows = battery.judge()
        worth = [name for name in still_open if _is_worth_more(battery, name, count)]
        worth.sort(key=lambda name: -battery.verdicts[name].difference)  # what may be lost comes first
        still_open = {
            name: _next_length(still_open[name], rows[name][done:]) if PROBES[name].is_adaptive else _FIRST
            for name in worth
        }
        done = count
        if not still_open or battery.verdicts["picture"].verdict == NOT_DELIVERED:
            break
    ask_again(battery, bar)
    finish(battery)
    return battery


def _is_worth_more(battery: Battery, name: str, count: int) -> bool:
    """Whether more pairs of a probe may tell: it is undecided, and its control is solved at times."""
    own = battery.verdicts[name]
    return own.verdict == CANNOT_TELL and own.pairs == count and own.control >= 0.5


def _next_length(pixels: int, rows: Sequence[PairRow]) -> int:
    """The length of the next vehicles: smaller if the control was solved, else larger."""
    solved = sum(all(row.control) for row in rows) >= 0.75 * len(rows)
    return round(min(max(pixels / _STEP if solved else pixels * _STEP, _LEAST), _MOST))


def ask_again(battery: Battery, bar: Any) -> None:
    """Ask some questions again, each alone: before, they went out with others."""
    for key in sorted(key for key in battery.said if key.startswith("sight:"))[:REPEATED]:
        battery.ask([replace(battery.queries[key], key=f"{_AGAIN}{key}")], bar)


def is_again(key: str) -> bool:
    """Whether a key is that of a question that is asked again."""
    return key.startswith(_AGAIN)


def finish(battery: Battery) -> None:
    """Judge what needs no pairs, and say what was found."""
    verdicts, rows = battery.verdicts, battery.judge()
    verdicts["repeat"] = _repeat(battery)
    verdicts["tokens"] = _tokens(battery)
    for name, probe in PROBES.items():
        if name in rows:
            add_interval(verdicts[name], rows[name])
        verdicts[name].found = _found(battery, verdicts[name], probe, rows.get(name, []))


def _repeat(battery: Battery) -> Verdict:
    """Whether the same question gets the same reply, with others and alone."""
    own = Verdict(probe="repeat", about="the same reply to the same question")
    again = [key for key in battery.said if is_again(key)]
    said = [(battery.said[key], battery.said[key.removeprefix(_AGAIN)]) for key in again]
    differing = sum((one.text, one.scores) != (other.text, other.scores) for one, other in said)
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
    read = {name: _median_read(battery, name) for name in ("words", "sight", "small", "resolution")}
    if not read["words"] or not read["sight"]:
        own.found = "the model does not say how many tokens it read"
        return own
    own.verdict = DELIVERED if read["sight"] > read["words"] else NOT_DELIVERED
    own.found = f"a question takes {read['words']:,.0f} without a picture"
    for name, side in (("small", SIDE // 2), ("sight", SIDE), ("resolution", SIDE * 2)):
        own.found += f", {read[name]:,.0f} with one of {side} × {side}" if read[name] else ""
    return own


def _median_read(battery: Battery, name: str) -> float:
    """Tokens that questions of a name took."""
    return median([said.read for key, said in battery.said.items() if key.startswith(f"{name}:")] or [0])


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
        words = "the model solves too few of the controls" if few else "too few questions, or a part is lost"
    if own.probe == "resolution" and rows:
        lengths = [row.pixels for row in rows]
        large = smallest_seen(lengths, [row.test[0] for row in rows])
        small = smallest_seen(lengths, [row.control[0] for row in rows])
        sides = f"in a picture of {2 * SIDE}: {large}; of {SIDE // 2}: {small}"
        words = f"{words}; smallest vehicle that is seen {sides}".removeprefix("; ")
    return words
