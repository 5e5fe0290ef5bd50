"""Metrics of one's own: functions that take the rows of a condition and give a number."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simtown.core.options import SettingsError
from simtown.core.own_code import own_code


def measure(
    name: str, metric: Callable[..., float], tasks: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, float]:
    """The value of a metric for the rows of each condition that has any.

    Args:
        name: of the metric, for messages.
        metric: takes a list of rows, with the columns of a condition's Parquet file, and gives a number.
        tasks: rows by condition.

    Raises SettingsError if the metric fails, or does not give a number.
    """
    with own_code(lambda words: SettingsError(f"{name} failed: {words}", "metric")):
        # copies, since the function may change them
        return {task: float(metric([*map(dict, rows)])) for task, rows in tasks.items() if rows}
