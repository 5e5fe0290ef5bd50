"""The scorer of replies in a harness; exports carry a copy, which needs nothing but Python."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from simtown.language.words.replies import Gold, read_reply, score_reply
from simtown.language.words.reply_words import CANNOT_TELL


def answers_beside(file: str) -> dict[str, Any]:
    """By type of question, its "choices" and spoken "names", in the export that a file is of."""
    answers: dict[str, Any] = json.loads(Path(file).with_name("answers.json").read_text("utf-8"))
    return answers


def score(reply: str, item: Mapping[str, Any], answers: Mapping[str, Any]) -> dict[str, Any]:
    """The score of a reply to a question.

    Returns:
        "accuracy" from 0 to 1; "answer", None for a reply that gives none or several, or says "I am not sure"
        where nobody may answer so; the "pair" of twins, which are asked the same question, and their "group".
    """
    known, names = tuple(answers[item["type"]]["choices"]), answers[item["type"]]["names"]
    gold = Gold(item["type"], item["answer"], known, item["tolerance"], item["number"])
    answer = read_reply(reply, gold.type, known, names).answer
    answer = None if answer == CANNOT_TELL and answer not in known else answer
    pair, group = (item["group"], item["question"]), item["group"]
    return {"accuracy": score_reply(reply, gold, names), "answer": answer, "pair": pair, "group": group}


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The accuracy, and the share of unparsed replies, which count as wrong.

    Of twins and pairs of sequences also the share of questions that are right in both ("pair"); of twins that
    of groups of two pictures and several questions in which all is right ("group").
    """
    shares = {
        "accuracy": sum(row["accuracy"] for row in rows) / len(rows),
        "unparsed": sum(row["answer"] is None for row in rows) / len(rows),
    }
    for name, least in {"pair": 2, "group": 4}.items() if rows[0]["group"] is not None else ():
        together: dict[Any, list[float]] = {}
        for row in rows:
            together.setdefault(row[name], []).append(row["accuracy"])
        size = max(least, *map(len, together.values()))
        complete = [min(accuracies) for accuracies in together.values() if len(accuracies) == size]
        if complete:
            shares[name] = sum(complete) / len(complete)
    return shares
