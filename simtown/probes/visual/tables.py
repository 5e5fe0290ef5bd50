"""The paper's tables beside ours: every cell as printed and as it comes out of the released files, with the
prior and the ceiling.

Table 1: what there is. Table 2: colours counted in Visual Genome and in Wikipedia against CoDa's. Table 3:
prompts before and after tuning, averaged from the release's ρ by subject. Tables 5, 6, 9: the release's own
summaries, copied. Table 4: printed, beside chance and a perfect ranking. Table 11: where in the order of
subjects the named ones stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simtown.probes import measures, report
from simtown.probes.items import GROUPS
from simtown.probes.reproduce import PrintedNumber, PrintedTable, percent
from simtown.probes.visual import published
from simtown.probes.visual.classes import RELATIONS
from simtown.probes.visual.mined import Mined
from simtown.probes.visual.release import CODA_CLASSES, VisualRelease
from simtown.probes.visual.settings import FORM
from simtown.probes.visual.sizes import Direction, limits, released_limits


def spread(values: np.ndarray) -> str:
    """Mean ± population standard deviation, times 100; "" for nothing."""
    kept = values[np.isfinite(values)]
    return f"{percent(kept.mean())} ± {percent(kept.std())}" if len(kept) else ""


def _printed(rho: float, sd: float, star: bool = False) -> str:
    return f"{rho:.1f} ± {sd:.1f}{'*' if star else ''}"


def table1(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Classes and pairs of every relation; and what a guess and a perfect ranking get in its test."""
    _no_runs("Table 1", runs)
    table = PrintedTable("Table 1: the data", ("classes", "pairs"))
    for name, folder, classes, pairs in published.TABLE1:
        parts = ("train", "dev", "test") if folder.startswith("size") else ("train", "test")
        n = sum(len(release.pairs(folder, part)) for part in parts)
        if folder in RELATIONS:
            c = release.counts(folder)[1].shape[1]
        elif folder == "cooccur":
            c = len(release.words(folder))
        else:
            c = sum(map(len, release.sizes().values()))
        table.rows.append((name, [PrintedNumber(str(classes), str(c)), PrintedNumber(str(pairs), str(n))]))
    return [table, bounds(release)]


def bounds(release: VisualRelease) -> PrintedTable:
    """Prior and ceiling of each relation's test set, by group."""
    table = PrintedTable(
        "What is given: the prior of the train subjects, and the ceiling that ties leave",
        ("test", "prior ρ", "95 %", "prior Acc@1", "ceiling ρ", "95 %"),
    )
    for name in RELATIONS:
        data = release.dataset(name)
        assert data.counts is not None
        test = data.counts[~data.train]
        guess = measures.shares(data.counts[data.train]).mean(axis=0)
        rho = measures.spearman_rows(np.tile(guess, (len(test), 1)), test)
        correct = data.gold[~data.train] == guess.argmax()
        ceiling = measures.ceiling_rows(test)
        by_group = {"all": np.ones(len(test), dtype=bool)}
        member = {g: {p.subject for p in release.pairs(name, g, "test")} for g in GROUPS}
        by_group |= {
            g: np.array([s in member[g] for s, t in zip(data.subjects, data.train, strict=True) if not t])
            for g in GROUPS
        }
        for group, kept in by_group.items():
            if kept.any():
                table.add(
                    f"{name}, {group}",
                    str(kept.sum()),
                    spread(rho[kept]),
                    bracket(rho[kept]),
                    percent(correct[kept].mean()),
                    spread(ceiling[kept]),
                    bracket(ceiling[kept]),
                )
    return table


def bracket(values: np.ndarray) -> str:
    """95 % bootstrap interval of the mean, times 100."""
    low, high = measures.mean_interval(values)
    return f"[{percent(low)}, {percent(high)}]" if np.isfinite(low) else ""


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
        ValueError: CoDa has another number of colours, or no subject of the source.
    """
    silver = RELATIONS["color"].classes.index("silver")
    row = dict(zip(subjects, np.delete(counts, silver, axis=1), strict=True))
    names, truth = release.counts("coda")
    if truth.shape[1] != len(CODA_CLASSES):
        raise ValueError(f"CoDa has {len(CODA_CLASSES)} colours, not {truth.shape[1]}")
    kept = [i for i, name in enumerate(names) if name in row and row[name].sum() > 0]
    if not kept:
        raise ValueError("the source and CoDa have no subject in common")
    source_counts, coda_shares = np.array([row[names[i]] for i in kept]), truth[kept]
    group = {
        p.subject: g
        for g in GROUPS
        for part in ("train", "dev", "test")
        for p in release.pairs("coda", g, part)
    }
    everything = np.array(list(row.values()))
    guess = measures.shares(everything[everything.sum(axis=1) > 0]).mean(axis=0)
    # the paper sorts the colours by CoDa's shares and asks whether the source's first maximum comes first:
    # its ties count as right
    ordered = np.take_along_axis(
        source_counts, np.argsort(coda_shares, axis=1, kind="stable")[:, ::-1], axis=1
    )
    return ColourSource(
        rho=measures.spearman_rows(source_counts, coda_shares),
        ceiling=measures.ceiling_rows(coda_shares),
        prior=measures.spearman_rows(np.tile(guess, (len(coda_shares), 1)), coda_shares),
        occurrences=source_counts.sum(axis=1),
        right=ordered.argmax(axis=1) == 0,
        groups=np.array([group.get(names[i], "") for i in kept]),
        subjects=tuple(names[i] for i in kept),
        shares=source_counts / source_counts.sum(axis=1, keepdims=True),
        coda=coda_shares,
    )


def table2(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Sources of colours against CoDa; directories of simtown probe visual mine are sources, too."""
    table = PrintedTable(
        "Table 2: colours against CoDa's",
        ("ρ", "# subjs", "avg # occ", "top5 # occ", "btm5 # occ", "Acc@1", "95 %", "prior ρ", "ceiling ρ"),
    )
    for source, subjects, counts in [
        ("VG", *release.counts("color")),
        ("Wikipedia", *release.counts("wiki-color")),
        *((path.name, *Mined(path).counts("color")) for path in runs),
    ]:
        source_colours = against_coda(release, subjects, counts)
        for group in ("all", *GROUPS):
            kept = (
                np.ones(len(source_colours.rho), dtype=bool)
                if group == "all"
                else source_colours.groups == group
            )
            if not kept.any():
                continue
            rho, occurrences = source_colours.rho[kept], source_colours.occurrences[kept]
            order = np.argsort(-rho.round(12), kind="stable")
            p = published.TABLE2.get((source, group))
            paper = (
                ("",) * 6
                if p is None
                else (
                    _printed(p[0], p[1]),
                    str(p[2]),
                    *(f"{x:.1f}" for x in p[3:6]),
                    "" if p[6] is None else str(p[6]),
                )
            )
            here = (
                spread(rho),
                str(len(rho)),
                f"{occurrences.mean():.1f}",
                f"{occurrences[order[:5]].mean():.1f}",
                f"{occurrences[order[-5:]].mean():.1f}",
                percent(source_colours.right[kept].mean()),
            )
            cells = [PrintedNumber(a, b) for a, b in zip(paper, here, strict=True)]
            table.rows.append(
                (
                    f"{source}, {group}",
                    [
                        *cells,
                        *(
                            PrintedNumber(here=x)
                            for x in (
                                bracket(rho),
                                spread(source_colours.prior[kept]),
                                spread(source_colours.ceiling[kept]),
                            )
                        ),
                    ],
                )
            )
    return [table]


def table3(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """ρ of the paper's models from their ρ by subject; the tests between BERT base and Oscar base; and what
    is above the prior.
    """
    rho_by_subject = release.by_subject()
    table = PrintedTable(
        "Table 3: average template, before (N) and after (Y) tuning",
        tuple(
            f"{c} {x}" for c in published.COLUMNS for x in ("ρ", "Acc@1") if (c, x) != ("cooccur", "Acc@1")
        ),
    )
    bound = PrintedTable(
        "Table 3: between prior and ceiling",
        ("n", "ρ, 95 %", "prior ρ", "above the prior", "paired p", "ceiling ρ"),
    )
    test = PrintedTable(
        "Table 3: Oscar base less BERT base",
        ("n", "difference", "95 %", "Welch p", "paired p", "by Welch", "by paired"),
    )
    bounds_of = {relation: _bounds_by_subject(release, relation) for relation in RELATIONS}
    for (model, tuned), printed in published.TABLE3.items():
        cells: list[PrintedNumber] = []
        for column, (rho, sd, accuracy) in zip(published.COLUMNS, printed, strict=True):
            star = model in ("bert-base", "oscar-base") and (column, tuned) in published.SAME3
            each = rho_by_subject.get((model, column, tuned), {})
            here = spread(np.array(list(each.values()))) if each else ""
            if (
                here
                and model in ("bert-base", "oscar-base")
                and _paired(rho_by_subject, column, tuned)[2].welch > 0.05
            ):
                here += "*"
            cells.append(PrintedNumber(_printed(rho, sd, star), here))
            if accuracy is not None:
                cells.append(PrintedNumber(f"{accuracy:.1f}"))
            if column in bounds_of and each:
                bound.rows.append(
                    (
                        f"{column}, {published.MODELS[model]}, {'NY'[tuned]}",
                        _against_bounds(each, bounds_of[column]),
                    )
                )
        table.rows.append((f"{published.MODELS[model]}, {'Y' if tuned else 'N'}", cells))
    for tuned in (False, True):
        for column in published.COLUMNS:
            oscar, bert, difference = _paired(rho_by_subject, column, tuned)
            verdict = {True: "same", False: "different"}
            numbers = (
                str(difference.n),
                percent(difference.mean),
                bracket(oscar - bert),
                f"{difference.welch:.2g}",
                f"{difference.paired:.2g}",
            )
            by_welch = PrintedNumber(
                verdict[(column, tuned) in published.SAME3], verdict[difference.welch > 0.05]
            )
            test.rows.append(
                (
                    f"{column}, {'NY'[tuned]}",
                    [
                        *(PrintedNumber(here=x) for x in numbers),
                        by_welch,
                        PrintedNumber(here=verdict[difference.paired > 0.05]),
                    ],
                )
            )
    for mode in ("average", "tuned"):
        table.rows += [
            (f"{name}, {'NY'[mode == 'tuned']}", cells[:-1])
            for name, cells in _own(runs, mode, published.COLUMNS)
        ]
    table.notes += [
        "* printed where BERT base and Oscar base do not differ by Welch's t (p > 0.05). Acc@1: no "
        "results by subject were released.",
        "ρ ± sd and * are computed from the release's ρ by subject; no model was asked again.",
    ]
    if rho_by_subject.get(("bert-large", "color", True)) == rho_by_subject.get(
        ("bert-large", "color", False)
    ):
        table.notes.append(
            "BERT large, color: the released results after tuning are those before tuning, subject by "
            "subject."
        )
    return [table, test, bound]


def _paired(
    rho_by_subject: dict[tuple[str, str, bool], dict[str, float]], column: str, tuned: bool
) -> tuple[np.ndarray, np.ndarray, measures.PairedDifference]:
    """Oscar's and BERT's ρ of the subjects that both have, and their difference."""
    oscar, bert = (rho_by_subject.get((model, column, tuned), {}) for model in ("oscar-base", "bert-base"))
    subjects = [s for s in oscar if s in bert]
    a, b = np.array([oscar[s] for s in subjects]), np.array([bert[s] for s in subjects])
    return a, b, measures.difference(a, b)


def _bounds_by_subject(release: VisualRelease, relation: str) -> dict[str, tuple[float, float]]:
    """{test subject: (ρ of the prior, ceiling)}."""
    data = release.dataset(relation)
    assert data.counts is not None
    test = data.counts[data.test]
    rho = measures.spearman_rows(
        np.tile(measures.shares(data.counts[data.train]).mean(axis=0), (len(test), 1)), test
    )
    return {
        data.subjects[i]: pair
        for i, pair in zip(data.test, zip(rho, measures.ceiling_rows(test), strict=True), strict=True)
    }


def _against_bounds(each: dict[str, float], bounds_of: dict[str, tuple[float, float]]) -> list[PrintedNumber]:
    names = [s for s in each if s in bounds_of]
    rho = np.array([each[s] for s in names])
    prior, ceiling = np.array([bounds_of[s] for s in names]).T
    difference = measures.difference(rho, prior)
    texts = (
        str(len(names)),
        f"{percent(rho.mean())} {bracket(rho)}",
        percent(prior.mean()),
        percent(difference.mean),
        f"{difference.paired:.2g}",
        percent(ceiling.mean()),
    )
    return [PrintedNumber(here=text) for text in texts]


def table4(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Rank partition of sizes as printed, with chance and a perfect ranking by the released metric, the
    text's and the corrected one.

    Runs of our own are scored by the last two.
    """
    table = PrintedTable("Table 4: sizes by rank partition, per cent correct", ("larger", "smaller"))
    for (model, tuned), (larger, smaller) in published.TABLE4.items():
        table.rows.append(
            (
                f"{published.MODELS[model]}, {'Y' if tuned else 'N'}",
                [PrintedNumber(f"{larger:.1f}"), PrintedNumber(f"{smaller:.1f}")],
            )
        )
    subjects = [
        [pair.subject for pair in release.pairs(f"size_{relation}", "test")]
        for relation in ("larger", "smaller")
    ]
    for name, values in released_limits(release.sizes(), subjects).items():
        table.rows.append((f"{name}, released metric", [PrintedNumber(here=percent(v)) for v in values]))
    ways: dict[Direction, str] = {"paper": "metric of the text", "corrected": "corrected metric"}
    for direction, way in ways.items():
        for name, values in limits(release.sizes(), direction).items():
            table.rows.append((f"{name}, {way}", [PrintedNumber(here=percent(v)) for v in values]))
        for path in runs:
            partition = report.load(path, FORM).tasks.get("size", {}).get("partition", {})
            if partition:
                own = [partition[f"{relation}, {direction}"]["mean"] for relation in ("larger", "smaller")]
                table.rows.append(
                    (f"{path.name}, {way}", [PrintedNumber(here=percent(value)) for value in own])
                )
    table.notes += [
        "The printed numbers are by the released metric, in which a perfect ranking lies below chance: "
        "compare them with its rows alone.",
        "No results by subject were released, so the printed numbers themselves cannot be computed.",
    ]
    return [table]


def _no_runs(name: str, runs: Sequence[Path]) -> None:
    if runs:
        raise ValueError(f"`runs` adds models or mined colours; {name} has neither")


def _own(
    runs: Sequence[Path], mode: str, columns: Sequence[str], group: str = "all"
) -> list[tuple[str, list[PrintedNumber]]]:
    """A row a directory that asked in this mode: for each column ρ and Acc@1."""
    rows = []
    for path in runs:
        tasks = report.load(path, FORM).tasks
        cells: list[PrintedNumber] = []
        for column in columns:
            mode_summary = (
                tasks.get("cooccurrence" if column == "cooccur" else column, {})
                .get("modes", {})
                .get(mode, {})
            )
            numbers = mode_summary.get("groups", {}).get(group, {})
            rho, accuracy = numbers.get("rho"), numbers.get("accuracy")
            cells.append(
                PrintedNumber(
                    here=f"{percent(rho['mean'])} ± {percent(rho['sd'])}"
                    if rho and rho["mean"] is not None
                    else ""
                )
            )
            cells.append(PrintedNumber(here=percent(accuracy["mean"]) if accuracy else ""))
        if any(cell.here for cell in cells):
            rows.append((path.name, cells))
    return rows


def _heads(release: VisualRelease, name: str) -> list[list[tuple[float, ...]]]:
    """Rows of (mean ρ, sd, accuracy) of a released table of heads."""
    return [
        [tuple(float(x) for x in cell.strip("()").split(",")) for cell in row[1:]]
        for row in release.table(name)[1:]
    ]


def _head_cells(
    printed: Sequence[tuple[float, float, float | None]], released: Sequence[tuple[float, ...]]
) -> list[PrintedNumber]:
    cells = []
    for (rho, sd, accuracy), here in zip(printed, released, strict=True):
        cells.append(PrintedNumber(_printed(rho, sd), f"{percent(here[0])} ± {percent(here[1])}"))
        cells.append(PrintedNumber("" if accuracy is None else f"{accuracy:.1f}", f"{here[2]:.1f}"))
    return cells


def table5(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Heads, from the released means."""
    table = PrintedTable(
        "Table 5: a classification head",
        tuple(f"{c} {x}" for c in published.COLUMNS for x in ("ρ", "Acc@1")),
        copied="file-cls.csv",
    )
    for (model, printed), released in zip(published.TABLE5.items(), _heads(release, "file-cls"), strict=True):
        table.rows.append((model, _head_cells(printed, released)))
    table.rows += _own(runs, "head", published.COLUMNS)
    return [table, bounds(release)]


def table6(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Heads by group, from the released means."""
    table = PrintedTable(
        "Table 6: a classification head, by group",
        tuple(f"{c} {x}" for c in RELATIONS for x in ("ρ", "Acc@1")),
        copied="file-cls-groups.csv",
    )
    for ((group, model), printed), released in zip(
        published.TABLE6.items(), _heads(release, "file-cls-groups"), strict=True
    ):
        table.rows.append((f"{group}, {model}", _head_cells(printed, released)))
    for group in GROUPS:
        table.rows += [
            (f"{group}, {name}", cells) for name, cells in _own(runs, "head", tuple(RELATIONS), group)
        ]
    return [table, bounds(release)]


def table9(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Best template; colour's ρ stands in the released numbers of Figure 2 too."""
    table = PrintedTable(
        "Table 9: best template",
        tuple(f"{c} {x}" for c in published.COLUMNS for x in ("ρ", "Acc@1")),
        copied="heatmap_data.csv",
    )
    figure2 = release.table("heatmap_data")[1:]
    for i, (model, printed) in enumerate(published.TABLE9.items()):
        cells = []
        for column, (rho, sd, accuracy) in zip(published.COLUMNS, printed, strict=True):
            here = percent(float(figure2[i][2])) if column == "color" and i < len(figure2) else ""
            cells += [
                PrintedNumber(_printed(rho, sd)) if not here else PrintedNumber(f"{rho:.1f}", here),
                PrintedNumber("" if accuracy is None else f"{accuracy:.1f}"),
            ]
        table.rows.append((model, cells))
    table.rows += _own(runs, "best", published.COLUMNS)
    return [table, bounds(release)]


def table11(release: VisualRelease, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Where the named subjects stand among all: of untuned ρ by subject, 1 the highest (high) or the lowest
    (low).
    """
    _no_runs("Table 11", runs)
    rho_by_subject = release.by_subject()
    table = PrintedTable(
        "Table 11: named subjects and their ranks, 1 the highest of the high and the lowest of the low",
        ("BERT base, high", "Oscar base, high", "BERT base, low", "Oscar base, low"),
    )
    for relation, columns in published.TABLE11.items():
        cells = []
        for i, names in enumerate(columns):
            each = rho_by_subject[("bert-base", "oscar-base")[i % 2], relation, False]
            order = sorted(each, key=lambda s: each[s], reverse=i < 2)
            cells.append(
                PrintedNumber(
                    here=", ".join(f"{n} {order.index(n) + 1}" if n in each else f"{n} -" for n in names)
                    + f" of {len(order)}"
                )
            )
        table.rows.append((relation, cells))
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
