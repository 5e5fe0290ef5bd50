"""Checking the path to a model: one battery, or two of the same questions, and what they found."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from scipy import special

from simtown.complexity.intervals import holm, paired_difference
from simtown.core.files import as_json
from simtown.core.progress import Bars, no_bars
from simtown.core.version import __version__
from simtown.language.words.replies import read_reply
from simtown.probes.model_names import without_folders
from simtown.vlm.check_battery import SIDE, Battery, ask_battery
from simtown.vlm.check_probes import PROBES, EmptyStreet
from simtown.vlm.check_verdicts import DELIVERED, NOT_DELIVERED
from simtown.vlm.cost_estimate import RULES
from simtown.vlm.models import open_model
from simtown.vlm.vision_model import Query, Said
from simtown.vlm.vlm_settings import CheckSettings

#: Exit codes of the command.
ALL_WELL, SOMETHING_LOST, NOTHING_TOLD = 0, 1, 3


def compare(first: Battery, second: Battery) -> list[dict[str, Any]]:
    """Replies of two models to the same questions, by probe.

    Returns:
        A record for each probe: "same", the share of questions with one answer or reply; "difference" of the
        shares that are right, first less second, "low", "high" and "p" (Holm's correction), paired by
        question and clustered by pair; "logprob", the mean distance of the answers' log-probabilities, None
        if a model does not give them.
    """
    records: list[dict[str, Any]] = []
    for name, pairs in first.pairs.items():
        queries = [query for test, *_ in pairs for query in test]
        replies = [(query, first.said[query.key], second.said[query.key]) for query in queries]
        right, others = (
            [battery.right.get(query.key, False) for query in queries] for battery in (first, second)
        )
        found = paired_difference(right, others, np.arange(len(queries)) // 2)
        same = np.mean([_reply(query, one) == _reply(query, other) for query, one, other in replies])
        scored = [(one.scores, other.scores) for _, one, other in replies if one.scores and other.scores]
        apart = [np.abs(np.subtract(*special.log_softmax(both, axis=1))).mean() for both in scored]
        kept = {key: found[key] for key in ("difference", "low", "high", "n", "p")}
        logprob = np.mean(apart) if apart else None
        records.append({"probe": name, "same": same, **kept, "logprob": logprob})
    for record, p in zip(records, holm([record["p"] for record in records]), strict=True):
        record["p"] = p
    return records


def _answer(query: Query, said: Said) -> str | None:
    return read_reply(said.text, query.gold.type, query.gold.choices).answer


def _reply(query: Query, said: Said) -> str:
    """The answer of a reply, or the whole reply if it gives none."""
    return _answer(query, said) or said.text


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
    def lost(self) -> list[str]:
        """The probes of which something is not delivered."""
        every = [own for battery in self.batteries.values() for own in battery.verdicts.values()]
        return [*dict.fromkeys(own.probe for own in every if own.verdict == NOT_DELIVERED)]

    @property
    def delivered(self) -> int:
        """How many probes of pairs are delivered."""
        return sum(self.battery.verdicts[name].verdict == DELIVERED for name in PROBES)

    @property
    def exit_code(self) -> int:
        """ALL_WELL, SOMETHING_LOST if something is not delivered, or NOTHING_TOLD."""
        if self.lost:
            return SOMETHING_LOST
        return ALL_WELL if self.delivered else NOTHING_TOLD

    def headline(self) -> str:
        """The result in a sentence, and where two models differ."""
        words = {
            ALL_WELL: f"Delivered: {self.delivered} of {len(PROBES)} probes; nothing is named as lost.",
            SOMETHING_LOST: f"Not delivered: {', '.join(self.lost)}.",
            NOTHING_TOLD: "Nothing could be told: the model solves too few of the pairs.",
        }[self.exit_code]
        differing = ", ".join(record["probe"] for record in self.differences if record["p"] < 0.05)
        return f"{words} The two differ: {differing}." if differing else words

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
    every = battery.said.values()
    unread = sum(
        not said.refused and _answer(battery.queries[key], said) is None for key, said in battery.said.items()
    )
    cut = sum(said.finish.lower() in ("length", "max_tokens") for said in every)
    thinks = sum(bool(said.reasoning) or "<think" in said.text for said in every)
    remarks = {
        f"{unread} replies have no answer that can be read": unread,
        f"{cut} replies were cut off: give more --max-tokens": cut,
        f"{thinks} replies think before they answer": thinks,
    }
    return [words for words, count in remarks.items() if count]


def cost_lines(settings: CheckSettings) -> Iterator[str]:
    """Say beforehand what a check costs at most: questions, pictures, and their tokens."""
    first = {
        query.key: query
        for probe in PROBES.values()
        for make in (probe.test, probe.control)
        for query in make(EmptyStreet(0, SIDE))
    }
    turns = [turn for query in first.values() for turn in query.messages]
    shapes = [picture.shape for turn in turns for picture in turn.pictures]
    share = settings.queries / len(first)
    yield f"At most {settings.queries} questions with about {len(shapes) * share:.0f} pictures."
    tokens = [
        f"{name} {share * sum(rule(width, height) for height, width, _ in shapes):,.0f}"
        for name, rule in RULES.items()
    ]
    yield f"Tokens of the pictures at most, about: {', '.join(tokens)}."


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
    battery = ask_battery(opened[0], settings.queries, bars(f"check {model}", settings.queries))
    if not against:
        return CheckReport(model, battery)
    other = ask_battery(opened[1], settings.queries, bars(f"check {against}", settings.queries), battery)
    return CheckReport(model, battery, against, other, compare(battery, other))
