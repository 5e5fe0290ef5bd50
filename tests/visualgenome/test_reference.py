"""The shipped table against the counts it was made from."""

import csv

from simtown.assets.frequencies import table


def test_the_table_is_the_recipe_of_the_documentation(reference_data):
    """docs/data-format.md: train and test counts added, sorted by the sum of both roles."""
    path = reference_data("vg-statistics/entity_marginals_150.tsv")
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))

    def stated(row, role):
        return int(row[f"as_{role}_train"]) + int(row[f"as_{role}_test"])

    counts = [(row["entity"], stated(row, "subject"), stated(row, "object")) for row in rows]
    counts.sort(key=lambda row: (-row[1] - row[2], row[0]))
    assert table() == tuple(counts)
