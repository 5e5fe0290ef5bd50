"""The verdict of the controls on a model: whether it sees, reads and relates, why it errs, and its biases."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from statistics import NormalDist
from typing import Any

import numpy as np

from simtown.complexity.intervals import paired_difference, share
from simtown.core.tables import Table

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

#: What passes a test of the verdict.
MEANING = {
    "sees": "finds the vehicles that are there, and not another one",
    "reads": "one answer to all phrasings, another to exchanged vehicles",
    "looks": "the answer turns with a mirrored picture",
    "relates": "right where it sees, and reads as far as that is tested",
}
#: Verdicts: the interval lies above halfway between what a coin passes and all; above what a coin passes; not
#: above; and it is so wide that it holds both.
YES, PARTLY, NO, UNCLEAR = "yes", "in part", "no", "cannot be said"


def referee(tasks: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """The verdict on a model.

    A test of an example has a contrast: questions whose right answers differ. So a model that always says the
    same passes none, and no reply without an answer passes. `chance` is what the luckiest coin passes,
    whatever its bias.

    Args:
        tasks: the rows of each condition (:mod:`simtown.vlm.vlm_run`) by example, with those of
            :data:`simtown.vlm.controls.CONTROLS`, which may be of fewer examples.

    Returns:
        "sees", "reads", "looks" and "relates": shares of the examples with such a contrast, with their 95 %
        intervals, "chance" and a "verdict", or "n" 0. It finds the vehicles that are there and not another;
        it gives all phrasings one answer and exchanged vehicles another; its answer turns with a mirrored
        picture where the right one does; it is right where it sees, and reads as far as that is tested.
        "asked": the examples. "gain": the accuracy with the picture less that without. "errors": for each of
        REASONS its share of the "wrong" answers. "bias": see :func:`bias`.
    """
    of = {name: {n: [*own] for n, own in groupby(rows, _example)} for name, rows in tasks.items()}
    main = {number: rows[0] for number, rows in of["picture"].items() if number in of["no-picture"]}
    words = {n: [*of["phrasings"].get(n, ()), *of["exchanged"].get(n, ())] for n in main}
    sees = {n: all(row["right"] for row in rows) for n, rows in of["exist"].items()}
    reads = {n: all(_follows(main[n], row) for row in rows) for n, rows in words.items() if rows}
    looks = {n: all(_follows(main[n], row) for row in rows) for n, rows in of["mirrored"].items()}
    fits = {n: row["right"] for n, row in main.items() if sees.get(n, False) and reads.get(n, True)}
    luck = {
        "sees": {n: _luck(of["exist"][n]) for n in sees},
        "reads": {n: _luck([main[n], *words[n]], either=True) for n in reads},
        "looks": {n: 1 - main[n]["chance"] for n in looks if _has_contrast([main[n], *of["mirrored"][n]])},
        "relates": {n: main[n]["chance"] for n in fits},
    }
    passed = {"sees": sees, "reads": reads, "looks": looks, "relates": fits}
    why = []
    for n, row in main.items():
        if not row["right"]:
            looked = of["no-picture"][n][0]["answer"] != row["answer"]
            tests = (row["answer"] is not None, sees.get(n, True), reads.get(n, True), looked, False)
            why.append(next(name for name, passes in zip(REASONS, tests, strict=True) if not passes))
    right, blind = [row["right"] for row in main.values()], [of["no-picture"][n][0]["right"] for n in main]
    clusters = [row["cluster"] for row in main.values()]
    return {
        **{name: _test(passed[name], luck[name], main) for name in MEANING},
        "asked": len(main),
        "gain": paired_difference(right, blind, clusters),
        "errors": {name: why.count(name) / len(why) if why else 0.0 for name in REASONS},
        "wrong": len(why),
        "bias": bias([row for row in tasks["picture"] if row["type"] == "truth"]),
    }


def _test(passed: Mapping[int, bool], luck: Mapping[int, float], main: Mapping[int, Row]) -> dict[str, Any]:
    """The share of the examples in `luck` that pass a test, what a coin passes, and a verdict."""
    tested = [n for n in passed if luck.get(n)]
    found = share([passed[n] for n in tested], [main[n]["cluster"] for n in tested])
    if not found:
        return {"n": 0, "verdict": UNCLEAR}
    chance = float(np.mean([luck[n] for n in tested]))
    halfway = (1 + chance) / 2
    verdict = YES if found["low"] > halfway else PARTLY if found["low"] > chance else NO
    if verdict == NO and found["high"] >= halfway:
        verdict = UNCLEAR
    return {**found, "chance": chance, "verdict": verdict}


def _has_contrast(rows: Sequence[Row]) -> bool:
    return len({row["gold"] for row in rows}) > 1


def _luck(rows: Sequence[Row], either: bool = False) -> float:
    """The probability that a coin with the best bias gives all right answers to questions of yes or no; with
    `either`, that its answers differ as the right ones do. 0 if these do not differ.
    """
    if not _has_contrast(rows):
        return 0.0
    same = sum(row["gold"] == rows[0]["gold"] for row in rows)
    others, bias = len(rows) - same, np.linspace(0, 1, 101)
    p = bias**same * (1 - bias) ** others
    return float((p + either * p[::-1]).max())


def bias(rows: Sequence[Row]) -> dict[str, float | None] | None:
    """Ability and bias of answers of yes or no, by signal detection; None if there are none.

    Returns:
        "yes", the share of yes among the answers; "sensitivity" d', 0 for a model that cannot tell;
        "criterion", 0 without a bias, below 0 if it says yes too often (both with half an answer added to
        each cell, so that they are finite); "left", where a question names one side, the share of answers
        that say left, else None.
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
        "left": float(np.mean(left)) if left else None,
    }


def in_words(found: Mapping[str, Any]) -> str:
    """The verdict as a sentence, such as "It sees, reads in part and does not look"."""
    words = {YES: "{}s", PARTLY: "{}s in part", NO: "does not {}"}
    tests = {name.removesuffix("s"): found[name]["verdict"] for name in MEANING}
    known = [words[level].format(verb) for verb, level in tests.items() if level != UNCLEAR]
    unclear = [f"{verb}s" for verb, level in tests.items() if level == UNCLEAR]
    parts = [f"it {_listed(known)}"] if known else []
    parts += [f"these questions do not show whether it {_listed(unclear)}"] if unclear else []
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def verdict(found: Mapping[str, Any]) -> Table:
    """The verdict as a table."""
    rows: list[list[object]] = []
    for name, means in MEANING.items():
        it = found[name]
        numbers = [it["accuracy"], f"{it['low']:.3f}-{it['high']:.3f}", it["chance"]] if it["n"] else [""] * 3
        rows.append([name, means, it["verdict"], it["n"], *numbers])
    gain = found["gain"]
    ends = f"{gain['low']:+.3f} to {gain['high']:+.3f}"
    rows.append(
        ["gain", "accuracy with the picture less without", "", gain["n"], gain["difference"], ends, ""]
    )
    if n := found["wrong"]:
        errors = found["errors"]
        rows += [[f"error: {name}", means, "", n, errors[name], "", ""] for name, means in REASONS.items()]
    if it := found["bias"]:
        ability = f"d' {it['sensitivity']:.2f}, criterion {it['criterion']:.2f}"
        rows.append(["says yes", ability, "", "", it["yes"], "", ""])
        if it["left"] is not None:
            rows.append(["says left", "of questions about left or right", "", "", it["left"], "", ""])
    return Table(("control", "what it means", "verdict", "n", "share", "(95 %)", "chance"), rows)


def _follows(row: Row, other: Row) -> bool:
    """Whether both are answered, and the answers differ as the right ones do."""
    answers = row["answer"], other["answer"]
    return None not in answers and (answers[0] == answers[1]) == (other["gold"] == row["gold"])
