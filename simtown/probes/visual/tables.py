"""The paper's tables beside ours: every cell as printed and as it comes out of the released files, with the prior and the ceiling.

Table 1: what there is. Table 2: colours counted in Visual Genome and in Wikipedia against CoDa's. Table 3: prompts before and after tuning,
averaged from the release's ρ by subject. Tables 5, 6, 9: the release's own summaries, copied. Table 4: printed, beside chance and a perfect
ranking. Table 11: where in the order of subjects the named ones stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import numpy as np

from simtown.probes import statistics
from simtown.probes.release_files import understood
from simtown.probes.visual import metrics, published, results
from simtown.probes.visual.classes import RELATIONS
from simtown.probes.visual.dataset import GROUPS
from simtown.probes.visual.mined import Mined
from simtown.probes.visual.release import CODA_CLASSES, Release


@dataclass(frozen=True)
class Cell:
    """A number as printed in the paper and as it is here; "" where there is none."""

    paper: str = ""
    here: str = ""

    @property
    def same(self) -> bool | None:
        """None where there is nothing to compare."""
        return self.paper == self.here if self.paper and self.here else None


@dataclass
class Table:
    """A title, the columns' heads, and rows of a name and cells; notes go below it.

    Attributes:
        copied: the release's file of summaries that the paper's numbers stand beside; "" where ours are computed.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, list[Cell]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    copied: str = ""

    def verdict(self) -> str:
        """How many cells agree, and what that says; "" where nothing can be compared."""
        compared = [cell.same for _, cells in self.rows for cell in cells if cell.same is not None]
        if not compared:
            return ""
        agree = f"{sum(compared)} of {len(compared)} cells are as printed"
        return f"{agree}: copied from the release's {self.copied}, not computed here" if self.copied else agree

    @property
    def printed(self) -> bool:
        """Whether the paper has numbers for it."""
        return any(cell.paper for _, cells in self.rows for cell in cells)


def percent(value: float, digits: int = 1) -> str:
    """A share times 100 as the paper prints it, rounded half up; "" for NaN."""
    if not np.isfinite(value):
        return ""
    return str(Decimal(f"{100 * value:.{digits + 3}f}").quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def spread(values: np.ndarray) -> str:
    """Mean ± population standard deviation, times 100; "" for nothing."""
    kept = values[np.isfinite(values)]
    return f"{percent(kept.mean())} ± {percent(kept.std())}" if len(kept) else ""


def _printed(rho: float, sd: float, star: bool = False) -> str:
    return f"{rho:.1f} ± {sd:.1f}{'*' if star else ''}"


@understood("the release, or a directory of results,")
def table1(release: Release, runs: Sequence[Path] = ()) -> list[Table]:
    """Classes and pairs of every relation; and what a guess and a perfect ranking get in its test."""
    _no_runs("Table 1", runs)
    made = Table("Table 1: the data", ("classes", "pairs"))
    for name, folder, classes, pairs in published.TABLE1:
        parts = ("train", "dev", "test") if folder.startswith("size") else ("train", "test")
        n = sum(len(release.pairs(folder, part)) for part in parts)
        if folder in RELATIONS:
            c = release.counts(folder)[1].shape[1]
        elif folder == "cooccur":
            c = len(release.words(folder))
        else:
            c = sum(map(len, release.sizes().values()))
        made.rows.append((name, [Cell(str(classes), str(c)), Cell(str(pairs), str(n))]))
    return [made, bounds(release)]


def bounds(release: Release) -> Table:
    """Prior and ceiling of each relation's test set, by group."""
    made = Table("What is given: the prior of the train subjects, and the ceiling that ties leave",
                 ("test", "prior ρ", "95 %", "prior Acc@1", "ceiling ρ", "95 %"))  # fmt: skip
    for name in RELATIONS:
        data = release.dataset(name)
        assert data.counts is not None
        test = data.counts[~data.train]
        guess = metrics.prior(data.counts[data.train])
        rho = metrics.spearman_rows(np.tile(guess, (len(test), 1)), test)
        right = data.gold[~data.train] == guess.argmax()
        ceiling = metrics.ceiling_rows(test)
        by_group = {"all": np.ones(len(test), dtype=bool)}
        member = {g: {p.subject for p in release.pairs(name, g, "test")} for g in GROUPS}
        by_group |= {g: np.array([s in member[g] for s, t in zip(data.subjects, data.train, strict=True) if not t]) for g in GROUPS}
        for group, kept in by_group.items():
            if kept.any():
                made.rows.append((f"{name}, {group}", [Cell(here=x) for x in (
                    str(kept.sum()), spread(rho[kept]), bracket(rho[kept]), percent(right[kept].mean()), spread(ceiling[kept]),
                    bracket(ceiling[kept]))]))  # fmt: skip
    return made


def bracket(values: np.ndarray) -> str:
    """95 % bootstrap interval of the mean, times 100."""
    low, high = statistics.mean_interval(values)
    return f"[{percent(low)}, {percent(high)}]" if np.isfinite(low) else ""


@dataclass(frozen=True)
class Source:
    """Colours of the subjects that CoDa has too. rho, ceiling, prior: (n,); occurrences: (n,); right: (n,) bool; groups: (n,) str."""

    rho: np.ndarray
    ceiling: np.ndarray
    prior: np.ndarray
    occurrences: np.ndarray
    right: np.ndarray
    groups: np.ndarray
    subjects: tuple[str, ...]
    shares: np.ndarray
    coda: np.ndarray


def against_coda(release: Release, subjects: Sequence[str], counts: np.ndarray) -> Source:
    """A source of colour counts against CoDa (section 3.5). counts: (n, 12), silver in it, which CoDa does not have."""
    silver = RELATIONS["color"].classes.index("silver")
    row = dict(zip(subjects, np.delete(counts, silver, axis=1), strict=True))
    names, truth = release.counts("coda")
    if truth.shape[1] != len(CODA_CLASSES):
        raise ValueError(f"CoDa has {len(CODA_CLASSES)} colours, not {truth.shape[1]}")
    kept = [i for i, name in enumerate(names) if name in row and row[name].sum() > 0]
    if not kept:
        raise ValueError("the source and CoDa have no subject in common")
    here, there = np.array([row[names[i]] for i in kept]), truth[kept]
    group = {p.subject: g for g in GROUPS for part in ("train", "dev", "test") for p in release.pairs("coda", g, part)}
    everything = np.array(list(row.values()))
    guess = metrics.prior(everything[everything.sum(axis=1) > 0])
    # the paper sorts the colours by CoDa's shares and asks whether the source's first maximum comes first: its ties count as right
    ordered = np.take_along_axis(here, np.argsort(there, axis=1, kind="stable")[:, ::-1], axis=1)
    return Source(
        rho=metrics.spearman_rows(here, there), ceiling=metrics.ceiling_rows(there),
        prior=metrics.spearman_rows(np.tile(guess, (len(there), 1)), there),
        occurrences=here.sum(axis=1), right=ordered.argmax(axis=1) == 0,
        groups=np.array([group.get(names[i], "") for i in kept]), subjects=tuple(names[i] for i in kept),
        shares=here / here.sum(axis=1, keepdims=True), coda=there,
    )  # fmt: skip


@understood("the release, or a directory of results,")
def table2(release: Release, runs: Sequence[Path] = ()) -> list[Table]:
    """Sources of colours against CoDa. runs: directories of simtown probe visual mine, which are sources too."""
    made = Table("Table 2: colours against CoDa's", ("ρ", "# subjs", "avg # occ", "top5 # occ", "btm5 # occ", "Acc@1", "95 %", "prior ρ",
                                                     "ceiling ρ"))  # fmt: skip
    for source, subjects, counts in [
        ("VG", *release.counts("color")),
        ("Wikipedia", *release.counts("wiki-color")),
        *((path.name, *Mined(path).counts("color")) for path in runs),
    ]:
        found = against_coda(release, subjects, counts)
        for group in ("all", *GROUPS):
            kept = np.ones(len(found.rho), dtype=bool) if group == "all" else found.groups == group
            if not kept.any():
                continue
            rho, occurrences = found.rho[kept], found.occurrences[kept]
            order = np.argsort(-rho.round(12), kind="stable")
            p = published.TABLE2.get((source, group))
            paper = (
                ("",) * 6
                if p is None
                else (_printed(p[0], p[1]), str(p[2]), *(f"{x:.1f}" for x in p[3:6]), "" if p[6] is None else str(p[6]))
            )
            here = (spread(rho), str(len(rho)), f"{occurrences.mean():.1f}", f"{occurrences[order[:5]].mean():.1f}",
                    f"{occurrences[order[-5:]].mean():.1f}", percent(found.right[kept].mean()))  # fmt: skip
            cells = [Cell(a, b) for a, b in zip(paper, here, strict=True)]
            made.rows.append((f"{source}, {group}", [*cells, *(Cell(here=x) for x in (bracket(rho), spread(found.prior[kept]),
                                                                                      spread(found.ceiling[kept])))]))  # fmt: skip
    return [made]


@understood("the release, or a directory of results,")
def table3(release: Release, runs: Sequence[Path] = ()) -> list[Table]:
    """ρ of the paper's models from their ρ by subject; the tests between BERT base and Oscar base; and what is above the prior."""
    found = release.by_subject()
    made = Table("Table 3: average template, before (N) and after (Y) tuning",
                 tuple(f"{c} {x}" for c in published.COLUMNS for x in ("ρ", "Acc@1") if (c, x) != ("cooccur", "Acc@1")))  # fmt: skip
    bound = Table("Table 3: between prior and ceiling", ("n", "ρ, 95 %", "prior ρ", "above the prior", "paired p", "ceiling ρ"))
    test = Table("Table 3: Oscar base less BERT base", ("n", "difference", "95 %", "Welch p", "paired p", "by Welch", "by paired"))
    given = {relation: _bounds_by_subject(release, relation) for relation in RELATIONS}
    for (model, tuned), printed in published.TABLE3.items():
        cells: list[Cell] = []
        for column, (rho, sd, accuracy) in zip(published.COLUMNS, printed, strict=True):
            star = model in ("bert-base", "oscar-base") and (column, tuned) in published.SAME3
            each = found.get((model, column, tuned), {})
            here = spread(np.array(list(each.values()))) if each else ""
            if here and model in ("bert-base", "oscar-base") and _paired(found, column, tuned)[2].welch > 0.05:
                here += "*"
            cells.append(Cell(_printed(rho, sd, star), here))
            if accuracy is not None:
                cells.append(Cell(f"{accuracy:.1f}"))
            if column in given and each:
                bound.rows.append((f"{column}, {published.MODELS[model]}, {'NY'[tuned]}", _against_bounds(each, given[column])))
        made.rows.append((f"{published.MODELS[model]}, {'Y' if tuned else 'N'}", cells))
    for tuned in (False, True):
        for column in published.COLUMNS:
            oscar, bert, told = _paired(found, column, tuned)
            verdict = {True: "same", False: "different"}
            numbers = (str(told.n), percent(told.mean), bracket(oscar - bert), f"{told.welch:.2g}", f"{told.paired:.2g}")
            by_welch = Cell(verdict[(column, tuned) in published.SAME3], verdict[told.welch > 0.05])
            test.rows.append(
                (f"{column}, {'NY'[tuned]}", [*(Cell(here=x) for x in numbers), by_welch, Cell(here=verdict[told.paired > 0.05])])
            )
    for mode in ("average", "tuned"):
        made.rows += [(f"{name}, {'NY'[mode == 'tuned']}", cells[:-1]) for name, cells in _own(runs, mode, published.COLUMNS)]
    made.notes += [
        "* printed where BERT base and Oscar base do not differ by Welch's t (p > 0.05). Acc@1: no results by subject were released.",
        "ρ ± sd and * are computed from the release's ρ by subject; no model was asked again.",
    ]
    if found.get(("bert-large", "color", True)) == found.get(("bert-large", "color", False)):
        made.notes.append("BERT large, color: the released results after tuning are those before tuning, subject by subject.")
    return [made, test, bound]


def _paired(
    found: dict[tuple[str, str, bool], dict[str, float]], column: str, tuned: bool
) -> tuple[np.ndarray, np.ndarray, statistics.Difference]:
    """Oscar's and BERT's ρ of the subjects that both have; Welch's p over all that each has, as the paper's."""
    oscar, bert = (found.get((model, column, tuned), {}) for model in ("oscar-base", "bert-base"))
    both = [s for s in oscar if s in bert]
    a, b = np.array([oscar[s] for s in both]), np.array([bert[s] for s in both])
    return a, b, statistics.difference(a, b)


def _bounds_by_subject(release: Release, relation: str) -> dict[str, tuple[float, float]]:
    """{test subject: (ρ of the prior, ceiling)}."""
    data = release.dataset(relation)
    assert data.counts is not None
    test = data.counts[data.test]
    rho = metrics.spearman_rows(np.tile(metrics.prior(data.counts[data.train]), (len(test), 1)), test)
    return {data.subjects[i]: pair for i, pair in zip(data.test, zip(rho, metrics.ceiling_rows(test), strict=True), strict=True)}


def _against_bounds(each: dict[str, float], given: dict[str, tuple[float, float]]) -> list[Cell]:
    names = [s for s in each if s in given]
    rho = np.array([each[s] for s in names])
    prior, ceiling = np.array([given[s] for s in names]).T
    told = statistics.difference(rho, prior)
    return [Cell(here=x) for x in (str(len(names)), f"{percent(rho.mean())} {bracket(rho)}", percent(prior.mean()), percent(told.mean),
                                   f"{told.paired:.2g}", percent(ceiling.mean()))]  # fmt: skip


@understood("the release, or a directory of results,")
def table4(release: Release, runs: Sequence[Path] = ()) -> list[Table]:
    """Rank partition of sizes as printed, with chance and a perfect ranking by the released metric, the text's and the corrected one.

    Runs of our own are scored by the last two.
    """
    from simtown.probes.visual.size import Direction, limits, released_limits

    made = Table("Table 4: sizes by rank partition, per cent correct", ("larger", "smaller"))
    for (model, tuned), (larger, smaller) in published.TABLE4.items():
        made.rows.append((f"{published.MODELS[model]}, {'Y' if tuned else 'N'}", [Cell(f"{larger:.1f}"), Cell(f"{smaller:.1f}")]))
    subjects = [[pair.subject for pair in release.pairs(f"size_{relation}", "test")] for relation in ("larger", "smaller")]
    for name, values in released_limits(release.sizes(), subjects).items():
        made.rows.append((f"{name}, released metric", [Cell(here=percent(v)) for v in values]))
    ways: dict[Direction, str] = {"paper": "metric of the text", "corrected": "corrected metric"}
    for direction, way in ways.items():
        for name, values in limits(release.sizes(), direction).items():
            made.rows.append((f"{name}, {way}", [Cell(here=percent(v)) for v in values]))
        for path in runs:
            found = results.STUDY.load(path)["tasks"].get("size", {}).get("partition", {})
            if found:
                own = [found[f"{relation}, {direction}"]["mean"] for relation in ("larger", "smaller")]
                made.rows.append((f"{path.name}, {way}", [Cell(here=percent(value)) for value in own]))
    made.notes += [
        "The printed numbers are by the released metric, in which a perfect ranking lies below chance: compare them with its rows alone.",
        "No results by subject were released, so the printed numbers themselves cannot be computed.",
    ]
    return [made]


def _no_runs(name: str, runs: Sequence[Path]) -> None:
    if runs:
        raise ValueError(f"--with adds models or mined colours; {name} has neither")


def _own(runs: Sequence[Path], mode: str, columns: Sequence[str], group: str = "all") -> list[tuple[str, list[Cell]]]:
    """A row a directory that asked in this mode: for each column ρ and Acc@1."""
    found = []
    for path in runs:
        tasks = results.STUDY.load(path)["tasks"]
        cells: list[Cell] = []
        for column in columns:
            asked = tasks.get("cooccurrence" if column == "cooccur" else column, {}).get("modes", {}).get(mode, {})
            numbers = asked.get("groups", {}).get(group, {})
            rho, accuracy = numbers.get("rho"), numbers.get("accuracy")
            cells.append(Cell(here=f"{percent(rho['mean'])} ± {percent(rho['sd'])}" if rho and rho["mean"] is not None else ""))
            cells.append(Cell(here=percent(accuracy["mean"]) if accuracy else ""))
        if any(cell.here for cell in cells):
            found.append((path.name, cells))
    return found


def _heads(release: Release, name: str) -> list[list[tuple[float, ...]]]:
    """Rows of (mean ρ, sd, accuracy) of a released table of heads."""
    return [[tuple(float(x) for x in cell.strip("()").split(",")) for cell in row[1:]] for row in release.table(name)[1:]]


def _head_cells(printed: Sequence[tuple[float, float, float | None]], found: Sequence[tuple[float, ...]]) -> list[Cell]:
    cells = []
    for (rho, sd, accuracy), here in zip(printed, found, strict=True):
        cells.append(Cell(_printed(rho, sd), f"{percent(here[0])} ± {percent(here[1])}"))
        cells.append(Cell("" if accuracy is None else f"{accuracy:.1f}", f"{here[2]:.1f}"))
    return cells


@understood("the release, or a directory of results,")
def table5(release: Release, runs: Sequence[Path] = ()) -> list[Table]:
    """Heads, from the released means."""
    made = Table(
        "Table 5: a classification head", tuple(f"{c} {x}" for c in published.COLUMNS for x in ("ρ", "Acc@1")), copied="file-cls.csv"
    )
    for (model, printed), found in zip(published.TABLE5.items(), _heads(release, "file-cls"), strict=True):
        made.rows.append((model, _head_cells(printed, found)))
    made.rows += _own(runs, "head", published.COLUMNS)
    return [made, bounds(release)]


@understood("the release, or a directory of results,")
def table6(release: Release, runs: Sequence[Path] = ()) -> list[Table]:
    """Heads by group, from the released means."""
    made = Table(
        "Table 6: a classification head, by group",
        tuple(f"{c} {x}" for c in RELATIONS for x in ("ρ", "Acc@1")),
        copied="file-cls-groups.csv",
    )
    for ((group, model), printed), found in zip(published.TABLE6.items(), _heads(release, "file-cls-groups"), strict=True):
        made.rows.append((f"{group}, {model}", _head_cells(printed, found)))
    for group in GROUPS:
        made.rows += [(f"{group}, {name}", cells) for name, cells in _own(runs, "head", tuple(RELATIONS), group)]
    return [made, bounds(release)]


@understood("the release, or a directory of results,")
def table9(release: Release, runs: Sequence[Path] = ()) -> list[Table]:
    """Best template; colour's ρ stands in the released numbers of Figure 2 too."""
    made = Table("Table 9: best template", tuple(f"{c} {x}" for c in published.COLUMNS for x in ("ρ", "Acc@1")), copied="heatmap_data.csv")
    figure2 = release.table("heatmap_data")[1:]
    for i, (model, printed) in enumerate(published.TABLE9.items()):
        cells = []
        for column, (rho, sd, accuracy) in zip(published.COLUMNS, printed, strict=True):
            here = percent(float(figure2[i][2])) if column == "color" and i < len(figure2) else ""
            cells += [
                Cell(_printed(rho, sd)) if not here else Cell(f"{rho:.1f}", here),
                Cell("" if accuracy is None else f"{accuracy:.1f}"),
            ]
        made.rows.append((model, cells))
    made.rows += _own(runs, "best", published.COLUMNS)
    return [made, bounds(release)]


@understood("the release, or a directory of results,")
def table11(release: Release, runs: Sequence[Path] = ()) -> list[Table]:
    """Where the named subjects stand among all: of untuned ρ by subject, 1 the highest (high) or the lowest (low)."""
    _no_runs("Table 11", runs)
    found = release.by_subject()
    made = Table("Table 11: named subjects and their ranks, 1 the highest of the high and the lowest of the low",
                 ("BERT base, high", "Oscar base, high", "BERT base, low", "Oscar base, low"))  # fmt: skip
    for relation, columns in published.TABLE11.items():
        cells = []
        for i, names in enumerate(columns):
            each = found[("bert-base", "oscar-base")[i % 2], relation, False]
            order = sorted(each, key=lambda s: each[s], reverse=i < 2)
            cells.append(Cell(here=", ".join(f"{n} {order.index(n) + 1}" if n in each else f"{n} -" for n in names) + f" of {len(order)}"))
        made.rows.append((relation, cells))
    made.notes.append("The paper does not say how it chose among the extremes.")
    return [made]


#: Name on the command line: the function that makes the tables.
TABLES: dict[str, Callable[[Release, Sequence[Path]], list[Table]]] = {
    "vicomte-table1": table1, "vicomte-table2": table2, "vicomte-table3": table3, "vicomte-table4": table4, "vicomte-table5": table5,
    "vicomte-table6": table6, "vicomte-table9": table9, "vicomte-table11": table11,
}  # fmt: skip
