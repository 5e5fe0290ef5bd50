"""What a model says of sets of items: asking, rows and summaries, and two models on the same subjects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.columns import NUMBER, TEXT
from simtown.probes import elicit, head, judging, result_files, statistics
from simtown.probes.items import ItemSet
from simtown.probes.printed import PrintedTable, percent
from simtown.probes.release_files import understood
from simtown.probes.scorers.base import UnableError
from simtown.probes.study import Study, SummaryTable, TaskRequest, TaskResult

HEADS = (
    "task",
    "mode",
    "group",
    "n",
    "score",
    "prior",
    "ceiling",
    "above prior",
    "paired p",
    "Welch p",
    "Acc@1",
    "prior Acc@1",
    "choice of 2",
)
EXPLAINED = (
    "score: mean Spearman ρ over subjects ± sd, times 100 (of size: rank partition, per cent; projection: "
    "one ρ over nouns); in brackets 95 % bootstrap intervals over subjects; prior: the train subjects' "
    "mean distribution (of size: a random order); ceiling: the best that a ranking without ties can "
    "reach; choice of 2: the best class against a wrong one."
)
EXPLAINED_ITEMS = (
    "score: mean Spearman ρ over subjects ± sd, times 100; Acc@1: share of items whose right class came "
    "first, per cent, 1/k where k classes share the first place; in brackets 95 % bootstrap intervals over "
    "items; prior: the answers of one who knows how common each class is among the items to learn from, or "
    "else among all items but one of each class; ceiling: the best ρ of a ranking without ties, or of items "
    "without counts the best accuracy that one answer a question has (best template: none, it may give "
    "several)."
)
_COMPARED = {
    "mode": TEXT,
    "subject": TEXT,
    "group": TEXT,
    "rho": NUMBER,
    "right": NUMBER,  # a flag in older results
}
#: Columns of a task's rows.
_COLUMNS = (
    "mode",
    "subject",
    "group",
    "gold",
    "said",
    "right",
    "rho",
    "prior_rho",
    "prior_right",
    "ceiling_rho",
    "logprob",
)


def digest(data: ItemSet) -> str:
    """A digest of all that decides the answers about some items."""
    state = blake2b(digest_size=8)
    for part in (data.classes, data.words, data.subjects, data.templates):
        state.update(repr(part).encode())
    for array in (data.gold, data.other, data.train, data.counts):
        state.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
    if data.choices is not None:
        state.update(repr((data.own_templates, data.groups)).encode() + data.choices.tobytes())
    return state.hexdigest()


def ask(request: TaskRequest, data: ItemSet) -> TaskResult:
    """Ask a model about some items: zero-shot where it has probabilities of words, or else by a head."""
    settings = request.settings
    scorer = request.scorer(settings.policy)
    use = settings.use or ("prompts" if "class_logprobs" in scorer.abilities else "head")
    if use == "head":
        templates = len(data.templates) if "embed" in scorer.abilities else 1
        progress = request.bars(f"head, {data.relation}, templates", templates)
        result, notes = head.probe(scorer, data, settings.protocol, settings.seed, progress)
        return result_of(data, use, [result], notes)
    return result_of(data, use, *prompts(request, data))


def result_of(
    data: ItemSet, use: str, results: Sequence[judging.PromptResult], notes: Mapping[str, Any]
) -> TaskResult:
    """Rows and summary of the ways in which some items were asked about."""
    modes = {result.mode: judging.describe(data, result) for result in results}
    return TaskResult(_rows(data, results), {"use": use, "notes": dict(notes), "modes": modes})


def prompts(request: TaskRequest, data: ItemSet) -> tuple[list[judging.PromptResult], dict[str, Any]]:
    """Zero-shot: best template and average template.

    Raises:
        UnableError: the model has no probabilities of words.
        ValueError: it knows none of the classes' words.
    """
    settings = request.settings
    scorer = request.scorer(settings.policy)
    if "class_logprobs" not in scorer.abilities:
        raise UnableError(f"{scorer.name} has no probabilities of words: give `use=head`")
    items = data.test
    logprobs = elicit.of_items(scorer, data, items, settings.protocol)
    if not np.isfinite(logprobs).any():
        raise ValueError(
            f"{scorer.name} knows none of the words of {data.relation}: {', '.join(data.classes[:5])}, …"
        )
    several = len(logprobs) > 1 or data.choices is None
    results = [judging.best_template(data, items, logprobs)] if several else []
    kept = np.ones(len(items), dtype=bool)
    if (
        settings.protocol == "release"
    ):  # its average leaves out subjects whose best class is several sub-words
        kept = elicit.single_token(request.scorer("drop", forced=True), data.classes)[data.gold[items]]
    mean = elicit.averaged(logprobs[:, kept], settings.protocol)
    results.append(judging.judged(data, items[kept], mean, "average"))
    finite = np.isfinite(logprobs).any(axis=(0, 1))
    return results, {
        "templates": len(logprobs),
        "left_out": int((~kept).sum()),
        "unknown_classes": [name for name, known in zip(data.classes, finite, strict=True) if not known],
    }


def _rows(data: ItemSet, results: Sequence[judging.PromptResult]) -> dict[str, Any]:
    prior_rho, prior_right, ceiling = judging.bounds(data)
    member = data.group_of()
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for result in results:
        top = result.scores == result.scores.max(axis=1, keepdims=True)
        for row, i in enumerate(result.items):
            # classes with the same score stand side by side: the model does not decide between them
            best = "|".join(data.classes[c] for c in np.flatnonzero(top[row]))
            values = (
                result.mode,
                data.subjects[i],
                str(member[i]),
                data.classes[data.gold[i]],
                best if result.answered[row] else None,
                float(result.right[row]),
                float(result.rho[row]),
                float(prior_rho[i]),
                float(prior_right[i]),
                float(ceiling[i]),
                result.scores[row].astype(np.float32),
            )
            for name, value in zip(columns, values, strict=True):
                columns[name].append(value)
    return columns


def mean_text(numbers: Mapping[str, Any] | None, *, spread: bool = False) -> str:
    """A mean with its interval, times 100; "" where there is none."""
    if not numbers or numbers["mean"] is None:
        return ""
    sd = f" ± {100 * numbers['sd']:.1f}" if spread else ""
    return f"{100 * numbers['mean']:.1f}{sd} [{100 * numbers['low']:.1f}, {100 * numbers['high']:.1f}]"


def share_text(value: float | None) -> str:
    """A share times 100; "" where there is none."""
    return "" if value is None else f"{100 * value:.1f}"


def lines(task: str, summary: Mapping[str, Any]) -> list[dict[str, str]]:
    """A line a mode and group, by the names of columns. Numbers are times 100."""

    def small(p: float | None) -> str:
        return "" if p is None else f"{p:.2g}"

    rows = []
    for mode, asked in judging.in_order(summary)["modes"].items():
        for group, numbers in asked["groups"].items():
            above = numbers.get("above_prior") or {}
            graded = "rho" in numbers
            line = {
                "task": task,
                "mode": mode,
                "group": group,
                "n": str(numbers["n"]),
                "score": mean_text(numbers.get("rho"), spread=True),
                "prior": share_text(numbers.get("prior_rho")),
                "ceiling": share_text(numbers.get("ceiling_rho" if graded else "ceiling_accuracy")),
                "above prior": share_text(above.get("mean")),
                "paired p": small(above.get("paired_p")),
                "Welch p": small(above.get("welch_p")),
                "Acc@1": mean_text(numbers["accuracy"]),
                "prior Acc@1": share_text(numbers["prior_accuracy"]),
                "choice of 2": mean_text(numbers["choice"]),
            }
            rows.append(line)
    return rows


def table(rows: Sequence[Mapping[str, str]], explained: str = EXPLAINED) -> SummaryTable:
    """The table of scores."""
    return SummaryTable(HEADS, [[row.get(column, "") for column in HEADS] for row in rows], (explained,))


def trimmed(whole: SummaryTable) -> SummaryTable:
    """The table without the columns that hold nothing."""
    kept = [i for i in range(len(whole.head)) if any(row[i] for row in whole.rows)]
    return replace(
        whole, head=[whole.head[i] for i in kept], rows=[[row[i] for i in kept] for row in whole.rows]
    )


# Two models


@dataclass(frozen=True)
class SubjectComparison:
    """A task, mode and group of two models, on the subjects that both have.

    Attributes:
        task: its name.
        mode: of the first model.
        group: of subjects.
        rho: ρ of a less that of b; None where the task has no ρ.
        interval: 95 % of it, over subjects.
        adjusted: the paired p-value for the false discovery rate over all that is compared.
        n: subjects that both have.
        accuracy: of a and of b.
        accuracy_interval: 95 % of their difference, over subjects.
        right: McNemar's test of where the right class alone came first.
    """

    task: str
    mode: str
    group: str
    rho: statistics.PairedDifference | None
    interval: tuple[float, float]
    adjusted: float
    n: int
    accuracy: tuple[float, float]
    accuracy_interval: tuple[float, float]
    right: statistics.McNemar


def compare(study: Study, a: Path, b: Path) -> list[SubjectComparison]:
    """For every task that both directories have, the modes of a against the same mode of b, or b's only one.

    Raises:
        FileNotFoundError: a directory holds no results.
        DamagedError: a file of theirs is damaged.
        ValueError: they have no subject in common, or asked about different items.
    """
    with understood(f"{a} or {b}", "make both again"):
        tasks = [
            task for task in result_files.shared_tasks(study.record, study.task_names, a, b) if task != "size"
        ]
        contents = [result_files.load(study.record, path)["tasks"] for path in (a, b)]
        for task in tasks:
            if contents[0][task].get("data") != contents[1][task].get("data"):
                raise ValueError(
                    f"{a} and {b} hold answers to different questions about {task}: give two directories "
                    "made with the same subjects, classes, right answers and templates"
                )
        comparisons = [comparison for task in tasks for comparison in _compare_task(study, task, a, b)]
        if not comparisons:
            raise ValueError(f"{a} and {b} have no task, mode and subject in common")
        p_values = [c.rho.paired if c.rho else float("nan") for c in comparisons]
        adjusted = statistics.benjamini_hochberg(p_values)
        return [replace(c, adjusted=float(p)) for c, p in zip(comparisons, adjusted, strict=True)]


def _compare_task(study: Study, task: str, a: Path, b: Path) -> list[SubjectComparison]:
    modes_a, modes_b = (
        _by_mode(result_files.read_rows(study.record, path, task, _COMPARED).to_pydict()) for path in (a, b)
    )
    comparisons = []
    for mode, ours in modes_a.items():
        theirs = modes_b.get(mode) or (next(iter(modes_b.values())) if len(modes_b) == 1 else None)
        subjects = [subject for subject in ours if theirs and subject in theirs]
        if theirs is None or not subjects:
            continue
        group = np.array([ours[s]["group"] for s in subjects])
        rho_a, rho_b = (np.array([side[s]["rho"] for s in subjects], dtype=float) for side in (ours, theirs))
        right_a, right_b = (
            np.array([side[s]["right"] for s in subjects], dtype=float) for side in (ours, theirs)
        )
        for name in ("all", *(name for name in dict.fromkeys(group.tolist()) if name)):
            kept = np.ones(len(subjects), dtype=bool) if name == "all" else group == name
            difference = rho_a[kept] - rho_b[kept]
            has_rho = bool(np.isfinite(difference).any())
            comparisons.append(
                SubjectComparison(
                    task=task,
                    mode=mode,
                    group=name,
                    rho=statistics.difference(rho_a[kept], rho_b[kept]) if has_rho else None,
                    interval=statistics.mean_interval(difference),
                    adjusted=float("nan"),
                    n=int(kept.sum()),
                    accuracy=(float(right_a[kept].mean()), float(right_b[kept].mean())),
                    accuracy_interval=statistics.mean_interval(right_a[kept] - right_b[kept]),
                    right=statistics.mcnemar(right_a[kept] == 1, right_b[kept] == 1),
                )
            )
    return comparisons


def _by_mode(rows: Mapping[str, list[Any]]) -> dict[str, dict[tuple[str, int], dict[str, Any]]]:
    """{mode: {(subject, how often it stood above): {"group", "rho", "right"}}}."""
    modes: dict[str, dict[tuple[str, int], dict[str, Any]]] = {}
    times: dict[tuple[str, str], int] = {}
    for mode, subject, group, rho, right in zip(*(rows[column] for column in _COMPARED), strict=True):
        number = times[mode, subject] = times.get((mode, subject), -1) + 1
        modes.setdefault(mode, {})[subject, number] = {"group": group, "rho": rho, "right": right}
    return modes


def compared(study: Study, a: Path, b: Path) -> list[PrintedTable]:
    """For every task, mode and group that both have, the difference of ρ with its 95 % interval, and tests;
    McNemar's of Acc@1.
    """
    heads = ("n", "ρ, A - B", "95 %", "paired p", "adjusted", "Welch p")
    table = PrintedTable(f"A: {a}   B: {b}", (*heads, "Acc@1 A", "Acc@1 B", "A - B, 95 %", "McNemar p"))
    for comparison in compare(study, a, b):
        rho = [str(comparison.n), *[""] * 5]
        if comparison.rho is not None:
            p_values = (comparison.rho.paired, comparison.adjusted, comparison.rho.welch)
            rho = [
                str(comparison.rho.n),
                percent(comparison.rho.mean),
                _bracket(comparison.interval),
                *(f"{p:.2g}" for p in p_values),
            ]
        table.add(
            f"{comparison.task}, {comparison.mode}, {comparison.group}",
            *rho,
            *map(percent, comparison.accuracy),
            _bracket(comparison.accuracy_interval),
            f"{comparison.right.exact:.2g}",
        )
    return [table]


def _bracket(interval: tuple[float, float]) -> str:
    """An interval of shares, times 100."""
    return f"[{percent(interval[0])}, {percent(interval[1])}]"
