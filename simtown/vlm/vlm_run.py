"""Asking a model every question of a split under every condition, into a directory of results.

``summary.json``, ``.csv`` and ``.md`` hold accuracies with their intervals; ``CONDITION.parquet`` a row a
question. ``answers.jsonl`` is what the model said so far, a line an answer: the same command asks what it
lacks, so a run that was killed loses nothing and asks nothing twice.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from json import JSONDecoder
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np

from simtown.complexity.intervals import TOO_FEW, share
from simtown.core.files import DamagedError, as_json, save_text
from simtown.core.progress import Bars, no_bars
from simtown.core.runs import RunRecord
from simtown.core.tables import Table
from simtown.core.untrusted import cause, markdown, open_to_append, parse_json
from simtown.core.version import __version__
from simtown.datasets.proving.twin_groups import chances_of_groups, group_outcomes
from simtown.datasets.reading.reader import Dataset
from simtown.language.words.grammar import spoken_names
from simtown.language.words.replies import read_reply, score_reply
from simtown.probes.report import SCHEMA, SUMMARY, Results, pages, write_rows
from simtown.vlm import thresholds
from simtown.vlm.chances import best_constants, chance, is_right_constantly
from simtown.vlm.compared_shows import compare_shows, interference
from simtown.vlm.conditions import AskedExample, AskedSplit
from simtown.vlm.controls import CONTROLS
from simtown.vlm.evaluation_plan import open_evaluation
from simtown.vlm.own_metrics import measure
from simtown.vlm.picture_orders import ORDERS, compare_orders, needs_order
from simtown.vlm.program_models import import_function
from simtown.vlm.prompting import over_samples, positions
from simtown.vlm.referee import in_words, referee, verdict
from simtown.vlm.vision_model import Query, Said, normalise
from simtown.vlm.vlm_settings import SHOWS, VlmSettings

#: What the model said so far.
ANSWERS_FILE = "answers.jsonl"
_COMMAND = "simtown evaluate"
#: A row of a condition's Parquet file.
Row = dict[str, Any]
#: What stands below the table of accuracies.
_NOTE = (
    "(95 %): interval, in which questions about a picture, or a group of twins, count together. Shares of "
    "what is not right: wrong, replies with another answer; unparsed, "
    "replies in which no answer was found; refused, questions that the server refused. cut: share of replies "
    "that were cut off, with or without an answer. chance: right by guessing among the answers. constant: "
    f"right by the most frequent answer of each family in training. {TOO_FEW}"
)
_THRESHOLDS = ("thresholds.csv", "thresholds.md", "thresholds.png")
_PAGES = ("summary.csv", "summary.md", "shows.csv", "verdict.csv", *_THRESHOLDS)
#: The page of the results (:mod:`simtown.vlm.evaluation_page`), its rows, and its folder of pictures.
PAGE, ROWS, PICTURES = "index.html", "rows.js", "pictures"
_ROWS = (f"{name}.parquet" for name in (*SHOWS, *CONTROLS))
#: Shares of the rows, beside those that are right.
_SHARES = ("wrong", "unparsed", "refused", "cut")
#: Columns of the rows that are what the model said.
_SAID = ("finish", "reasoning", "problem", "refused", "read", "written", "requests", "seconds")
#: How servers say that a reply was cut.
_CUT = ("length", "max_tokens")
_OWNED = frozenset({SUMMARY, ANSWERS_FILE, *_PAGES, *_ROWS, PAGE, ROWS, PICTURES})
#: The record of a directory of results.


class _Settings(msgspec.Struct):
    model: str
    seal: str
    split: str


class _Accuracy(msgspec.Struct):
    accuracy: float


class _Twins(msgspec.Struct):
    pair: _Accuracy | None = None
    group: _Accuracy | None = None


class _Verdict(msgspec.Struct):
    sees: dict[str, Any]
    reads: dict[str, Any]
    looks: dict[str, Any]
    relates: dict[str, Any]


class _Summary(msgspec.Struct):
    """What others read of summary.json; while questions are asked, it has the settings alone."""

    settings: _Settings
    tasks: dict[str, dict[str, Any]] = {}
    twins: _Twins | None = None
    verdict: _Verdict | None = None


RECORD = RunRecord(SUMMARY, _COMMAND, _COMMAND, _OWNED, SCHEMA, content=_Summary)


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
        ValueError: answers of people are damaged, or about something else.
        UnreachableError: the model stopped answering; the same call goes on where it stopped.
        ForeignDirectoryError: the directory holds something else, or results with other settings or data.
        DamagedError: a line of answers.jsonl is damaged.
        RefusedError: answers.jsonl is a link, or not a regular file.
    """
    metrics = {name: import_function(name, "metric") for name in settings.metric}
    evaluation = open_evaluation(model, dataset, settings, device, allow_model)
    settings, asked = evaluation.prompting.settings, evaluation.prompting.asked
    conditions, queries = evaluation.conditions, evaluation.queries
    constants, kept = best_constants(dataset), evaluation.record
    fresh = {"version": __version__, "settings": kept, "tasks": {}}
    main = next(iter(conditions))
    path = out / ANSWERS_FILE
    with RECORD.opened(out, fresh, deciding) as content, open_to_append(path) as file:
        answers = read_answers(path, file)
        controls = [name for name in conditions if name in CONTROLS]
        total = sum(count for name, (_, count) in conditions.items() if name not in controls)
        total += sum(1 for name in controls for _ in queries(name))
        progress = bars(f"evaluate {model}", total)
        progress(min(total, sum(key.partition("/")[0] in conditions for key in answers)))
        begun = time.monotonic()
        for query, raw in evaluation.model.ask(evaluation.missing(answers)):
            now = time.monotonic()
            said = normalise(msgspec.structs.replace(raw, seconds=raw.seconds or now - begun), query)
            answers[query.key], begun = said, now
            line = {"key": query.key, **msgspec.structs.asdict(said)}
            file.write(msgspec.json.encode(line) + b"\n")
            file.flush()  # what is flushed outlives the process
            progress(1)
        content["settings"], content["tasks"] = kept, {}
        tasks: dict[str, list[Row]] = {}
        for name in conditions:
            tasks[name] = rows = [
                _row(example, query, normalise(answers[query.key], query), constants)
                for example, query in queries(name)
            ]
            if rows:
                write_rows(out / f"{name}.parquet", {key: [row[key] for row in rows] for key in rows[0]})
                content["tasks"][name] = as_json(summary(rows, settings.price))
        content["positions"] = positions(tasks[main])
        others = [rows for name, rows in tasks.items() if name.startswith("sample-")]
        content["samples"] = _samples([tasks[main], *others])
        content["verdict"] = as_json(referee(tasks)) if controls else None
        measured = {name: measure(name, metric, tasks) for name, metric in metrics.items()}
        content["metrics"] = as_json(measured)
        every = [row for rows in tasks.values() for row in rows]
        content["total"] = as_json(costs(every, settings.price))
        content["twins"] = as_json(twins(asked, tasks[main]))
        results = Results(out, content)
        answered = [thresholds.AnsweredQuestions.of_results(results)] if "picture" in tasks else []
        found = thresholds.find(answered)
        content["thresholds"] = as_json([own.record() for own in found if not own.curve.problem])
        RECORD.save(out, content)
        notes = [headline(content["tasks"][main]), _NOTE, *_remarks(every, settings.price)]
        notes += _sentences(content["positions"], content["samples"])
        for name, values in measured.items():
            shown = ", ".join(f"{task} {value:.3f}" for task, value in values.items())
            notes.append(f"{name}: {shown}.")
        if content["twins"]:
            notes.append(_twin_sentence(content["twins"]))
        written = pages(results, table(results), notes, text_columns=2)
        if content["verdict"]:
            written["verdict.csv"] = (judged := verdict(content["verdict"])).csv()
            written["summary.md"] += f"\n{in_words(content['verdict'])}\n\n{judged.markdown(3)}\n"
        written["summary.md"] += "".join(f"\n- {markdown(line)}" for line in thresholds.write(found, out))
        if ORDERS.keys() <= tasks.keys():
            compared = compare_orders(tasks)
            written["orders.csv"] = compared.csv()
            written["summary.md"] += f"\n{needs_order(tasks)}\n\n{compared.markdown(3)}\n"
        by_show = {name: rows for name, rows in tasks.items() if name in SHOWS}
        if len(by_show) > 1:
            compared = compare_shows(by_show, asked.dataset.settings.entities)
            written["shows.csv"] = compared.csv()
            written["summary.md"] += f"\n{interference(by_show)}\n\n{compared.markdown(3)}\n"
        for name, text in written.items():
            save_text(out / name, text)
    return results


class StoredAnswer(Said, frozen=True, kw_only=True):
    """A line of answers.jsonl: what a model said, and the key of the query."""

    key: str


def read_answers(path: Path, file: BinaryIO) -> dict[str, Said]:
    """The stored replies of a model by the key of the query. A last line that was cut off is removed from the
    file.

    Args:
        path: of the file, for messages.
        file: open for reading and writing.

    Raises:
        DamagedError: a line is not what :func:`evaluate_model` writes.
    """
    content = file.read()
    *lines, last = content.split(b"\n")
    if last and not _is_cut(last):
        lines.append(last)
    answers: dict[str, Said] = {}
    for number, line in enumerate(lines, 1):
        try:
            answer = msgspec.convert(parse_json(line.decode("utf-8-sig")), StoredAnswer)
        except ValueError as error:
            problem = f"{path}, line {number} is damaged ({cause(error)})"
            raise DamagedError(f"{problem}: delete the line, and its question is asked again") from error
        answers[answer.key] = answer
    if last in lines[-1:]:
        file.write(b"\n")
    else:
        file.truncate(len(content) - len(last))
    return answers


def _is_cut(line: bytes) -> bool:
    """Whether a last line is the beginning of a record: the process was killed while it wrote that."""
    text = line.decode(errors="ignore").strip("\0")
    try:
        JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return not text or text[0] == "{"
    return False


def headline(task: Mapping[str, Any]) -> str:
    """The accuracy in words, beside that of guesses and of constant answers."""
    constant = task["constant"]
    most = max(task["chance"], constant["high"])
    verdict = "better than both" if task["low"] > most else "not measurably better than both"
    others = f"guessing has {task['chance']:.3f}, the best constants {constant['accuracy']:.3f}"
    interval = f"{task['accuracy']:.3f} ({task['low']:.3f} to {task['high']:.3f})"
    return f"Right in {interval} of {task['n']:,} questions; {others}: {verdict}."


def _samples(samples: Sequence[Sequence[Row]]) -> dict[str, Any]:
    """Shares over several samples of the same questions; {} of one."""
    if len(samples) == 1:
        return {}
    clusters, found = [row["cluster"] for row in samples[0]], over_samples(samples)
    shares: dict[str, Any] = {name: share(found[name], clusters) for name in ("any", "majority")}
    return shares | {"agreement": float(found["agreement"].mean()), "k": len(samples)}


def _sentences(letters: Mapping[str, Any], samples: Mapping[str, Any]) -> list[str]:
    """What positions of options and several samples show, in words."""
    each = [f"{name} chosen {it['chosen']:.3f}, right {it['right']:.3f}" for name, it in letters.items()]
    lines = [f"Options: {'; '.join(each)}."] if each else []
    if samples:
        shown = [
            f"{words} {it['accuracy']:.3f} ({it['low']:.3f}-{it['high']:.3f})"
            for words, it in ((f"pass@{samples['k']}", samples["any"]), ("majority", samples["majority"]))
        ]
        lines.append(f"Samples: {', '.join(shown)}, agreement {samples['agreement']:.3f}.")
    return lines


def _twin_sentence(found: Mapping[str, Any]) -> str:
    """The accuracies of twins, and those of guesses, in words."""
    shown = [
        f"{name} {it['accuracy']:.3f} ({it['low']:.3f}-{it['high']:.3f}, n {it['n']:,})"
        for name, it in found.items()
        if it and name != "chance"
    ]
    guessed = [f"{name} {value:.3f}" for name, value in found["chance"].items() if value is not None]
    return f"Twins: {', '.join(shown)}; by guessing {', '.join(guessed)}."


def _row(example: AskedExample, query: Query, said: Said, constants: dict[str, str]) -> Row:
    """A row of results: the question, the reply and its score."""
    gold, letters = query.gold, query.letters
    names = spoken_names(gold.type) | {letter: answer for answer, letter in letters.items()}
    reply = read_reply(said.text, gold.type, gold.choices, names)
    score = score_reply(said.text, gold, names)
    by_answer = dict(zip(gold.choices, said.scores, strict=True)) if said.scores else {}
    return {
        "key": query.key,
        **example.quantities(),
        "question": query.text,
        "type": gold.type,
        "gold": gold.answer,
        "reply": said.text,
        "answer": reply.answer,
        "why": said.problem or reply.why,
        "letter": letters.get(gold.answer, ""),
        "chosen": letters.get(reply.answer or "", ""),
        "score": score,
        "right": score == 1,
        "wrong": reply.answer is not None and score != 1,
        "unparsed": reply.answer is None and not said.refused,
        "cut": said.finish.lower() in _CUT,
        "chance": chance(gold),
        "constant": is_right_constantly(constants, example.example.family, gold),
        "log_odds": by_answer["yes"] - by_answer["no"] if by_answer and gold.type == "truth" else None,
        "scores": said.scores and list(said.scores),
        **{name: getattr(said, name) for name in _SAID},
    }


def summary(rows: Sequence[Row], price: str | None = None) -> dict[str, Any]:
    """Accuracies of some rows with 95 % intervals, and shares of what is not right.

    Returns:
        "accuracy", "low", "high", "n", "clusters"; the shares of replies that are "wrong", that are
        "unparsed", without an answer, of questions that were "refused", and of replies that were "cut";
        "chance", the share that guesses have right, and "constant", the share that the best constants of
        :mod:`simtown.vlm.chances` have, with its interval; "parts", the same by family, of the paper's
        questions by relation; tokens "read" and "written", "requests", "seconds", and "cost" in dollars.
    """

    def part(own: Sequence[Row]) -> dict[str, Any]:
        clusters = [row["cluster"] for row in own]
        right, constant = (share([row[name] for row in own], clusters) for name in ("right", "constant"))
        others = {name: sum(row[name] for row in own) / len(own) for name in (*_SHARES, "chance")}
        return {**(right or {}), **others, "constant": constant}

    by_part: dict[str, list[Row]] = {}
    for row in rows:
        by_part.setdefault(row["relation"] or row["family"], []).append(row)
    parts = {name: part(own) for name, own in sorted(by_part.items())}
    return {**part(rows), "parts": parts, **costs(rows, price)}


def deciding(content: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in a record that decide the answers; older records also say how many were asked."""
    return {**content["settings"], "examples": None}


def costs(rows: Sequence[Row], price: str | None) -> dict[str, Any]:
    """Tokens, requests and seconds of some rows in all, and dollars if there is a price."""
    spent = {name: sum(row[name] for row in rows) for name in ("read", "written", "requests", "seconds")}
    if price:
        read, written = map(float, price.split(","))
        spent["cost"] = (spent["read"] * read + spent["written"] * written) / 1e6
    return spent


def _remarks(rows: Sequence[Row], price: str | None) -> list[str]:
    """Sentences on what the answers cost, and on replies that were cut or that hold nothing."""
    spent = costs(rows, price)
    words = [f"{spent['read']:,} tokens read", f"{spent['written']:,} written"]
    words += [f"{spent['requests']:,} requests", f"{spent['seconds']:,.0f} seconds"]
    words += [f"${spent['cost']:,.4f}"] if price else []
    lines = [f"In all: {', '.join(words)}."]
    if cut := sum(row["cut"] for row in rows):
        lines.append(f"{cut:,} of {len(rows):,} replies were cut: raise --max-tokens.")
    if problems := [row for row in rows if row["problem"]]:
        first = f"{problems[0]['key']}: {problems[0]['why']}"
        lines.append(f"{len(problems):,} of {len(rows):,} questions have no reply to read, such as {first}.")
    return lines


def twins(asked: AskedSplit, rows: Sequence[Row]) -> dict[str, Any] | None:
    """Accuracies of pairs and groups of twins, as far as they were asked whole; None without twins."""
    settings = asked.dataset.settings
    whole = len(rows) // settings.block * settings.block
    if not (settings.twins or settings.sequence) or not whole:
        return None
    groups, each = asked.clusters[:whole], settings.questions_per_picture
    right, chances = (np.array([row[name] for row in rows[:whole]]) for name in ("right", "chance"))
    found = {name: share(*outcomes) for name, outcomes in group_outcomes(groups, right, each).items()}
    return {**found, "chance": chances_of_groups(groups, chances, each)}


def table(results: Results) -> Table:
    """A row for each condition; below that of the picture one for each relation or family."""
    columns = (
        "condition",
        "questions",
        "n",
        "accuracy",
        "(95 %)",
        *_SHARES,
        "chance",
        "constant",
        "constant (95 %)",
    )

    def row(name: str, part: str, it: Mapping[str, Any]) -> list[object]:
        shares, constant = [it[column] for column in (*_SHARES, "chance")], it["constant"]
        others = [*shares, constant["accuracy"], _interval(constant)]
        return [name, part, it["n"], it["accuracy"], _interval(it), *others]

    rows = []
    for name, task in results.tasks.items():
        rows.append(row(name, "all", task))
        parts = task["parts"] if name == next(iter(results.tasks)) and len(task["parts"]) > 1 else {}
        rows += [row(name, part, it) for part, it in parts.items()]
    return Table(columns, rows)


def _interval(it: Mapping[str, Any]) -> str:
    return f"{it['low']:.3f}-{it['high']:.3f}"
