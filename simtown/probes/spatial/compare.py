"""Two models on the same relations: who answers more right, and how alike their perplexities are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simtown.probes.printed import PrintedTable
from simtown.probes.spatial import results, wordtests
from simtown.probes.spatial.reproduce import Line, likeness, printed_lines
from simtown.probes.spatial.vectors import MEASURES


@dataclass(frozen=True)
class VectorComparison:
    """A test of one kind of vectors.

    Attributes:
        test: "analogy" or "odd one out, ...".
        vectors: "P" or "LM".
        a: accuracy of the first model.
        b: accuracy of the second.
        difference: of the two, with its interval and McNemar's exact p.
    """

    test: str
    vectors: str
    a: float
    b: float
    difference: wordtests.AccuracyDifference


def compare(a: Path, b: Path) -> tuple[list[VectorComparison], list[Line]]:
    """Tests of the vectors that both directories have, P and LM; and how alike their matrices are, over the
    contexts that both have.

    Raises:
        FileNotFoundError: a directory holds no finished study.
        DamagedError: a table is damaged.
        ValueError: a vector is missing.
    """
    (matrix_a, spaces_a), (matrix_b, spaces_b) = results.load(a), results.load(b)
    questions, sets = wordtests.analogies(), wordtests.trios()
    comparisons = []
    for space_a, space_b in zip(spaces_a, spaces_b, strict=False):
        kind = space_a.name.partition(",")[0]
        answers_of = [
            {
                "analogy": wordtests.answer_analogies(space, questions),
                **{
                    f"odd one out, {name}": wordtests.answer_trios(space, sets, measure)
                    for name, measure in MEASURES.items()
                },
            }
            for space in (space_a, space_b)
        ]
        for test, answers in answers_of[0].items():
            theirs = answers_of[1][test]
            comparisons.append(
                VectorComparison(
                    test, kind, answers.accuracy, theirs.accuracy, wordtests.compare(answers, theirs)
                )
            )
    return comparisons, likeness("A and B", matrix_a, matrix_b)


def compared(a: Path, b: Path) -> list[PrintedTable]:
    """Tests of the vectors question by question, and how alike the matrices are, as tables."""
    comparisons, alike = compare(a, b)
    table = PrintedTable(
        f"Accuracy, A: {a}, B: {b}", ("vectors", "A", "B", "A - B", "95 %", "McNemar p"), words=2
    )
    for comparison in comparisons:
        change = comparison.difference
        table.add(
            comparison.test,
            comparison.vectors,
            f"{comparison.a:.3f}",
            f"{comparison.b:.3f}",
            f"{change.difference:+.3f}",
            f"{change.low:+.3f} to {change.high:+.3f}",
            f"{change.p:.2g}",
        )
    return [table, printed_lines("Spearman's correlation", alike)]
