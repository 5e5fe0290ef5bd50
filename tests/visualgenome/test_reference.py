"""The shipped table against the counts it was made from."""

import csv
import os
from pathlib import Path

import pytest

from simtown.visualgenome.frequencies import table

REFERENCE = os.environ.get("SIMTOWN_REFERENCE_DATA")


@pytest.mark.skipif(not REFERENCE, reason="SIMTOWN_REFERENCE_DATA names no folder of reference data")
def test_the_table_is_the_recipe_of_the_documentation():
    """docs/data-format.md: train and test counts added, sorted by the sum of both roles, the first 100."""
    path = Path(REFERENCE) / "vg-statistics" / "entity_marginals_150.tsv"
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    counts = [(r["entity"], *(int(r[f"as_{role}_train"]) + int(r[f"as_{role}_test"]) for role in ("subject", "object"))) for r in rows]
    counts.sort(key=lambda row: (-row[1] - row[2], row[0]))
    assert table() == tuple(counts[:100])
