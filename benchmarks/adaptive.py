"""What an adaptive sweep saves, and whether it finds the same needs: a finished grid is replayed without
training anything.

    python benchmarks/adaptive.py --synthetic
        learning curves whose truth is known
    python benchmarks/adaptive.py benchmarks/results/fixed-15
        a folder of kept cells, every size there (benchmarks/presets/fixed-15.toml)

A search may visit the sizes of the fixed grid alone, and is told the accuracy that its run there had. Needs
are those of the isotonic rule, with 95 % intervals from a bootstrap over seeds and test items. Time is
counted in steps, which do not depend on what else the machine did. Writes its rows to
benchmarks/results/adaptive.csv, a row for each world, model and target, in place of those of the same grids.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from simtown.complexity import cells
from simtown.complexity.curves import isotonic
from simtown.complexity.size_search import ladder
from simtown.core.files import DamagedError
from simtown.datasets.settings import Settings
from simtown.training.fit_settings import FitSettings
from simtown.training.plan import SizeCurve, SweepCell, SweepPlan, check_targets
from simtown.training.schedule import Schedule

RESULT = Path(__file__).parent / "results" / "adaptive.csv"
#: Worlds in the order in which the main grid visits them; others follow by size.
ORDER = (15, 31, 5, 60, 102)
#: Sizes of the preset "paper": a fixed grid as coarse as that.
PAPER = (250, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 40_000, 60_000)
REPLICATES = 400
ITEMS, SEEDS = 2_000, 5
#: Steps of a synthetic run: so many at least, and ten epochs beyond them; about what runs of batches of 128
#: take.
LEAST, EPOCHS, BATCH = 1_500, 12, 128
#: Synthetic needs with 15 entities at 90 % and exponents of growth with the world, about those measured.
NEEDS = {"pbn": (1_650.0, 1.1), "cnn-lstm": (16_500.0, 1.1)}


@dataclass(frozen=True)
class Grid:
    """A finished grid.

    Attributes:
        plan: its curves, with the sizes that were run.
        correct: by name of a cell, (T,) bool, which test items it answered correctly.
        steps: by name of a cell, how long it trained.
    """

    plan: SweepPlan
    correct: dict[str, np.ndarray]
    steps: dict[str, float]


def synthetic(
    slope: float, scatter: float, sizes: Sequence[int], targets: tuple[float, ...], seed: int = 0
) -> Grid:
    """Learning curves that are sigmoids in log n: half of what is to be learned is known at a size that
    differs from seed to seed.

    Args:
        slope: 1.6 is about what was measured; a larger one is a steeper take-off.
        scatter: standard deviation, over seeds, of the logarithm of a curve's middle; a run's own is half of
            that.
    """
    rng = np.random.default_rng(seed)
    curves, correct, steps = [], {}, {}
    for entities in (15, 31, 5, 60):
        hard = rng.normal(size=(SEEDS, ITEMS))
        for model, (need, exponent) in NEEDS.items():
            at_half = need * (entities / 15) ** exponent * (0.49 / 0.4 - 1) ** (1 / slope)
            middle = at_half * np.exp(scatter * rng.normal(size=SEEDS))
            curve = SizeCurve(
                model,
                entities,
                False,
                {n: [_cell(model, entities, n, s) for s in range(SEEDS)] for n in sizes},
            )
            curves.append(curve)
            for n, of_size in curve.sizes.items():
                for cell, m, items in zip(of_size, middle, hard, strict=True):
                    accuracy = 0.5 + 0.49 / (1 + (m * np.exp(scatter / 2 * rng.normal()) / n) ** slope)
                    luck = np.sqrt(0.4) * items + np.sqrt(0.6) * rng.normal(size=ITEMS)
                    correct[cell.name] = luck < np.quantile(luck, rng.binomial(ITEMS, accuracy) / ITEMS)
                    steps[cell.name] = LEAST + EPOCHS * max(32.0, n / BATCH)
    return Grid(SweepPlan("synthetic", [], targets, curves), correct, steps)


def _cell(model: str, entities: int, n: int, seed: int) -> SweepCell:
    return SweepCell(Settings(entities=entities, seed=seed), FitSettings(model, n, seed))


def kept(folder: Path, targets: tuple[float, ...]) -> Grid:
    """The grid of a folder of kept cells; sizes that lack a seed are left out."""
    by_curve: dict[tuple[str, int, bool], dict[int, list[SweepCell]]] = defaultdict(lambda: defaultdict(list))
    correct, steps = {}, {}
    for path in sorted(folder.rglob("*.json")):
        run, correct[path.stem] = cells.load(path)
        data = {
            name: tuple(value) if isinstance(value, list) else value for name, value in run["data"].items()
        }
        settings = Settings(**{name: data[name] for name in data if name in Settings.__dataclass_fields__})
        cell = SweepCell(settings, FitSettings(**run["settings"]))
        steps[cell.name] = run["steps"]
        by_curve[cell.fit.model, settings.entities, settings.distractor][cell.fit.train_size].append(cell)
    curves = []
    for (model, entities, distractor), sizes in sorted(
        by_curve.items(), key=lambda item: (item[0][2], _place(item[0][1]), item[0][0])
    ):
        whole = max(map(len, sizes.values()))
        curves.append(
            SizeCurve(
                model, entities, distractor, {n: sizes[n] for n in sorted(sizes) if len(sizes[n]) == whole}
            )
        )
    return Grid(SweepPlan(str(folder), [], targets, curves), correct, steps)


def _place(entities: int) -> int:
    return ORDER.index(entities) if entities in ORDER else len(ORDER) + entities


def replay(grid: Grid) -> set[str]:
    """The cells that an adaptive sweep would have run, by name."""
    schedule, visited = Schedule(grid.plan, {}), set()
    while (cell := schedule.take()) is not None:
        schedule.ended(cell, float(grid.correct[cell.name].mean()))
        visited.add(cell.name)
    return visited


def need(sizes: dict[int, list[SweepCell]], correct: dict[str, np.ndarray], target: float) -> np.ndarray:
    """(1 + REPLICATES,): the need of all seeds and items, then of bootstrap replicates of both; 0 and inf are
    bounds.
    """
    answers = np.array(
        [[correct[cell.name] for cell in of_size] for of_size in sizes.values()], dtype=np.float64
    )  # sizes, seeds, items
    rng = np.random.default_rng(0)
    _, seeds, items = answers.shape
    weight = np.ones((1 + REPLICATES, seeds, items))
    weight[1:] = rng.multinomial(items, np.full(items, 1 / items), size=(REPLICATES, seeds))
    weight[1:] *= rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=REPLICATES)[:, :, None]
    accuracy = weight.reshape(len(weight), -1) @ answers.reshape(len(sizes), -1).T / (seeds * items)
    return isotonic(np.array(list(sizes)), accuracy, np.ones(len(sizes)), np.array([target]))[0]


def rows(grid: Grid, name: str) -> Iterator[dict[str, Any]]:
    """A row for each curve and target."""
    visited = replay(grid)
    for curve in grid.plan.curves:
        names = {n: [cell.name for cell in of_size] for n, of_size in curve.sizes.items()}
        some = {n: of_size for n, of_size in curve.sizes.items() if visited.issuperset(names[n])}
        spent = [sum(grid.steps[cell] for n in sizes for cell in names[n]) for sizes in (some, curve.sizes)]
        for target in grid.plan.targets:
            fixed, adaptive = need(curve.sizes, grid.correct, target), need(some, grid.correct, target)
            low, high = np.quantile(fixed[1:], [0.025, 0.975], method="nearest")
            at_least, at_most = np.quantile(adaptive[1:], [0.025, 0.975], method="nearest")
            yield {
                "grid": name,
                "model": curve.model,
                "entities": curve.entities,
                "distractor": "yes" if curve.distractor else "no",
                "target": target,
                "sizes": len(curve.sizes),
                "visited": len(some),
                "fixed": _size(fixed[0]),
                "fixed_low": _size(low),
                "fixed_high": _size(high),
                "adaptive": _size(adaptive[0]),
                "adaptive_low": _size(at_least),
                "adaptive_high": _size(at_most),
                "within": "yes" if low <= adaptive[0] <= high else "no",
                "time": round(spent[0]),
                "fixed_time": round(spent[1]),
            }


def _size(value: float) -> str:
    """A need in digits; bounds as "below" and "above"."""
    return {0.0: "below", np.inf: "above"}.get(float(value), f"{value:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", help="kept cells of a finished fixed grid")
    parser.add_argument(
        "--synthetic", action="store_true", help="learning curves whose truth is known, instead of a folder"
    )
    parser.add_argument("--targets", default="0.9", help="as for simtown sweep --adaptive")
    parser.add_argument("--repeats", type=int, default=3, help="synthetic grids of each kind")
    arguments = parser.parse_args()
    if arguments.synthetic == (arguments.folder is not None):
        parser.error("give a folder of kept cells, or --synthetic")
    found: list[dict[str, Any]] = []
    try:
        targets = check_targets([float(target) for target in arguments.targets.split(",")])
        grid = kept(arguments.folder, targets) if arguments.folder else None
    except (OSError, ValueError, DamagedError) as error:
        parser.error(str(error))
    if grid:
        found += rows(grid, arguments.folder.resolve().name)
        if not found:
            parser.error(f"{arguments.folder} holds no kept cells")
    else:
        for sizes, slope, scatter in product((ladder(60_000), PAPER), (1.0, 1.6, 3.0), (0.1, 0.3)):
            for seed in range(arguments.repeats):
                grid = synthetic(slope, scatter, sizes, targets, seed)
                found += rows(grid, f"{len(sizes)} sizes, slope {slope:g}, scatter {scatter:g}, grid {seed}")
    for kind in dict.fromkeys(row["grid"].rpartition(", grid")[0] or row["grid"] for row in found):
        mine = [row for row in found if row["grid"].startswith(kind)]
        within, open_ends = (sum(test(row) for row in mine) / len(mine) for test in (_within, _open))
        share = sum(row["time"] for row in mine) / sum(row["fixed_time"] for row in mine)
        print(
            f"{kind}: {share:.0%} of the fixed grid's time, "
            f"{within:.0%} of needs within its interval, {open_ends:.0%} of intervals open"
        )
    replayed = {row["grid"] for row in found}
    kept_rows = [row for row in read() if row["grid"] not in replayed]
    with open(RESULT, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, found[0].keys())
        writer.writeheader()
        writer.writerows([*kept_rows, *found])
    print(RESULT)


def read() -> list[dict[str, str]]:
    """The rows that are there already."""
    if not RESULT.exists():
        return []
    with open(RESULT, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _within(row: dict[str, Any]) -> bool:
    return bool(row["within"] == "yes")


def _open(row: dict[str, Any]) -> bool:
    """Whether the adaptive interval has an end that is only a bound where the fixed grid's is none, or the
    other way round.
    """
    bounds = ("below", "above")
    return any(
        (row[f"adaptive_{end}"] in bounds) != (row[f"fixed_{end}"] in bounds) for end in ("low", "high")
    )


if __name__ == "__main__":
    main()
