"""The paper's numbers for single words beside ours, from the released matrices; two models side by side.

Vectors of other models can stand below the released ones.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from simtown.probes import measures, report
from simtown.probes.reproduce import PrintedNumber, PrintedTable, printed_numbers
from simtown.probes.scorers import open_scorer
from simtown.probes.spatial import EMBEDDINGS, FORM, MATRIX, VECTORS, spaces, wordtests
from simtown.probes.spatial.lexicon import CONTEXTS, JUDGED, RELATIONS
from simtown.probes.spatial.released import SpatialRelease, read
from simtown.probes.spatial.spaces import MEASURES, NumberTable, Vectors, cosine, matrix, p_vectors
from simtown.probes.spatial.wordtests import WordAnswers

#: The part of the release that vectors are made of.
_PARTS = {"LM": "embeddings", "P": "perplexities"}
#: Draws of random vectors, and their dimension.
DRAWS, DIMENSION = 200, 57


class Line(NamedTuple):
    """A number of the paper, "" where it has none, beside ours with its 95 % interval.

    Attributes:
        here: ours, NaN where the release lacks what it is computed from.
        note: a test's outcome.
    """

    name: str
    paper: str = ""
    here: float = math.nan
    low: float = math.nan
    high: float = math.nan
    note: str = ""

    @property
    def number(self) -> PrintedNumber:
        """Both numbers as texts; they agree if the paper's is ours, rounded or cut to two decimals."""
        return PrintedNumber(self.paper, "" if math.isnan(self.here) else f"{self.here:.3f}", within=0.01)


def analogy(release: SpatialRelease, others: Mapping[str, Vectors]) -> list[Line]:
    """Analogies of opposites, by dot products as in the paper, and of the embeddings by cosines too."""
    questions = wordtests.analogies()
    words = dict.fromkeys(word for q in questions for word in q.candidates)
    answer = partial(wordtests.answer_analogies, questions=questions)
    lines = _tested(release, others, printed_numbers()["spatial-analogy"], answer, words)
    if release.embeddings is not None:
        lines.insert(1, _accuracy("LM, cosine", "", answer(release.embeddings, normalised=True)))
    return lines


def odd_one_out(release: SpatialRelease, others: Mapping[str, Vectors]) -> list[Line]:
    """The odd one out by cosine and by rank; spatial templates on the sets that have them."""
    questions = wordtests.trios()
    words = dict.fromkeys(word for q in questions for word in q)
    lines = []
    for name, measure in MEASURES.items():
        paper = printed_numbers()[f"spatial-{name}"]
        answer = partial(wordtests.answer_trios, questions=questions, measure=measure)
        *tested, chance = _tested(release, others, paper, answer, words)
        templates, of_templates = release.templates, paper["templates"]
        if templates is None:
            tested.append(_lacking(release, "templates", of_templates, "templates"))
        else:
            drawn = [q for q in questions if set(q) <= templates.keys()]
            tested.append(
                _accuracy("templates", of_templates, wordtests.answer_trios(templates, drawn, measure))
            )
        lines += [line._replace(name=f"{line.name}, {name}") for line in (*tested, chance)]
    return lines


def similarity(release: SpatialRelease, others: Mapping[str, Vectors]) -> list[Line]:
    """Correlations with people's judgements over the 55 pairs of eleven words.

    P-vectors as published take "next" for "next to" in all 97 contexts.
    """
    vectors = {"LM": release.embeddings, "P": release.p_vectors(whole=True), **others}
    alike = {name: None if v is None else cosine(matrix(v, JUDGED)) for name, v in vectors.items()}
    people = {"association": release.association, "similarity": release.similarity}
    lines = []
    for first, second in (*((name, kind) for name in alike for kind in people), tuple(people)):
        name, similarities = f"{first} with {second}", alike | people
        a, b = similarities[first], similarities[second]
        paper = printed_numbers()[f"spatial-{second}"].get(first, "")
        if a is None or b is None:
            lines.append(_lacking(release, name, paper, _PARTS.get(first, first), second))
        else:
            lines.append(_agreed(name, paper, a, b))
    lm, p = alike["LM"], alike["P"]
    if lm is not None and p is not None:
        known = {kind: judged for kind, judged in people.items() if judged is not None}
        differences = {kind: spaces.difference(lm, p, judged) for kind, judged in known.items()}
        lines[-1:-1] = [Line(f"LM less P, with {kind}", "", *d) for kind, d in differences.items()]
    return lines


def figure3(release: SpatialRelease, others: Mapping[str, NumberTable]) -> list[Line]:
    """Whether the P-vectors of Figure 3 that are computed here equal the table's to 8 decimals.

    Both are computed from the released perplexities by the same formula: this checks that they are read
    right, not the figure. Other models' matrices are compared with the released one; ValueError says that
    there is none.
    """
    name = "P-vectors, cells equal to the table's"
    vectors, perplexities = release.p_vectors(), release.perplexities
    if vectors is None or release.derived is None:
        lines = [_lacking(release, name, "", "perplexities", "P-vectors")]
    else:
        same = np.abs(matrix(vectors, RELATIONS) - release.derived.block(RELATIONS, CONTEXTS)) < 1e-8
        note = f"{same.sum():,} of {same.size:,} cells; the table was made by the same formula"
        lines = [Line(name, "", float(same.mean()), note=note)]
    for other, table in others.items():
        if perplexities is None:
            why = release.missing["perplexities"]
            raise ValueError(f"{other} cannot be compared with the released matrix: {why}")
        lines += matrices_alike(other, table, perplexities)
    return lines


def matrices_alike(
    name: str, a: NumberTable, b: NumberTable, relations: tuple[str, ...] = RELATIONS
) -> list[Line]:
    """How alike two models' matrices are for some relations, over the contexts that both have.

    Spearman's correlations of log-perplexities, over all cells, and of the similarities of P-vectors, over
    all pairs of relations.
    """
    contexts = tuple(c for c in CONTEXTS if c in a.columns and c in b.columns)
    block_a, block_b = a.block(relations, contexts), b.block(relations, contexts)
    rho = measures.spearman(np.log(block_a).ravel(), np.log(block_b).ravel()).rho
    note = f"{block_a.size:,} cells, {len(contexts)} contexts"
    alike_a, alike_b = (cosine(p_vectors(block)) for block in (block_a, block_b))
    cells = Line(f"{name}, log-perplexities", "", rho, note=note)
    return [cells, _agreed(f"{name}, similarities", "", alike_a, alike_b)]


def _tested(
    release: SpatialRelease,
    others: Mapping[str, Vectors],
    paper: Mapping[str, str],
    answer: Callable[[Vectors], WordAnswers],
    words: Iterable[str],
) -> list[Line]:
    """A line for each kind of vectors, with how it compares with the first, and one for random ones."""
    lines: list[Line] = []
    first: tuple[str, WordAnswers] | None = None
    for name, vectors in {"LM": release.embeddings, "P": release.p_vectors(), **others}.items():
        if vectors is None:
            lines.append(_lacking(release, name, paper.get(name, ""), _PARTS[name]))
            continue
        answers = answer(vectors)
        line = _accuracy(name, paper.get(name, ""), answers)
        if first is None:
            first = name, answers
        else:
            test = wordtests.compare(answers, first[1])
            interval = f"{test.difference:+.3f} [{test.low:+.3f}, {test.high:+.3f}]"
            line = line._replace(note=f"{interval} against {first[0]}, McNemar p = {test.p:.2g}")
        lines.append(line)
    random = (spaces.random_vectors(words, DIMENSION, seed) for seed in range(DRAWS))
    drawn = np.array([answer(vectors).accuracy for vectors in random])
    note = f"mean and spread of {DRAWS} draws"
    chance = Line("random", paper.get("random", ""), float(drawn.mean()), *measures.interval(drawn), note)
    return [*lines, chance]


def _lacking(release: SpatialRelease, name: str, paper: str, *parts: str) -> Line:
    """The line of a number that cannot be computed because the release lacks some of these parts."""
    return Line(name, paper, note=", ".join(f"no {part}" for part in parts if part in release.missing))


def _accuracy(name: str, paper: str, answers: WordAnswers) -> Line:
    return Line(name, paper, answers.accuracy, *measures.interval(answers.replicates()))


def _agreed(name: str, paper: str, a: np.ndarray, b: np.ndarray) -> Line:
    agreement = spaces.agreement(a, b)
    p_value = "" if math.isnan(agreement.p) else f", Mantel p = {agreement.p:.2g}"
    note = f"{agreement.pairs:,} pairs{p_value}"
    return Line(name, paper, agreement.rho, agreement.low, agreement.high, note)


_TABLES: dict[str, tuple[str, Callable[[SpatialRelease, Mapping[str, Vectors]], list[Line]]]] = {
    "spatial-analogy": ("Analogies of opposites: accuracy", analogy),
    "spatial-odd-one-out": ("Odd one out: accuracy", odd_one_out),
    "spatial-similarity": ("Similarity of words: Spearman's correlation", similarity),
}
#: Names on the command line.
TABLES = ("spatial-figure3", *_TABLES)


def printed_table(table: str, data: Path, runs: Sequence[Path]) -> list[PrintedTable]:
    """A table of the paper; how many of its numbers are as printed, and what the others lack."""
    release = read(data)
    if table == "spatial-figure3":
        title, lines = "Figure 3", figure3(release, {run.name: load(run)[0] for run in runs})
    else:
        title, compute = _TABLES[table]
        lines = compute(release, {name: v for run in runs for name, v in _vectors_of(run).items()})
    shown = printed_lines(title, lines)
    numbers = [line.number for line in lines if line.paper]
    if lacking := sum(not number.here for number in numbers):
        part = f"{lacking} of the paper's {len(numbers)} numbers"
        shown.notes.append(f"{part} cannot be computed from this folder:")
    notes = " ".join(line.note for line in lines if math.isnan(line.here))
    shown.notes += [f"no {part}: {why}" for part, why in release.missing.items() if f"no {part}" in notes]
    return [shown]


def printed_lines(title: str, lines: Sequence[Line]) -> PrintedTable:
    """Lines as a table."""
    table = PrintedTable(title, ("paper / here", "95 %", ""))
    for line in lines:
        interval = "" if math.isnan(line.low) else f"{line.low:.3f} to {line.high:.3f}"
        table.add(line.name, line.number, interval, line.note)
    return table


def _vectors_of(run: Path) -> dict[str, Vectors]:
    """Vectors to add to a table: those of a run of probe spatial, or of a model."""
    if run.is_dir():
        return {f"{kind}, {run.name}": vectors for kind, vectors in load(run)[1].items()}
    scorer = open_scorer(str(run), progress=True)
    return {scorer.name: spaces.embedded(scorer, RELATIONS)}


def load(directory: Path) -> tuple[NumberTable, dict[str, dict[str, np.ndarray]], list[str]]:
    """A finished run: perplexities by token; vectors, P and perhaps LM; relations unknown to the model.

    Raises:
        FileNotFoundError: no finished run is there.
        DamagedError: a table is damaged.
    """
    tasks = report.load(directory, FORM).tasks
    if not tasks:
        raise FileNotFoundError(f"{directory} holds no finished simtown probe spatial")
    files = {"P": directory / VECTORS, "LM": directory / EMBEDDINGS}
    vectors = {kind: spaces.read_table(file).vectors() for kind, file in files.items() if file.is_file()}
    return spaces.read_table(directory / MATRIX), vectors, tasks["relations"]["unknown_relations"]


def compared(a: Path, b: Path) -> list[PrintedTable]:
    """Tests of the vectors that both directories have, question by question; how alike the matrices are.

    All of it is about the relations that both models know: of another one a model tells only how it takes
    unknown words.

    Raises:
        ValueError: no three relations are known to both models. Others as :func:`load`.
    """
    (matrix_a, vectors_a, unknown_a), (matrix_b, vectors_b, unknown_b) = load(a), load(b)
    unknown = [r for r in RELATIONS if r in unknown_a or r in unknown_b]
    relations = tuple(r for r in RELATIONS if r not in unknown)
    if len(relations) < 3:
        known = f"both models know {len(relations)} of {len(RELATIONS)} relations"
        raise ValueError(f"{a} and {b} cannot be compared: {known}, and a correlation needs 3")
    questions, sets = wordtests.questions_of(relations)
    columns = ("vectors", "n", "A", "B", "A - B", "95 %", "McNemar p")
    table = PrintedTable(f"Accuracy, A: {a}, B: {b}", columns, words=2)
    for kind in (kind for kind in vectors_a if kind in vectors_b):
        both = (vectors_a[kind], vectors_b[kind])
        answers_a, answers_b = (wordtests.answer_all(vectors, questions, sets) for vectors in both)
        for test in answers_a:
            change = wordtests.compare(answers_a[test], answers_b[test])
            accuracies = [f"{answers[test].accuracy:.3f}" for answers in (answers_a, answers_b)]
            interval = f"{change.low:+.3f} to {change.high:+.3f}"
            cells = (str(len(answers_a[test].right)), *accuracies, f"{change.difference:+.3f}", interval)
            table.add(test.replace("_", " "), kind, *cells, f"{change.p:.2g}")
    if unknown:
        every_question, every_set = wordtests.questions_of(RELATIONS)
        analogies, trios = len(every_question), len(every_set)
        table.notes.append(
            f"Left out: {len(unknown)} of {len(RELATIONS)} relations, which a model does not know "
            f"({', '.join(unknown)}), and the questions about them, {analogies - len(questions)} of "
            f"{analogies} analogies and {trios - len(sets)} of {trios} odd ones out."
        )
    lines = matrices_alike("A and B", matrix_a, matrix_b, relations)
    return [table, printed_lines("Spearman's correlation", lines)]
