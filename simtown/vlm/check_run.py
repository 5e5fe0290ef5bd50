"""Asking a model the battery of ``simtown check``, harder and more only where that tells."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import msgspec
import numpy as np
from scipy import special

from simtown.complexity.intervals import holm, paired_difference
from simtown.core.files import as_json
from simtown.core.progress import Bars, no_bars
from simtown.core.version import __version__
from simtown.probes.model_names import without_folders
from simtown.vlm.check_probes import PROBES, Pair, Probe, Stage
from simtown.vlm.check_verdicts import (
    CANNOT_TELL,
    DELIVERED,
    LOOKS,
    NOT_DELIVERED,
    PairRow,
    Verdict,
    answer_of,
    is_right,
    judge,
    smallest_seen,
)
from simtown.vlm.cost_estimate import RULES
from simtown.vlm.models import open_model
from simtown.vlm.vision_model import Query, Said, VisionModel, normalise
from simtown.vlm.vlm_settings import CheckSettings

#: Pixels of a side of a picture.
SIDE = 448
#: Questions that are asked again, one at a time.
REPEATED = 8
#: Lengths of the smallest vehicles: the first, and by how much it changes from look to look; and their ends.
_FIRST, _STEP, _LEAST, _MOST = 24, 1.6, 4, 64
#: Beginning of the key of a question that is asked again.
_AGAIN = "again-"
#: Exit codes of the command.
ALL_WELL, SOMETHING_LOST, NOTHING_TOLD = 0, 1, 3


@dataclass(eq=False)
class Battery:
    """What a model was asked and replied.

    Attributes:
        model: the model.
        most: questions that may be asked.
        queries: by key.
        said: replies by key.
        pairs: by probe the pairs of the probe and its control, with the length of the vehicle.
        verdicts: by probe.
    """

    model: VisionModel
    most: int
    queries: dict[str, Query] = field(default_factory=dict)
    said: dict[str, Said] = field(default_factory=dict)
    pairs: dict[str, list[tuple[Pair, Pair, int]]] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.verdicts = {name: Verdict(probe=name, about=probe.about) for name, probe in PROBES.items()}

    def ask(self, queries: Iterable[Query], bar: Any) -> None:
        """Ask, and keep what is said. Raises UnreachableError if the model stops answering."""
        for query, said in self.model.ask(queries):
            self.queries[query.key], self.said[query.key] = query, normalise(said, query)
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
            first, second = (is_right(query, self.said[query.key]) for query in pair)
            return first, second

        return {
            name: [PairRow(outcome(test), outcome(control), pixels) for test, control, pixels in pairs]
            for name, pairs in self.pairs.items()
        }

    def judge(self) -> dict[str, list[PairRow]]:
        """Judge all probes by what is there; gives the rows."""
        rows = self.rows()
        judge([*self.verdicts.values()], rows)
        return rows


def run_battery(model: VisionModel, most: int, bar: Any = lambda count: None) -> Battery:
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
        still_open = {
            name: _next_length(pixels, rows[name][done:]) if PROBES[name].is_adaptive else pixels
            for name, pixels in still_open.items()
            if _is_worth_more(battery, name, count)
        }
        done = count
        if not still_open or battery.verdicts["picture"].verdict == NOT_DELIVERED:
            break
    _ask_again(battery, bar)
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


def _ask_again(battery: Battery, bar: Any) -> None:
    """Ask some questions again, each alone: before, they went out with others."""
    for key in sorted(key for key in battery.said if key.startswith("sight:"))[:REPEATED]:
        battery.ask([replace(battery.queries[key], key=f"{_AGAIN}{key}")], bar)


def finish(battery: Battery) -> None:
    """Judge what needs no pairs, and say what was found."""
    verdicts, rows = battery.verdicts, battery.judge()
    verdicts["repeat"] = _repeat(battery)
    verdicts["tokens"] = _tokens(battery)
    for name, probe in PROBES.items():
        verdicts[name].found = _found(battery, verdicts[name], probe, rows.get(name, []))


def _repeat(battery: Battery) -> Verdict:
    """Whether the same question gets the same reply, with others and alone."""
    own = Verdict(probe="repeat", about="the same reply to the same question")
    again = [key for key in battery.said if key.startswith(_AGAIN)]
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
        for name, column in (("here", "test"), (f"in one of {SIDE // 2}", "control")):
            seen = smallest_seen(*zip(*((row.pixels, getattr(row, column)[0]) for row in rows), strict=True))
            words += f"{'; ' if words else ''}smallest {name} {seen.pixels:.0f} px ({seen.low:.0f} to {seen.high:.0f})"
    return words


def compare(first: Battery, second: Battery) -> list[dict[str, Any]]:
    """Replies of two models to the same questions, by probe.

    Returns:
        A record for each probe: "same", the share of its questions with one answer; "difference" of the
        shares that are right, first less second, "low", "high" and "p" (Holm's correction), paired by
        question and clustered by pair; "logprob", the mean distance of the answers' log-probabilities, None
        if a model does not give them.
    """
    records = []
    for name, pairs in first.pairs.items():
        queries = [query for test, *_ in pairs for query in test]
        replies = [(query, first.said[query.key], second.said[query.key]) for query in queries]
        right = np.array([[is_right(query, said) for said in both] for query, *both in replies])
        found = paired_difference(right[:, 0], right[:, 1], np.arange(len(queries)) // 2)
        same = np.mean([answer_of(query, one) == answer_of(query, other) for query, one, other in replies])
        scored = [(one.scores, other.scores) for _, one, other in replies if one.scores and other.scores]
        logprob = (
            np.mean([np.abs(np.subtract(*map(_logprobs, both))).mean() for both in scored])
            if scored
            else None
        )
        kept = {key: found[key] for key in ("difference", "low", "high", "n", "p")}
        records.append({"probe": name, "same": same, **kept, "logprob": logprob})
    for record, p in zip(records, holm([record["p"] for record in records]), strict=True):
        record["p"] = p
    return records


def _logprobs(scores: Sequence[float]) -> np.ndarray:
    """Log-probabilities among the answers."""
    values = np.asarray(scores)
    return np.asarray(values - special.logsumexp(values))


@dataclass(frozen=True, eq=False)
class CheckReport:
    """What a check found.

    Attributes:
        model: its name.
        battery: what it was asked and replied.
        against: the name of another model; "" if there is none.
        other: what that was asked and replied.
        differences: of the two (:func:`compare`).
    """

    model: str
    battery: Battery
    against: str = ""
    other: Battery | None = None
    differences: Sequence[Mapping[str, Any]] = ()

    @property
    def batteries(self) -> dict[str, Battery]:
        """By model what it was asked."""
        return {self.model: self.battery} | ({self.against: self.other} if self.other else {})

    @property
    def exit_code(self) -> int:
        """ALL_WELL, SOMETHING_LOST if something is not delivered, or NOTHING_TOLD."""
        found = {own.verdict for battery in self.batteries.values() for own in battery.verdicts.values()}
        if NOT_DELIVERED in found:
            return SOMETHING_LOST
        paired = {self.battery.verdicts[name].verdict for name in PROBES}
        return ALL_WELL if DELIVERED in paired else NOTHING_TOLD

    def headline(self) -> str:
        """The result in a sentence."""
        names = [
            own.probe
            for battery in self.batteries.values()
            for own in battery.verdicts.values()
            if own.verdict == NOT_DELIVERED
        ]
        if names:
            return f"Not delivered: {', '.join(dict.fromkeys(names))}."
        paired = [self.battery.verdicts[name].verdict for name in PROBES]
        if DELIVERED not in paired:
            return "Nothing could be told: the model solves too few of the pairs."
        return (
            f"{paired.count(DELIVERED)} of {len(paired)} probes are delivered, and nothing is named as lost."
        )

    def record(self) -> dict[str, Any]:
        """The content of the JSON file."""
        checked = {
            without_folders(name): {
                "questions": len(battery.said),
                "verdicts": [msgspec.structs.asdict(own) for own in battery.verdicts.values()],
                "notes": notes(battery),
            }
            for name, battery in self.batteries.items()
        }
        about = {"version": __version__, "exit_code": self.exit_code, "headline": self.headline()}
        return dict(as_json({**about, "models": checked, "differences": [*self.differences]}))


def notes(battery: Battery) -> list[str]:
    """Remarks about the replies."""
    every = [(battery.queries[key], said) for key, said in battery.said.items()]
    unread = sum(answer_of(query, said) is None for query, said in every if not said.refused)
    cut = sum(said.finish.lower() in ("length", "max_tokens") for _, said in every)
    thinks = sum(bool(said.reasoning) or "<think" in said.text for _, said in every)
    remarks = {
        f"{unread} replies have no answer that can be read": unread,
        f"{cut} replies were cut off: give more --max-tokens": cut,
        f"{thinks} replies think before they answer": thinks,
    }
    return [words for words, count in remarks.items() if count]


def cost_lines(settings: CheckSettings) -> Iterator[str]:
    """Say beforehand what a check costs at most: questions, pictures, and their tokens."""
    first = [
        query
        for probe in PROBES.values()
        for pair in (probe.test(Stage(0, SIDE)), probe.control(Stage(0, SIDE)))
        for query in pair
    ]
    shapes = [picture.shape for query in {own.key: own for own in first}.values() for turn in query.messages
              for picture in turn.pictures]  # fmt: skip
    share = settings.queries / len({query.key for query in first})
    yield f"At most {settings.queries} questions with about {len(shapes) * share:.0f} pictures."
    rules = {
        name: share * sum(rule(width, height) for height, width, _ in shapes) for name, rule in RULES.items()
    }
    listed = ", ".join(f"{name} {tokens:,.0f}" for name, tokens in rules.items())
    yield f"Tokens of the pictures at most, about: {listed}."


def check_model(
    model: str,
    settings: CheckSettings,
    against: str = "",
    device: str = "cpu",
    allow_model: Collection[str] = (),
    bars: Bars = no_bars,
) -> CheckReport:
    """Ask a model the battery, and another one, if there is one, the same questions.

    Args:
        model: its name (:func:`simtown.vlm.models.open_model`).
        settings: how.
        against: another model's name, such as the same one behind another server.
        device: where a model of hf: or clip: runs.
        allow_model: functions of python: whose code may be run.
        bars: opens a progress bar.

    Raises:
        SettingsError: a setting is impossible, or a model cannot be opened.
        UnreachableError: a model stopped answering.
    """
    opened = [open_model(name, settings.asking, device, allow_model) for name in (model, against) if name]
    battery = run_battery(opened[0], settings.queries, bars(f"check {model}", settings.queries))
    if not against:
        return CheckReport(model, battery)
    other = Battery(opened[1], settings.queries, pairs=battery.pairs)
    bar = bars(f"check {against}", len(battery.said))
    other.ask([query for key, query in battery.queries.items() if not key.startswith(_AGAIN)], bar)
    other.judge()
    _ask_again(other, bar)
    finish(other)
    return CheckReport(model, battery, against, other, compare(battery, other))
