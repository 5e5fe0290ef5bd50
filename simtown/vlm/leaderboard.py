"""Models that answered the same questions, compared: a leaderboard, and paired differences.

Everything is made of the rows of :mod:`simtown.vlm.vlm_run`; other rows are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from simtown.complexity.intervals import ENOUGH, TOO_FEW, holm, paired_difference, share
from simtown.core.files import save_text
from simtown.core.table_files import FLAG, INTEGER, TEXT
from simtown.core.tables import Table
from simtown.core.untrusted import markdown
from simtown.probes.report import Results
from simtown.vlm.controls import CONTROLS
from simtown.vlm.referee import MEANING
from simtown.vlm.vlm_run import RECORD
from simtown.vlm.vlm_settings import PEOPLE, SHOWS

#: What makes two rows the same question, and what else is compared.
_SAME = ("key", "type", "gold")
_COLUMNS = {
    **dict.fromkeys((*_SAME, "family", "relation", "answer"), TEXT),
    **dict.fromkeys(("right", "unparsed", "refused"), FLAG),
    "cluster": INTEGER,
}
_ALL = "all"
_NOTE = (
    "(95 %): interval, in which questions about a picture, or a group of twins, count together; of a"
    " difference it is paired. p: McNemar's exact test of the questions that one model alone has right, with"
    " clusters; of the parts of a condition together, by Holm's correction. kappa: Cohen's, how far their"
    " answers agree beyond chance."
)
_NOBODY = "There is no row of people: nobody's answers are among these (simtown evaluate people DATA asks)."


@dataclass(frozen=True, eq=False)
class Answered:
    """A model's rows.

    Attributes:
        name: of the model; of its directory, if two have one name.
        results: its directory.
        rows: by condition (n,) arrays by column.
        is_whole: whether the rows are all that the directory has.
    """

    name: str
    results: Results
    rows: dict[str, dict[str, np.ndarray]]
    is_whole: bool = True

    @property
    def is_person(self) -> bool:
        """Whether a person answered."""
        return self.results.model.partition(":")[0] == PEOPLE

    def only(self, keys: np.ndarray) -> Answered:
        """The rows of some questions with their pictures."""
        picture = self.rows["picture"]
        which = np.isin(picture["key"], keys)
        own = {name: column[which] for name, column in picture.items()}
        return replace(self, rows={"picture": own}, is_whole=False)


def read(directories: Sequence[Path]) -> list[Answered]:
    """The rows of several directories of results; beside a person's, those of the person's questions alone.

    Raises:
        ValueError: they do not hold answers to the same questions.
        FileNotFoundError, DamagedError, ForeignDirectoryError: one is not a directory of results.
    """
    every = [Results(directory, RECORD.load(directory)) for directory in directories]
    names = [results.model for results in every]
    found = []
    for results, directory in zip(every, directories, strict=True):
        name = results.model if names.count(results.model) == 1 else str(directory)
        rows = {
            condition: {key: np.array(column) for key, column in results.rows(condition, _COLUMNS).items()}
            for condition in (*SHOWS, *CONTROLS)
            if condition in results.tasks
        }
        if "picture" not in rows:
            raise ValueError(f"{directory} has no answers to pictures: ask again with --show picture")
        found.append(Answered(name, results, rows))
    if people := [own for own in found if own.is_person]:
        found = [own.only(people[0].rows["picture"]["key"]) for own in found]
    first = found[0]
    for other in found[1:]:
        if problem := _difference_of_questions(first, other):
            remedy = "compare models that were asked with one data set, --split, --examples and --controls"
            raise ValueError(f"{other.results.path} {problem} {first.results.path}: {remedy}")
    return found


def _difference_of_questions(one: Answered, other: Answered) -> str:
    """Why two models did not answer the same questions; "" if they did."""
    if len({answered.results.content["settings"]["seal"] for answered in (one, other)}) > 1:
        return "is about another data set than"
    if one.rows.keys() != other.rows.keys():
        return "has other conditions than"
    for condition, rows in one.rows.items():
        if any(not np.array_equal(rows[name], other.rows[condition][name]) for name in _SAME):
            return f"has other questions ({condition}) than"
    return ""


def leaderboard(models: Sequence[Answered]) -> Table:
    """A row for each model, the best first."""
    columns = ("model", "accuracy", "(95 %)", "unparsed", "refused", "pairs", "groups", *MEANING)
    rows: list[list[object]] = []
    for model in models:
        content, task = model.results.content if model.is_whole else {}, model.rows["picture"]
        own = share(task["right"], task["cluster"]) or {}
        twins, verdict = content.get("twins") or {}, content.get("verdict") or {}
        groups = [twins[name]["accuracy"] if twins.get(name) else "" for name in ("pair", "group")]
        levels = [(verdict.get(name) or {}).get("verdict", "") for name in MEANING]
        interval = f"{own['low']:.3f}-{own['high']:.3f}"
        shares = [own["accuracy"], interval, *(float(task[name].mean()) for name in ("unparsed", "refused"))]
        rows.append([model.name, *shares, *groups, *levels])
    return Table(columns, sorted(rows, key=lambda row: -float(str(row[1]))))


def differences(models: Sequence[Answered]) -> list[dict[str, Any]]:
    """A record for each two models, condition and part of the questions."""
    records = []
    for one, other in combinations(models, 2):
        for condition, rows in one.rows.items():
            own: list[dict[str, Any]] = []
            for part, which in _parts(one, condition).items():
                right, others = (model.rows[condition]["right"][which] for model in (one, other))
                found = paired_difference(right, others, rows["cluster"][which])
                answers = (model.rows[condition]["answer"][which] for model in (one, other))
                names: dict[str, Any] = {
                    "model": one.name,
                    "less": other.name,
                    "condition": condition,
                    "questions": part,
                }
                own.append(names | found | {"kappa": kappa(*answers)})
            for record, p in zip(own[1:], holm([record["p"] for record in own[1:]]), strict=True):
                record["p"] = float(p)
            records += own
    return records


def kappa(answers: np.ndarray, others: np.ndarray) -> float:
    """Cohen's kappa of (n,) answers of two: 1 if all are the same, 0 by chance; NaN if both gave only one.

    No answer (None) counts as an answer of its own.
    """
    _, place = np.unique([str(answer) for answer in (*answers, *others)], return_inverse=True)
    one, other = np.split(place, 2)
    shares = [np.bincount(own, minlength=len(place)) / len(own) for own in (one, other)]
    by_chance = float(shares[0] @ shares[1])
    return float((np.mean(one == other) - by_chance) / (1 - by_chance)) if by_chance < 1 else float("nan")


def _parts(model: Answered, condition: str) -> dict[str, np.ndarray]:
    """(n,) bool for all questions of a condition, and for each family or relation if there are several."""
    rows = model.rows[condition]
    names = np.where(rows["relation"] == "", rows["family"], rows["relation"])
    parts = {_ALL: np.ones(len(names), dtype=bool)}
    several = np.unique(names)
    return parts | {str(name): names == name for name in several if len(several) > 1}


def sentences(records: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A sentence for each two models, about all questions with their pictures."""
    for it in records:
        if (it["condition"], it["questions"]) != ("picture", _ALL):
            continue
        better = it["model"] if it["low"] > 0 else it["less"] if it["high"] < 0 else ""
        verdict = f"{better} is better" if better else "neither is measurably better"
        interval = f"({it['low']:+.3f} to {it['high']:+.3f})"
        yield (
            f"{it['model']} less {it['less']}: {it['difference']:+.3f} {interval}, "
            f"alone right {it['one']:,} and {it['other']:,} of {it['n']:,} times (p {it['p']:.2g}), "
            f"kappa of their answers {it['kappa']:.3f}: {verdict}"
        )


def write(models: Sequence[Answered], directory: Path) -> list[str]:
    """Write leaderboard.md, .csv and .tex, and comparison.csv; returns sentences."""
    board, records = leaderboard(models), differences(models)
    lines, compared = list(sentences(records)), Table.of_records(records)
    if not any(model.is_person for model in models):
        lines.append(_NOBODY)
    if any(record["clusters"] < ENOUGH for record in records):
        lines.append(TOO_FEW)
    page = [
        "# Leaderboard", board.markdown(1), "\n".join(f"- {markdown(line)}" for line in lines),
        "## Differences", compared.markdown(4), _NOTE,
    ]  # fmt: skip
    texts = {"leaderboard.md": "\n\n".join(page) + "\n", "leaderboard.csv": board.csv()}
    texts |= {"leaderboard.tex": board.latex("l" + "r" * (len(board.columns) - 1))}
    for name, text in {**texts, "comparison.csv": compared.csv()}.items():
        save_text(directory / name, text)
    return lines
