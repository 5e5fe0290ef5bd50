"""What an adaptive sweep saves, and whether it finds the same needs: a finished grid is replayed without
training anything.

    python benchmarks/adaptive.py
        learning curves whose truth is known
    python benchmarks/adaptive.py --folder benchmarks/results/fixed-15
        a folder of kept cells, every size there (benchmarks/presets/fixed-15.toml)

A search may visit the sizes of the fixed grid alone, and is told the accuracy that its run there had. Needs
are those of the isotonic rule, with 95 % intervals from a bootstrap over seeds and test items. Time is
counted in steps, which do not depend on what else the machine did. Writes its rows to
benchmarks/results/adaptive.csv, a row for each world, model and target, in place of those of the same grids.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from machine import RESULTS, Rows, options
from visible import settings_of

from simtown.complexity import cells
from simtown.complexity.curves import isotonic
from simtown.complexity.size_search import ladder
from simtown.datasets.settings import Settings
from simtown.training.fit_settings import FitSettings
from simtown.training.plan import SizeCurve, SweepCell, SweepPlan
from simtown.training.schedule import Schedule

#: Worlds in the order in which the main grid visits them.
ORDER = (15, 31, 5, 60, 102)
#: Sizes of the preset "paper": a fixed grid as coarse as that.
PAPER = (250, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 40_000, 60_000)
REPLICATES, ITEMS, SEEDS = 400, 2_000, 5
#: Steps of a synthetic run: so many at least, and so many epochs beyond them.
LEAST, EPOCHS, BATCH = 1_500, 12, 128
#: Synthetic needs with 15 entities at 90 % and exponents of growth with the world, about those measured.
NEEDS = {"pbn": (1_650.0, 1.1), "cnn-lstm": (16_500.0, 1.1)}


class Grid(NamedTuple):
    """A finished grid: its curves; by name of a cell, which test items it answered right, and its steps."""

    curves: list[SizeCurve]
    correct: dict[str, np.ndarray]
    steps: dict[str, float]


def synthetic(slope: float, scatter: float, sizes: Sequence[int], seed: int) -> Grid:
    """Learning curves that are sigmoids in log n: half of what is to be learned is known at a size that
    differs from seed to seed.

    A slope of 1.6 is about what was measured; a larger one is a steeper take-off. `scatter` is the standard
    deviation, over seeds, of the logarithm of a curve's middle; a run's own is half of that.
    """
    rng = np.random.default_rng(seed)
    grid = Grid([], {}, {})
    for entities in (15, 31, 5, 60):
        hard = rng.normal(size=(SEEDS, ITEMS))
        for model, (need, exponent) in NEEDS.items():
            at_half = need * (entities / 15) ** exponent * (0.49 / 0.4 - 1) ** (1 / slope)
            middle = at_half * np.exp(scatter * rng.normal(size=SEEDS))
            data = [Settings(entities=entities, seed=s) for s in range(SEEDS)]
            by_size = {n: [SweepCell(data[s], FitSettings(model, n, s)) for s in range(SEEDS)] for n in sizes}
            grid.curves.append(SizeCurve(model, entities, False, by_size))
            for n, own in by_size.items():
                for cell, m, items in zip(own, middle, hard, strict=True):
                    accuracy = 0.5 + 0.49 / (1 + (m * np.exp(scatter / 2 * rng.normal()) / n) ** slope)
                    luck = np.sqrt(0.4) * items + np.sqrt(0.6) * rng.normal(size=ITEMS)
                    grid.correct[cell.name] = luck < np.quantile(luck, rng.binomial(ITEMS, accuracy) / ITEMS)
                    grid.steps[cell.name] = LEAST + EPOCHS * max(32.0, n / BATCH)
    return grid


def kept(folder: Path) -> Grid:
    """The grid of a folder of kept cells; sizes that lack a seed are left out."""
    by_curve: dict[tuple[bool, int, str], dict[int, list[SweepCell]]] = defaultdict(lambda: defaultdict(list))
    grid = Grid([], {}, {})
    for path in sorted(folder.rglob("*.json")):
        run, grid.correct[path.stem] = cells.load(path)
        cell = SweepCell(settings_of(run["data"]), FitSettings(**run["settings"]))
        grid.steps[cell.name] = run["steps"]
        world = cell.data.distractor, ORDER.index(cell.data.entities), cell.fit.model
        by_curve[world][cell.fit.train_size].append(cell)
    for (distractor, place, model), by_size in sorted(by_curve.items()):
        seeds = max(map(len, by_size.values()))
        complete = {n: own for n, own in sorted(by_size.items()) if len(own) == seeds}
        grid.curves.append(SizeCurve(model, ORDER[place], distractor, complete))
    return grid


def need(sizes: dict[int, list[SweepCell]], correct: dict[str, np.ndarray], target: float) -> list[float]:
    """The need of all seeds and items, and the ends of its bootstrap interval; 0 and inf are bounds."""
    answers = np.array([[correct[cell.name] for cell in own] for own in sizes.values()], dtype=np.float64)
    rng = np.random.default_rng(0)
    _, seeds, items = answers.shape
    weight = np.ones((1 + REPLICATES, seeds, items))
    weight[1:] = rng.multinomial(items, np.full(items, 1 / items), size=(REPLICATES, seeds))
    weight[1:] *= rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=REPLICATES)[:, :, None]
    accuracy = weight.reshape(len(weight), -1) @ answers.reshape(len(sizes), -1).T / (seeds * items)
    needs = isotonic(np.array(list(sizes)), accuracy, np.ones(len(sizes)), np.array([target]))[0]
    return [needs[0], *np.quantile(needs[1:], [0.025, 0.975], method="nearest")]


def rows(grid: Grid, name: str, targets: list[float]) -> Iterator[dict[str, Any]]:
    """A row for each curve and target."""
    schedule, visited = Schedule(SweepPlan(name, [], tuple(targets), grid.curves), {}), set()
    for cell in schedule:
        schedule.ended(cell, float(grid.correct[cell.name].mean()))
        visited.add(cell.name)
    for curve, target in product(grid.curves, targets):
        some = {n: own for n, own in curve.sizes.items() if visited.issuperset(cell.name for cell in own)}
        fixed, adaptive = (need(sizes, grid.correct, target) for sizes in (curve.sizes, some))
        row: dict[str, Any] = {
            "grid": name,
            "model": curve.model,
            "entities": curve.entities,
            "distractor": "yes" if curve.distractor else "no",
            "target": target,
            "sizes": len(curve.sizes),
            "visited": len(some),
        }
        for way, needs in (("fixed", fixed), ("adaptive", adaptive)):
            texts = [{0.0: "below", np.inf: "above"}.get(float(n), f"{n:.0f}") for n in needs]
            row |= dict(zip((way, f"{way}_low", f"{way}_high"), texts, strict=True))
        row["within"] = "yes" if fixed[1] <= adaptive[0] <= fixed[2] else "no"
        for column, sizes in (("time", some), ("fixed_time", curve.sizes)):
            row[column] = round(sum(grid.steps[cell.name] for own in sizes.values() for cell in own))
        yield row


def simulated(repeats: int) -> Iterator[tuple[str, Grid]]:
    """Grids whose truth is known, with their names."""
    shapes = product((ladder(60_000), PAPER), (1.0, 1.6, 3.0), (0.1, 0.3), range(repeats))
    for sizes, slope, scatter, seed in shapes:
        name = f"{len(sizes)} sizes, slope {slope:g}, scatter {scatter:g}, grid {seed}"
        yield name, synthetic(slope, scatter, sizes, seed)


def main() -> None:
    args = options(__doc__, folder="", targets=[0.9], repeats=3, out=RESULTS / "adaptive.csv")
    folder = Path(args.folder).resolve()
    table, new = Rows(args.out, "", "grid"), []
    for name, grid in [(folder.name, kept(folder))] if args.folder else simulated(args.repeats):
        for row in rows(grid, name, args.targets):
            table.add(row)
            new.append(row)
    share = sum(row["time"] for row in new) / sum(row["fixed_time"] for row in new)
    within = sum(row["within"] == "yes" for row in new)
    print(f"{share:.0%} of the fixed grid's time, {within} of {len(new)} needs within its interval")


if __name__ == "__main__":
    main()
