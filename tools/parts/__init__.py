"""The parts of pages that are made from committed results, by name: tables, and sentences with a verdict.

All but `readme` and `growth` are of docs/reproduce/sample-complexity.md or accuracies.md beside it.
"""

from collections.abc import Callable

from tools.parts import beside, claims, conditions, tables
from tools.parts.results import Results

PARTS: dict[str, Callable[[Results], str]] = {
    part.__name__: part
    for part in (
        *(claims.figure, claims.verdicts, claims.readme),
        *(tables.progress, tables.needs, tables.ratios, tables.additional, tables.exponents, tables.factors),
        *(tables.accuracies, tables.both, tables.chance),
        *(beside.stopping, beside.pictures, beside.placement, beside.search, beside.shares, beside.devices),
        *(conditions.skew, conditions.visible, conditions.shown, conditions.axes, conditions.worded),
        *(beside.growth, beside.version1),
    )
}
