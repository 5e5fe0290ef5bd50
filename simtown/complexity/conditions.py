"""What runs must have in common to stand in one table: how they were trained, and the world they saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: Choices of `simtown fit` that decide what an accuracy means, by their names in run.json.
_FIT = ("protocol", "patience", "max_steps", "batch", "learning_rate", "stream", "precision")
#: The same of the data set, besides the size of its pictures. Its seeds are not among them: in these
#: the runs of one table may differ.
_DATA = ("relations", "frequencies", "phrasing", "weathers", "paint", "jitter", "catalogue", "val")


#: Differences that a message names.
_MOST = 8


class MixtureError(ValueError):
    """Runs that cannot be compared; the message says in what they differ."""


def conditions(run: Mapping[str, Any]) -> dict[str, str]:
    """The conditions of a run.json by name, as words. What an older simtown did not record is left out."""
    settings, data = run.get("settings"), run["data"]
    result: dict[str, str] = {}
    if isinstance(settings, dict):
        result |= {name: str(settings[name]) for name in _FIT if name in settings}
        if settings.get("protocol") == "patient" and "min_steps" in settings:
            result["min_steps"] = str(settings["min_steps"])
        if settings.get("options"):
            result[f"options of {run['model']}"] = ", ".join(
                f"{name} {value}" for name, value in sorted(settings["options"].items())
            )
    if "width" in data and "height" in data:
        result["picture size"] = f"{data['width']}x{data['height']}"
    for name in _DATA:
        if name in data:
            result[name] = (
                ", ".join(map(str, data[name])) if isinstance(data[name], list) else str(data[name])
            )
    return result


def refuse_mixture(runs: Sequence[tuple[Path, Mapping[str, str]]]) -> None:
    """Compare the conditions of runs, each with its directory.

    Raises:
        MixtureError: they differ; the message says in what, how many runs there are of each kind, and where
            one is.
    """
    differences = []
    for name in dict.fromkeys(name for _, values in runs for name in values):
        places: dict[str, list[Path]] = {}
        for directory, values in runs:
            if name in values:
                places.setdefault(values[name], []).append(directory)
        if len(places) > 1:
            kinds = [
                f"{value[:200]}: {len(paths)} run{'s' * (len(paths) != 1)}, such as {paths[0]}"
                for value, paths in sorted(places.items())
            ]
            differences.append(f"{name} ({_first(kinds, '; ')})")
    if differences:
        raise MixtureError(
            f"these runs cannot stand in one table, since they differ in {_first(differences, ' and ')}: "
            "give only directories of one kind"
        )


def _first(words: Sequence[str], between: str) -> str:
    """The words joined; of many, the first."""
    more = f"{between}{len(words) - _MOST} more" if len(words) > _MOST else ""
    return between.join(words[:_MOST]) + more
