"""How many guessers get a threshold, and how many observers with a real one keep it, before and after Holm's
correction; and how often intervals of thresholds hold the truth where questions share a picture.

Each model answers the questions of a simulated data set: two parts, and five quantities of which one, the
margin, decides. Of the quantities, two belong to a picture and three to a question. With 5 questions a
picture and dependence 1 all guesses about a picture are right or wrong together.

    python benchmarks/guessers.py --out benchmarks/results/guessers.csv
"""

from pathlib import Path

import numpy as np
from machine import Rows, machine, options
from scipy import special

from simtown.vlm.thresholds import QUANTITIES, AnsweredQuestions, find

#: Questions about a picture, and whether they stand or fall together.
CASES = ((1, False), (5, False), (5, True))
#: Metres from which on observers see, with the spread and lapses of a good one, and of a poor one.
OBSERVERS = {"guesser": None, "sees from 2 m": (2.0, 0.4, 0.02), "sees from 4 m, poorly": (4.0, 0.8, 0.1)}


def rows_of(
    rng: np.random.Generator, n: int, each: int, together: bool, observer: tuple[float, float, float] | None
) -> dict[str, np.ndarray]:
    """The answers of an observer to n questions."""
    picture = np.arange(n) // each
    of_pictures = rng.random((2, n // each))[:, picture]
    margin = np.exp(rng.uniform(np.log(0.5), np.log(8), n))
    seen = np.zeros(n)
    if observer is not None:
        seen = special.expit(np.log(margin / observer[0]) / observer[1]) * (1 - observer[2])
    luck = rng.random((2, n // each))[:, picture] if together else rng.random((2, n))
    right = (luck[0] < seen) | (luck[1] < 0.5)
    return {
        "example": np.arange(n),
        "cluster": picture,
        "family": np.where(np.arange(n) % 2, "relations", "hidden"),
        "relation": np.where(np.arange(n) % 2, "left of", ""),
        "type": np.full(n, "truth"),
        "gold": np.where(rng.random(n) < 0.5, "yes", "no"),
        "right": right,
        "margin": margin,
        "pixels": np.exp(rng.normal(3, 0.5, n)),
        "visible": rng.uniform(0.3, 1, n),
        "vehicles": np.floor(3 + 6 * of_pictures[0]),
        "intensity": 0.1 + 0.9 * of_pictures[1],
    }


def main() -> None:
    args = options(__doc__, models=200, questions=600, out="guessers.csv")
    where = f"{args.models} models of {args.questions} questions; {machine('numpy', 'scipy')}"
    rows = Rows(Path(args.out), where)
    for name, observer in OBSERVERS.items():
        for each, together in CASES:
            rng = np.random.default_rng(0)
            alone, corrected, true, held = [], [], [], []
            for _ in range(args.models):
                answers = rows_of(rng, args.questions, each, together, observer)
                source = AnsweredQuestions("model", "data", answers)
                single = [
                    own for q in QUANTITIES for part in source.parts() for own in find_one(source, part, q)
                ]
                found = [own for own in find([source]) if not own.curve.problem]
                alone.append(bool(single))
                corrected.append(bool(found))
                margins = [own for own in found if own.quantity.column == "margin"]
                true.append((any(own.quantity.column == "margin" for own in single), bool(margins)))
                if observer is not None:
                    held += [own.curve.low <= observer[0] <= own.curve.high for own in margins]
            before, after = np.mean(true, axis=0)
            rows.add({
                "model": name, "questions a picture": each, "together": together,
                "any threshold, uncorrected": np.mean(alone), "any threshold": np.mean(corrected),
                "of the margin, uncorrected": before, "of the margin": after,
                "intervals": len(held), "coverage": round(float(np.mean(held)), 3) if held else "",
            })  # fmt: skip


def find_one(source: AnsweredQuestions, part: str, quantity):
    """The threshold of one part and quantity, if it is the only one that is looked for."""
    which = source.parts()[part]
    own = AnsweredQuestions(source.model, source.data, {k: v[which] for k, v in source.rows.items()})
    return [one for one in find([own], [quantity]) if not one.curve.problem]


if __name__ == "__main__":
    main()
