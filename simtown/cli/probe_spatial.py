"""What language models know of spatial relations: probe spatial, and the spatial tables of probe reproduce."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simtown.cli.app import RefusalError

if TYPE_CHECKING:
    from rich.table import Table

    from simtown.probes.spatial.reproduce import Line
    from simtown.probes.spatial.vectors import Space


def reproduced(name: str, data: Path, runs: Sequence[Path]) -> Table:
    """A spatial table of `simtown probe reproduce`."""
    from simtown.probes.spatial import released, reproduce

    tables = {
        "spatial-analogy": ("Analogies of opposites: accuracy", reproduce.analogy),
        "spatial-odd-one-out": ("Odd one out: accuracy", reproduce.odd_one_out),
        "spatial-similarity": ("Similarity of words: Spearman's correlation", reproduce.similarity),
    }
    if name == "spatial-figure3":
        return _lines("Figure 3", reproduce.figure3(released.read(data), released.read_table(data / released.CELLS)))
    if name not in tables:
        raise RefusalError(f"there is no table {name}: give spatial-figure3, {', '.join(tables)}")
    title, compute = tables[name]
    return _lines(title, compute(released.read(data), _spaces(runs)))


def _spaces(runs: Sequence[Path]) -> list[Space]:
    """Vectors to add to a table."""
    from simtown.probes.scorers import open_scorer
    from simtown.probes.spatial.relations import RELATIONS
    from simtown.probes.spatial.vectors import embedded

    return [embedded(open_scorer(str(run), progress=True), RELATIONS) for run in runs]


def _lines(title: str, lines: Sequence[Line]) -> Table:
    from rich.table import Table

    made = Table(title=title, title_justify="left")
    for head in ("", "paper", "here", "95 %", "", ""):
        made.add_column(head, justify="left" if not head else "right")
    for line in lines:
        verdict = "" if line.same is None else "same" if line.same else "differs"
        paper = "" if line.paper is None else f"{line.paper:.2f}"
        made.add_row(line.name, paper, f"{line.here:.3f}", f"{line.low:.3f} to {line.high:.3f}", verdict, line.note)
    return made
