"""The paper's tables beside ours: every cell as printed and as it comes out of the released files, with the
prior and the ceiling.

Table 1: what there is. Table 2: colours counted in Visual Genome and in Wikipedia against CoDa's. Table 3:
prompts before and after tuning, averaged from the release's ρ by subject. Tables 5, 6, 9: the release's own
summaries, copied. Table 4: printed, beside chance and a perfect ranking. Table 11: where in the order of
subjects the named ones stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simtown.probes import measures, report
from simtown.probes.items import GROUPS
from simtown.probes.reproduce import PrintedNumber, PrintedTable, percent
from simtown.probes.visual import FORM, vicomte_numbers
from simtown.probes.visual.classes import RELATIONS
from simtown.probes.visual.mined import Mined
from simtown.probes.visual.release import CODA_CLASSES, VisualRelease
from simtown.probes.visual.sizes import Direction, limits, released_limits
from simtown.probes.visual.vicomte_numbers import COLUMNS, Cell

Rows = list[tuple[str, list[PrintedNumber]]]


def spread(values: np.ndarray) -> str:
    """Mean ± population standard deviation, times 100; "" for nothing."""
    kept = values[np.isfinite(values)]
    return f"{percent(kept.mean())} ± {percent(kept.std())}" if len(kept) else ""


def bracket(values: np.ndarray) -> str:
    """95 % bootstrap interval of the mean, times 100."""
    low, high = measures.mean_interval(values)
    return f"[{percent(low)}, {percent(high)}]" if np.isfinite(low) else ""


def _of_group(groups: np.ndarray) -> dict[str, np.ndarray]:
    """{"all" or a group: which of the (n,) subjects are in it}, without empty ones."""
    members = {"all": np.ones(len(groups), dtype=bool)} | {group: groups == group for group in GROUPS}
    return {group: kept for group, kept in members.items() if kept.any()}


def _ours(*texts: str) -> list[PrintedNumber]:
    """Cells of numbers that the paper does not have."""
    return [PrintedNumber(here=text) for text in texts]


def table1(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Classes and pairs of every relation; and what a guess and a perfect ranking get in its test."""
    _no_runs("Table 1", runs)
    table = PrintedTable("Table 1: the data", ("classes", "pairs"))
    for name, folder, classes, pairs in vicomte_numbers.TABLE1:
        parts = ("train", "dev", "test") if folder.startswith("size") else ("train", "test")
        n = sum(len(release.pairs(folder, part)) for part in parts)
        if folder in RELATIONS:
            c = release.counts(folder)[1].shape[1]
        elif folder == "cooccur":
            c = len(release.words(folder))
        else:
            c = sum(map(len, release.sizes().values()))
        table.add(name, PrintedNumber(str(classes), str(c)), PrintedNumber(str(pairs), str(n)))
    return [table, bounds(release)]


@dataclass(frozen=True)
class GivenBounds:
    """What is given in the test of a relation.

    Attributes:
        subjects: (n) names.
        prior: (n,) ρ of the train subjects' mean distribution.
        right: (n,) bool, whether its commonest class is the best.
        ceiling: (n,) the best ρ of a ranking without ties.
    """

    subjects: tuple[str, ...]
    prior: np.ndarray
    right: np.ndarray
    ceiling: np.ndarray

    @classmethod
    def of(cls, release: VisualRelease, relation: str) -> GivenBounds:
        """The bounds of a relation that has counts."""
        data = release.dataset(relation)
        assert data.counts is not None
        test, guess = data.counts[data.test], measures.shares(data.counts[data.train]).mean(axis=0)
        return cls(
            tuple(data.subjects[i] for i in data.test),
            measures.spearman_rows(np.tile(guess, (len(test), 1)), test),
            data.gold[data.test] == guess.argmax(),
            measures.ceiling_rows(test),
        )


def bounds(release: VisualRelease) -> PrintedTable:
    """Prior and ceiling of each relation's test set, by group."""
    table = PrintedTable(
        "What is given: the prior of the train subjects, and the ceiling that ties leave",
        ("test", "prior ρ", "95 %", "prior Acc@1", "ceiling ρ", "95 %"),
    )
    for name in RELATIONS:
        given = GivenBounds.of(release, name)
        group_of = {pair.subject: g for g in GROUPS for pair in release.pairs(name, g, "test")}
        groups = np.array([group_of.get(subject, "") for subject in given.subjects])
        for group, kept in _of_group(groups).items():
            prior, ceiling = given.prior[kept], given.ceiling[kept]
            accuracy = percent(given.right[kept].mean())
            priors = (str(kept.sum()), spread(prior), bracket(prior), accuracy)
            table.add(f"{name}, {group}", *priors, spread(ceiling), bracket(ceiling))
    return table


@dataclass(frozen=True)
class ColourSource:
    """Colours of the n subjects that CoDa has too.

    Attributes:
        rho: (n,) with CoDa's shares.
        ceiling: (n,) the best ρ of a ranking without ties.
        prior: (n,) ρ of the source's mean shares.
        occurrences: (n,) counts of the source.
        right: (n,) bool, whether the commonest colour agrees.
        groups: (n,) str.
        subjects: names.
        shares: (n, c) of the source.
        coda: (n, c) CoDa's.
    """

    rho: np.ndarray
    ceiling: np.ndarray
    prior: np.ndarray
    occurrences: np.ndarray
    right: np.ndarray
    groups: np.ndarray
    subjects: tuple[str, ...]
    shares: np.ndarray
    coda: np.ndarray


def against_coda(release: VisualRelease, subjects: Sequence[str], counts: np.ndarray) -> ColourSource:
    """A source of colour counts against CoDa (section 3.5).

    Args:
        release: has CoDa's counts.
        subjects: (n) of the source.
        counts: (n, 12), with silver, which CoDa does not have.

    Raises:
        ValueError: CoDa has no subject of the source.
    """
    silver = RELATIONS["color"].classes.index("silver")
    row = dict(zip(subjects, np.delete(counts, silver, axis=1), strict=True))
    names, truth = release.counts("coda")
    kept = [i for i, name in enumerate(names) if name in row and row[name].sum() > 0]
    if not kept or truth.shape[1] != len(CODA_CLASSES):
        raise ValueError(
            f"the source and CoDa have no subject, or not {len(CODA_CLASSES)} colours, in common"
        )
    source, coda = np.array([row[names[i]] for i in kept]), truth[kept]
    parts = [(group, part) for group in GROUPS for part in ("train", "dev", "test")]
    group_of = {pair.subject: g for g, part in parts for pair in release.pairs("coda", g, part)}
    everything = np.array(list(row.values()))
    guess = measures.shares(everything[everything.sum(axis=1) > 0]).mean(axis=0)
    # the paper sorts the colours by CoDa's shares and asks whether the source's first maximum comes first:
    # its ties count as right
    order = np.argsort(coda, axis=1, kind="stable")[:, ::-1]
    return ColourSource(
        rho=measures.spearman_rows(source, coda),
        ceiling=measures.ceiling_rows(coda),
        prior=measures.spearman_rows(np.tile(guess, (len(coda), 1)), coda),
        occurrences=source.sum(axis=1),
        right=np.take_along_axis(source, order, axis=1).argmax(axis=1) == 0,
        groups=np.array([group_of.get(names[i], "") for i in kept]),
        subjects=tuple(names[i] for i in kept),
        shares=measures.shares(source),
        coda=coda,
    )


def table2(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Sources of colours against CoDa; directories of simtown probe visual mine are sources, too."""
    table = PrintedTable(
        "Table 2: colours against CoDa's",
        ("ρ", "# subjs", "avg # occ", "top5 # occ", "btm5 # occ", "Acc@1", "95 %", "prior ρ", "ceiling ρ"),
    )
    sources = {"VG": release.counts("color"), "Wikipedia": release.counts("wiki-color")}
    sources |= {path.name: Mined(path).counts("color") for path in runs}
    for name, (subjects, counts) in sources.items():
        source = against_coda(release, subjects, counts)
        for group, kept in _of_group(source.groups).items():
            rho, occurrences = source.rho[kept], source.occurrences[kept]
            order = np.argsort(-rho.round(12), kind="stable")
            here = [spread(rho), str(len(rho))]
            here += [
                f"{x.mean():.1f}" for x in (occurrences, occurrences[order[:5]], occurrences[order[-5:]])
            ]
            here.append(percent(source.right[kept].mean()))
            printed = [""] * len(here)
            if (name, group) in vicomte_numbers.TABLE2:
                mean, sd, n, *seen, accuracy = vicomte_numbers.TABLE2[name, group]
                printed = [f"{mean:.1f} ± {sd:.1f}", str(n), *(f"{x:.1f}" for x in seen if x is not None)]
                printed.append("" if accuracy is None else str(accuracy))
            cells = [PrintedNumber(*pair) for pair in zip(printed, here, strict=True)]
            bound = _ours(bracket(rho), spread(source.prior[kept]), spread(source.ceiling[kept]))
            table.add(f"{name}, {group}", *cells, *bound)
    return [table]


def table3(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """ρ of the paper's models from their ρ by subject; the tests between BERT base and Oscar base; and what
    is above the prior.
    """
    rho_of = release.by_subject()
    table = PrintedTable("Table 3: average template, before (N) and after (Y) tuning", _heads(COLUMNS)[:-1])
    test = PrintedTable(
        "Table 3: Oscar base less BERT base",
        ("n", "difference", "95 %", "Welch p", "paired p", "by Welch", "by paired"),
    )
    bound = PrintedTable(
        "Table 3: between prior and ceiling",
        ("n", "ρ, 95 %", "prior ρ", "above the prior", "paired p", "ceiling ρ"),
    )
    same: set[tuple[str, bool]] = set()  # where BERT and Oscar do not differ by Welch's test
    verdict = {True: "same", False: "different"}
    for tuned in (False, True):
        for column in COLUMNS:
            oscar, bert = (rho_of.get((model, column, tuned), {}) for model in ("oscar-base", "bert-base"))
            subjects = [subject for subject in oscar if subject in bert]
            a, b = (np.array([rho[subject] for subject in subjects]) for rho in (oscar, bert))
            change = measures.difference(a, b)
            if change.welch > 0.05:
                same.add((column, tuned))
            p_values = (f"{change.welch:.2g}", f"{change.paired:.2g}")
            by_welch = PrintedNumber(
                verdict[(column, tuned) in vicomte_numbers.SAME3], verdict[change.welch > 0.05]
            )
            tested = (str(change.n), percent(change.mean), bracket(a - b), *p_values)
            test.add(f"{column}, {'NY'[tuned]}", *tested, by_welch, verdict[change.paired > 0.05])
    given = {relation: GivenBounds.of(release, relation) for relation in RELATIONS}
    for model, tuned in vicomte_numbers.ROWS:
        name = f"{vicomte_numbers.MODELS[model]}, {'NY'[tuned]}"
        cells: list[PrintedNumber] = []
        starred = model in ("bert-base", "oscar-base")
        for column, (rho, sd, accuracy) in zip(
            COLUMNS, vicomte_numbers.TABLE3[f"{model}, {'NY'[tuned]}"], strict=True
        ):
            each = rho_of.get((model, column, tuned), {})
            here = spread(np.array(list(each.values())))
            here += "*" if here and starred and (column, tuned) in same else ""
            star = "*" if starred and (column, tuned) in vicomte_numbers.SAME3 else ""
            cells.append(PrintedNumber(f"{rho:.1f} ± {sd:.1f}{star}", here))
            if accuracy is not None:
                cells.append(PrintedNumber(f"{accuracy:.1f}"))
            if column in given and each:
                bound.add(f"{column}, {name}", *_against_bounds(each, given[column]))
        table.add(name, *cells)
    for mode, letter in (("average", "N"), ("tuned", "Y")):
        table.rows += [(f"{name}, {letter}", cells[:-1]) for name, cells in _own(runs, mode, COLUMNS)]
    table.notes += [
        "* printed where BERT base and Oscar base do not differ by Welch's t (p > 0.05). Acc@1: no results "
        "by subject were released.",
        "ρ ± sd and * are computed from the release's ρ by subject; no model was asked again.",
    ]
    if rho_of.get(("bert-large", "color", True)) == rho_of.get(("bert-large", "color", False)):
        table.notes.append(
            "BERT large, color: the released results after tuning are those before, subject by subject."
        )
    return [table, test, bound]


def _against_bounds(each: Mapping[str, float], given: GivenBounds) -> list[str]:
    """A model's {subject: ρ} between prior and ceiling."""
    kept = [i for i, subject in enumerate(given.subjects) if subject in each]
    rho = np.array([each[given.subjects[i]] for i in kept])
    prior, ceiling = given.prior[kept], given.ceiling[kept]
    change = measures.difference(rho, prior)
    ours = [str(len(rho)), f"{percent(rho.mean())} {bracket(rho)}", percent(prior.mean())]
    return [*ours, percent(change.mean), f"{change.paired:.2g}", percent(ceiling.mean())]


def table4(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Rank partition of sizes as printed, with chance and a perfect ranking by the released metric, the
    text's and the corrected one.

    Runs of our own are scored by the last two.
    """
    table = PrintedTable("Table 4: sizes by rank partition, per cent correct", ("larger", "smaller"))
    for (model, tuned), values in zip(vicomte_numbers.ROWS, vicomte_numbers.TABLE4, strict=True):
        cells = [PrintedNumber(f"{value:.1f}") for value in values]
        table.add(f"{vicomte_numbers.MODELS[model]}, {'NY'[tuned]}", *cells)
    ways = ("larger", "smaller")
    subjects = [[pair.subject for pair in release.pairs(f"size_{way}", "test")] for way in ways]
    for name, values in released_limits(release.sizes(), subjects).items():
        table.add(f"{name}, released metric", *map(percent, values))
    directions: dict[Direction, str] = {"paper": "metric of the text", "corrected": "corrected metric"}
    for direction, metric in directions.items():
        for name, values in limits(release.sizes(), direction).items():
            table.add(f"{name}, {metric}", *map(percent, values))
        for path in runs:
            partition = report.load(path, FORM).tasks.get("size", {}).get("partition", {})
            if partition:
                own = [percent(partition[f"{way}, {direction}"]["mean"]) for way in ways]
                table.add(f"{path.name}, {metric}", *own)
    table.notes += [
        "The printed numbers are by the released metric, in which a perfect ranking lies below chance: "
        "compare them with its rows alone.",
        "No results by subject were released, so the printed numbers themselves cannot be computed.",
    ]
    return [table]


def _no_runs(name: str, runs: Sequence[Path]) -> None:
    if runs:
        raise ValueError(f"`runs` adds models or mined colours; {name} has neither")


def _heads(columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{column} {number}" for column in columns for number in ("ρ", "Acc@1"))


def _own(runs: Sequence[Path], mode: str, columns: Sequence[str], group: str = "all") -> Rows:
    """A row a directory that asked in this mode: for each column ρ and Acc@1."""
    rows = []
    for path in runs:
        tasks = report.load(path, FORM).tasks
        cells: list[PrintedNumber] = []
        for column in columns:
            asked = tasks.get("cooccurrence" if column == "cooccur" else column, {}).get("modes", {})
            numbers = asked.get(mode, {}).get("groups", {}).get(group, {})
            rho, accuracy = numbers.get("rho") or {"mean": None}, numbers.get("accuracy")
            mean = "" if rho["mean"] is None else f"{percent(rho['mean'])} ± {percent(rho['sd'])}"
            cells += _ours(mean, percent(accuracy["mean"]) if accuracy else "")
        if any(cell.here for cell in cells):
            rows.append((path.name, cells))
    return rows


def _head_rows(release: VisualRelease, file: str, printed: Mapping[str, tuple[Cell, ...]]) -> Rows:
    """The printed numbers of heads beside the release's own means: (ρ, sd, accuracy) a cell."""
    rows = []
    for (name, cells), line in zip(printed.items(), release.table(file)[1:], strict=True):
        numbers: list[PrintedNumber] = []
        for (rho, sd, accuracy), text in zip(cells, line[1:], strict=True):
            mean, deviation, share = (float(x) for x in text.strip("()").split(","))
            numbers.append(PrintedNumber(f"{rho:.1f} ± {sd:.1f}", f"{percent(mean)} ± {percent(deviation)}"))
            numbers.append(PrintedNumber("" if accuracy is None else f"{accuracy:.1f}", f"{share:.1f}"))
        rows.append((name, numbers))
    return rows


def table5(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Heads, from the released means."""
    rows = _head_rows(release, "file-cls", vicomte_numbers.TABLE5) + _own(runs, "head", COLUMNS)
    title = "Table 5: a classification head"
    return [PrintedTable(title, _heads(COLUMNS), rows, copied="file-cls.csv"), bounds(release)]


def table6(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Heads by group, from the released means."""
    columns = tuple(RELATIONS)
    rows = _head_rows(release, "file-cls-groups", vicomte_numbers.TABLE6)
    for group in GROUPS:
        rows += [(f"{group}, {name}", cells) for name, cells in _own(runs, "head", columns, group)]
    title = "Table 6: a classification head, by group"
    return [PrintedTable(title, _heads(columns), rows, copied="file-cls-groups.csv"), bounds(release)]


def table9(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Best template; colour's ρ stands in the released numbers of Figure 2 too."""
    rows: Rows = []
    for (model, printed), line in zip(
        vicomte_numbers.TABLE9.items(), release.table("heatmap_data")[1:], strict=False
    ):
        cells = []
        for column, (rho, sd, accuracy) in zip(COLUMNS, printed, strict=True):
            if column == "color":
                cells.append(PrintedNumber(f"{rho:.1f}", percent(float(line[2]))))
            else:
                cells.append(PrintedNumber(f"{rho:.1f} ± {sd:.1f}"))
            cells.append(PrintedNumber("" if accuracy is None else f"{accuracy:.1f}"))
        rows.append((model, cells))
    rows += _own(runs, "best", COLUMNS)
    title = "Table 9: best template"
    return [PrintedTable(title, _heads(COLUMNS), rows, copied="heatmap_data.csv"), bounds(release)]


def table11(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Where the named subjects stand among all: of untuned ρ by subject, 1 the highest (high) or the lowest
    (low).
    """
    _no_runs("Table 11", runs)
    rho_of = release.by_subject()
    table = PrintedTable(
        "Table 11: named subjects and their ranks, 1 the highest of the high and the lowest of the low",
        ("BERT base, high", "Oscar base, high", "BERT base, low", "Oscar base, low"),
    )
    for relation, columns in vicomte_numbers.TABLE11.items():
        cells = []
        for i, names in enumerate(columns):
            each = rho_of[("bert-base", "oscar-base")[i % 2], relation, False]
            order = sorted(each, key=lambda subject: each[subject], reverse=i < 2)
            ranks = [f"{n} {order.index(n) + 1}" if n in each else f"{n} -" for n in names]
            cells.append(f"{', '.join(ranks)} of {len(order)}")
        table.add(relation, *cells)
    table.notes.append("The paper does not say how it chose among the extremes.")
    return [table]


#: Name on the command line: the function that makes the tables.
TABLES: dict[str, Callable[[VisualRelease, Sequence[Path]], list[PrintedTable]]] = {
    "vicomte-table1": table1,
    "vicomte-table2": table2,
    "vicomte-table3": table3,
    "vicomte-table4": table4,
    "vicomte-table5": table5,
    "vicomte-table6": table6,
    "vicomte-table9": table9,
    "vicomte-table11": table11,
}


def printed(name: str, data: Path, runs: Sequence[Path]) -> list[PrintedTable]:
    """A table of the paper."""
    return TABLES[name](VisualRelease(data), runs)
