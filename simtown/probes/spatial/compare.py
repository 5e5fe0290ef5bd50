"""Two models on the same relations: who answers more right, and how alike their perplexities are."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path

from simtown.probes.printed import PrintedTable
from simtown.probes.spatial import results, wordtests
from simtown.probes.spatial.relations import KINDS, OPPOSITES, RELATIONS
from simtown.probes.spatial.reproduce import Line, likeness, printed_lines
from simtown.probes.spatial.vectors import MEASURES, Space


@dataclass(frozen=True)
class VectorComparison:
    """A test of one kind of vectors.

    Attributes:
        test: "analogy" or "odd one out, ...".
        vectors: "P" or "LM".
        questions: how many both models were asked.
        a: accuracy of the first model.
        b: accuracy of the second.
        difference: of the two, with its interval and McNemar's exact p.
    """

    test: str
    vectors: str
    questions: int
    a: float
    b: float
    difference: wordtests.AccuracyDifference


def compare(a: Path, b: Path) -> tuple[list[VectorComparison], list[Line]]:
    """Tests of the vectors that both directories have, P and LM; and how alike their matrices are, over the
    contexts that both have.

    All of it is about the relations that both models know. A test without a question about them is left out.

    Raises:
        FileNotFoundError: a directory holds no finished study.
        DamagedError: a table is damaged.
        ValueError: a vector is missing, or no three relations are known to both models.
    """
    (matrix_a, spaces_a), (matrix_b, spaces_b) = results.load(a), results.load(b)
    relations = _known_to_both(a, b)
    if len(relations) < 3:
        raise ValueError(
            f"{a} and {b} cannot be compared: both models know {len(relations)} of {len(RELATIONS)} "
            "relations, and a correlation needs 3"
        )
    questions, sets = _questions(relations)
    comparisons = []
    for space_a, space_b in zip(spaces_a, spaces_b, strict=False):
        kind = space_a.name.partition(",")[0]
        answers_a, answers_b = (_answers(space, questions, sets) for space in (space_a, space_b))
        for test, ours in answers_a.items():
            theirs = answers_b[test]
            comparisons.append(
                VectorComparison(
                    test,
                    kind,
                    len(ours.right),
                    ours.accuracy,
                    theirs.accuracy,
                    wordtests.compare(ours, theirs),
                )
            )
    return comparisons, likeness("A and B", matrix_a, matrix_b, relations)


def _known_to_both(a: Path, b: Path) -> tuple[str, ...]:
    """The relations that both models know: of another one a model tells only how it takes unknown words."""
    unknown = {*results.unknown_relations(a), *results.unknown_relations(b)}
    return tuple(relation for relation in RELATIONS if relation not in unknown)


def _questions(relations: Container[str]) -> tuple[list[wordtests.Analogy], list[wordtests.Trio]]:
    """The analogies and odd ones out whose words are all among the relations."""
    opposites = [pair for pair in OPPOSITES if all(word in relations for word in pair)]
    kinds = [[word for word in kind if word in relations] for kind in KINDS]
    return wordtests.analogies(opposites), wordtests.trios(kinds)


def _answers(
    space: Space, questions: Sequence[wordtests.Analogy], sets: Sequence[wordtests.Trio]
) -> dict[str, wordtests.AnalogyAnswers]:
    """What a space answers in every test that has a question."""
    answers = {}
    if questions:
        answers["analogy"] = wordtests.answer_analogies(space, questions)
    if sets:
        for name, measure in MEASURES.items():
            answers[f"odd one out, {name}"] = wordtests.answer_trios(space, sets, measure)
    return answers


def compared(a: Path, b: Path) -> list[PrintedTable]:
    """Tests of the vectors question by question, and how alike the matrices are, as tables."""
    comparisons, alike = compare(a, b)
    table = PrintedTable(
        f"Accuracy, A: {a}, B: {b}", ("vectors", "n", "A", "B", "A - B", "95 %", "McNemar p"), words=2
    )
    for comparison in comparisons:
        change = comparison.difference
        table.add(
            comparison.test,
            comparison.vectors,
            str(comparison.questions),
            f"{comparison.a:.3f}",
            f"{comparison.b:.3f}",
            f"{change.difference:+.3f}",
            f"{change.low:+.3f} to {change.high:+.3f}",
            f"{change.p:.2g}",
        )
    relations = _known_to_both(a, b)
    if unknown := [relation for relation in RELATIONS if relation not in relations]:
        (analogies, trios), (kept_analogies, kept_trios) = map(_questions, (RELATIONS, relations))
        table.notes.append(
            f"Left out: {len(unknown)} of {len(RELATIONS)} relations, which a model does not know "
            f"({', '.join(unknown)}), and the questions about them, "
            f"{len(analogies) - len(kept_analogies)} of {len(analogies)} analogies and "
            f"{len(trios) - len(kept_trios)} of {len(trios)} odd ones out."
        )
    return [table, printed_lines("Spearman's correlation", alike)]
