"""The tables of pages that are made from committed results, by name, and the figures."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from simtown.complexity.model_looks import name_of
from simtown.core.tables import Table
from tools.parts import beside, conditions, speed, tables
from tools.parts.results import LARGER, LITERAL, MAIN_GRID, Results

PARTS: dict[str, Callable[[Results], str]] = {
    part.__name__: part
    for part in (
        *(speed.drawing, speed.on_card, speed.making, speed.reading, speed.scale),
        *(tables.panel, tables.worlds),
        *(tables.both, tables.chance),
        *(beside.search, beside.shares, beside.devices, beside.growth, conditions.axes),
    )
}
#: The tables that are files of docs/reproduce/tables, by their names.
FILES: dict[str, Callable[[Results], Table]] = {
    part.__name__: part
    for part in (tables.needs, tables.ratios, tables.additional, tables.exponents, tables.factors)
}
FILES["accuracies"] = tables.accuracies
for grid, folder in {"paper-rule": LITERAL, "pictures-128": LARGER}.items():
    for part in (tables.sizes, tables.needs, tables.ratios):
        FILES[f"{grid}-{part.__name__}"] = partial(part, folder=folder)
for name, comparison in conditions.COMPARISONS.items():
    PARTS[name] = partial(conditions.compared, comparison=comparison)


def draw(results: Results, folder: Path) -> None:
    """Draw the figures of the main grid, of the paper's stopping rule, and of the conditions."""
    from simtown.complexity.learning_figure import learning
    from simtown.complexity.needs_figure import samples

    samples(results.report(MAIN_GRID), folder / "sample-complexity.png")
    learning(results.report(MAIN_GRID), folder / "learning-curves.png")
    samples(results.report(LITERAL), folder / "paper-rule.png")
    samples(results.head(), folder / "head.png")
    samples(results.pair(), folder / "panel.png", compared="Examples needed")
    for name, comparison in conditions.COMPARISONS.items():
        samples(comparison.report(results), folder / f"{name}.png", compared=name_of(comparison.model))
