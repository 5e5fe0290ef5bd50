"""The paper's numbers for single words beside ours, from the released matrices; other spaces of vectors can
stand below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simtown.probes import statistics
from simtown.probes.printed import PrintedTable
from simtown.probes.release_files import understood
from simtown.probes.scorers import open_scorer
from simtown.probes.spatial import judgements, published, results, vectors, wordtests
from simtown.probes.spatial.relations import CONTEXTS, JUDGED, RELATIONS
from simtown.probes.spatial.released import SpatialRelease, read
from simtown.probes.spatial.tables import NumberTable
from simtown.probes.spatial.vectors import MEASURES, Measure, Space, cosine
from simtown.probes.spatial.wordtests import AnalogyAnswers, Trio

#: The part of the release that each space of vectors is made of.
_PARTS = {"LM": "embeddings", "P": "perplexities"}
#: What the row of Figure 3 is called.
CELLS = "P-vectors, cells equal to the table's"
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
    here: float
    low: float
    high: float
    note: str = ""

    @property
    def same(self) -> bool | None:
        """None where nothing is to be compared."""
        return None if self.paper is None or math.isnan(self.here) else published.same(self.paper, self.here)


@understood("the release, or a run,")
def analogy(release: SpatialRelease, others: Sequence[Space] = ()) -> list[Line]:
    """Analogies of opposites: the language model's embeddings by dot products as in the paper and by cosines,
    P-vectors, chance.
    """
    questions = wordtests.analogies()
    words = list(dict.fromkeys(w for q in questions for w in q.candidates))
    answers_of = {s.name: wordtests.answer_analogies(s, questions) for s in _spaces(release, others, words)}
    lines = _lines(release, answers_of, published.ANALOGY)
    if release.embeddings is not None:
        lines.insert(
            1,
            _line(
                "LM, cosine", None, wordtests.answer_analogies(release.embeddings, questions, normalised=True)
            ),
        )
    drawn = [
        wordtests.answer_analogies(vectors.random(words, DIMENSION, seed), questions).accuracy
        for seed in range(DRAWS)
    ]
    return [*lines, _chance(published.ANALOGY["random"], drawn)]


@understood("the release, or a run,")
def odd_one_out(release: SpatialRelease, others: Sequence[Space] = ()) -> list[Line]:
    """The odd one out by cosine and by rank; spatial templates on the sets that have them."""
    questions = wordtests.trios()
    words = list(dict.fromkeys(w for q in questions for w in (q.one, q.other, q.odd)))
    spaces = _spaces(release, others, words)
    lines = []
    for name, measure in MEASURES.items():
        printed = published.ODD_ONE_OUT[name]
        answers_of = {s.name: wordtests.answer_trios(s, questions, measure) for s in spaces}
        chance = [
            wordtests.answer_trios(vectors.random(words, DIMENSION, seed), questions, measure).accuracy
            for seed in range(DRAWS)
        ]
        each = [
            *_lines(release, answers_of, printed),
            _templates(release, questions, measure, printed["templates"]),
            _chance(None, chance),
        ]
        lines += [_renamed(line, f"{line.name}, {name}") for line in each]
    return lines


def _templates(release: SpatialRelease, questions: Sequence[Trio], measure: Measure, paper: float) -> Line:
    """The odd one out by the similarity of spatial templates."""
    if release.templates is None:
        return _lacking(release, "templates", paper, "templates")
    space = Space("templates", {name: grid.ravel() for name, grid in release.templates.items()})
    drawn = [q for q in questions if space.has((q.one, q.other, q.odd))]
    return _line("templates", paper, wordtests.answer_trios(space, drawn, measure))


@understood("the release, or a run,")
def similarity(release: SpatialRelease, others: Sequence[Space] = ()) -> list[Line]:
    """Correlations with people's judgements over the 55 pairs of eleven words.

    P-vectors as published take "next" for "next to" in all 97 contexts.
    """
    lm, p = release.embeddings, release.p_vectors(whole=True)
    spaces: dict[str, Space | None] = {
        "LM": lm,
        "P": p,
        **{space.name: space for space in _with(others, JUDGED)},
    }
    people = {"association": release.association, "similarity": release.similarity}
    lines = []
    for name, space in spaces.items():
        for kind, judged in people.items():
            title, paper = f"{name} with {kind}", published.SIMILARITY.get((name, kind))
            if space is None or judged is None:
                lines.append(
                    _lacking(
                        release,
                        title,
                        paper,
                        *((_PARTS[name],) if space is None else ()),
                        *((kind,) if judged is None else ()),
                    )
                )
            else:
                lines.append(_agreed(title, paper, cosine(space.matrix(JUDGED)), judged))
    for kind, judged in people.items():
        if lm is not None and p is not None and judged is not None:
            middle, low, high = judgements.difference(
                cosine(lm.matrix(JUDGED)), cosine(p.matrix(JUDGED)), judged
            )
            lines.append(Line(f"LM less P, with {kind}", None, middle, low, high))
    title, paper = "association with similarity", published.SIMILARITY["association", "similarity"]
    if release.association is None or release.similarity is None:
        return [*lines, _lacking(release, title, paper, *people)]
    return [*lines, _agreed(title, paper, release.association, release.similarity)]


@understood("the release, or a run,")
def figure3(release: SpatialRelease, others: Sequence[tuple[str, NumberTable]] = ()) -> list[Line]:
    """Whether the P-vectors of Figure 3 that are computed here equal the table's to 8 decimals.

    Both are computed from the released perplexities by the same formula: this checks that they are read
    right, not the figure.

    Two of Spearman's correlations tell how alike another matrix is to the released one: of log-perplexities
    over all cells that both have, and of the similarities of P-vectors over all pairs of relations.

    Args:
        release: the released matrices.
        others: names and matrices of perplexities under other models.

    Raises:
        ValueError: the release lacks the perplexities to compare others with.
    """
    space, matrix = release.p_vectors(), release.perplexities
    if space is None or matrix is None or release.derived is None:
        lines = [_lacking(release, CELLS, None, "perplexities", "P-vectors")]
    else:
        same = np.abs(space.matrix(RELATIONS) - release.derived.block(RELATIONS, CONTEXTS)) < 1e-8
        share = float(same.mean())
        lines = [
            Line(
                CELLS,
                None,
                share,
                math.nan,
                math.nan,
                f"{same.sum():,} of {same.size:,} cells; the table was made by the same formula",
            )
        ]
    for name, table in others:
        if matrix is None:
            raise ValueError(
                f"{name} cannot be compared with the released matrix: {release.missing['perplexities']}"
            )
        lines += likeness(name, table, matrix)
    return lines


def likeness(name: str, a: NumberTable, b: NumberTable, relations: tuple[str, ...] = RELATIONS) -> list[Line]:
    """How alike two models' matrices are for some relations, over the contexts that both have:
    log-perplexities, and similarities of P-vectors.
    """
    contexts = tuple(c for c in CONTEXTS if c in a.columns and c in b.columns)
    block_a, block_b = a.block(relations, contexts), b.block(relations, contexts)
    rho = statistics.spearman(np.log(block_a).ravel(), np.log(block_b).ravel()).rho
    alike = [cosine(vectors.p_vectors(block)) for block in (block_a, block_b)]
    return [
        Line(
            f"{name}, log-perplexities",
            None,
            rho,
            float("nan"),
            float("nan"),
            f"{block_a.size:,} cells, {len(contexts)} contexts",
        ),
        _agreed(f"{name}, similarities", None, alike[0], alike[1]),
    ]


def _with(others: Sequence[Space], words: Sequence[str]) -> list[Space]:
    """The other spaces. Raises ValueError if a space has no vector of a word."""
    for space in others:
        space.matrix(sorted(set(words)))
    return list(others)


def _spaces(release: SpatialRelease, others: Sequence[Space], words: Sequence[str]) -> list[Space]:
    """The released spaces that are there, and the other ones."""
    return [s for s in (release.embeddings, release.p_vectors()) if s is not None] + _with(others, words)


def _lines(
    release: SpatialRelease, answers_of: dict[str, AnalogyAnswers], printed: dict[str, float]
) -> list[Line]:
    """A line a space, and how it compares with the first; a line for each released space that is missing."""
    lines = []
    for name in (*_PARTS, *(name for name in answers_of if name not in _PARTS)):
        if name not in answers_of:
            lines.append(_lacking(release, name, printed.get(name), _PARTS[name]))
            continue
        line, first = _line(name, printed.get(name), answers_of[name]), next(iter(answers_of))
        if name != first:
            test = wordtests.compare(answers_of[name], answers_of[first])
            line = _renamed(
                line,
                name,
                f"{test.difference:+.3f} [{test.low:+.3f}, {test.high:+.3f}] against {first}, McNemar p = "
                f"{test.p:.2g}",
            )
        lines.append(line)
    return lines


def _lacking(release: SpatialRelease, name: str, paper: float | None, *parts: str) -> Line:
    """The line of a number that cannot be computed because the release lacks some of these parts."""
    lacking = [part for part in parts if part in release.missing]
    return Line(name, paper, math.nan, math.nan, math.nan, f"no {', no '.join(lacking)}")


def _line(name: str, paper: float | None, answers: AnalogyAnswers) -> Line:
    return Line(name, paper, answers.accuracy, *statistics.interval(wordtests.accuracies(answers)))


def _renamed(line: Line, name: str, note: str | None = None) -> Line:
    return Line(name, line.paper, line.here, line.low, line.high, line.note if note is None else note)


def _chance(paper: float | None, drawn: Sequence[float]) -> Line:
    return Line(
        "random",
        paper,
        float(np.mean(drawn)),
        *statistics.interval(np.array(drawn)),
        f"mean and spread of {len(drawn)} draws",
    )


def _agreed(name: str, paper: float | None, a: np.ndarray, b: np.ndarray) -> Line:
    agreement = judgements.agreement(a, b)
    note = f"{agreement.pairs:,} pairs"
    if not math.isnan(agreement.p):
        note += f", Mantel p = {agreement.p:.2g}"
    return Line(name, paper, agreement.rho, agreement.low, agreement.high, note)


# As tables


def printed_table(table: str, data: Path, runs: Sequence[Path]) -> tuple[list[PrintedTable], list[str]]:
    """A table of the paper; how many of its numbers are as printed, and what the others lack."""
    release = read(data)
    if table == "spatial-figure3":
        title = "Figure 3"
        lines = figure3(release, [(run.name, results.load(run)[0]) for run in runs])
    else:
        title, compute = _TABLES[table]
        lines = compute(release, [space for run in runs for space in _spaces_of(run)])
    return [printed_lines(title, lines)], _verdict(release, lines)


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


def _verdict(release: SpatialRelease, lines: Sequence[Line]) -> list[str]:
    """How many printed numbers came out, and the parts of the release without which lines are empty."""
    printed = [line for line in lines if line.paper is not None]
    compared = [line.same for line in printed if line.same is not None]
    remarks = [f"{sum(compared)} of {len(compared)} numbers are as printed"] if compared else []
    if len(compared) < len(printed):
        remarks.append(
            f"{len(printed) - len(compared)} of the paper's {len(printed)} numbers cannot be computed from "
            "this folder:"
        )
    empty = [
        part for part in release.missing if any(part in line.note and math.isnan(line.here) for line in lines)
    ]
    return remarks + [f"no {part}: {release.missing[part]}" for part in empty]


def _spaces_of(run: Path) -> list[Space]:
    """Vectors to add to a table: those of a run of probe spatial, or of a model."""
    if run.is_dir():
        return results.load(run)[1]
    return [vectors.embedded(open_scorer(str(run), progress=True), RELATIONS)]


_TABLES: dict[str, tuple[str, Callable[[SpatialRelease, Sequence[Space]], list[Line]]]] = {
    "spatial-analogy": ("Analogies of opposites: accuracy", analogy),
    "spatial-odd-one-out": ("Odd one out: accuracy", odd_one_out),
    "spatial-similarity": ("Similarity of words: Spearman's correlation", similarity),
}
