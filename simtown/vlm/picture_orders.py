"""Whether a model needs the order of pictures: the same question with the pictures of a sequence reversed,
shuffled, one alone, or none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simtown.complexity.intervals import paired_difference, share
from simtown.core.streams import Stream
from simtown.core.tables import Table
from simtown.vlm.conditions import AskedExample, Condition
from simtown.vlm.vision_model import Query

Row = Mapping[str, Any]
#: How the difference to a change is called, in words.
_NEEDS = {
    "reversed": "needs the direction of time",
    "shuffled": "needs order",
    "one-picture": "needs several pictures",
    "no-pictures": "needs pictures",
}


def _reversed(one: AskedExample) -> list[Query]:
    """The pictures from the last to the first, with the answer of the sequence as it was."""
    return [one.changed("reversed", pictures=one.pictures[::-1])]


def _shuffled(one: AskedExample) -> list[Query]:
    """The pictures in another order, drawn by the example's number; two are exchanged."""
    count = len(one.pictures)
    luck = Stream(0, one.asked.split, "picture order").uniform(np.array([one.number]), count)[0]
    order = luck.argsort()
    if (order == np.arange(count)).all():
        order = np.roll(order, 1)
    return [one.changed("shuffled", pictures=tuple(one.pictures[place] for place in order))]


def _one_picture(one: AskedExample) -> list[Query]:
    """One picture alone: of neighbouring examples another place."""
    place = one.number // 2 % len(one.pictures)
    return [one.changed("one", pictures=(one.pictures[place],))]


def _no_pictures(one: AskedExample) -> list[Query]:
    """The words alone."""
    return [one.changed("none", pictures=())]


#: Changes of the pictures of a sequence by name; the right answer stays that of the sequence.
ORDERS: dict[str, Condition] = {
    "reversed": _reversed,
    "shuffled": _shuffled,
    "one-picture": _one_picture,
    "no-pictures": _no_pictures,
}


def compare_orders(tasks: Mapping[str, Sequence[Row]]) -> Table:
    """Accuracies with changed pictures, by family, and what each change takes of the accuracy.

    Args:
        tasks: the rows of "picture" and of each of ORDERS, by example; those of the latter may be of fewer.
    """
    lines = []
    families = sorted({row["family"] for row in tasks["picture"]})
    for part in ("all", *families) if len(families) > 1 else ("all",):
        for name in ORDERS:
            changed = [row for row in tasks[name] if part in ("all", row["family"])]
            if changed:
                lines.append([part, name, _NEEDS[name], *_numbers(tasks["picture"], changed)])
    columns = ("part", "pictures", "the difference", "n", "accuracy", "(95 %)", "with all", "less", "(95 %)")
    return Table(columns, lines)


def needs_order(tasks: Mapping[str, Sequence[Row]]) -> str:
    """How much of the accuracy is lost in another order, such as "Needs order: 34 points (29 to 39)."."""
    it = _difference(tasks["picture"], tasks["shuffled"])
    points, low, high = (f"{100 * it[name]:.0f}" for name in ("difference", "low", "high"))
    return f"Needs order: {points} points ({low} to {high}), {it['n']:,} questions."


def _numbers(main: Sequence[Row], changed: Sequence[Row]) -> list[object]:
    own = share([row["right"] for row in changed], [row["cluster"] for row in changed]) or {}
    it = _difference(main, changed)
    ends = f"{it['low']:+.3f} to {it['high']:+.3f}"
    interval = f"{own['low']:.3f}-{own['high']:.3f}"
    return [it["n"], own["accuracy"], interval, own["accuracy"] + it["difference"], it["difference"], ends]


def _difference(main: Sequence[Row], changed: Sequence[Row]) -> dict[str, float]:
    """The accuracy with all pictures in order less that with changed ones, of the same examples."""
    right = {row["example"]: row["right"] for row in main}
    whole = [right[row["example"]] for row in changed]
    return paired_difference(whole, [row["right"] for row in changed], [row["cluster"] for row in changed])
