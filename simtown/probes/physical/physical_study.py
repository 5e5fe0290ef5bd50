"""The study: from a model's name to its decisions about the test items of each task, and what is made of
them.

These are the rows that Table 2 could have, and one that is not in the paper: `yes-no` trains nothing and asks
a language model outright.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.options import SettingsError
from simtown.core.tables import Table
from simtown.probes import measures, report
from simtown.probes.physical import FORM, TASKS, PhysicalSettings, finetune, inputs, paper_tables
from simtown.probes.physical.decisions import DecidedItems, DecisionRows, PhysicalTask, build
from simtown.probes.physical.figure2 import figure2
from simtown.probes.physical.heads import HEADS, Folds, K, tune
from simtown.probes.physical.inputs import Inputs, StandIn
from simtown.probes.physical.physical_release import read
from simtown.probes.physical.scores import compare, describe, rows_of, scores, short_columns
from simtown.probes.physical.sentences import English, question, sentence
from simtown.probes.report import Results
from simtown.probes.scorers.base import BLANK, Pooling, Scorer, UnableError
from simtown.probes.study import Study, TaskRequest, TaskResult


@dataclass(frozen=True)
class Protocol:
    """Rules that differ between the paper, its released code and good practice.

    Attributes:
        english: of the sentences.
        folds: of cross-validation.
        loss: of fine-tuning.
        unknown: what stands in for a word without a vector.
        pooling: of a language model's sentence vector: its first token, or the mean.
    """

    english: English
    folds: Folds
    loss: finetune.Loss
    unknown: StandIn
    pooling: Pooling


PROTOCOLS = {
    "paper": Protocol("released", "rows", "squared", "zeros", "first"),
    "release": Protocol("released", "rows", "cross-entropy", "zeros", "first"),
    "corrected": Protocol("corrected", "objects", "cross-entropy", "random", "mean"),
}


def ask(request: TaskRequest) -> TaskResult:
    """Decide the test items of one task.

    Raises:
        UnableError: the model cannot be used so.
        ValueError: it knows no word, or cannot be fine-tuned.
    """
    task: PhysicalTask = request.items
    settings: PhysicalSettings = request.settings
    if settings.model in BASELINES:
        decided = BASELINES[settings.model](task, settings.seed)
    elif settings.use == "finetune":
        decided = _by_fine_tuning(request)
    else:
        scorer = request.scorer()
        use = settings.use or usual_use(scorer)
        if use == "yes-no":
            odds = log_odds(task, scorer)
            cut = threshold(odds[task.pairs.train], task.train.label)
            said = odds[task.pairs.test]
            notes = {"threshold": cut, "micro_f1_at_0": scores(task.test, said > 0).micro}
            decided = of_test(task, said > cut, said, {"as": use, **notes})
        else:
            decided = _by_head(request, scorer, use)
    return TaskResult(rows_of(decided), describe(decided, task.release))


def of_test(
    task: PhysicalTask,
    said: np.ndarray,
    score: np.ndarray | None = None,
    notes: Mapping[str, Any] | None = None,
) -> DecidedItems:
    """Decisions about the test items of a task."""
    score = said.astype(np.float64) if score is None else score
    return DecidedItems(
        task.kinds, task.lefts, task.rights, task.groups, task.test, said, score, dict(notes or {})
    )


# Baselines, which read no text (section "Baselines")


def majority(task: PhysicalTask, seed: int = 0) -> DecidedItems:
    """The label that the right-hand item has most often in train; the one seen first in a tie, yes if never
    seen.
    """
    items, train = len(task.rights), task.train
    yes = np.bincount(train.right, weights=train.label, minlength=items)
    no = np.bincount(train.right, weights=~train.label, minlength=items)
    first = np.ones(items, dtype=bool)
    first[train.right[::-1]] = train.label[::-1]  # written from the back: the first label stays
    answer = np.where(yes == no, first, yes > no)
    return of_test(task, answer[task.test.right])


def random(task: PhysicalTask, seed: int) -> DecidedItems:
    """A fair coin for every test decision."""
    return of_test(task, np.random.default_rng(seed).random(len(task.test)) < 0.5)


def human(task: PhysicalTask, seed: int = 0) -> DecidedItems:
    """The expert's answers. Those to AP do not name the object, so its groups are the affordances."""
    answers = task.release.answers[task.title]
    names = [tuple(dict.fromkeys(getattr(a, side) for a in answers)) for side in ("left", "right")]
    left, right = (
        np.array([n.index(getattr(a, side)) for a in answers])
        for n, side in zip(names, ("left", "right"), strict=True)
    )
    rows = DecisionRows(left, right, np.array([a.label for a in answers]), left)
    said = np.array([a.said for a in answers])
    return DecidedItems(task.kinds, names[0], names[1], names[0], rows, said, said.astype(np.float64))


BASELINES = {"majority": majority, "random": random, "human": human}


# Training


def usual_use(scorer: Scorer) -> str:
    """How a model is used by default: sentence encoders by their sentences, static vectors by words, others
    by tokens.
    """
    if "embed" not in scorer.abilities:
        return "words"
    return "sentence" if scorer.name.startswith(("sentence:", "clip:")) else "tokens"


def _by_head(request: TaskRequest, scorer: Scorer, use: str) -> DecidedItems:
    task, settings, protocol = request.items, request.settings, PROTOCOLS[request.settings.protocol]
    notes: dict[str, Any] = {"as": use}
    vectors: Inputs
    if use == "words":
        vectors, notes["unknown"] = inputs.of_words(task, scorer, protocol.unknown)
    elif use == "tokens":
        vectors = inputs.of_tokens(task, scorer, protocol.english)
    else:
        pooling = "mean" if usual_use(scorer) == "sentence" else protocol.pooling
        vectors = inputs.of_sentences(task, scorer, protocol.english, pooling)
    head, pairs = HEADS[settings.head], task.pairs
    candidates = head.candidates() if settings.tune else ()
    progress = request.bars(f"{task.title}, steps", head.steps * (1 + 2 * K * len(candidates)))
    if settings.tune:
        kinds: tuple[Folds, ...] = ("rows", "objects")
        tried = {
            kind: tune(candidates, vectors, task.train, pairs.train, kind, settings.seed, progress)
            for kind in kinds
        }
        head = tried[protocol.folds][0][1]
        notes["tuning"] = {
            kind: [{"head": asdict(each), "micro_f1": micro} for micro, each in ranked]  # type: ignore[call-overload]
            for kind, ranked in tried.items()
        }
    notes["head"] = asdict(head)  # type: ignore[call-overload]
    score = head.fit(vectors, *vectors.counted(task.train, pairs.train), settings.seed, progress)[pairs.test]
    return of_test(task, score > 0.5, score, notes)


def _by_fine_tuning(request: TaskRequest) -> DecidedItems:
    task, settings, protocol = request.items, request.settings, PROTOCOLS[request.settings.protocol]
    if request.options.dtype != "float32":
        raise SettingsError(f"must be float32 for fine-tuning, not {request.options.dtype}", "dtype")
    tuning = finetune.FineTuning(protocol.loss, epochs=1 if task.name == "AP" else 5)
    score = finetune.fit(
        settings.model.partition(":")[2],
        [sentence(task, pair, protocol.english).text for pair in task.named_pairs],
        task.pairs.train,
        task.train.label,
        tuning,
        settings.seed,
        request.bars(f"{task.title}, steps", tuning.steps(len(task.train))),
        request.options.device,
    )[task.pairs.test]
    return of_test(task, score > 0.5, score, {"head": asdict(tuning)})


# Asking outright


def log_odds(task: PhysicalTask, scorer: Scorer) -> np.ndarray:
    """(u,) float64: log P(yes) - log P(no) after "Question: Is an accordion squishy? Answer:".

    Raises:
        UnableError: the model fills no gap, or does not know the words yes and no.
    """
    if "class_logprobs" not in scorer.abilities:
        raise UnableError(
            f"{scorer.name} cannot fill a gap, so it answers no question: give a masked or causal language "
            "model"
        )
    contexts = [f"Question: {question(task, pair)} Answer: {BLANK}" for pair in task.named_pairs]
    logprobs = scorer.class_logprobs(contexts, ["yes", "no"])
    if not np.isfinite(logprobs).all():
        raise UnableError(f"{scorer.name} gives no probability to yes or no: its vocabulary lacks the words")
    return logprobs[:, 0] - logprobs[:, 1]


def threshold(odds: np.ndarray, label: np.ndarray) -> float:
    """The cut with the best F1 on (n,) training rows: yes is whatever lies above.

    Models lean towards one of the two words, so that 0 is rarely the place to cut.
    """
    order = np.argsort(-odds, kind="stable")
    ranked, yes = odds[order], np.cumsum(label[order])
    value = measures.f1(yes, np.arange(1, len(odds) + 1) - yes, label.sum() - yes)
    possible = np.append(ranked[:-1] != ranked[1:], True)  # no cut between equals
    best = int(np.argmax(np.where(possible, value, -1.0)))
    if best + 1 == len(odds):
        return float(np.nextafter(ranked[-1], -np.inf))
    return float((ranked[best] + ranked[best + 1]) / 2)


# The study

_COLUMNS = (
    "task",
    "decisions",
    "macro_f1_left",
    "macro_f1_right",
    "micro_f1",
    "micro_f1_low",
    "micro_f1_high",
    "mean_f1_left",
    "mean_f1_right",
    "accuracy",
)


def pages(results: Results) -> dict[str, str]:
    """summary.csv and summary.md, a row a task; summary.tex, the model's row of Table 2."""
    titles = [title for title in TASKS if title in results.tasks]
    rows, tex = [], [results.model]
    for title in titles:
        summary = results.tasks[title]
        s = summary["scores"]
        f1 = (s["left"], s["right"], s["micro"])
        interval = summary["intervals"]["micro"]
        rows.append(
            (title, summary["decisions"], *f1, *interval, s["left_mean"], s["right_mean"], s["accuracy"])
        )
        tex += [paper_tables.rounded(value).removeprefix("0") for value in f1]
    notes = [
        "macro_f1: harmonic mean of mean precision and mean recall, as the paper prints it; mean_f1: the "
        "usual mean of F1s; left, right: over the first and the second of the task's two kinds; low, high: "
        "95 % bootstrap interval over test objects."
    ]
    for title in titles:
        for kind, unknown in results.tasks[title].get("unknown", {}).items():
            if words := unknown["words"]:
                some = ", ".join(words[:5]) + (", …" if len(words) > 5 else "")
                notes.append(f"{title}: {len(words)} of {unknown['of']} {kind} names are unknown: {some}")
    table2 = Table(["", *(name for title in titles for name in short_columns(title))], [tex])
    groups = [("", 1), *((title, 3) for title in titles)]
    return {
        **report.pages(results, Table(_COLUMNS, rows), notes, text_columns=1),
        "summary.tex": table2.latex("l" + "rrr" * len(titles), groups),
    }


def tasks(source: Path, settings: PhysicalSettings) -> dict[str, PhysicalTask]:
    """The tasks that the settings name."""
    release = read(source)
    return {title: build(release, title) for title in settings.tasks}


PHYSICAL = Study(
    name="physical",
    settings=PhysicalSettings,
    tasks=TASKS,
    items=tasks,
    digest=lambda task: task.release.digest,
    ask=ask,
    pages=pages,
    draw=figure2,
    compare=compare,
    printed={"forbes-table1": paper_tables.table1, "forbes-table2": partial(paper_tables.table2, BASELINES)},
    files=("summary.tex",),
    form=FORM,
)
