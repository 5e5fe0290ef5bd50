"""The paper's numbers for single words beside ours, from the released matrices; other spaces of vectors can
stand below. And two models of our own side by side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from simtown.probes import measures, report
from simtown.probes.reproduce import PrintedTable
from simtown.probes.scorers import open_scorer
from simtown.probes.spatial import EMBEDDINGS, FORM, MATRIX, VECTORS, likeness, wordtests
from simtown.probes.spatial.lexicon import CONTEXTS, JUDGED, RELATIONS
from simtown.probes.spatial.released import SpatialRelease, read
from simtown.probes.spatial.spaces import (
    MEASURES,
    NumberTable,
    Space,
    cosine,
    embedded,
    p_vectors,
    random_space,
    read_table,
)
from simtown.probes.spatial.wordtests import Answers

#: Section 5: accuracy on analogies; on the odd one out, by measure.
PAPER_ANALOGY = {"LM": 0.86, "P": 0.62, "random": 0.11}
PAPER_ODD_ONE_OUT = {
    "cosine": {"LM": 0.87, "P": 0.72, "templates": 0.22},
    "rank": {"LM": 0.90, "P": 0.70, "templates": 1.0},
}
#: Section 6: Spearman's correlation over 55 pairs of words, with word association and with word similarity.
PAPER_SIMILARITY = {
    ("LM", "association"): 0.48,
    ("LM", "similarity"): 0.15,
    ("P", "association"): 0.48,
    ("P", "similarity"): 0.19,
    ("association", "similarity"): 0.33,
}
#: The part of the release that each space of vectors is made of.
_PARTS = {"LM": "embeddings", "P": "perplexities"}
#: Draws of random vectors, and their dimension.
DRAWS, DIMENSION = 200, 57


@dataclass(frozen=True)
class Line:
    """A number of the paper beside ours.

    Attributes:
        name: what it is of.
        paper: None where the paper has none.
        here: ours, NaN where the release lacks what it is computed from.
        low: of the 95 % interval.
        high: of the 95 % interval.
        note: a test's outcome.
    """

    name: str
    paper: float | None
    here: float = math.nan
    low: float = math.nan
    high: float = math.nan
    note: str = ""

    @property
    def same(self) -> bool | None:
        """Whether it is as printed, rounded or cut to two decimals; None where nothing is to be compared."""
        if self.paper is None or math.isnan(self.here):
            return None
        return abs(self.paper - self.here) < 0.01


def analogy(release: SpatialRelease, others: Sequence[Space] = ()) -> list[Line]:
    """Analogies of opposites, by dot products as in the paper, and of the embeddings by cosines too."""
    questions = wordtests.analogies()
    words = dict.fromkeys(word for q in questions for word in q.candidates)
    lines = _tested(
        release,
        others,
        PAPER_ANALOGY,
        lambda space: wordtests.answer_analogies(space, questions),
        list(words),
    )
    if release.embeddings is not None:
        normalised = wordtests.answer_analogies(release.embeddings, questions, normalised=True)
        lines.insert(1, _accuracy("LM, cosine", None, normalised))
    return lines


def odd_one_out(release: SpatialRelease, others: Sequence[Space] = ()) -> list[Line]:
    """The odd one out by cosine and by rank; spatial templates on the sets that have them."""
    questions = wordtests.trios()
    words = list(dict.fromkeys(word for q in questions for word in (q.one, q.other, q.odd)))
    lines = []
    for name, measure in MEASURES.items():
        printed = PAPER_ODD_ONE_OUT[name]
        *each, chance = _tested(
            release,
            others,
            printed,
            lambda space, measure=measure: wordtests.answer_trios(space, questions, measure),  # type: ignore[misc]
            words,
        )
        templates = release.templates
        if templates is None:
            each.append(_lacking(release, "templates", printed["templates"], "templates"))
        else:
            drawn = [q for q in questions if templates.has((q.one, q.other, q.odd))]
            answers = wordtests.answer_trios(templates, drawn, measure)
            each.append(_accuracy("templates", printed["templates"], answers))
        lines += [replace(line, name=f"{line.name}, {name}") for line in (*each, chance)]
    return lines


def similarity(release: SpatialRelease, others: Sequence[Space] = ()) -> list[Line]:
    """Correlations with people's judgements over the 55 pairs of eleven words.

    P-vectors as published take "next" for "next to" in all 97 contexts.
    """
    lm, p = release.embeddings, release.p_vectors(whole=True)
    spaces: dict[str, Space | None] = {"LM": lm, "P": p, **{space.name: space for space in others}}
    people = {"association": release.association, "similarity": release.similarity}
    lines = []
    for name, space in spaces.items():
        for kind, judged in people.items():
            title, paper = f"{name} with {kind}", PAPER_SIMILARITY.get((name, kind))
            if space is None or judged is None:
                lines.append(_lacking(release, title, paper, _PARTS.get(name, ""), kind))
            else:
                lines.append(_agreed(title, paper, cosine(space.matrix(JUDGED)), judged))
    for kind, judged in people.items():
        if lm is not None and p is not None and judged is not None:
            by_lm, by_p = cosine(lm.matrix(JUDGED)), cosine(p.matrix(JUDGED))
            lines.append(Line(f"LM less P, with {kind}", None, *likeness.difference(by_lm, by_p, judged)))
    title, paper = "association with similarity", PAPER_SIMILARITY["association", "similarity"]
    if release.association is None or release.similarity is None:
        return [*lines, _lacking(release, title, paper, *people)]
    return [*lines, _agreed(title, paper, release.association, release.similarity)]


def figure3(release: SpatialRelease, others: Sequence[tuple[str, NumberTable]] = ()) -> list[Line]:
    """Whether the P-vectors of Figure 3 that are computed here equal the table's to 8 decimals.

    Both are computed from the released perplexities by the same formula: this checks that they are read
    right, not the figure. Other models' matrices are compared with the released one.

    Raises:
        ValueError: the release lacks the perplexities to compare others with.
    """
    name = "P-vectors, cells equal to the table's"
    space, matrix = release.p_vectors(), release.perplexities
    if space is None or matrix is None or release.derived is None:
        lines = [_lacking(release, name, None, "perplexities", "P-vectors")]
    else:
        same = np.abs(space.matrix(RELATIONS) - release.derived.block(RELATIONS, CONTEXTS)) < 1e-8
        note = f"{same.sum():,} of {same.size:,} cells; the table was made by the same formula"
        lines = [Line(name, None, float(same.mean()), note=note)]
    for other, table in others:
        if matrix is None:
            raise ValueError(
                f"{other} cannot be compared with the released matrix: {release.missing['perplexities']}"
            )
        lines += alike(other, table, matrix)
    return lines


def alike(name: str, a: NumberTable, b: NumberTable, relations: tuple[str, ...] = RELATIONS) -> list[Line]:
    """How alike two models' matrices are for some relations, over the contexts that both have.

    Spearman's correlations of log-perplexities, over all cells, and of the similarities of P-vectors, over
    all pairs of relations.
    """
    contexts = tuple(c for c in CONTEXTS if c in a.columns and c in b.columns)
    block_a, block_b = a.block(relations, contexts), b.block(relations, contexts)
    rho = measures.spearman(np.log(block_a).ravel(), np.log(block_b).ravel()).rho
    note = f"{block_a.size:,} cells, {len(contexts)} contexts"
    vectors = [cosine(p_vectors(block)) for block in (block_a, block_b)]
    return [
        Line(f"{name}, log-perplexities", None, rho, note=note),
        _agreed(f"{name}, similarities", None, *vectors),
    ]


def _tested(
    release: SpatialRelease,
    others: Sequence[Space],
    printed: dict[str, float],
    answer: Callable[[Space], Answers],
    words: Sequence[str],
) -> list[Line]:
    """A line a space, with how it compares with the first, and one of random vectors."""
    lines: list[Line] = []
    first: tuple[str, Answers] | None = None
    released = {"LM": release.embeddings, "P": release.p_vectors()}
    for name, space in {**released, **{other.name: other for other in others}}.items():
        if space is None:
            lines.append(_lacking(release, name, printed.get(name), _PARTS[name]))
            continue
        answers = answer(space)
        first = first or (name, answers)
        line = _accuracy(name, printed.get(name), answers)
        if name != first[0]:
            test = wordtests.compare(answers, first[1])
            interval = f"{test.difference:+.3f} [{test.low:+.3f}, {test.high:+.3f}]"
            line = replace(line, note=f"{interval} against {first[0]}, McNemar p = {test.p:.2g}")
        lines.append(line)
    drawn = np.array([answer(random_space(words, DIMENSION, seed)).accuracy for seed in range(DRAWS)])
    note = f"mean and spread of {DRAWS} draws"
    chance = Line("random", printed.get("random"), float(drawn.mean()), *measures.interval(drawn), note)
    return [*lines, chance]


def _lacking(release: SpatialRelease, name: str, paper: float | None, *parts: str) -> Line:
    """The line of a number that cannot be computed because the release lacks some of these parts."""
    return Line(name, paper, note=", ".join(f"no {part}" for part in parts if part in release.missing))


def _accuracy(name: str, paper: float | None, answers: Answers) -> Line:
    return Line(name, paper, answers.accuracy, *measures.interval(wordtests.accuracies(answers)))


def _agreed(name: str, paper: float | None, a: np.ndarray, b: np.ndarray) -> Line:
    agreement = likeness.agreement(a, b)
    p_value = "" if math.isnan(agreement.p) else f", Mantel p = {agreement.p:.2g}"
    note = f"{agreement.pairs:,} pairs{p_value}"
    return Line(name, paper, agreement.rho, agreement.low, agreement.high, note)


# As tables


def printed_table(table: str, data: Path, runs: Sequence[Path]) -> list[PrintedTable]:
    """A table of the paper; how many of its numbers are as printed, and what the others lack."""
    release = read(data)
    if table == "spatial-figure3":
        title, lines = "Figure 3", figure3(release, [(run.name, load(run)[0]) for run in runs])
    else:
        title, compute = _TABLES[table]
        lines = compute(release, [space for run in runs for space in _spaces_of(run)])
    printed = [line for line in lines if line.paper is not None]
    compared = [line.same for line in printed if line.same is not None]
    remarks = [f"{sum(compared)} of {len(compared)} numbers are as printed"] if compared else []
    if len(compared) < len(printed):
        remarks.append(
            f"{len(printed) - len(compared)} of the paper's {len(printed)} numbers cannot be computed from "
            "this folder:"
        )
    notes = " ".join(line.note for line in lines if math.isnan(line.here))
    remarks += [f"no {part}: {why}" for part, why in release.missing.items() if f"no {part}" in notes]
    shown = printed_lines(title, lines)
    shown.notes += remarks
    return [shown]


def printed_lines(title: str, lines: Sequence[Line]) -> PrintedTable:
    """Lines as a table."""
    table = PrintedTable(title, ("paper", "here", "95 %", "", ""))
    for line in lines:
        same = "" if line.same is None else "same" if line.same else "differs"
        paper = "" if line.paper is None else f"{line.paper:.2f}"
        here = "" if math.isnan(line.here) else f"{line.here:.3f}"
        interval = "" if math.isnan(line.low) else f"{line.low:.3f} to {line.high:.3f}"
        table.add(line.name, paper, here, interval, same, line.note)
    return table


def _spaces_of(run: Path) -> list[Space]:
    """Vectors to add to a table: those of a run of probe spatial, or of a model."""
    if run.is_dir():
        return load(run)[1]
    return [embedded(open_scorer(str(run), progress=True), RELATIONS)]


_TABLES: dict[str, tuple[str, Callable[[SpatialRelease, Sequence[Space]], list[Line]]]] = {
    "spatial-analogy": ("Analogies of opposites: accuracy", analogy),
    "spatial-odd-one-out": ("Odd one out: accuracy", odd_one_out),
    "spatial-similarity": ("Similarity of words: Spearman's correlation", similarity),
}

#: Names on the command line.
TABLES = ("spatial-figure3", *_TABLES)


# Two models


def compared(a: Path, b: Path) -> list[PrintedTable]:
    """Tests of the vectors that both directories have, question by question; how alike the matrices are.

    All of it is about the relations that both models know: of another one a model tells only how it takes
    unknown words.

    Raises:
        FileNotFoundError: a directory holds no finished study.
        DamagedError: a table is damaged.
        ValueError: no three relations are known to both models.
    """
    (matrix_a, spaces_a), (matrix_b, spaces_b) = load(a), load(b)
    unknown = [r for r in RELATIONS if r in {*unknown_relations(a), *unknown_relations(b)}]
    relations = tuple(r for r in RELATIONS if r not in unknown)
    if len(relations) < 3:
        raise ValueError(
            f"{a} and {b} cannot be compared: both models know {len(relations)} of {len(RELATIONS)} "
            "relations, and a correlation needs 3"
        )
    questions, sets = wordtests.questions_of(relations)
    table = PrintedTable(
        f"Accuracy, A: {a}, B: {b}", ("vectors", "n", "A", "B", "A - B", "95 %", "McNemar p"), words=2
    )
    for space_a, space_b in zip(spaces_a, spaces_b, strict=False):
        answers_b = wordtests.answer_all(space_b, questions, sets)
        for test, answers in wordtests.answer_all(space_a, questions, sets).items():
            change = wordtests.compare(answers, answers_b[test])
            table.add(
                test.replace("_", " "),
                space_a.name.partition(",")[0],
                str(len(answers.right)),
                f"{answers.accuracy:.3f}",
                f"{answers_b[test].accuracy:.3f}",
                f"{change.difference:+.3f}",
                f"{change.low:+.3f} to {change.high:+.3f}",
                f"{change.p:.2g}",
            )
    if unknown:
        every_question, every_set = wordtests.questions_of(RELATIONS)
        table.notes.append(
            f"Left out: {len(unknown)} of {len(RELATIONS)} relations, which a model does not know "
            f"({', '.join(unknown)}), and the questions about them, "
            f"{len(every_question) - len(questions)} of {len(every_question)} analogies and "
            f"{len(every_set) - len(sets)} of {len(every_set)} odd ones out."
        )
    return [table, printed_lines("Spearman's correlation", alike("A and B", matrix_a, matrix_b, relations))]


# Directories of results


def load(directory: Path) -> tuple[NumberTable, list[Space]]:
    """The perplexities by token and the vectors of a finished run, P and, where the model has any, LM.

    Raises:
        FileNotFoundError: no finished run is there.
        DamagedError: a table is damaged.
    """
    unknown_relations(directory)
    spaces = [
        read_table(directory / file).space(f"{name}, {directory.name}")
        for name, file in (("P", VECTORS), ("LM", EMBEDDINGS))
        if (directory / file).is_file()
    ]
    return read_table(directory / MATRIX), spaces


def unknown_relations(directory: Path) -> list[str]:
    """The relations that the model of a finished run does not know."""
    tasks = report.load(directory, FORM).tasks
    if not tasks:
        raise FileNotFoundError(f"{directory} holds no finished simtown probe spatial")
    unknown: list[str] = tasks["relations"]["unknown_relations"]
    return unknown
