"""The paper's numbers for single words beside ours, from the released matrices; other spaces of vectors can stand below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simtown.probes import statistics
from simtown.probes.spatial import judgements, published, vectors, wordtests
from simtown.probes.spatial.relations import CONTEXTS, JUDGED, RELATIONS
from simtown.probes.spatial.released import Release
from simtown.probes.spatial.tables import Table
from simtown.probes.spatial.vectors import MEASURES, Space, cosine
from simtown.probes.spatial.wordtests import Answers

#: Draws of random vectors, and their dimension.
DRAWS, DIMENSION = 200, 57


@dataclass(frozen=True)
class Line:
    """A number of the paper beside ours.

    Attributes:
        name: what it is of.
        paper: None where the paper has none.
        here: ours, `low` and `high` its 95 % interval.
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
        return None if self.paper is None else published.same(self.paper, self.here)


def analogy(release: Release, others: Sequence[Space] = ()) -> list[Line]:
    """Analogies of opposites: the language model's embeddings by dot products as in the paper and by cosines, P-vectors, chance."""
    questions = wordtests.analogies()
    words = list(dict.fromkeys(w for q in questions for w in q.candidates))
    spaces = [release.embeddings, release.p_vectors(), *_with(others, words)]
    found = {s.name: wordtests.answer_analogies(s, questions) for s in spaces}
    lines = _lines(found, published.ANALOGY)
    normalised = wordtests.answer_analogies(release.embeddings, questions, normalised=True)
    lines.insert(1, _line("LM, cosine", None, normalised))
    drawn = [wordtests.answer_analogies(vectors.random(words, DIMENSION, seed), questions).accuracy for seed in range(DRAWS)]
    return [*lines, _chance(published.ANALOGY["random"], drawn)]


def odd_one_out(release: Release, others: Sequence[Space] = ()) -> list[Line]:
    """The odd one out by cosine and by rank; spatial templates on the sets that have them."""
    questions = wordtests.trios()
    words = list(dict.fromkeys(w for q in questions for w in (q.one, q.other, q.odd)))
    spaces = [release.embeddings, release.p_vectors(), *_with(others, words)]
    templates = Space("templates", {name: grid.ravel() for name, grid in release.templates.items()})
    drawn = [q for q in questions if templates.has((q.one, q.other, q.odd))]
    lines = []
    for name, measure in MEASURES.items():
        printed = published.ODD_ONE_OUT[name]
        found = {s.name: wordtests.answer_trios(s, questions, measure) for s in spaces}
        each = [*_lines(found, printed), _line("templates", printed["templates"], wordtests.answer_trios(templates, drawn, measure))]
        chance = [wordtests.answer_trios(vectors.random(words, DIMENSION, seed), questions, measure).accuracy for seed in range(DRAWS)]
        lines += [_renamed(line, f"{line.name}, {name}") for line in (*each, _chance(None, chance))]
    return lines


def similarity(release: Release, others: Sequence[Space] = ()) -> list[Line]:
    """Correlations with people's judgements over the 55 pairs of eleven words.

    P-vectors as published take "next" for "next to" in all 97 contexts.
    """
    people = {"association": release.association, "similarity": release.similarity}
    lm, p = release.embeddings, release.p_vectors(whole=True)
    lines = []
    for space in (lm, Space("P", p.vectors), *_with(others, JUDGED)):
        alike = cosine(space.matrix(JUDGED))
        for name, judged in people.items():
            lines.append(_agreed(f"{space.name} with {name}", published.SIMILARITY.get((space.name, name)), alike, judged))
    for name, judged in people.items():
        middle, low, high = judgements.difference(cosine(lm.matrix(JUDGED)), cosine(p.matrix(JUDGED)), judged)
        lines.append(Line(f"LM less P, with {name}", None, middle, low, high))
    lines.append(_agreed("association with similarity", published.SIMILARITY["association", "similarity"], *people.values()))
    return lines


def figure3(release: Release, cells: Table, others: Sequence[tuple[str, Table]] = ()) -> list[Line]:
    """The share of the cells of Figure 3 that come out: P-vectors of the released perplexities against those read off it, to 8 decimals.

    others: matrices of perplexities under other models, and their names. Two of Spearman's correlations tell how alike each is to the
    released one: of log-perplexities over all cells that both have, and of the similarities of P-vectors over all pairs of relations.
    """
    same = np.abs(release.p_vectors().matrix(RELATIONS) - cells.block(RELATIONS, CONTEXTS)) < 1e-8
    share = float(same.mean())
    lines = [Line("cells that are the same", 1.0, share, share, share, f"{same.sum():,} of {same.size:,} cells")]
    for name, table in others:
        lines += likeness(name, table, release.perplexities)
    return lines


def likeness(name: str, a: Table, b: Table) -> list[Line]:
    """How alike two models' matrices are over the contexts that both have: log-perplexities, and similarities of P-vectors."""
    contexts = tuple(c for c in CONTEXTS if c in a.columns and c in b.columns)
    here, there = a.block(RELATIONS, contexts), b.block(RELATIONS, contexts)
    rho = statistics.spearman(np.log(here).ravel(), np.log(there).ravel()).rho
    alike = [cosine(vectors.p_vectors(block)) for block in (here, there)]
    found = judgements.agreement(alike[0], alike[1])
    return [
        Line(f"{name}, log-perplexities", None, rho, float("nan"), float("nan"), f"{here.size:,} cells, {len(contexts)} contexts"),
        Line(f"{name}, similarities", None, found.rho, found.low, found.high, f"{found.pairs:,} pairs, Mantel p = {found.p:.2g}"),
    ]


def _with(others: Sequence[Space], words: Sequence[str]) -> list[Space]:
    """The other spaces. Raises ValueError for one that lacks a word."""
    for space in others:
        space.matrix(sorted(set(words)))
    return list(others)


def _lines(found: dict[str, Answers], printed: dict[str, float]) -> list[Line]:
    """A line a space, and below it how it compares with the first."""
    first, *rest = found
    lines = [_line(first, printed.get(first), found[first])]
    for name in rest:
        test = wordtests.compare(found[name], found[first])
        note = f"{test.difference:+.3f} [{test.low:+.3f}, {test.high:+.3f}] against {first}, McNemar p = {test.p:.2g}"
        lines.append(_renamed(_line(name, printed.get(name), found[name]), name, note))
    return lines


def _line(name: str, paper: float | None, answers: Answers) -> Line:
    return Line(name, paper, answers.accuracy, *statistics.interval(wordtests.accuracies(answers)))


def _renamed(line: Line, name: str, note: str | None = None) -> Line:
    return Line(name, line.paper, line.here, line.low, line.high, line.note if note is None else note)


def _chance(paper: float | None, drawn: Sequence[float]) -> Line:
    return Line("random", paper, float(np.mean(drawn)), *statistics.interval(np.array(drawn)), f"mean and spread of {len(drawn)} draws")


def _agreed(name: str, paper: float | None, a: np.ndarray, b: np.ndarray) -> Line:
    found = judgements.agreement(a, b)
    return Line(name, paper, found.rho, found.low, found.high, f"{found.pairs} pairs, Mantel p = {found.p:.2g}")
