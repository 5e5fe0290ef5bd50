"""The paper's tables beside ours: every cell as printed and as it comes out of the released files.

Table 1: what there is. Table 2: colours counted in Visual Genome and in Wikipedia against CoDa's. Table 3:
prompts before and after tuning, averaged from the release's ρ by subject. Tables 5, 6, 9: the release's own
summaries, copied. Table 4: printed, beside chance and a perfect ranking. Table 11: where in the order of
subjects the named ones stand.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from simtown.probes import item_study, measures, report
from simtown.probes.items import GROUPS, ItemSet
from simtown.probes.reproduce import PrintedNumber, PrintedTable, bracket, p_value, percent, printed_numbers
from simtown.probes.visual import FORM
from simtown.probes.visual.classes import RELATIONS
from simtown.probes.visual.mined import Mined
from simtown.probes.visual.release import CODA_CLASSES, VisualRelease
from simtown.probes.visual.sizes import DIRECTIONS, WAYS, Sizes, limits, released_limits

RhoOf = Mapping[tuple[str, str, bool], Mapping[str, float]]
#: Models of Tables 3 and 4 by their names in the released results, as printed.
MODELS = {"bert-base": "BERT base", "oscar-base": "Oscar base", "distil_bert-base": "Distilled"}
MODELS |= {"bert-large": "BERT large", "oscar-large": "Oscar large"}
#: Columns of Tables 3, 5 and 9 by their names in the release.
COLUMNS = ("color", "shape", "material", "cooccur")
#: Folders of the release whose relation the paper calls otherwise.
_FOLDERS = {"size (smaller)": "size_smaller", "size (larger)": "size_larger", "co-occurrence": "cooccur"}


def _printed(number: int) -> dict[str, list[str]]:
    """A table of the paper: {row: cells}."""
    return printed_numbers()[f"vicomte-table{number}"]


def _spread(values: np.ndarray) -> str:
    """Mean ± population standard deviation, times 100; "" for nothing."""
    kept = values[np.isfinite(values)]
    return f"{percent(kept.mean())} ± {percent(kept.std())}" if len(kept) else ""


def _heads(columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{column} {number}" for column in columns for number in ("ρ", "Acc@1"))


def _members(groups: np.ndarray) -> dict[str, np.ndarray]:
    """{"all" or a group: which of the (n,) subjects are in it}, without empty ones."""
    members = {"all": np.ones(len(groups), dtype=bool)} | {group: groups == group for group in GROUPS}
    return {group: kept for group, kept in members.items() if kept.any()}


def _own(
    runs: Sequence[Path], mode: str, columns: Sequence[str], group: str = "all"
) -> Iterator[tuple[str, list[str]]]:
    """The name of each run that asked in this mode, and its cells: ρ and Acc@1 by column."""
    for path in runs:
        tasks = report.load(path, FORM).tasks
        cells: list[str] = []
        for column in columns:
            modes = tasks.get("cooccurrence" if column == "cooccur" else column, {}).get("modes", {})
            numbers = modes.get(mode, {}).get("groups", {}).get(group, {})
            rho, accuracy = numbers.get("rho") or {"mean": None}, numbers.get("accuracy")
            cells.append("" if rho["mean"] is None else f"{percent(rho['mean'])} ± {percent(rho['sd'])}")
            cells.append(percent(accuracy["mean"]) if accuracy else "")
        if any(cells):
            yield path.name, cells


def bounds(release: VisualRelease) -> PrintedTable:
    """Prior and ceiling of each relation's test set, by group."""
    title = "What is given: the prior of the train subjects, and the ceiling that ties leave"
    table = PrintedTable(title, ("test", "prior ρ", "95 %", "prior Acc@1", "ceiling ρ", "95 %"))
    for name in RELATIONS:
        data = release.dataset(name)
        rho, right, ceiling = (values[data.test] for values in item_study.bounds(data))
        for group, kept in _members(data.group_of()[data.test]).items():
            prior = (str(kept.sum()), _spread(rho[kept]), bracket(rho[kept]), percent(right[kept].mean()))
            table.add(f"{name}, {group}", *prior, _spread(ceiling[kept]), bracket(ceiling[kept]))
    return table


def table1(release: VisualRelease, runs: Sequence[Path]) -> list[PrintedTable]:
    """Classes and pairs of every relation; and what a guess and a perfect ranking get in its test."""
    table = PrintedTable("Table 1: the data", ("classes", "pairs"))
    for name, printed in _printed(1).items():
        folder = _FOLDERS.get(name, name)
        parts = ("train", "dev", "test") if folder.startswith("size") else ("train", "test")
        pairs = sum(len(release.pairs(folder, part)) for part in parts)
        if folder in RELATIONS:
            classes = release.counts(folder)[1].shape[1]
        elif folder == "cooccur":
            classes = len(release.words(folder))
        else:
            classes = sum(map(len, release.sizes().values()))
        table.add_beside(name, printed, (str(classes), str(pairs)))
    return [table, bounds(release)]


class ColourSource(NamedTuple):
    """A source's colours of the n subjects that CoDa has too: (n, c) counts, and (n, c) shares by CoDa.

    Attributes:
        rho: (n,) ρ of the two.
        prior: (n,) ρ of CoDa with the mean shares of all the source's subjects.
    """

    subjects: tuple[str, ...]
    groups: np.ndarray
    counts: np.ndarray
    coda: np.ndarray
    rho: np.ndarray
    prior: np.ndarray

    def right(self) -> np.ndarray:
        """(n,) bool, whether the commonest colour agrees.

        The paper sorts the colours by CoDa's shares and asks whether the source's first maximum comes first:
        its ties count as right.
        """
        order = np.argsort(self.coda, axis=1, kind="stable")[:, ::-1]
        return np.take_along_axis(self.counts, order, axis=1).argmax(axis=1) == 0


def against_coda(release: VisualRelease, subjects: Sequence[str], counts: np.ndarray) -> ColourSource:
    """A source of colour counts, (n, 12) of n subjects, against CoDa, which has no silver (section 3.5).

    Raises ValueError if CoDa has no subject of the source.
    """
    counts = np.delete(counts, RELATIONS["color"].classes.index("silver"), axis=1)
    row = dict(zip(subjects, counts, strict=True))
    names, coda = release.counts("coda")
    kept = [i for i, name in enumerate(names) if name in row and row[name].sum() > 0]
    if not kept or coda.shape[1] != len(CODA_CLASSES):
        raise ValueError(f"the source and CoDa share no subject, or not {len(CODA_CLASSES)} colours")
    parts = [(group, part) for group in GROUPS for part in ("train", "dev", "test")]
    grouped = {pair.subject: g for g, part in parts for pair in release.pairs("coda", g, part)}
    group_of = {name: grouped.get(name, "") for name in names}
    prior = measures.shares(counts[counts.sum(axis=1) > 0]).mean(axis=0)
    shared, coda = tuple(names[i] for i in kept), coda[kept]
    counts, groups = (np.array([of[name] for name in shared]) for of in (row, group_of))
    rho, prior_rho = (measures.spearman_rows(x, coda) for x in (counts, np.tile(prior, (len(kept), 1))))
    return ColourSource(shared, groups, counts, coda, rho, prior_rho)


def table2(release: VisualRelease, runs: Sequence[Path]) -> list[PrintedTable]:
    """Sources of colours against CoDa; directories of simtown probe visual mine are sources, too."""
    occurrences = ("avg # occ", "top5 # occ", "btm5 # occ")
    columns = ("ρ", "# subjs", *occurrences, "Acc@1", "95 %", "prior ρ", "ceiling ρ")
    table = PrintedTable("Table 2: colours against CoDa's", columns)
    sources = {"VG": release.counts("color"), "Wikipedia": release.counts("wiki-color")}
    sources |= {path.name: Mined(path).counts("color") for path in runs}
    for name, (subjects, counts) in sources.items():
        source = against_coda(release, subjects, counts)
        ceiling, right = measures.ceiling_rows(source.coda), source.right()
        for group, kept in _members(source.groups).items():
            rho, times = source.rho[kept], source.counts[kept].sum(axis=1)
            order = np.argsort(-rho.round(12), kind="stable")
            means = [x.mean() for x in (times, times[order[:5]], times[order[-5:]])]
            here = [_spread(rho), str(len(rho)), *(f"{mean:.1f}" for mean in means)]
            here += [percent(right[kept].mean()), bracket(rho)]
            here += [_spread(source.prior[kept]), _spread(ceiling[kept])]
            row = f"{name}, {group}"
            table.add_beside(row, _printed(2).get(row, ()), here)
    return [table]


def table3(release: VisualRelease, runs: Sequence[Path]) -> list[PrintedTable]:
    """ρ of the paper's models by subject; tests between BERT base and Oscar base; what is above the prior."""
    rho_of = release.by_subject()
    tests, equal = _oscar_less_bert(rho_of)
    given = {relation: release.dataset(relation) for relation in RELATIONS}
    table = PrintedTable("Table 3: average template, before (N) and after (Y) tuning", _heads(COLUMNS)[:-1])
    columns = ("n", "ρ, 95 %", "prior ρ", "above the prior", "paired p", "ceiling ρ")
    between = PrintedTable("Table 3: between prior and ceiling", columns)
    for row, printed in _printed(3).items():
        model, letter = row.split(", ")
        name = f"{MODELS[model]}, {letter}"
        here = []
        for column in COLUMNS:
            by_subject = rho_of.get((model, column, letter == "Y"), {})
            rho = _spread(np.array(list(by_subject.values())))
            starred = rho and model in ("bert-base", "oscar-base") and f"{column}, {letter}" in equal
            here += [f"{rho}*" if starred else rho, ""]
            if column in given and by_subject:
                between.add(f"{column}, {name}", *_against_bounds(by_subject, given[column]))
        table.add_beside(name, printed, here[:-1])
    for mode, letter in (("average", "N"), ("tuned", "Y")):
        for name, cells in _own(runs, mode, COLUMNS):
            table.add(f"{name}, {letter}", *cells[:-1])
    table.notes += [
        "* printed where BERT base and Oscar base do not differ by Welch's t (p > 0.05). Acc@1: no results "
        "by subject were released.",
        "ρ ± sd and * are computed from the release's ρ by subject; no model was asked again.",
    ]
    if rho_of.get(("bert-large", "color", True)) == rho_of.get(("bert-large", "color", False)):
        table.notes.append("BERT large, color: the released results after tuning are those before it.")
    return [table, tests, between]


def _oscar_less_bert(rho_of: RhoOf) -> tuple[PrintedTable, set[str]]:
    """The tests between the two models, and the rows in which Welch's finds no difference."""
    columns = ("n", "difference", "95 %", "Welch p", "paired p", "by Welch", "by paired")
    table = PrintedTable("Table 3: Oscar base less BERT base", columns)
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
            printed = verdict[_printed(3)[f"bert-base, {'NY'[tuned]}"][2 * i].endswith("*")]
            tested = (str(change.n), percent(change.mean), bracket(a - b))
            p_values = (f"{change.welch:.2g}", f"{change.paired:.2g}")
            by_welch = PrintedNumber(printed, verdict[change.welch > 0.05])
            table.add(name, *tested, *p_values, by_welch, verdict[change.paired > 0.05])
    return table, equal


def _against_bounds(by_subject: Mapping[str, float], data: ItemSet) -> list[str]:
    """A model's {subject: ρ} between prior and ceiling of the test."""
    kept = [i for i in data.test.tolist() if data.subjects[i] in by_subject]
    rho = np.array([by_subject[data.subjects[i]] for i in kept])
    prior, _, ceiling = (values[kept] for values in item_study.bounds(data))
    change = measures.difference(rho, prior)
    here = [str(len(rho)), f"{percent(rho.mean())} {bracket(rho)}", percent(prior.mean())]
    return [*here, percent(change.mean), p_value(change.paired), percent(ceiling.mean())]


def table4(release: VisualRelease, runs: Sequence[Path]) -> list[PrintedTable]:
    """Rank partition of sizes as printed; chance and a perfect ranking by each metric.

    Runs of our own are scored by the text's metric and the corrected one.
    """
    table = PrintedTable("Table 4: sizes by rank partition, per cent correct", WAYS)
    for row, printed in _printed(4).items():
        model, letter = row.split(", ")
        table.add_beside(f"{MODELS[model]}, {letter}", printed, ())
    subjects = [[pair.subject for pair in release.pairs(f"size_{way}", "test")] for way in WAYS]
    for name, values in released_limits(release.sizes(), subjects).items():
        table.add(f"{name}, released metric", *map(percent, values))
    for direction, metric in zip(DIRECTIONS, ("metric of the text", "corrected metric"), strict=True):
        for name, values in limits(Sizes(release.sizes()), direction).items():
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


@dataclass(frozen=True)
class CopiedTable:
    """A table beside a copy of the release's summaries in a `file`, and runs of our own by `mode`."""

    number: int
    title: str
    file: str
    mode: str
    columns: Sequence[str] = COLUMNS
    groups: Sequence[str] = ("",)

    def __call__(self, release: VisualRelease, runs: Sequence[Path]) -> list[PrintedTable]:
        title = f"Table {self.number}: {self.title}"
        table = PrintedTable(title, _heads(self.columns), copied=f"{self.file}.csv")
        lines = release.table(self.file)[1:]
        for (name, texts), line in zip(_printed(self.number).items(), lines, strict=False):
            if self.file == "heatmap_data":  # it has colour's ρ alone, without the deviation
                table.add_beside(name, (texts[0].split(" ±")[0], *texts[1:]), [percent(float(line[2]))])
                continue
            here = []
            for text in line[1:]:
                rho, sd, accuracy = (float(x) for x in text.strip("()").split(","))
                here += [f"{percent(rho)} ± {percent(sd)}", f"{accuracy:.1f}"]
            table.add_beside(name, texts, here)
        for group in self.groups:
            for name, cells in _own(runs, self.mode, self.columns, group or "all"):
                table.add(f"{group}, {name}" if group else name, *cells)
        return [table, bounds(release)]


def table11(release: VisualRelease, runs: Sequence[Path]) -> list[PrintedTable]:
    """Where the named subjects stand by untuned ρ: 1 is the highest (high) or the lowest (low)."""
    rho_of = release.by_subject()
    title = "Table 11: named subjects and their ranks, 1 the highest of the high and the lowest of the low"
    heads = ("BERT base, high", "Oscar base, high", "BERT base, low", "Oscar base, low")
    table = PrintedTable(title, heads)
    for relation, columns in _printed(11).items():
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
    "vicomte-table5": CopiedTable(5, "a classification head", "file-cls", "head"),
    "vicomte-table6": CopiedTable(
        6, "a classification head, by group", "file-cls-groups", "head", COLUMNS[:3], GROUPS
    ),
    "vicomte-table9": CopiedTable(9, "best template", "heatmap_data", "best"),
    "vicomte-table11": table11,
}


def printed(name: str, data: Path, runs: Sequence[Path]) -> list[PrintedTable]:
    """A table of the paper."""
    if runs and TABLES[name] in (table1, table11):
        raise ValueError(f"`runs` adds models or mined colours; {name} has neither")
    return TABLES[name](VisualRelease(data), runs)
