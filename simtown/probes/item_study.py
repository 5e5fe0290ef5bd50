"""Studies of items: subjects, classes and what is right, asked by templates or by a head on vectors.

A study of your own is :func:`item_study` of its items::

    sounds = item_study("sounds", make_items("sounds", ["cow", "dog"], ["moo", "bark"], ["a [X] says [Y] ."]))
    run(sounds, Path(), ItemSettings("hf:bert-base-uncased"), Path("sounds-bert"))
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.options import SettingsError
from simtown.core.table_files import NUMBER, TEXT
from simtown.core.tables import Table
from simtown.core.untrusted import figure_text
from simtown.probes import elicit, figures, measures, report
from simtown.probes.items import GROUPS, ItemAnswers, ItemSet, read_items
from simtown.probes.model_names import in_words
from simtown.probes.report import Results
from simtown.probes.reproduce import PrintedTable, bracket, p_value, percent, some
from simtown.probes.scorers.base import UnableError
from simtown.probes.scorers.spelling import BLANK
from simtown.probes.study import Study, TaskRequest, TaskResult
from simtown.probes.study_settings import AskSettings, ItemSettings

#: Ways of asking, in the order of tables.
MODES = ("best", "average", "head", "tuned")
_EXPLAINED = (
    "score: mean Spearman ρ over subjects ± sd, times 100; Acc@1: share of items of which a right class came "
    "first, per cent, 1/k where k classes share the first place; in brackets 95 % bootstrap intervals over "
    "items; prior: the answers of one who knows how common each class is among the items to learn from, or "
    "else among all items but one of each class; ceiling: the best ρ of a ranking without ties, or of items "
    "without counts the best accuracy that one answer a question has (best template: it may give several)."
)


def item_study(name: str, *items: ItemSet) -> Study:
    """A study of sets of items: every set is a task."""
    sets = {item_set.relation: item_set for item_set in items}
    return Study(
        name,
        ItemSettings,
        tuple(sets),
        items=lambda source, settings: sets,
        digest=ItemSet.digest,
        ask=ask_items,
        pages=item_pages,
        draw=draw_items,
        compare=compare_items,
    )


def ask_items(request: TaskRequest) -> TaskResult:
    """Ask a model about items: zero-shot if it has probabilities of words, or else by a head.

    Raises:
        UnableError: the model cannot be used so.
        ValueError: it knows none of the classes' words, or there is nothing to learn from.
    """
    data, settings = request.items, request.settings
    scorer = request.scorer(settings.policy)
    able = "class_logprobs" in scorer.abilities
    if settings.use == "head" or (settings.use is None and not able):
        templates = len(data.templates) if "embed" in scorer.abilities else 1
        progress = request.bars(f"head, {data.relation}, templates", templates)
        answers, notes = elicit.by_head(scorer, data, settings.protocol, settings.seed, progress)
        return task_result(data, "head", [answers], notes)
    if not able:
        raise UnableError(f"{scorer.name} has no probabilities of words: give `use=head`")
    items = data.test
    choices = None if data.choices is None else data.choices[items]
    subjects = [data.subjects[i] for i in items]
    sentences = data.templates or [[data.own_templates[i] for i in items]]
    logprobs = elicit.by_template(scorer, sentences, subjects, data.words, settings.protocol, choices)
    finite = np.asarray(np.isfinite(logprobs).any(axis=(0, 1)))
    if not finite.any():
        raise ValueError(f"{scorer.name} knows none of the words of {data.relation}: {some(data.classes)}")
    results = [best_template(data, logprobs)] if len(logprobs) > 1 or data.choices is None else []
    kept = np.ones(len(items), dtype=bool)
    if settings.protocol == "release":
        # its average leaves out subjects whose best class is several sub-words, which this policy drops
        dropping = request.scorer("drop", forced=True)
        whole = np.isfinite(dropping.class_logprobs([f"this is {BLANK} ."], data.classes)[0])
        kept = (data.right[items] & whole).any(axis=1)
    mean = elicit.averaged(logprobs[:, kept], settings.protocol)
    results.append(ItemAnswers.of(data, items[kept], mean, "average"))
    asked = choices is None or choices.any(axis=0)
    unknown = [data.classes[c] for c in np.flatnonzero(~finite & asked)]
    counts = {"templates": len(logprobs), "left_out": int((~kept).sum())}
    return task_result(data, "prompts", results, {**counts, "unknown_classes": unknown})


def best_template(data: ItemSet, logprobs: np.ndarray) -> ItemAnswers:
    """Of every subject the highest ρ over (t, m, c) templates; right where any is: "best template" (4.1).

    Which template is best is chosen by looking at the answer: this flatters. The scores kept are those of the
    template with the best ρ, or, where there is no ρ, of one that is right or at least has an answer.
    """
    each = [ItemAnswers.of(data, data.test, scores, "best") for scores in logprobs]
    names = ("rho", "right", "answered", "scores")
    rho, right, answered, scores = (np.stack([getattr(answers, name) for answers in each]) for name in names)
    best = np.where(np.isnan(rho), right + answered - 3, rho).argmax(axis=0)
    at = np.arange(len(data.test))
    return ItemAnswers("best", data.test, scores[best, at], rho[best, at], right.max(axis=0))


def task_result(data: ItemSet, use: str, results: list[ItemAnswers], notes: Mapping[str, Any]) -> TaskResult:
    """Rows and summary of the ways in which items were asked about."""
    modes = {answers.mode: describe(data, answers) for answers in results}
    more = {"more_columns": list(data.more)} if data.more else {}
    return TaskResult(_rows(data, results), {"use": use, "notes": {**notes, **more}, "modes": modes})


def _rows(data: ItemSet, results: Sequence[ItemAnswers]) -> dict[str, list[Any]]:
    prior_rho, prior_right, ceiling = bounds(data)
    subjects, classes, group = np.array(data.subjects), np.array(data.classes), data.group_of()
    columns: dict[str, list[Any]] = {}
    for answers in results:
        items, scores = answers.items, answers.scores
        # classes with the same score stand side by side: the model does not decide between them
        top = (scores == scores.max(axis=1, keepdims=True)) & np.isfinite(scores)
        part = {
            "mode": [answers.mode] * len(items),
            "subject": subjects[items],
            "group": group[items],
            "gold": ["|".join(classes[right]) for right in data.right[items]],
            "said": ["|".join(classes[highest]) or None for highest in top],
            "right": answers.right,
            "rho": answers.rho,
            "prior_rho": prior_rho[items],
            "prior_right": prior_right[items],
            "ceiling_rho": ceiling[items],
            "logprob": scores.astype(np.float32),
            **{name: np.array(texts)[items] for name, texts in data.more.items()},
        }
        for name, values in part.items():
            columns.setdefault(name, []).extend(values)
    return columns


def bounds(data: ItemSet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every subject the prior's ρ (n,), its share of right answers (n,), and the ceiling (n,).

    Without counts ρ is NaN. The prior of an item is made of the items to learn from; without these, of all
    items but one of each class, see :func:`simtown.probes.measures.shares_of_others`.
    """
    n = len(data.subjects)
    shares = measures.shares(data.right if data.counts is None else data.counts)
    if data.train.any():
        guesses = np.tile(shares[data.train].mean(axis=0), (n, 1))
    else:
        _, alike = np.unique(data.right, axis=0, return_inverse=True)
        guesses = measures.shares_of_others(shares, alike.ravel())
    allowed = guesses if data.choices is None else np.where(data.choices, guesses, -np.inf)
    prior_right = measures.share_right(allowed, data.right)
    if data.counts is None:
        return np.full(n, np.nan), prior_right, np.full(n, np.nan)
    prior_rho = measures.spearman_rows(guesses, data.counts, data.choices)
    return prior_rho, prior_right, measures.ceiling_rows(data.counts, data.choices)


def attainable(data: ItemSet, items: np.ndarray) -> float:
    """The highest accuracy on some items of one who gives every question one answer.

    Items with the same subject, template and choices are one question.
    """
    answers, right = dict[tuple[str, str, bytes], Counter[int]](), data.right
    for i in items.tolist():
        own = data.own_templates[i] if data.own_templates else ""
        choices = b"" if data.choices is None else data.choices[i].tobytes()
        answers.setdefault((data.subjects[i], own, choices), Counter()).update(
            np.flatnonzero(right[i]).tolist()
        )
    return sum(max(counter.values()) for counter in answers.values()) / len(items)


def describe(data: ItemSet, answers: ItemAnswers) -> dict[str, Any]:
    """{"groups": {group: numbers}, "classes": {class: numbers}}; means have 95 % intervals over subjects."""
    items = answers.items
    prior_rho, prior_right, ceiling = (x[items] for x in bounds(data))
    group_of = data.group_of()[items]
    summary: dict[str, Any] = {"groups": {}, "classes": {}}
    gold = data.right[items] if data.counts is None else data.counts[items] > 0
    unknown = gold & ~np.isfinite(answers.scores)
    if unknown.any():
        names = [data.classes[c] for c in np.flatnonzero(unknown.any(axis=0))]
        summary["unknown_gold"] = {"items": int(unknown.any(axis=1).sum()), "classes": names}
    at, other = np.arange(len(items)), data.other[items]
    right, wrong = answers.scores[at, data.gold[items]], answers.scores[at, other]
    # whether the right class is above the one to choose against: ½ if they are equal, NaN without one
    preferred = np.where(other < 0, np.nan, np.where(right == wrong, 0.5, right > wrong))
    learned = data.train & (data.other >= 0)
    usual = measures.usually_right(data.gold[learned], data.other[learned], len(data.classes))
    right, wrong = usual[data.gold[items]], usual[other]
    blind = np.where(other < 0, np.nan, np.where(right == wrong, 0.5, right > wrong))
    for group in ("all", *data.group_names()):
        kept = np.isin(group_of, group) | (group == "all")
        if not kept.any():
            continue
        numbers: dict[str, Any] = {"n": int(kept.sum()), "accuracy": mean_of(answers.right[kept])}
        numbers["unanswered"] = int((~answers.answered[kept]).sum())
        numbers["prior_accuracy"] = float(prior_right[kept].mean())
        if data.choices is not None:
            if answers.mode != "best":  # it may answer a question differently, by template
                numbers["ceiling_accuracy"] = attainable(data, items[kept])
            numbers["chance_accuracy"] = float((1 / data.choices[items][kept].sum(axis=1)).mean())
        numbers["choice"] = mean_of(preferred[kept])
        numbers["prior_choice"] = mean_of(blind[kept])["mean"]
        if data.counts is not None:
            numbers["rho"] = mean_of(answers.rho[kept])
            numbers["prior_rho"] = mean_of(prior_rho[kept])["mean"]
            numbers["ceiling_rho"] = mean_of(ceiling[kept])["mean"]
            above = measures.difference(answers.rho[kept], prior_rho[kept])
            numbers["above_prior"] = {"mean": above.mean, "paired_p": above.paired, "welch_p": above.welch}
        summary["groups"][group] = numbers
    if data.counts is not None:
        for c, name in enumerate(data.classes):
            kept = data.right[items, c]
            if kept.any():
                means = {"rho": mean_of(answers.rho[kept]), "accuracy": mean_of(answers.right[kept])}
                prior = mean_of(prior_rho[kept])["mean"]
                summary["classes"][name] = {"n": int(kept.sum()), **means, "prior_rho": prior}
    return summary


def mean_of(values: np.ndarray) -> dict[str, float]:
    """Mean, deviation and interval of the values that are finite; NaN without any."""
    kept = values[np.isfinite(values)]
    mean, sd = (float(kept.mean()), float(kept.std())) if len(kept) else (np.nan, np.nan)
    low, high = measures.mean_interval(kept)
    return {"mean": mean, "sd": sd, "low": low, "high": high}


def in_order(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The modes of a task's summary, and their groups, in the order of tables; JSON sorts them."""

    def ordered(names: Iterable[str], first: Sequence[str]) -> list[str]:
        return sorted(names, key=lambda name: (first.index(name) if name in first else len(first), name))

    modes = {}
    for mode in ordered(summary.get("modes", ()), MODES):
        groups = summary["modes"][mode]["groups"]
        names = ordered(groups, ("all", *GROUPS))
        modes[mode] = {**summary["modes"][mode], "groups": {name: groups[name] for name in names}}
    return modes


def item_pages(results: Results) -> dict[str, str]:
    """summary.csv and summary.md of a study of items."""
    lines = [line for task, summary in results.tasks.items() for line in table_lines(task, summary)]
    return score_pages(results, lines, [_EXPLAINED, *remarks(results)])


def score_pages(results: Results, lines: Sequence[Mapping[str, str]], notes: Sequence[str]) -> dict[str, str]:
    """summary.csv and summary.md of lines by column; columns without any number are left out."""
    columns = [name for name in dict.fromkeys(chain(*lines)) if any(line.get(name) for line in lines)]
    table = Table(columns, [[line.get(column, "") for column in columns] for line in lines])
    return report.pages(results, table, notes)


def table_lines(task: str, summary: Mapping[str, Any]) -> list[dict[str, str]]:
    """A line a mode and group, by column. Numbers are times 100."""
    columns = ["task", "mode", "group", "n", "score", "prior", "ceiling", "above prior"]
    columns += ["paired p", "Welch p", "Acc@1", "prior Acc@1", "choice of 2", "prior choice"]
    lines = []
    for mode, asked in in_order(summary).items():
        for group, numbers in asked["groups"].items():
            above = numbers.get("above_prior") or {}
            ceiling = "ceiling_rho" if "rho" in numbers else "ceiling_accuracy"
            known = (numbers.get("prior_rho"), numbers.get(ceiling), above.get("mean"))
            p_values = (p_value(above.get(p)) for p in ("paired_p", "welch_p"))
            score, right = mean_text(numbers.get("rho"), spread=True), mean_text(numbers["accuracy"])
            cells = [task, mode, group, str(numbers["n"]), score, *map(share_text, known), *p_values, right]
            cells += [share_text(numbers["prior_accuracy"]), mean_text(numbers["choice"])]
            cells.append(share_text(numbers.get("prior_choice")))
            lines.append(dict(zip(columns, cells, strict=True)))
    return lines


def mean_text(numbers: Mapping[str, Any] | None, *, spread: bool = False) -> str:
    """A mean with its interval, times 100; "" where there is none."""
    if not numbers or numbers["mean"] is None:
        return ""
    sd = f" ± {percent(numbers['sd'])}" if spread else ""
    return f"{percent(numbers['mean'])}{sd} [{percent(numbers['low'])}, {percent(numbers['high'])}]"


def share_text(value: float | None) -> str:
    """A share times 100; "" where there is none."""
    return "" if value is None else percent(value)


def remarks(results: Results) -> list[str]:
    """What the table does not show: items and words without an answer, columns that decide nothing."""
    lines = []
    for task, summary in results.tasks.items():
        for mode, asked in in_order(summary).items():
            of_all = f"of {asked['groups']['all']['n']:,} items"
            if count := asked["groups"]["all"].get("unanswered"):
                reason = "the model knows none of their classes; they count as wrong"
                lines.append(f"{task}, {mode}: no answer to {count:,} {of_all}, since {reason}")
            if unknown := asked.get("unknown_gold"):
                problem = f"the model cannot say these gold words of {unknown['items']:,} {of_all}"
                lines.append(f"{task}, {mode}: {problem}, and ranks them last: {some(unknown['classes'])}")
        if columns := summary.get("notes", {}).get("more_columns"):
            lines.append(f"{task}: kept beside the answers, and not read: {some(columns)}")
    return lines


def draw_items(results: Results, task: str, data: ItemSet) -> None:
    """Draw the rank correlations of a task, or its accuracies if there are no counts."""
    modes, path = in_order(results.tasks[task]), results.path / f"{task}.png"
    draw = figures.accuracies if data.counts is None else figures.rank_correlations
    draw(path, modes, f"{figure_text(task)}, {in_words(results.model)}")


def compare_items(a: Results, b: Results) -> list[PrintedTable]:
    """For every mode and group that both have, the difference of ρ, and tests; McNemar's of Acc@1.

    A mode of a stands against the same mode of b, or b's only one.

    Raises:
        ValueError: they have no subject in common, or asked about different items.
        DamagedError: a file of theirs is damaged.
    """
    of_rho = ("n", "ρ, A - B", "95 %", "paired p", "adjusted", "Welch p")
    columns = (*of_rho, "Acc@1 A", "Acc@1 B", "A - B, 95 %", "McNemar p")
    table = PrintedTable(f"A: {a.path}   B: {b.path}", columns)
    pairs = [pair for task in report.shared_tasks(a, b) if task != "size" for pair in _paired(task, a, b)]
    if not pairs:
        raise ValueError(f"{a.path} and {b.path} have no task, mode and subject in common")
    tests = [measures.difference(x[:, 0], y[:, 0]) for _, x, y in pairs]
    adjusted = measures.benjamini_hochberg([difference.paired for difference in tests])
    for (name, x, y), difference, p in zip(pairs, tests, adjusted, strict=True):
        cells = [str(len(x)), *[""] * 5]
        if difference.n:
            p_values = (p_value(value) for value in (difference.paired, p, difference.welch))
            cells = [str(difference.n), percent(difference.mean), bracket(x[:, 0] - y[:, 0]), *p_values]
        right_a, right_b = x[:, 1], y[:, 1]
        shares = (percent(float(right.mean())) for right in (right_a, right_b))
        test = measures.mcnemar(right_a == 1, right_b == 1)
        table.add(name, *cells, *shares, bracket(right_a - right_b), f"{test.exact:.2g}")
    return [table]


def _paired(task: str, a: Results, b: Results) -> Iterable[tuple[str, np.ndarray, np.ndarray]]:
    """Of every mode and group its name, and (n, 2) ρ and share right of shared subjects by both models."""
    modes_a, modes_b = (_by_mode(results, task) for results in (a, b))
    for mode, ours in modes_a.items():
        theirs = modes_b.get(mode) or (next(iter(modes_b.values())) if len(modes_b) == 1 else {})
        subjects = [subject for subject in ours if subject in theirs]
        groups = [ours[subject][0] for subject in subjects]
        for name in ("all", *filter(None, dict.fromkeys(groups))) if subjects else ():
            kept = [s for s, group in zip(subjects, groups, strict=True) if name in ("all", group)]
            x, y = (np.array([side[s][1:] for s in kept], dtype=float) for side in (ours, theirs))
            yield f"{task}, {mode}, {name}", x, y


def _by_mode(results: Results, task: str) -> dict[str, dict[tuple[str, int], tuple[Any, ...]]]:
    """{mode: {(subject, how often it stood above): (group, ρ, share right)}}."""
    columns = dict.fromkeys(("mode", "subject", "group"), TEXT) | dict.fromkeys(("rho", "right"), NUMBER)
    rows = results.rows(task, columns)
    modes: dict[str, dict[tuple[str, int], tuple[Any, ...]]] = {}
    times: Counter[tuple[str, str]] = Counter()
    for mode, subject, *numbers in zip(*rows.values(), strict=True):
        modes.setdefault(mode, {})[subject, times[mode, subject]] = tuple(numbers)
        times[mode, subject] += 1
    return modes


def _items_of_table(source: Path, settings: AskSettings) -> dict[str, ItemSet]:
    if settings.elicit or settings.normalise != "none":
        problem = f"is for pairs, which {source} does not hold: give `elicit` too, or leave it out"
        raise SettingsError(problem, "normalise")
    classes = settings.classes.split(",") if settings.classes else ()
    return {"items": read_items(source, settings.template, classes)}


#: ``simtown probe ask ITEMS.csv``: a table of your own.
ASK = replace(item_study("ask"), settings=AskSettings, tasks=("items",), items=_items_of_table)
ASK = replace(ASK, source="items", positional=True)
