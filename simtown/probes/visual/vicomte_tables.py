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
from functools import partial
from itertools import zip_longest
from pathlib import Path

import numpy as np

from simtown.probes import measures, report
from simtown.probes.items import GROUPS
from simtown.probes.reproduce import PrintedNumber, PrintedTable, percent
from simtown.probes.visual import FORM, vicomte_numbers
from simtown.probes.visual.classes import RELATIONS
from simtown.probes.visual.mined import Mined
from simtown.probes.visual.release import CODA_CLASSES, VisualRelease
from simtown.probes.visual.sizes import DIRECTIONS, WAYS, limits, released_limits
from simtown.probes.visual.vicomte_numbers import COLUMNS, MODELS

Rows = list[tuple[str, list[PrintedNumber]]]
#: Folders of the release whose relation the paper calls otherwise.
_FOLDERS = {"size (smaller)": "size_smaller", "size (larger)": "size_larger", "co-occurrence": "cooccur"}


def spread(values: np.ndarray) -> str:
    """Mean ± population standard deviation, times 100; "" for nothing."""
    kept = values[np.isfinite(values)]
    return f"{percent(kept.mean())} ± {percent(kept.std())}" if len(kept) else ""


def bracket(values: np.ndarray) -> str:
    """95 % bootstrap interval of the mean, times 100."""
    low, high = measures.mean_interval(values)
    return f"[{percent(low)}, {percent(high)}]" if np.isfinite(low) else ""


def _beside(printed: Sequence[str], here: Sequence[str]) -> list[PrintedNumber]:
    """Printed numbers beside ours; either may have fewer."""
    return [PrintedNumber(*pair) for pair in zip_longest(printed, here, fillvalue="")]


def _score_columns(columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{column} {number}" for column in columns for number in ("ρ", "Acc@1"))


def _members(groups: np.ndarray) -> dict[str, np.ndarray]:
    """{"all" or a group: which of the (n,) subjects are in it}, without empty ones."""
    members = {"all": np.ones(len(groups), dtype=bool)} | {group: groups == group for group in GROUPS}
    return {group: kept for group, kept in members.items() if kept.any()}


def _require_no_runs(name: str, runs: Sequence[Path]) -> None:
    if runs:
        raise ValueError(f"`runs` adds models or mined colours; {name} has neither")


def _own(runs: Sequence[Path], mode: str, columns: Sequence[str], group: str = "all") -> Rows:
    """A row for each run that asked in this mode: ρ and Acc@1 by column."""
    rows = []
    for path in runs:
        tasks = report.load(path, FORM).tasks
        cells: list[str] = []
        for column in columns:
            modes = tasks.get("cooccurrence" if column == "cooccur" else column, {}).get("modes", {})
            numbers = modes.get(mode, {}).get("groups", {}).get(group, {})
            rho, accuracy = numbers.get("rho") or {"mean": None}, numbers.get("accuracy")
            cells += [
                "" if rho["mean"] is None else f"{percent(rho['mean'])} ± {percent(rho['sd'])}",
                percent(accuracy["mean"]) if accuracy else "",
            ]
        if any(cells):
            rows.append((path.name, _beside((), cells)))
    return rows


# What is given: prior and ceiling


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
        for group, kept in _members(groups).items():
            prior, ceiling = given.prior[kept], given.ceiling[kept]
            priors = (str(kept.sum()), spread(prior), bracket(prior), percent(given.right[kept].mean()))
            table.add(f"{name}, {group}", *priors, spread(ceiling), bracket(ceiling))
    return table


# Table 1


def table1(release: VisualRelease, runs: Sequence[Path]) -> list[PrintedTable]:
    """Classes and pairs of every relation; and what a guess and a perfect ranking get in its test."""
    _require_no_runs("Table 1", runs)
    table = PrintedTable("Table 1: the data", ("classes", "pairs"))
    for name, printed in vicomte_numbers.TABLE1.items():
        folder = _FOLDERS.get(name, name)
        parts = ("train", "dev", "test") if folder.startswith("size") else ("train", "test")
        pairs = sum(len(release.pairs(folder, part)) for part in parts)
        if folder in RELATIONS:
            classes = release.counts(folder)[1].shape[1]
        elif folder == "cooccur":
            classes = len(release.words(folder))
        else:
            classes = sum(map(len, release.sizes().values()))
        table.add(name, *_beside(printed, (str(classes), str(pairs))))
    return [table, bounds(release)]


# Table 2


@dataclass(frozen=True)
class ColourSource:
    """A source's colours of the n subjects that CoDa has too.

    Attributes:
        subjects: names.
        groups: (n,) str, CoDa's.
        counts: (n, c) of the source.
        coda: (n, c) CoDa's shares.
        prior: (c,) the source's mean shares, over all its subjects.
    """

    subjects: tuple[str, ...]
    groups: np.ndarray
    counts: np.ndarray
    coda: np.ndarray
    prior: np.ndarray

    def rho(self) -> np.ndarray:
        """(n,) ρ of the source with CoDa."""
        return measures.spearman_rows(self.counts, self.coda)

    def right(self) -> np.ndarray:
        """(n,) bool, whether the commonest colour agrees.

        The paper sorts the colours by CoDa's shares and asks whether the source's first maximum comes first:
        its ties count as right.
        """
        order = np.argsort(self.coda, axis=1, kind="stable")[:, ::-1]
        agrees: np.ndarray = np.take_along_axis(self.counts, order, axis=1).argmax(axis=1) == 0
        return agrees


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
    counts = np.delete(counts, silver, axis=1)
    row = dict(zip(subjects, counts, strict=True))
    names, coda = release.counts("coda")
    kept = [i for i, name in enumerate(names) if name in row and row[name].sum() > 0]
    if not kept or coda.shape[1] != len(CODA_CLASSES):
        raise ValueError(
            f"the source and CoDa have no subject, or not {len(CODA_CLASSES)} colours, in common"
        )
    parts = [(group, part) for group in GROUPS for part in ("train", "dev", "test")]
    group_of = {pair.subject: g for g, part in parts for pair in release.pairs("coda", g, part)}
    return ColourSource(
        subjects=tuple(names[i] for i in kept),
        groups=np.array([group_of.get(names[i], "") for i in kept]),
        counts=np.array([row[names[i]] for i in kept]),
        coda=coda[kept],
        prior=measures.shares(counts[counts.sum(axis=1) > 0]).mean(axis=0),
    )


def table2(release: VisualRelease, runs: Sequence[Path]) -> list[PrintedTable]:
    """Sources of colours against CoDa; directories of simtown probe visual mine are sources, too."""
    table = PrintedTable(
        "Table 2: colours against CoDa's",
        ("ρ", "# subjs", "avg # occ", "top5 # occ", "btm5 # occ", "Acc@1", "95 %", "prior ρ", "ceiling ρ"),
    )
    sources = {"VG": release.counts("color"), "Wikipedia": release.counts("wiki-color")}
    sources |= {path.name: Mined(path).counts("color") for path in runs}
    for name, (subjects, counts) in sources.items():
        source = against_coda(release, subjects, counts)
        prior = measures.spearman_rows(np.tile(source.prior, (len(source.coda), 1)), source.coda)
        ceiling = measures.ceiling_rows(source.coda)
        for group, kept in _members(source.groups).items():
            rho, occurrences = source.rho()[kept], source.counts[kept].sum(axis=1)
            order = np.argsort(-rho.round(12), kind="stable")
            means = [x.mean() for x in (occurrences, occurrences[order[:5]], occurrences[order[-5:]])]
            here = [spread(rho), str(len(rho)), *(f"{mean:.1f}" for mean in means)]
            here.append(percent(source.right()[kept].mean()))
            here += [bracket(rho), spread(prior[kept]), spread(ceiling[kept])]
            table.add(f"{name}, {group}", *_beside(vicomte_numbers.TABLE2.get(f"{name}, {group}", ()), here))
    return [table]


# Table 3


def table3(release: VisualRelease, runs: Sequence[Path]) -> list[PrintedTable]:
    """ρ of the paper's models from their ρ by subject; the tests between BERT base and Oscar base; and what
    is above the prior.
    """
    rho_of = release.by_subject()
    tests, equal = _oscar_less_bert(rho_of)
    given = {relation: GivenBounds.of(release, relation) for relation in RELATIONS}
    table = PrintedTable(
        "Table 3: average template, before (N) and after (Y) tuning", _score_columns(COLUMNS)[:-1]
    )
    between = PrintedTable(
        "Table 3: between prior and ceiling",
        ("n", "ρ, 95 %", "prior ρ", "above the prior", "paired p", "ceiling ρ"),
    )
    for row, printed in vicomte_numbers.TABLE3.items():
        model, letter = row.split(", ")
        name = f"{MODELS[model]}, {letter}"
        here = []
        for column in COLUMNS:
            by_subject = rho_of.get((model, column, letter == "Y"), {})
            rho = spread(np.array(list(by_subject.values())))
            starred = rho and model in ("bert-base", "oscar-base") and f"{column}, {letter}" in equal
            here += [f"{rho}*" if starred else rho, ""]
            if column in given and by_subject:
                between.add(f"{column}, {name}", *_against_bounds(by_subject, given[column]))
        table.add(name, *_beside(printed, here[:-1]))
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
    return [table, tests, between]


def _oscar_less_bert(
    rho_of: Mapping[tuple[str, str, bool], Mapping[str, float]],
) -> tuple[PrintedTable, set[str]]:
    """The tests between the two models, and the rows in which Welch's finds no difference."""
    table = PrintedTable(
        "Table 3: Oscar base less BERT base",
        ("n", "difference", "95 %", "Welch p", "paired p", "by Welch", "by paired"),
    )
    verdict = {True: "same", False: "different"}
    equal = set()
    for tuned in (False, True):
        for i, column in enumerate(COLUMNS):
            name = f"{column}, {'NY'[tuned]}"
            oscar, bert = (rho_of.get((model, column, tuned), {}) for model in ("oscar-base", "bert-base"))
            subjects = [subject for subject in oscar if subject in bert]
            a, b = (np.array([rho[subject] for subject in subjects]) for rho in (oscar, bert))
            change = measures.difference(a, b)
            if change.welch > 0.05:
                equal.add(name)
            printed = verdict[vicomte_numbers.TABLE3[f"bert-base, {'NY'[tuned]}"][2 * i].endswith("*")]
            tested = (str(change.n), percent(change.mean), bracket(a - b))
            p_values = (f"{change.welch:.2g}", f"{change.paired:.2g}")
            by_welch = PrintedNumber(printed, verdict[change.welch > 0.05])
            table.add(name, *tested, *p_values, by_welch, verdict[change.paired > 0.05])
    return table, equal


def _against_bounds(by_subject: Mapping[str, float], given: GivenBounds) -> list[str]:
    """A model's {subject: ρ} between prior and ceiling."""
    kept = [i for i, subject in enumerate(given.subjects) if subject in by_subject]
    rho = np.array([by_subject[given.subjects[i]] for i in kept])
    prior, ceiling = given.prior[kept], given.ceiling[kept]
    change = measures.difference(rho, prior)
    here = [str(len(rho)), f"{percent(rho.mean())} {bracket(rho)}", percent(prior.mean())]
    return [*here, percent(change.mean), f"{change.paired:.2g}", percent(ceiling.mean())]


# Table 4


def table4(release: VisualRelease, runs: Sequence[Path]) -> list[PrintedTable]:
    """Rank partition of sizes as printed, with chance and a perfect ranking by the released metric, the
    text's and the corrected one.

    Runs of our own are scored by the last two.
    """
    table = PrintedTable("Table 4: sizes by rank partition, per cent correct", WAYS)
    for row, printed in vicomte_numbers.TABLE4.items():
        model, letter = row.split(", ")
        table.add(f"{MODELS[model]}, {letter}", *_beside(printed, ()))
    subjects = [[pair.subject for pair in release.pairs(f"size_{way}", "test")] for way in WAYS]
    for name, values in released_limits(release.sizes(), subjects).items():
        table.add(f"{name}, released metric", *map(percent, values))
    for direction, metric in zip(DIRECTIONS, ("metric of the text", "corrected metric"), strict=True):
        for name, values in limits(release.sizes(), direction).items():
            table.add(f"{name}, {metric}", *map(percent, values))
        for path in runs:
            if partition := report.load(path, FORM).tasks.get("size", {}).get("partition", {}):
                own = [percent(partition[f"{way}, {direction}"]["mean"]) for way in WAYS]
                table.add(f"{path.name}, {metric}", *own)
    table.notes += [
        "The printed numbers are by the released metric, in which a perfect ranking lies below chance: "
        "compare them with its rows alone.",
        "No results by subject were released, so the printed numbers themselves cannot be computed.",
    ]
    return [table]


# Tables 5, 6 and 9: copies of the release's summaries


def copied_table(
    title: str,
    printed: Mapping[str, Sequence[str]],
    file: str,
    mode: str,
    release: VisualRelease,
    runs: Sequence[Path],
    columns: Sequence[str] = COLUMNS,
    groups: Sequence[str] = ("",),
) -> list[PrintedTable]:
    """A table beside the release's summaries in `file`, and runs of our own by `mode`."""
    lines = release.table(file)[1:]
    rows: Rows = []
    for (name, texts), line in zip(printed.items(), lines, strict=False):
        if file == "heatmap_data":  # it has colour's ρ alone, without the deviation
            rows.append((name, _beside((texts[0].split(" ±")[0], *texts[1:]), [percent(float(line[2]))])))
            continue
        here = []
        for text in line[1:]:
            rho, sd, accuracy = (float(x) for x in text.strip("()").split(","))
            here += [f"{percent(rho)} ± {percent(sd)}", f"{accuracy:.1f}"]
        rows.append((name, _beside(texts, here)))
    for group in groups:
        own = _own(runs, mode, columns, group or "all")
        rows += [(f"{group}, {name}" if group else name, cells) for name, cells in own]
    return [PrintedTable(title, _score_columns(columns), rows, copied=f"{file}.csv"), bounds(release)]


# Table 11


def table11(release: VisualRelease, runs: Sequence[Path]) -> list[PrintedTable]:
    """Where the named subjects stand among all: of untuned ρ by subject, 1 the highest (high) or the lowest
    (low).
    """
    _require_no_runs("Table 11", runs)
    rho_of = release.by_subject()
    table = PrintedTable(
        "Table 11: named subjects and their ranks, 1 the highest of the high and the lowest of the low",
        ("BERT base, high", "Oscar base, high", "BERT base, low", "Oscar base, low"),
    )
    for relation, columns in vicomte_numbers.TABLE11.items():
        cells = []
        for i, names in enumerate(columns):
            by_subject = rho_of[("bert-base", "oscar-base")[i % 2], relation, False]
            order = sorted(by_subject, key=lambda subject: by_subject[subject], reverse=i < 2)
            ranks = [f"{n} {order.index(n) + 1}" if n in by_subject else f"{n} -" for n in names.split(", ")]
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
    "vicomte-table5": partial(
        copied_table, "Table 5: a classification head", vicomte_numbers.TABLE5, "file-cls", "head"
    ),
    "vicomte-table6": partial(
        copied_table,
        "Table 6: a classification head, by group",
        vicomte_numbers.TABLE6,
        "file-cls-groups",
        "head",
        columns=COLUMNS[:3],
        groups=GROUPS,
    ),
    "vicomte-table9": partial(
        copied_table, "Table 9: best template", vicomte_numbers.TABLE9, "heatmap_data", "best"
    ),
    "vicomte-table11": table11,
}


def printed(name: str, data: Path, runs: Sequence[Path]) -> list[PrintedTable]:
    """A table of the paper."""
    return TABLES[name](VisualRelease(data), runs)
