"""The study: from a model's name to decisions about the test items of each task, and what is made of them.

These are the rows that Table 2 could have, and one that is not in the paper: `yes-no` trains nothing and asks
a language model outright.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simtown.core.options import SettingsError
from simtown.core.tables import Table
from simtown.probes import measures, report
from simtown.probes.physical import FORM, TASKS, PhysicalSettings, inputs, paper_tables
from simtown.probes.physical.figure2 import figure2
from simtown.probes.physical.finetune import FineTuning, Loss
from simtown.probes.physical.heads import BASELINES, CANDIDATES, HEADS, Folds, K, cross_validate
from simtown.probes.physical.inputs import StandIn
from simtown.probes.physical.physical_release import FILES, PhysicalTask, read
from simtown.probes.physical.scores import COLUMNS, compare, describe, scores, short_columns
from simtown.probes.physical.sentences import English, question, sentences
from simtown.probes.report import Results
from simtown.probes.reproduce import some
from simtown.probes.scorers.base import Pooling, Scorer, UnableError
from simtown.probes.scorers.spelling import BLANK
from simtown.probes.study import Study, TaskRequest, TaskResult


class Protocol(NamedTuple):
    """Rules that differ between the paper, its released code and good practice.

    Attributes:
        unknown: what stands in for a word without a vector.
        pooling: of a language model's sentence vector: its first token, or the mean.
    """

    english: English
    folds: Folds
    loss: Loss
    unknown: StandIn
    pooling: Pooling


PROTOCOLS = {
    "paper": Protocol("released", "rows", "squared", "zeros", "first"),
    "release": Protocol("released", "rows", "cross-entropy", "zeros", "first"),
    "corrected": Protocol("corrected", "objects", "cross-entropy", "random", "mean"),
}
_EXPLAINED = (
    "macro_f1: harmonic mean of mean precision and mean recall, as the paper prints it; mean_f1: the usual "
    "mean of F1s; left, right: over the first and the second of the task's two kinds; low, high: 95 % "
    "bootstrap interval over test objects."
)


def ask(request: TaskRequest) -> TaskResult:
    """Decide the test items of one task.

    Raises:
        UnableError: the model cannot be used so.
        ValueError: it knows no word, or cannot be fine-tuned.
    """
    task, settings = request.items, request.settings
    notes: dict[str, Any] = {}
    if settings.model in BASELINES:
        rows, said = BASELINES[settings.model](task, settings.seed)
        score = said.astype(np.float64)
    else:
        if settings.use == "finetune":
            of_pairs, cut = _by_fine_tuning(request, notes), 0.5
        else:
            scorer = request.scorer()
            notes["as"] = settings.use or usual_use(scorer)
            if notes["as"] == "yes-no":
                of_pairs = log_odds(task, scorer)
                cut = threshold(of_pairs[task.pairs.train], task.train.label)
                at_0 = scores(task.test, of_pairs[task.pairs.test] > 0)
                notes |= {"threshold": cut, "micro_f1_at_0": at_0["micro"]}
            else:
                of_pairs, cut = _by_head(request, scorer, notes), 0.5
        rows, score = task.test, of_pairs[task.pairs.test]
        said = score > cut
    columns = (rows.left, rows.right, rows.object, rows.label, said, score)
    return TaskResult(dict(zip(COLUMNS, columns, strict=True)), describe(task, rows, said) | notes)


def usual_use(scorer: Scorer) -> str:
    """How a model is used by default: encoders by sentences, static vectors by words, others by tokens."""
    if "embed" not in scorer.abilities:
        return "words"
    return "sentence" if scorer.name.startswith(("sentence:", "clip:")) else "tokens"


def _by_head(request: TaskRequest, scorer: Scorer, notes: dict[str, Any]) -> np.ndarray:
    """(u,) probability of yes for every pair, from a head on vectors."""
    task, settings, protocol = request.items, request.settings, PROTOCOLS[request.settings.protocol]
    if notes["as"] == "words":
        vectors, notes["unknown"] = inputs.of_words(task, scorer, protocol.unknown)
    else:
        pooling = "mean" if usual_use(scorer) == "sentence" else protocol.pooling
        texts = sentences(task, protocol.english)
        vectors = inputs.of_sentences(scorer, texts, pooling if notes["as"] == "sentence" else None)
    head, rows, pair = HEADS[settings.head], task.train, task.pairs.train
    candidates = CANDIDATES[settings.head] if settings.tune else []
    progress = request.bars(f"{task.title}, steps", head.steps * (1 + 2 * K * len(candidates)))
    if candidates:
        notes["tuning"] = {}
        kinds: tuple[Folds, ...] = ("rows", "objects")
        for kind in kinds:
            given = (vectors, rows, pair, kind, settings.seed)
            tried = [(each, cross_validate(each, *given, progress=progress)) for each in candidates]
            ranked = sorted(tried, key=lambda entry: -entry[1])
            notes["tuning"][kind] = [{"head": asdict(each), "micro_f1": f1} for each, f1 in ranked]
            if kind == protocol.folds:
                head = ranked[0][0]
    notes["head"] = asdict(head)
    return head.fit(vectors, pair, rows.label, settings.seed, progress)


def _by_fine_tuning(request: TaskRequest, notes: dict[str, Any]) -> np.ndarray:
    """(u,) probability of yes for every pair, from a model that is trained on the sentences."""
    task, settings, protocol = request.items, request.settings, PROTOCOLS[request.settings.protocol]
    if request.options.dtype != "float32":
        raise SettingsError(f"must be float32 for fine-tuning, not {request.options.dtype}", "dtype")
    tuning = FineTuning(protocol.loss, epochs=1 if task.title.endswith("AP") else 5)
    notes["head"] = asdict(tuning)
    place, train = settings.model.partition(":")[2], (task.pairs.train, task.train.label)
    texts = [sentence.text for sentence in sentences(task, protocol.english)]
    progress = request.bars(f"{task.title}, steps", tuning.steps(len(task.train)))
    return tuning.fit(place, texts, *train, settings.seed, progress=progress, device=request.options.device)


def log_odds(task: PhysicalTask, scorer: Scorer) -> np.ndarray:
    """(u,) float64: log P(yes) - log P(no) after "Question: Is an accordion squishy? Answer:".

    Raises UnableError if the model fills no gap, or does not know the words yes and no.
    """
    if "class_logprobs" not in scorer.abilities:
        raise UnableError(f"{scorer.name} answers no question: give a masked or causal language model")
    contexts = [f"Question: {question(task, *pair)} Answer: {BLANK}" for pair in task.pairs.names()]
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


def pages(results: Results) -> dict[str, str]:
    """summary.csv and summary.md, a row a task; summary.tex, the model's row of Table 2."""
    tasks = {title: results.tasks[title] for title in TASKS if title in results.tasks}
    names = {"macro_f1_left": "left", "macro_f1_right": "right", "micro_f1": "micro"}
    means = {"mean_f1_left": "left_mean", "mean_f1_right": "right_mean", "accuracy": "accuracy"}
    records, tex, notes = [], [results.model], [_EXPLAINED]
    for title, summary in tasks.items():
        f1, (low, high) = summary["scores"], summary["intervals"]["micro"]
        record = {"task": title, "decisions": summary["decisions"]}
        record |= {column: f1[part] for column, part in names.items()}
        record |= {"micro_f1_low": low, "micro_f1_high": high}
        records.append(record | {column: f1[part] for column, part in means.items()})
        tex += [paper_tables.rounded(f1[part]).removeprefix("0") for part in ("left", "right", "micro")]
        for kind, unknown in summary.get("unknown", {}).items():
            if words := unknown["words"]:
                of_all = f"{len(words)} of {unknown['of']} {kind} names"
                notes.append(f"{title}: {of_all} are unknown: {some(words)}")
    table2 = Table(["", *(name for title in tasks for name in short_columns(title))], [tex])
    latex = table2.latex("l" + "rrr" * len(tasks), [("", 1), *((title, 3) for title in tasks)])
    return report.pages(results, Table.of_records(records), notes, text_columns=1) | {"summary.tex": latex}


def tasks(source: Path, settings: PhysicalSettings) -> dict[str, PhysicalTask]:
    """The tasks that the settings name."""
    release = read(source)
    return {title: release.task(title) for title in settings.tasks}


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
    printed={"forbes-table1": paper_tables.table1, "forbes-table2": paper_tables.table2},
    files=("summary.tex",),
    form=FORM,
    reads=FILES.patterns(),
)
