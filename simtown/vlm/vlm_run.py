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
from typing import Any

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
from simtown.language.grammar import spoken_names
from simtown.language.replies import read_reply, score_reply
from simtown.probes.bars import Bars, no_bars
from simtown.probes.model_names import without_folders
from simtown.probes.report import SCHEMA, SUMMARY, Results, pages, write_rows
from simtown.training.shares import share
from simtown.vlm import thresholds
from simtown.vlm.conditions import AskedExample, AskedSplit, Condition, picture
from simtown.vlm.controls import CONTROLS
from simtown.vlm.models import open_model
from simtown.vlm.referee import referee, verdict
from simtown.vlm.vision_model import Query, Said
from simtown.vlm.vlm_settings import VlmSettings

#: What the model said so far.
ANSWERS_FILE = "answers.jsonl"
_COMMAND = "simtown evaluate"
#: A row of a condition's Parquet file.
Row = dict[str, Any]
#: What stands below the table of accuracies.
_NOTE = (
    "(95 %): Wilson interval. unparsed: share of replies in which no answer was found; they count as wrong. "
    "constant: the best single answer to all questions of a family."
)
_PAGES = ("summary.csv", "summary.md", "verdict.csv", "thresholds.csv", "thresholds.md", "thresholds.png")
_ROWS = (f"{name}.parquet" for name in ("picture", *CONTROLS))
#: The record of a directory of results.
RECORD = RunRecord(SUMMARY, _COMMAND, _COMMAND, frozenset({SUMMARY, ANSWERS_FILE, *_PAGES, *_ROWS}), SCHEMA)


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
    conditions: dict[str, tuple[Condition, int]] = {"picture": (picture, count)}
    if settings.controls:
        few = min(count, settings.controls)
        conditions |= {name: (control, few) for name, control in CONTROLS.items()}

    def queries(name: str) -> Iterator[tuple[AskedExample, Query]]:
        """The queries of a condition, whose keys begin with its name, and their examples."""
        condition, number = conditions[name]
        for example in map(asked.__getitem__, range(number)):
            for query in condition(example):
                yield example, replace(query, key=f"{name}/{query.key}")

    with RECORD.opened(out, fresh) as content:
        answers = read_answers(out / ANSWERS_FILE)
        controls = [name for name in conditions if name in CONTROLS]
        progress = bars(f"evaluate {model}", count + sum(1 for name in controls for _ in queries(name)))
        progress(sum(key.partition("/")[0] in conditions for key in answers))
        missing = (query for name in conditions for _, query in queries(name) if query.key not in answers)
        with open(out / ANSWERS_FILE, "a", encoding="utf-8") as file:
            for query, said in opened.ask(missing):
                answers[query.key] = said
                file.write(json.dumps({"key": query.key, **asdict(said)}) + "\n")
                file.flush()  # what is flushed outlives the process
                progress(1)
        tasks: dict[str, list[Row]] = {}
        for name in conditions:
            tasks[name] = rows = [
                _row(example, query, answers[query.key]) for example, query in queries(name)
            ]
            if rows:
                write_rows(out / f"{name}.parquet", {key: [row[key] for row in rows] for key in rows[0]})
                content["tasks"][name] = as_json(summary(rows, settings.price))
        content["verdict"] = as_json(referee(tasks)) if settings.controls else None
        content["twins"] = twins(asked, tasks["picture"])
        RECORD.save(out, content)
        results = Results(out, content)
        notes = [_NOTE]
        if content["twins"]:
            shown = [f"{name} {it['accuracy']:.3f}" for name, it in content["twins"].items() if it]
            notes.append(f"Twins: {', '.join(shown)}; by guessing pair 0.250, group 0.062.")
        written = pages(results, table(results), notes, text_columns=2)
        if content["verdict"]:
            written["verdict.csv"] = (judged := verdict(content["verdict"])).csv()
            written["summary.md"] += f"\n{judged.markdown(2)}\n"
        found = thresholds.find([thresholds.AnsweredQuestions.of_results(results)])
        written["summary.md"] += "".join(f"\n- {markdown(line)}" for line in thresholds.write(found, out))
        for name, text in written.items():
            save_text(out / name, text)
    return results


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


def _row(example: AskedExample, query: Query, said: Said) -> Row:
    """What was asked, what the model said, and what that is worth."""
    gold, names = query.gold, spoken_names(query.gold.type)
    reply = read_reply(said.text, gold.type, gold.choices, names)
    score = score_reply(said.text, gold, names)
    by_answer = dict(zip(gold.choices, said.scores or (), strict=False))
    return {
        "key": query.key,
        **example.quantities(),
        "question": query.text,
        "type": gold.type,
        "gold": gold.answer,
        "reply": said.text,
        "answer": reply.answer,
        "why": reply.why,
        "score": score,
        "right": score == 1,
        "log_odds": by_answer["yes"] - by_answer["no"] if by_answer and gold.type == "truth" else None,
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
        shares = share([row["right"] for row in own]) or {}
        return {**shares, "unparsed": unparsed, "constant": constant}

    by_part: dict[str, list[Row]] = {}
    for row in rows:
        by_part.setdefault(row["relation"] or row["family"], []).append(row)
    parts = {name: part(own) for name, own in sorted(by_part.items())}
    tokens = {name: sum(row[name] for row in rows) for name in ("read", "written")}
    out = {**part(rows), "parts": parts, **tokens}
    if price:
        dollars = map(float, price.split(","))
        out["cost"] = sum(n * each / 1e6 for n, each in zip(tokens.values(), dollars, strict=True))
    return out


def twins(asked: AskedSplit, rows: Sequence[Row]) -> dict[str, Any] | None:
    """Accuracies of pairs and groups of twins, as far as they were asked whole; None without twins."""
    settings = asked.dataset.settings
    whole = len(rows) // settings.block * settings.block
    if not settings.twins or not whole:
        return None
    groups = asked.examples.column("group")[:whole]
    right = np.array([row["right"] for row in rows[:whole]])
    found = group_accuracies(groups, right, settings.questions_per_picture)
    return {name: share(outcomes) for name, outcomes in found.items()}


def table(results: Results) -> Table:
    """A row for each condition; below that of the picture one for each relation or family."""
    columns = ("condition", "questions", "n", "accuracy", "(95 %)", "unparsed", "constant")

    def row(name: str, part: str, it: Mapping[str, Any]) -> list[object]:
        interval = f"{it['low']:.3f}-{it['high']:.3f}"
        return [name, part, it["n"], it["accuracy"], interval, it["unparsed"], it["constant"]]

    rows = []
    for name, task in results.tasks.items():
        rows.append(row(name, "all", task))
        parts = task["parts"] if name == "picture" and len(task["parts"]) > 1 else {}
        rows += [row(name, part, it) for part, it in parts.items()]
    return Table(columns, rows)
