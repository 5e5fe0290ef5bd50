"""Size is a cost: the lines of each package."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Most lines of Python: lower a number whenever lines go.
BUDGETS = {("simtown",): 56_009, ("tests",): 34_144, ("benchmarks", "tools"): 5_571}


def lines(folder):
    """Lines of Python in a folder."""
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py"))


@pytest.mark.parametrize("folders", BUDGETS, ids="+".join)
def test_the_code_stays_within_its_budget(folders):
    """`pytest tests/test_size.py -s` prints the lines of each package."""
    for folder in folders:
        parts = {path.name: lines(path) for path in sorted((ROOT / folder).iterdir()) if path.is_dir()}
        listed = ", ".join(f"{name} {count:,}" for name, count in parts.items() if count)
        sys.stdout.write(f"{folder} {lines(ROOT / folder):,}{f' ({listed})' if listed else ''}\n")
    total = sum(lines(ROOT / folder) for folder in folders)
    assert total <= BUDGETS[folders], f"{total:,} lines; before you raise the budget, delete some"
