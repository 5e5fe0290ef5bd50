"""The table of thresholds in docs/questions.md says what the code does, and names all limits of data sets."""

import re
from math import pi
from pathlib import Path

import pytest

from simtown.assets.street.road_surface import ROAD_EDGE
from simtown.language.meaning import limits, views
from simtown.scenes import camera, placement

PAGES = [Path(__file__).parents[2] / "docs" / name for name in ("questions.md", "sequences.md")]
TEXTS = [page.read_text(encoding="utf-8").partition("<!-- thresholds -->")[2] for page in PAGES]
TABLES = [text.partition("<!-- end -->")[0].strip() for text in TEXTS]
TABLE = "\n".join(TABLES)
ROWS = [line.strip("| ").split(" | ") for table in TABLES for line in table.splitlines()[2:]]
NAMES = {**vars(limits), "camera": camera, "placement": placement, "views": views, "pi": pi}
#: How many of a unit are one of the code's.
UNITS = {"": 1, "%": 100, "°": 180 / pi}
#: Limits of relations that only a town answers; docs/town.md has them.
TOWNS_OWN = {"BESIDE", "NEAR", "FAR", "CONTACT", "TOWN_NEARER", "TOWN_SPEED", "TOWN_HIDING"}


@pytest.mark.parametrize(("what", "limits", "constants"), ROWS, ids=[row[0] for row in ROWS])
def test_every_number_of_a_row_is_that_of_the_code(what, limits, constants):
    numbers = re.findall(r"(-?\d+(?:\.(\d+))?) ?([%°]?)", limits.replace("y = 0", "").replace("y < 0", ""))
    values = [value for code in re.findall("`(.+?)`", constants) for value in eval(f"[{code}]", NAMES)]
    stated = [float(number) for number, _, _ in numbers]
    true = [
        round(value * UNITS[unit], len(decimals))
        for value, (_, decimals, unit) in zip(values, numbers, strict=True)
    ]
    assert stated == true


def test_every_limit_of_data_sets_has_a_row():
    of_data_sets = {name for name in vars(limits) if name.isupper()}
    named = set(re.findall(r"[A-Z][A-Z_]+", TABLE))
    assert of_data_sets - named == TOWNS_OWN


def test_lanes_end_where_the_road_does():
    assert limits.LANE_EDGE == ROAD_EDGE
