"""The table of thresholds in docs/questions.md says what the code does."""

import re
from math import pi
from pathlib import Path

import pytest

from simtown.datasets import family_questions
from simtown.language.asking import twins
from simtown.language.meaning import colours, evaluate, relations, sights, solids, views
from simtown.scenes import camera, placement

PAGE = Path(__file__).parents[2] / "docs" / "questions.md"
TABLE = PAGE.read_text(encoding="utf-8").partition("<!-- thresholds -->")[2].partition("<!-- end -->")[0]
ROWS = [line.strip("| ").split(" | ") for line in TABLE.strip().splitlines()[2:]]
MODULES = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        family_questions,
        camera,
        colours,
        evaluate,
        placement,
        relations,
        sights,
        solids,
        twins,
        views,
    )
}
NAMES = {**MODULES, "pi": pi, "HIDDEN": views.HIDDEN, "BY": views.HIDDEN_MARGIN}
#: How many of a unit are one of the code's.
UNITS = {"": 1, "%": 100, "°": 180 / pi}


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


@pytest.mark.parametrize("module", ["colours", "evaluate", "family_questions", "sights", "twins", "views"])
def test_every_threshold_of_the_code_has_a_row(module):
    thresholds = [
        name
        for name, value in vars(MODULES[module]).items()
        if isinstance(value, float) or name.startswith("LEAST_")
        if not name.startswith("_") and name not in vars(camera)
    ]
    assert [name for name in thresholds if f".{name}" not in TABLE] == []
