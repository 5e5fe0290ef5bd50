"""Two models on the same relations: which answers more questions right, and how alike their perplexities are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simtown.probes.spatial import study, wordtests
from simtown.probes.spatial.reproduce import Line, likeness
from simtown.probes.spatial.vectors import MEASURES


@dataclass(frozen=True)
class Compared:
    """A test of one kind of vectors. a, b: accuracies. difference: of a and b, with its interval and McNemar's exact p."""

    test: str
    vectors: str
    a: float
    b: float
    difference: wordtests.Difference


def compare(a: Path, b: Path) -> tuple[list[Compared], list[Line]]:
    """Tests of the vectors that both directories have, P and LM; and how alike their matrices are, over the contexts that both have.

    Raises:
        FileNotFoundError: a directory holds no finished study. DamagedError: a table is damaged. ValueError: a vector is missing.
    """
    (matrix_a, spaces_a), (matrix_b, spaces_b) = study.load(a), study.load(b)
    questions, sets = wordtests.analogies(), wordtests.trios()
    found = []
    for one, other in zip(spaces_a, spaces_b, strict=False):
        kind = one.name.partition(",")[0]
        both = [{"analogy": wordtests.answer_analogies(space, questions),
                 **{f"odd one out, {name}": wordtests.answer_trios(space, sets, measure) for name, measure in MEASURES.items()}}
                for space in (one, other)]  # fmt: skip
        for test, answers in both[0].items():
            theirs = both[1][test]
            found.append(Compared(test, kind, answers.accuracy, theirs.accuracy, wordtests.compare(answers, theirs)))
    return found, likeness("A and B", matrix_a, matrix_b)
