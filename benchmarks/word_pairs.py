"""Does a shallow rule find the target of a minimal pair of words? 20,000 items of each domain.

    python benchmarks/word_pairs.py FOLDER [--items 20000]

Generates three data sets of twins of 31 kinds at 64 x 64 pixels in FOLDER, or takes those that are there, and
lets the rules of `simtown audit` choose. The table is results/word_pairs.csv: by domain, the share of right
choices of each rule, where chance is 0.5, and by link that of shared pairs of words. p is that of the rule
which chance explains least, corrected over the rules.
"""

from typing import Any

import numpy as np
from machine import RESULTS, Rows, machine, options

from simtown.datasets.audit.pair_fairness import least_explained, rule_outcomes
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.word_pairs import WordPair, first_rows, word_pairs

SIZE = (64, 64)
#: By name of a data set its test examples, its families, and more of its settings.
#: Where paints are fixed, twins of colour questions exchange, add or remove vehicles: that gives counts.
WORLDS: dict[str, tuple[int, tuple[str, ...], dict[str, Any]]] = {
    "relations": (72_000, ("relations",), {}),
    "counts": (25_000, ("colour",), {}),
    "colours": (56_000, ("colour", "heading"), {"paint": "uniform"}),
}


def main() -> None:
    """Make the data sets and test the rules."""
    chosen = options(__doc__, "folder", items=20_000)
    items: dict[str, list[WordPair]] = {}
    for name, (examples, families, more) in WORLDS.items():
        path = chosen.folder / name
        settings = Settings(
            questions=families,
            twins=True,
            n=4,
            val=0,
            test=examples,
            width=SIZE[0],
            height=SIZE[1],
            entities=31,
            **more,
        )
        generate(settings, path)
        split = open_dataset(path).test
        for item in word_pairs(split, first_rows(split), "test", SIZE):
            items.setdefault(item.domain, []).append(item)
    rows = Rows(RESULTS / "word_pairs.csv", machine("numpy", "scikit-learn"))
    for domain, every in sorted(items.items()):
        own = every[: chosen.items]
        right = rule_outcomes(own)
        links = np.array([item.link for item in own])
        row: dict[str, object] = {"domain": domain, "items": len(own)}
        row |= {rule: f"{outcome.mean():.3f}" for rule, outcome in right.items()}
        for link in ("copied", "converse", "hop"):
            share = right["2-grams"][links == link]
            row[f"2-grams, {link}"] = f"{share.mean():.3f}" if len(share) else ""
        _, p = least_explained(right, [item.group for item in own])
        rows.add(row | {"p": f"{p:.2g}"})


if __name__ == "__main__":
    main()
