"""Tables beside the main grid: the search, a card, frequencies, growth with the data set."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from simtown.assets.frequencies import frequencies, table
from simtown.complexity.finished_runs import model_order
from simtown.complexity.model_looks import name_of
from simtown.core.tables import Table
from tools.parts.results import BY_CHANCE, ON_CARD, PAPER_WORLDS, Results


def search(results: Results) -> str:
    """What the search tried, a line a model, and what its rule chooses."""
    lines = []
    for path in sorted((results.folder / "search").glob("*.csv"), key=lambda path: model_order(path.stem)):
        trials = results.csv(f"search/{path.name}")
        accuracy = {int(x["trial"]): float(x["val_accuracy"]) for x in trials if x["seed"] == "0"}
        best = max(value for trial, value in accuracy.items() if trial)
        shown = f"{accuracy[0]:.3f}", f"{best:.3f}"
        lines.append([name_of(path.stem), len(accuracy), *shown, chosen(trials)])
    return Table(["model", "trials", "the defaults", "best other trial", "chosen"], lines).markdown(1)


def chosen(trials: list[dict[str, str]]) -> str:
    """What the rule of benchmarks/search.py says of a model's trials.

    A search in which nothing was learned chooses nothing.
    """
    from benchmarks.search import challenger  # PyTorch

    if max(float(trial["val_accuracy"]) for trial in trials) < BY_CHANCE:
        return "nothing: no trial left chance"
    best = challenger(trials, 0)
    again = [trial for trial in trials if int(trial["trial"]) in (0, best)]
    return "the defaults" if best is None or challenger(again, 1) is None else f"trial {best}"


def devices(results: Results) -> str:
    """The accuracies of cells that a card and a processor trained."""
    runs: dict[tuple[str, int, int, int], dict[str, float]] = defaultdict(dict)
    for run, _ in (*results.cells(), *results.cells(ON_CARD)):
        if not run["data"]["distractor"]:
            cell = run["model"], run["data"]["entities"], run["train_size"], run["seed"]
            runs[cell].setdefault(run["settings"]["device"], run["test"]["accuracy"])
    cells: dict[tuple[str, int, int], list[tuple[float, float]]] = defaultdict(list)
    for (*cell, _), accuracy in runs.items():
        if len(accuracy) == 2:
            cells[*cell,].append((accuracy["cpu"], accuracy["cuda"]))
    lines = []
    for (model, entities, size), pairs in sorted(cells.items()):
        on_processor, on_card = np.transpose(pairs)
        less = on_card - on_processor
        error = less.std(ddof=1) / np.sqrt(len(less))
        means = f"{on_processor.mean():.3f}", f"{on_card.mean():.3f}", f"{less.mean():+.3f} ({error:.3f})"
        lines.append([name_of(model), entities, f"{size:,}", len(pairs), *means])
    head = ["model", "entities", "examples", "seeds", "processor", "card", "difference (standard error)"]
    return Table(head, lines).markdown(1)


def shares(results: Results) -> str:
    """What the two readings of section 6.3 make of the most common entity, and how often "no" would name an
    absent kind.
    """
    counts = np.array([line[1:] for line in table()], dtype=float)
    ranked = -np.sort(-counts, axis=0)
    lines = []
    for k in PAPER_WORLDS:
        subject, obj = frequencies("vg", k)
        scene = _of_two_kinds(subject, obj)
        two = ranked[:k] / ranked[:k].sum(axis=0)
        tops = [
            *(subject.max(), scene.sum(axis=1).max(), two[0, 0]),
            *(obj.max(), scene.sum(axis=0).max(), two[0, 1]),
        ]
        lines.append([k, *(f"{top:.2f}" for top in tops), f"{100 * absent(subject, obj):.1f} %"])
    readings = ["drawn, since kinds differ", "by two rankings"]
    head = ["entities", "top subject, here", *readings, "top object, here", *readings]
    return Table([*head, '"no" about an absent kind, by the letter'], lines).markdown(0)


def absent(subject: np.ndarray, obj: np.ndarray) -> float:
    """Share of "no" questions that would name a kind that is not in the scene, if every false question of
    equation 5 counted.

    `subject` and `obj` are (k,) probabilities. Half of the questions about the two kinds of a scene are taken
    to be false, and all that name one kind twice.
    """
    both = np.outer(subject, obj) + np.outer(obj, subject)  # that a question names both, in either order
    twice = np.add.outer(subject * obj, subject * obj)  # that it names one of them twice
    return float((_of_two_kinds(subject, obj) * (1 - both - twice) / (1 - both / 2)).sum())


def _of_two_kinds(subject: np.ndarray, obj: np.ndarray) -> np.ndarray:
    """(k, k) probabilities of a scene's two kinds, since they differ."""
    scene = np.outer(subject, obj)
    np.fill_diagonal(scene, 0)
    return scene / scene.sum()


#: Commands of growth.csv that docs/scale.md shows; the file has all.
EVERYDAY = ("generate", "epoch", "verify", "audit", "export parquet", "fit --no-cache", "fit")


def growth(results: Results) -> str:
    """Time and memory of the everyday commands at every size (benchmarks/growth.py)."""
    lines: dict[str, dict[int, str]] = defaultdict(dict)
    for row in results.csv("growth.csv"):
        if row["command"] not in EVERYDAY:
            continue
        lines[row["command"]][int(row["examples"])] = f"{float(row['seconds']):.0f} s, {row['megabytes']} MB"
    sizes = sorted({size for cells in lines.values() for size in cells})
    body = [[command, *(cells.get(size, "–") for size in sizes)] for command, cells in lines.items()]
    return Table(["command", *(f"{size:,}" for size in sizes)], body).markdown(1)
