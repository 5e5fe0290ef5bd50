"""What was measured beside the main grid: other grids, the placement of sizes, the search, growth with
the data set, and the first version of the world; and the world's frequencies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from simtown.assets.frequencies import frequencies, table
from simtown.complexity.estimate import TARGETS
from simtown.complexity.finished_runs import model_order
from simtown.complexity.needs import Findings, yes
from tools.parts.claims import PAPER_WORLDS, UNMEASURED, grouped, growth_claims, lead, lead_claims
from tools.parts.results import LARGER, LITERAL, ON_CARD, Cell, Results, shows_growth
from tools.parts.tables import BY_CHANCE, RULE_WORDS, both_of, needs_of, ratios_of
from tools.parts.words import NOTHING_YET, markdown, name_of, paragraphs, percent


def pictures(results: Results) -> str:
    """Needs and ratios at 128 × 128 pixels."""
    return paragraphs(needs_and_ratios(results, LARGER), lead_beside(results.beside(LARGER), results.report))


def stopping(results: Results) -> str:
    """Needs, ratios and shared sets under the paper's stopping rule."""
    report = results.beside(LITERAL)
    figure = "![Samples needed under the paper's stopping rule](../gallery/paper-rule.png)"
    return paragraphs(
        figure if shows_growth(report) else "",
        taken(results),
        needs_and_ratios(results, LITERAL),
        grouped(lead_claims(report) + growth_claims(report)),
        both_of(report),
    )


def taken(results: Results) -> str:
    """How many runs of the paper's rule were trained under the other one (benchmarks/stopping.py)."""
    runs = [run for run, _ in results.curves(LITERAL)]
    others = sum("trained_with" in run for run in runs)
    return (
        f"{others} of these {len(runs)} runs were trained once for both rules, in another grid."
        if others
        else ""
    )


def needs_and_ratios(results: Results, name: str) -> str:
    """Which sizes of a grid beside the published one count, and two tables."""
    report = results.beside(name)
    if report is None:
        return NOTHING_YET
    return paragraphs(sizes_of(report, results.curves(name)), needs_of(report), ratios_of(report))


def sizes_of(report: Findings, cells: Iterable[Cell]) -> str:
    """The sizes that are finished with all seeds, and how many of their runs ended at chance."""
    stuck = {
        (run["model"], run["data"]["distractor"], run["data"]["entities"], run["train_size"], run["seed"])
        for run, curve in cells
        if max(curve["val_accuracy"]) < BY_CHANCE
    }
    body = []
    for curve in report.curves:
        world = curve.model, curve.distractor, curve.entities
        sizes = []
        for size in curve.sizes:
            lost = sum((*world, size, seed) in stuck for seed in curve.seeds)
            sizes.append(f"{size:,}" + f" ({lost})" * bool(lost))
        name = name_of(curve.model)
        body.append(
            [name, yes(curve.distractor), str(curve.entities), str(len(curve.seeds)), ", ".join(sizes)]
        )
    words = (
        "Training examples at which all seeds are finished. In brackets: how many runs ended at chance, "
        f"before a validation reached {percent(BY_CHANCE)}."
    )
    return paragraphs(words, markdown(["model", "distractor", "entities", "seeds", "examples"], body, 5))


def lead_beside(report: Findings | None, published: Findings | None, entities: int = 15) -> str:
    """The lead of the Place-Binder Network in one world, beside that in the main grid; nothing if one of
    the two is unknown.
    """
    here, there = (lead(findings, False, entities) for findings in (report, published))
    if UNMEASURED in (here.verdict, there.verdict):
        return ""
    return (
        f"For 90 %, the CNN-LSTM needs {here.figure} examples as the PBN ({here.seeds} seeds); in the main "
        f"grid {there.figure} ({there.seeds} seeds)."
    )


def devices(results: Results) -> str:
    """How many cells of the main grid a card trained, and the accuracies of cells that both trained."""
    runs = [run for run, _ in results.curves()]
    processor = {cell_of(run): run["test"]["accuracy"] for run in runs if not on_card(run)}
    cells: dict[tuple[str, int, int], list[tuple[float, float]]] = defaultdict(list)
    for run, _ in results.curves(ON_CARD):
        if cell_of(run) in processor:
            accuracies = run["test"]["accuracy"], processor[cell_of(run)]
            cells[run["model"], run["data"]["entities"], run["train_size"]].append(accuracies)
    if not cells:
        return NOTHING_YET
    body = []
    for (model, entities, size), pairs in sorted(cells.items()):
        on_a_card, on_processor = np.transpose(pairs)
        less = on_a_card - on_processor
        error = less.std(ddof=1) / np.sqrt(len(less))
        means = [f"{accuracies.mean():.3f}" for accuracies in (on_processor, on_a_card)]
        line = [name_of(model), str(entities), f"{size:,}", str(len(pairs)), *means]
        body.append([*line, f"{less.mean():+.3f} ({error:.3f})"])
    head = ("model", "entities", "examples", "seeds", "processor", "card", "difference (standard error)")
    cards = [run["machine"]["device"] for run in runs if on_card(run)]
    names = " and ".join(sorted(set(cards)))
    told = f"A card ({names}) trained {len(cards)} cells of the main grid, processors the others."
    return paragraphs(told if cards else "", markdown(head, body, 1))


def on_card(run: dict[str, Any]) -> bool:
    return bool(run["settings"]["device"] == "cuda")


def cell_of(run: dict[str, Any]) -> tuple[object, ...]:
    """What a cell is in its grid, whichever device trained it."""
    data = run["data"]
    return run["model"], run["train_size"], run["seed"], data["entities"], data["distractor"]


def placement(results: Results) -> str:
    """What benchmarks/adaptive.py found: needs and time of adaptive sizes against fixed ones."""
    rows = results.csv("adaptive.csv")
    simulated = [row for row in rows if "slope" in row["grid"]]
    measured = [row for row in rows if row not in simulated]
    return (
        paragraphs(replays("simulated grids", simulated), replays("the grid of fixed sizes", measured))
        or NOTHING_YET
    )


def replays(grids: str, rows: list[dict[str, str]]) -> str:
    """A sentence about the replays of some grids; nothing if there are none."""
    if not rows:
        return ""
    same = sum(row["within"] == "yes" for row in rows)
    shares = [float(row["time"]) / float(row["fixed_time"]) for row in rows]
    share = sum(float(row["time"]) for row in rows) / sum(float(row["fixed_time"]) for row in rows)
    sizes = " or ".join(sorted({row["sizes"] for row in rows}, key=int))
    return (
        f"Replayed on {grids} with all of {sizes} sizes (`benchmarks/results/adaptive.csv`), {same} of "
        f"{len(rows)} searches found the need within its interval, in {percent(share)} of the time of all "
        f"sizes (a single search: {100 * min(shares):.0f} to {100 * max(shares):.0f} %)."
    )


def search(results: Results) -> str:
    """What the search tried, a line a model, and what its rule chooses."""
    body = []
    for path in sorted((results.folder / "search").glob("*.csv"), key=lambda path: model_order(path.stem)):
        trials = results.csv(f"search/{path.name}")
        accuracy = {
            int(trial["trial"]): float(trial["val_accuracy"]) for trial in trials if trial["seed"] == "0"
        }
        others = [value for number, value in accuracy.items() if number]
        best = [
            f"{values[0]:.3f}" if values else "–"
            for values in ([accuracy[0]] if 0 in accuracy else [], sorted(others, reverse=True))
        ]
        body.append([name_of(path.stem), str(len(accuracy)), *best, chosen(trials)])
    return (
        markdown(["model", "trials", "the defaults", "best other trial", "chosen"], body, 1)
        if body
        else NOTHING_YET
    )


def chosen(trials: list[dict[str, str]]) -> str:
    """What the rule of benchmarks/search.py says of a model's trials; a search in which nothing was learned
    chooses nothing.
    """
    from benchmarks.search import TRIALS, challenger  # PyTorch

    missing = TRIALS - sum(trial["seed"] == "0" for trial in trials)
    if missing > 0:
        return f"open: {missing} trial{'s are' if missing > 1 else ' is'} missing"
    if max(float(trial["val_accuracy"]) for trial in trials) < BY_CHANCE:
        return "nothing: no trial left chance"
    best = challenger(trials, 0)
    if best is None:
        return "the defaults"
    again = [trial for trial in trials if trial["seed"] == "1" and int(trial["trial"]) in (0, best)]
    if len(again) < 2:
        return "open: the second seed is missing"
    return "the defaults" if challenger(again, 1) is None else f"trial {best}"


def shares(results: Results) -> str:
    """What the two readings of section 6.3 make of the most common entity, and how often "no" would name an
    absent kind.
    """
    counts = np.array([line[1:] for line in table()], dtype=float)
    ranked = -np.sort(-counts, axis=0)
    body = []
    for k in PAPER_WORLDS:
        subject, obj = frequencies("vg", k)
        drawn = different(subject, obj)
        two = ranked[:k] / ranked[:k].sum(axis=0)
        tops = [
            *(subject.max(), drawn.sum(axis=1).max(), two[0, 0]),
            *(obj.max(), drawn.sum(axis=0).max(), two[0, 1]),
        ]
        body.append([str(k), *(f"{top:.2f}" for top in tops), f"{100 * absent(subject, obj):.1f} %"])
    head = [
        "entities",
        "top subject, here",
        "drawn, since kinds differ",
        "by two rankings",
        "top object, here",
        "drawn, since kinds differ",
        "by two rankings",
        '"no" about an absent kind, by the letter',
    ]
    return markdown(head, body, 0)


def absent(subject: np.ndarray, obj: np.ndarray) -> float:
    """Share of "no" questions that would name a kind that is not in the scene, if every false question of
    equation 5 counted.

    Args:
        subject, obj: (k,) probabilities. Half of the questions about the two kinds of a scene are taken to be
            false, and all that name one kind twice.
    """
    scene = different(subject, obj)
    both = np.outer(subject, obj) + np.outer(obj, subject)  # that a question names both, in either order
    twice = np.add.outer(subject * obj, subject * obj)  # that it names one of them twice
    return float((scene * (1 - both - twice) / (1 - both / 2)).sum())


def different(subject: np.ndarray, obj: np.ndarray) -> np.ndarray:
    """(k, k) probabilities of a scene's two kinds, since they differ."""
    scene = np.outer(subject, obj)
    np.fill_diagonal(scene, 0)
    return scene / scene.sum()


def need_words(row: dict[str, str]) -> str:
    """A need in a line of a table that `simtown complexity` wrote, with its interval unless the rule is the
    paper's.
    """

    def words(end: str) -> str:
        bounds = {
            "left-censored": f"≤ {int(row['smallest']):,}",
            "right-censored": f"> {int(row['largest']):,}",
        }
        return bounds.get(row[f"{end}_state"]) or f"{float(row[end]):,.0f}"

    point, low, high = words("samples"), words("low"), words("high")
    return point if row["rule"] == "smallest" or point == low == high else f"{point} ({low} to {high})"


def growth(results: Results) -> str:
    """Time and memory of every command at every size (benchmarks/growth.py)."""
    rows = results.csv("growth.csv")
    sizes = sorted({int(row["examples"]) for row in rows})
    cells = {
        (row["command"], int(row["examples"])): f"{float(row['seconds']):.0f} s, {row['megabytes']} MB"
        for row in rows
    }
    commands = dict.fromkeys(row["command"] for row in rows)
    return markdown(
        ["command", *(f"{size:,}" for size in sizes)],
        [[command, *(cells.get((command, size), "–") for size in sizes)] for command in commands],
        1,
    )


def version1(results: Results) -> str:
    """The small preset's needs in version 1 of the world, while their files are kept."""
    rows = [row for row in results.csv("small-complexity.csv") if row["rule"] in RULE_WORDS]
    if not rows:
        return ""

    lines: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        lines.setdefault((row["model"], row["entities"], row["rule"]), []).append(need_words(row))
    words = (
        "### Version 1 of the world\n\nThese runs were made in another version of the world with the old "
        "preset `small`: one seed, no "
        "distractor, 64 × 32. Their intervals hold the choice of test items only and are too narrow, so they "
        "decide nothing. The files are "
        "`benchmarks/results/small-complexity*.csv`."
    )
    body = [[name_of(model), entities, rule, *samples] for (model, entities, rule), samples in lines.items()]
    return paragraphs(words, markdown(["model", "entities", "rule", *(percent(t) for t in TARGETS)], body, 3))
