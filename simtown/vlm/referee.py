"""What the controls say of a model: whether it sees, reads and relates, why it errs, and its biases."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from simtown.core.tables import Table
from simtown.training.shares import share

Row = Mapping[str, Any]
#: What an error is due to, in the order in which it is looked for.
REASONS = {
    "no answer": "no answer was found in the reply",
    "does not see": "a vehicle that is there was not found, or one that is not there was",
    "does not read": "another phrasing changed the answer, or exchanged vehicles did not",
    "does not look": "the answer is the same without the picture",
    "does not relate": "none of these",
}


def referee(tasks: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """The verdict on a model.

    Args:
        tasks: the rows of each condition (:mod:`simtown.vlm.vlm_run`), with those of
            :data:`simtown.vlm.controls.CONTROLS`, which may be of fewer examples.

    Returns:
        "sees", "reads", "looks" and "relates", shares of examples with their 95 % Wilson intervals, None
        where no control applies: it finds the vehicles that are there and no other; it gives all phrasings
        one answer and exchanged vehicles another; its answer turns with the picture where the right one does;
        it is right where it sees and reads. "errors": for each of REASONS its share of the "wrong" answers.
        "bias": see :func:`bias`.
    """
    of = {name: _by_example(rows) for name, rows in tasks.items()}
    main = {number: rows[0] for number, rows in of["picture"].items() if number in of["no-picture"]}
    sees = {number: all(row["right"] for row in rows) for number, rows in of["exist"].items()}
    reads = {number: _reads(main[number], of, number) for number in main if _rereads(of, number)}
    fits = [main[n] for n in main if sees.get(n, True) and reads.get(n, True)]
    looks = [_follows(main[n], of["mirrored"][n][0]) for n in main if _turns(main[n], of["mirrored"].get(n))]
    wrong = [number for number, row in main.items() if not row["right"]]
    why = [_reason(main[n], sees.get(n, True), reads.get(n, True), of["no-picture"][n][0]) for n in wrong]
    return {
        "sees": _share(sees.values()),
        "reads": _share(reads.values()),
        "looks": _share(looks),
        "relates": _share(row["right"] for row in fits),
        "errors": {name: why.count(name) / len(why) if why else 0.0 for name in REASONS},
        "wrong": len(wrong),
        "bias": bias([row for row in tasks["picture"] if row["type"] == "truth"]),
    }


def bias(rows: Sequence[Row]) -> dict[str, float] | None:
    """Ability and bias of answers of yes or no, by signal detection; None if there are none.

    Returns:
        "yes", the share of yes among the answers; "sensitivity" d', 0 for a model that cannot tell;
        "criterion", 0 without a bias, below 0 if it says yes too often (both with half an answer added to
        each cell, so that they are finite); "left", where a question names one side, the share of answers
        that say left.
    """
    told = [(row["gold"] == "yes", row["answer"] == "yes") for row in rows if row["answer"] in ("yes", "no")]
    if not told:
        return None
    truth, said = np.array(told).T
    rates = [(said[truth == gold].sum() + 0.5) / ((truth == gold).sum() + 1) for gold in (True, False)]
    hits, alarms = (NormalDist().inv_cdf(float(rate)) for rate in rates)
    sides = [
        (_side(row["question"]), row["answer"] == "yes") for row in rows if row["answer"] in ("yes", "no")
    ]
    left = [(side == "left") == yes for side, yes in sides if side]
    return {
        "yes": float(said.mean()),
        "sensitivity": hits - alarms,
        "criterion": -(hits + alarms) / 2,
        "left": float(np.mean(left)) if left else float("nan"),
    }


def verdict(found: Mapping[str, Any]) -> Table:
    """The verdict as a table."""
    meaning = {
        "sees": "finds the vehicles that are there, and no other",
        "reads": "one answer to all phrasings, another to exchanged vehicles",
        "looks": "the answer turns with a mirrored picture",
        "relates": "right where it sees and reads",
    }
    rows: list[list[object]] = []
    for name, means in meaning.items():
        if it := found[name]:
            rows.append([name, means, it["n"], it["accuracy"], f"{it['low']:.3f}-{it['high']:.3f}"])
    for name, means in REASONS.items():
        if found["wrong"]:
            rows.append([f"error: {name}", means, found["wrong"], found["errors"][name], ""])
    if it := found["bias"]:
        rows.append(
            ["says yes", f"d' {it['sensitivity']:.2f}, criterion {it['criterion']:.2f}", "", it["yes"], ""]
        )
        if it["left"] == it["left"]:
            rows.append(["says left", "of questions about left or right", "", it["left"], ""])
    return Table(("control", "what it means", "n", "share", "(95 %)"), rows)


def _by_example(rows: Iterable[Row]) -> dict[int, list[Row]]:
    out: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        out[row["example"]].append(row)
    return dict(out)


def _rereads(of: Mapping[str, Mapping[int, Any]], number: int) -> bool:
    return number in of["phrasings"] or number in of["exchanged"]


def _reads(row: Row, of: Mapping[str, Mapping[int, Sequence[Row]]], number: int) -> bool:
    """Whether all phrasings have one answer, and exchanged vehicles another if theirs is another."""
    same = all(other["answer"] == row["answer"] for other in of["phrasings"].get(number, ()))
    return same and all(_follows(row, other) for other in of["exchanged"].get(number, ()))


def _follows(row: Row, other: Row) -> bool:
    """Whether the answers differ as the right ones do."""
    return bool((other["answer"] == row["answer"]) == (other["gold"] == row["gold"]))


def _turns(row: Row, mirrored: Sequence[Row] | None) -> bool:
    return bool(mirrored) and mirrored[0]["gold"] != row["gold"]  # type: ignore[index]


def _reason(row: Row, sees: bool, reads: bool, blind: Row) -> str:
    if row["answer"] is None:
        return "no answer"
    if not sees:
        return "does not see"
    if not reads:
        return "does not read"
    return "does not look" if blind["answer"] == row["answer"] else "does not relate"


def _share(right: Iterable[bool]) -> dict[str, float] | None:
    return share(np.array(list(right), dtype=bool))


def _side(question: str) -> str | None:
    """The only side that a question names."""
    sides = set(re.findall(r"\b(left|right)\b", question))
    return sides.pop() if len(sides) == 1 else None
