"""The verdict of the controls on a model: whether it sees, reads and relates, why it errs, and its biases."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from statistics import NormalDist
from typing import Any

import numpy as np

from simtown.core.tables import Table
from simtown.training.shares import share

Row = Mapping[str, Any]
_example = itemgetter("example")
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
        tasks: the rows of each condition (:mod:`simtown.vlm.vlm_run`) by example, with those of
            :data:`simtown.vlm.controls.CONTROLS`, which may be of fewer examples.

    Returns:
        "sees", "reads", "looks" and "relates", shares of examples with their 95 % Wilson intervals, None
        where no control applies: it finds the vehicles that are there and no other; it gives all phrasings
        one answer and exchanged vehicles another; its answer turns with the picture where the right one does;
        it is right where it sees and reads. "errors": for each of REASONS its share of the "wrong" answers.
        "bias": see :func:`bias`.
    """
    of = {name: {n: [*own] for n, own in groupby(rows, _example)} for name, rows in tasks.items()}
    main = {number: rows[0] for number, rows in of["picture"].items() if number in of["no-picture"]}
    sees = {number: all(row["right"] for row in rows) for number, rows in of["exist"].items()}
    other = {n: [*of["phrasings"].get(n, ()), *of["exchanged"].get(n, ())] for n in main}
    reads = {n: all(_follows(main[n], row) for row in rows) for n, rows in other.items() if rows}
    fits = [row for n, row in main.items() if sees.get(n, True) and reads.get(n, True)]
    mirrored = ((row, *of["mirrored"].get(n, ())) for n, row in main.items())
    looks = [_follows(*pair) for pair in mirrored if len({row["gold"] for row in pair}) == 2]
    why = []
    for n, row in main.items():
        if not row["right"]:
            blind = of["no-picture"][n][0]["answer"]
            looked = blind != row["answer"]
            tests = (row["answer"] is not None, sees.get(n, True), reads.get(n, True), looked, False)
            why.append(next(name for name, passed in zip(REASONS, tests, strict=True) if not passed))
    return {
        "sees": share(list(sees.values())),
        "reads": share(list(reads.values())),
        "looks": share(looks),
        "relates": share([row["right"] for row in fits]),
        "errors": {name: why.count(name) / len(why) if why else 0.0 for name in REASONS},
        "wrong": len(why),
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
    told = [row for row in rows if row["answer"] in ("yes", "no")]
    if not told:
        return None
    truth, said = (np.array([row[name] == "yes" for row in told]) for name in ("gold", "answer"))
    rates = [(said[truth == gold].sum() + 0.5) / ((truth == gold).sum() + 1) for gold in (True, False)]
    hits, alarms = (NormalDist().inv_cdf(float(rate)) for rate in rates)
    sides = ((set(re.findall(r"\b(left|right)\b", row["question"])), row["answer"] == "yes") for row in told)
    left = [(named == {"left"}) == yes for named, yes in sides if len(named) == 1]
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
    rows: list[list[object]] = [
        [name, means, it["n"], it["accuracy"], f"{it['low']:.3f}-{it['high']:.3f}"]
        for name, means in meaning.items()
        if (it := found[name])
    ]
    if n := found["wrong"]:
        rows += [[f"error: {name}", means, n, found["errors"][name], ""] for name, means in REASONS.items()]
    if it := found["bias"]:
        ability = f"d' {it['sensitivity']:.2f}, criterion {it['criterion']:.2f}"
        rows.append(["says yes", ability, "", it["yes"], ""])
        if it["left"] == it["left"]:
            rows.append(["says left", "of questions about left or right", "", it["left"], ""])
    return Table(("control", "what it means", "n", "share", "(95 %)"), rows)


def _follows(row: Row, other: Row) -> bool:
    """Whether the answers differ as the right ones do."""
    return bool((other["answer"] == row["answer"]) == (other["gold"] == row["gold"]))
