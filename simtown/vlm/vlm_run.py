"""Asking a model every question of a split under every condition, into a directory of results.

``summary.json``, ``.csv`` and ``.md`` hold accuracies with their intervals; ``CONDITION.parquet`` a row a
question. ``answers.jsonl`` is what the model said so far, a line an answer: the same command asks what it
lacks, so a run that was killed loses nothing and asks nothing twice.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from simtown.core.files import as_json, save_text
from simtown.core.options import SettingsError, check, recorded
from simtown.core.runs import RunRecord
from simtown.core.tables import Table
from simtown.core.untrusted import markdown
from simtown.core.version import __version__
from simtown.datasets.groups import group_accuracies
from simtown.datasets.manifests import SEAL
from simtown.datasets.reader import Dataset
from simtown.language.nouns import spoken_names
from simtown.language.replies import read_reply, score_reply
from simtown.probes.bars import Bars, no_bars
from simtown.probes.model_names import without_folders
from simtown.probes.report import SCHEMA, SUMMARY, Results, pages, write_rows
from simtown.training.shares import share
from simtown.vlm import thresholds
from simtown.vlm.conditions import CONDITIONS, AskedExample, AskedSplit, Condition
from simtown.vlm.controls import CONTROLS
from simtown.vlm.models import open_model
from simtown.vlm.referee import referee, verdict
from simtown.vlm.vision_model import Query, Said
from simtown.vlm.vlm_settings import VlmSettings

#: What the model said so far.
ANSWERS_FILE = "answers.jsonl"
COMMAND = "simtown evaluate"
#: A row of a condition's Parquet file.
Row = dict[str, Any]


def record(conditions: Collection[str]) -> RunRecord:
    """The record of a directory of results."""
    owned = {
        *(f"thresholds.{kind}" for kind in ("csv", "md", "png")),
        SUMMARY,
        "summary.csv",
        "summary.md",
        "verdict.csv",
        ANSWERS_FILE,
        *(f"{name}.parquet" for name in conditions),
    }
    return RunRecord(SUMMARY, COMMAND, COMMAND, frozenset(owned), SCHEMA)


def evaluate_model(
    model: str,
    dataset: Dataset,
    settings: VlmSettings,
    out: Path,
    device: str = "cpu",
    allow_model: Collection[str] = (),
    bars: Bars = no_bars,
) -> Results:
    """Ask a model what the directory `out` lacks, and write everything.

    Args:
        model: its name (:func:`simtown.vlm.models.open_model`).
        dataset: whose split is asked about.
        settings: how.
        out: the directory, made if need be.
        device: where a model of hf: or clip: runs.
        allow_model: functions of python: whose code may be run.
        bars: opens a progress bar.

    Raises:
        SettingsError: a setting is impossible, or the model cannot be opened.
        UnreachableError: the model stopped answering; the same call goes on where it stopped.
        ForeignDirectoryError: the directory holds something else, or results with other settings or data.
    """
    check(settings)
    asked = AskedSplit(dataset, settings.split)
    count = min(len(asked), settings.examples or len(asked))
    if not count:
        raise SettingsError(f"of {dataset.name} has no examples: choose another", "split")
    opened = open_model(model, settings, device, allow_model)
    kept = recorded(settings) | {"model": without_folders(model), "weights": opened.identity}
    kept |= {"data": dataset.name, "seal": dataset.manifest[SEAL]}
    fresh = {"version": __version__, "settings": kept, "tasks": {}}
    counts = dict.fromkeys(CONDITIONS, count) | dict.fromkeys(CONTROLS, min(count, settings.controls))
    conditions = {name: own for name, own in (CONDITIONS | CONTROLS).items() if counts[name]}
    results_record = record(counts)
    with results_record.opened(out, fresh) as content:
        answers = read_answers(out / ANSWERS_FILE)
        asks = (
            len(conditions[name](asked[i]))
            for name in CONTROLS
            if name in conditions
            for i in range(counts[name])
        )
        progress = bars(f"evaluate {model}", count + sum(asks))
        progress(sum(name.partition("/")[0] in conditions for name in answers))
        with open(out / ANSWERS_FILE, "a", encoding="utf-8") as file:
            for query, said in opened.ask(_missing(asked, counts, conditions, answers)):
                answers[query.key] = said
                _append(file, query.key, said)
                progress(1)
        tasks: dict[str, list[Row]] = {}
        for name, condition in conditions.items():
            tasks[name] = rows = [
                row for i in range(counts[name]) for row in _rows(asked[i], name, condition, answers)
            ]
            if rows:
                write_rows(out / f"{name}.parquet", {key: [row[key] for row in rows] for key in rows[0]})
                content["tasks"][name] = as_json(summary(rows, settings.price))
        content["verdict"] = as_json(referee(tasks)) if settings.controls else None
        content["twins"] = twins(asked, tasks["picture"])
        results_record.save(out, content)
        results = Results(out, content)
        written = pages(results, table(results), _notes(content), text_columns=2)
        if content["verdict"]:
            written["verdict.csv"] = (judged := verdict(content["verdict"])).csv()
            written["summary.md"] += f"\n{judged.markdown(2)}\n"
        found = thresholds.find([thresholds.AnsweredQuestions.of_results(results)])
        written["summary.md"] += "".join(f"\n- {markdown(line)}" for line in thresholds.write(found, out))
        for name, text in written.items():
            save_text(out / name, text)
    return results


def _missing(
    asked: AskedSplit,
    counts: Mapping[str, int],
    conditions: Mapping[str, Condition],
    answers: Collection[str],
) -> Iterator[Query]:
    """The queries that have no answer yet, condition by condition."""
    for name, condition in conditions.items():
        for i in range(counts[name]):
            for query in _named(asked[i], name, condition):
                if query.key not in answers:
                    yield query


def _named(example: AskedExample, name: str, condition: Condition) -> list[Query]:
    """The queries of a condition, whose keys begin with its name."""
    return [replace(query, key=f"{name}/{query.key}") for query in condition(example)]


def read_answers(path: Path) -> dict[str, Said]:
    """What a model said, by the key of the query. A last line that was cut off is removed from the file."""
    if not path.exists():
        return {}
    content = path.read_bytes()
    if not content.endswith(b"\n"):  # the process was killed while it wrote
        content = content[: content.rfind(b"\n") + 1]
        with open(path, "r+b") as file:
            file.truncate(len(content))
    lines = map(json.loads, content.splitlines())
    return {
        line.pop("key"): Said(**line | {"scores": line["scores"] and tuple(line["scores"])}) for line in lines
    }


def _append(file: TextIO, key: str, said: Said) -> None:
    file.write(json.dumps({"key": key, **asdict(said)}) + "\n")
    file.flush()  # what is flushed outlives the process


def _rows(asked: AskedExample, name: str, condition: Condition, answers: Mapping[str, Said]) -> Iterator[Row]:
    """The rows of an example under a condition: what was asked, what the model said, what that is worth."""
    about = asked.quantities()
    for query in _named(asked, name, condition):
        said, gold = answers[query.key], query.gold
        names = spoken_names(gold.type)
        reply = read_reply(said.text, gold.type, gold.choices, names)
        score = score_reply(said.text, gold, names)
        log_odds = None
        if said.scores and gold.type == "truth":
            by_answer = dict(zip(gold.choices, said.scores, strict=True))
            log_odds = by_answer["yes"] - by_answer["no"]
        yield {
            "key": query.key,
            **about,
            "question": query.text,
            "type": gold.type,
            "gold": gold.answer,
            "reply": said.text,
            "answer": reply.answer,
            "why": reply.why,
            "score": score,
            "right": score == 1,
            "log_odds": log_odds,
            "scores": said.scores and list(said.scores),
            "read": said.read,
            "written": said.written,
        }


def summary(rows: Sequence[Row], price: str | None = None) -> dict[str, Any]:
    """Accuracies of some rows with 95 % Wilson intervals, and shares of replies that cannot be read.

    Returns:
        "accuracy", "low", "high", "n"; "unparsed", the share of replies without an answer, which count as
        wrong; "constant", the share that the best single answers of each family would have; "parts", the same
        by family, of the paper's questions by relation; tokens "read" and "written", and "cost" in dollars.
    """

    def part(own: Sequence[Row]) -> dict[str, Any]:
        families = {row["family"]: [r["gold"] for r in own if r["family"] == row["family"]] for row in own}
        constant = sum(max(map(golds.count, golds)) for golds in families.values()) / len(own)
        unparsed = sum(row["answer"] is None for row in own) / len(own)
        shares = share(np.array([row["right"] for row in own])) or {}
        return {**shares, "unparsed": unparsed, "constant": constant}

    names = dict.fromkeys(_part_of(row) for row in rows)
    parts = {name: part([row for row in rows if _part_of(row) == name]) for name in sorted(names)}
    tokens = {name: sum(row[name] for row in rows) for name in ("read", "written")}
    out = {**part(rows), "parts": parts, **tokens}
    if price:
        dollars = map(float, price.split(","))
        out["cost"] = sum(n * each / 1e6 for n, each in zip(tokens.values(), dollars, strict=True))
    return out


def _part_of(row: Row) -> str:
    name: str = row["relation"] or row["family"]
    return name


_NOTES = (
    "(95 %): Wilson interval. unparsed: share of replies in which no answer was found; they count as wrong. "
    "constant: the best single answer to all questions of a family.",
)


def twins(asked: AskedSplit, rows: Sequence[Row]) -> dict[str, Any] | None:
    """Accuracies of pairs and groups of twins, as far as they were asked whole; None without twins."""
    whole = len(rows) // 4 * 4
    if not asked.dataset.settings.twins or not whole:
        return None
    groups = asked.examples.column("group")[:whole]
    found = group_accuracies(groups, np.array([row["right"] for row in rows[:whole]]))
    return {name: share(outcomes) for name, outcomes in found.items()}


def _notes(content: Mapping[str, Any]) -> list[str]:
    """What stands below the table of accuracies."""
    notes = [*_NOTES]
    if content["twins"]:
        shown = [f"{name} {it['accuracy']:.3f}" for name, it in content["twins"].items() if it]
        notes.append(f"Twins: {', '.join(shown)}; by guessing pair 0.250, group 0.062.")
    return notes


def table(results: Results) -> Table:
    """A row for each condition; below that of the picture one for each relation or family."""
    columns = ("condition", "questions", "n", "accuracy", "(95 %)", "unparsed", "constant")

    def row(name: str, part: str, it: Mapping[str, Any]) -> list[object]:
        interval = f"{it['low']:.3f}-{it['high']:.3f}"
        return [name, part, it["n"], it["accuracy"], interval, it["unparsed"], it["constant"]]

    rows = []
    for name, task in results.tasks.items():
        rows.append(row(name, "all", task))
        parts = task["parts"] if name in CONDITIONS and len(task["parts"]) > 1 else {}
        rows += [row(name, part, it) for part, it in parts.items()]
    return Table(columns, rows)
