"""The tables of docs/reproduce/sample-complexity.md are those of the committed results."""

import csv
from pathlib import Path

import pytest

from simtown.training.findings import Exponent, Ratio, Row
from simtown.training.report import _cell

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reproduce" / "sample-complexity.md"
NAMES = {"cnn-lstm": "CNN-LSTM", "pbn": "Place-Binder Network", "cnn-lstm - pbn": "difference"}
TARGETS = (0.75, 0.85, 0.9, 0.95)
CENSORED = {"left-censored": 0.0, "right-censored": float("inf"), "none": float("nan")}


def read(name, kind):
    """Records of a CSV that `simtown complexity` wrote, as it held them."""
    fields = kind.__dataclass_fields__
    found = []
    with open(ROOT / "benchmarks" / "results" / name, encoding="utf-8") as file:
        for line in csv.DictReader(file):
            record = {}
            for key, field in fields.items():
                if key not in line:  # the file is older than the field
                    continue
                text = line[key]
                if field.type in ("float", float):
                    empty = CENSORED.get(line.get(f"{key}_state", "none"), float("nan"))
                    if kind is Ratio and key in ("at_most", "high"):
                        empty = float("inf")
                    record[key] = float(text) if text else empty
                else:
                    record[key] = text == "True" if field.type in ("bool", bool) else int(text) if field.type in ("int", int) else text
            found.append(kind(**record))
    return found


def rows():
    return {(r.model, r.entities, r.target): r for r in read("small-complexity.csv", Row) if r.rule == "isotonic"}


def line(*cells):
    return f"| {' | '.join(cells)} |"


def needed():
    return [
        line(NAMES[model], str(k), *(str(rows()[model, k, target]) for target in TARGETS))
        for model in ("cnn-lstm", "pbn")
        for k in (5, 15, 31)
    ]


def ratios():
    found = {(x.entities, x.target): x for x in read("small-complexity-ratios.csv", Ratio) if x.rule == "isotonic"}
    return [line(str(k), *(str(found[k, t]) if found[k, t].telling else "–" for t in TARGETS)) for k in (5, 15, 31)]


def more():
    """From 5 to 31 entities; a censored end leaves a bound."""
    lines, by = [], rows()
    for target in TARGETS:
        cells = []
        for model in ("cnn-lstm", "pbn"):
            few, many = by[model, 5, target], by[model, 31, target]
            if many.samples == float("inf"):
                cells.append(f"more than {many.largest - few.samples:,.0f}")
            elif few.samples == 0:
                cells.append(f"{many.samples - few.smallest:,.0f} to {many.samples:,.0f}")
            else:
                cells.append(f"{many.samples - few.samples:,.0f}")
        lines.append(line(f"{target:.2f}", *cells))
    return lines


def exponents():
    found = {(e.model, e.target, e.rule): e for e in read("small-complexity-exponents.csv", Exponent)}
    return [
        line(NAMES[model], f"{target:.2f}", *(_cell(found[model, target, rule]) for rule in ("smallest", "isotonic")))
        for target in TARGETS
        for model in ("cnn-lstm", "pbn", "cnn-lstm - pbn")
    ]


@pytest.mark.parametrize("table", [needed, ratios, more, exponents])
def test_a_table_of_the_page_is_that_of_the_results(table):
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert [made for made in table() if not any(line.startswith(made) for line in lines)] == []
