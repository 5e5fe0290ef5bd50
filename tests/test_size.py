"""Size is a cost, in tokens: names, operators, numbers, strings that are not docstrings. Lines are free."""

import ast
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Most tokens, rounded up so that nobody has to pack a line. Lower a number when code goes.
BUDGETS = {("simtown",): 575_000, ("tests",): 415_000, ("benchmarks", "tools"): 75_000}
_COUNTED = {tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING}


def docstring_lines(tree):
    """The first lines of all docstrings of a module."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [
        node.body for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node)
    ]
    return {body[0].lineno for body in bodies}


def tokens(path):
    """Tokens of a file of Python."""
    docstrings = docstring_lines(ast.parse(path.read_bytes()))
    with path.open("rb") as file:
        return sum(
            token.type in _COUNTED and not (token.type == tokenize.STRING and token.start[0] in docstrings)
            for token in tokenize.tokenize(file.readline)
        )


@pytest.mark.parametrize("folders", BUDGETS, ids="+".join)
def test_the_code_stays_within_its_budget(folders):
    """`pytest tests/test_size.py -s` prints the tokens of each package."""
    total = 0
    for folder in folders:
        parts = {}
        for path in (ROOT / folder).rglob("*.py"):
            part = path.relative_to(ROOT / folder).parts[0]
            parts[part] = parts.get(part, 0) + tokens(path)
        listed = ", ".join(f"{name} {count:,}" for name, count in sorted(parts.items()))
        sys.stdout.write(f"{folder} {sum(parts.values()):,} ({listed})\n")
        total += sum(parts.values())
    assert total <= BUDGETS[folders], f"{total:,} tokens; before you raise the budget, delete some"
