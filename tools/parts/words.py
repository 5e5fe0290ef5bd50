"""Words and tables of Markdown that all parts share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from simtown.complexity.factors import Effect
from simtown.complexity.model_looks import NAMES

NOTHING_YET = "Not measured yet."


def markdown(head: Sequence[str], body: Iterable[Sequence[str]], words: int) -> str:
    """A table whose first `words` columns are words, the others numbers."""
    rule = ["---"] * words + ["---:"] * (len(head) - words)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *body))


def paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def name_of(model: str) -> str:
    return NAMES.get(model, model)


def condition(distractor: bool) -> str:
    return "with a distractor" if distractor else "without a distractor"


def world_words(entities: int, distractor: bool) -> str:
    return f"with {entities} entities{' and a distractor' if distractor else ''}"


def between(at_least: float, at_most: float, low: float, high: float) -> str:
    """A factor with its interval: `11 (8.0 to 15)`, or a bound: `> 11 (from 8.0)`."""

    def number(value: float) -> str:
        return f"{value:.2g}" if value < 10 else f"{value:,.0f}"

    if at_least == at_most:
        point = number(at_least)
    elif at_least > 0:
        point = f"> {number(at_least)}"
    elif at_most < np.inf:
        point = f"< {number(at_most)}"
    else:
        return "unknown"
    if low > 0 and high < np.inf:
        return f"{point} ({number(low)} to {number(high)})"
    if low > 0:
        return f"{point} (from {number(low)})"
    return f"{point} (up to {number(high)})" if high < np.inf else point


def factor(effect: Effect) -> str:
    """An effect in words."""
    return between(effect.at_least, effect.at_most, effect.low, effect.high)
