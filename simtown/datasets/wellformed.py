"""Whether a manifest can be one: everything in it has its type and a size that the file accounts for. Nothing
of it is used before.

Whether it says what its settings make is for `verify` (:mod:`simtown.datasets.checks.manifest`).
"""

from __future__ import annotations

import re
from dataclasses import asdict
from math import fsum, isfinite
from typing import Any

from simtown.assets.palette import PAINTS
from simtown.datasets import summaries
from simtown.datasets.names import names
from simtown.datasets.settings import KINDS, LEFT_OUT, SPLITS, Settings, Tables
from simtown.datasets.shards import LEAST_BYTES, each_task, shard_count, task_of

#: Most words of a vocabulary, whose ids are single bytes, and most names of a list; characters of one.
_MOST_WORDS, _MOST_NAMES, _LONGEST = 256, 1_000, 200
#: Most rejection loops: there are four.
_MOST_LOOPS = 16
#: Counts are below this: larger ones are no exact floats.
_LARGEST = 1 << 53
#: By how much probabilities may miss the sum 1, and the least share of pairs of kinds that can be drawn.
_ROUNDING, _LEAST_PAIRS = 1e-6, 1e-9
#: Settings that are any whole number; and characters of the longest text, the path of a table.
_SEEDS, _LONGEST_PATH = frozenset({"seed", "test_seed", "world_seed"}), 4_096
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KINDS = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    (int, float): "a number",
}


def check(manifest: dict[str, Any]) -> None:
    """Raises TypeError, KeyError or ValueError if simtown writes no such manifest."""
    _check_settings(manifest["settings"])
    settings = Settings.from_resolved(manifest["settings"])
    _check_shards(manifest, settings)
    _check_texts(manifest["vocabulary"], "vocabulary", _MOST_WORDS)
    _check_text(manifest["simtown"], "simtown")
    if manifest["complete"]:
        _check_loops(manifest["acceptance"], "acceptance", _check_acceptance)
    _check_names(manifest["names"], settings)
    _check_summary(manifest, settings)


def brief(value: Any) -> str:
    """A value as a message shows it."""
    if isinstance(value, int) and abs(value) >= 10**60:
        return "a number too large"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _expect(value: Any, kind: type | tuple[type, ...], what: str) -> None:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{what} is {brief(value)!r}, not {_KINDS[kind]}")


def _check_count(value: Any, what: str, least: int = 0) -> None:
    _expect(value, int, what)
    if not least <= value < _LARGEST:
        raise ValueError(f"{what} is {brief(value)}, which it cannot be")


def _check_text(value: Any, what: str) -> None:
    _expect(value, str, what)
    if len(value) > _LONGEST or not value.isprintable():
        raise ValueError(f"{what} is {brief(value)!r}, not a short line")


def _check_texts(value: Any, what: str, most: int) -> None:
    _expect(value, list, what)
    if len(value) > most:
        raise ValueError(f"{what} has {len(value):,} entries, at most {most} are possible")
    for text in value:
        _check_text(text, f"an entry of {what}")


def _check_loops(value: Any, what: str, check_entry: Any) -> None:
    _expect(value, dict, what)
    if len(value) > _MOST_LOOPS:
        raise ValueError(f"{what} has {len(value):,} entries, at most {_MOST_LOOPS} are possible")
    for loop, numbers in value.items():
        _check_text(loop, f"an entry of {what}")
        check_entry(numbers, f"{what}.{loop}")


def _check_acceptance(value: Any, what: str) -> None:
    _expect(value, dict, what)
    for key in ("proposed", "accepted"):
        _check_count(value[key], f"{what}.{key}")
    _expect(value["rate"], (int, float), f"{what}.rate")
    if not (isfinite(value["rate"]) and 0 <= value["rate"] <= 1):
        raise ValueError(f"{what}.rate is {brief(value['rate'])}, not a share")


def _is_tried(value: Any) -> bool:
    return (
        type(value) is list
        and len(value) == 2
        and all(type(number) is int and 0 <= number < _LARGEST for number in value)
    )


def _check_tried(value: Any, what: str) -> None:
    if not isinstance(value, list) or len(value) != 2:
        raise TypeError(f"{what} is {brief(value)!r}, not two whole numbers")
    for number in value:
        _check_count(number, what)


def _check_settings(resolved: Any) -> None:
    _expect(resolved, dict, "settings")
    for name, default in asdict(Settings()).items():
        kinds: dict[type, type | tuple[type, ...]] = {tuple: list, float: (int, float), type(None): int}
        if name in resolved:
            _expect(resolved[name], kinds.get(type(default), type(default)), f"settings.{name}")
            if isinstance(resolved[name], int) and name not in _SEEDS and abs(resolved[name]) >= _LARGEST:
                raise ValueError(f"settings.{name} is {brief(resolved[name])}, which it cannot be")
            if isinstance(resolved[name], str) and len(resolved[name]) > _LONGEST_PATH:
                raise ValueError(f"settings.{name} is {brief(resolved[name])!r}, which is too long")
        elif name not in LEFT_OUT:
            raise KeyError(f"settings.{name}")
    for name in ("relations", "weathers"):
        _check_texts(resolved[name], f"settings.{name}", _MOST_NAMES)
    unknown = sorted(
        set(resolved)
        - set(asdict(Settings()))
        - {f"{table}_frequencies" for table in Tables._fields}
        - {KINDS}
    )
    if unknown:
        raise ValueError(f"there is no setting {brief(unknown[0])!r}")
    settings = Settings.from_resolved(resolved)
    settings.check_apart_from_frequencies()
    if resolved.get(KINDS) != (list(settings.kinds) if settings.world_seed else None):
        raise ValueError(
            f"settings.{KINDS} are not the kinds that world seed {settings.world_seed} has in this version "
            "of simtown"
        )
    paints = 0 if settings.paint == "own" else len(PAINTS)
    for table, count in zip(Tables._fields, (settings.entities, settings.entities, paints), strict=True):
        _check_probabilities(resolved[f"{table}_frequencies"], f"settings.{table}_frequencies", count)
    _check_pairs(
        resolved["subject_frequencies"], resolved["object_frequencies"], 3 if settings.distractor else 2
    )


def _check_probabilities(value: Any, what: str, count: int) -> None:
    _expect(value, list, what)
    if len(value) != count or not all(isinstance(p, int | float) and 0 <= p <= 1 for p in value):
        raise ValueError(f"{what} is not a list of {count} probabilities")
    if count and abs(fsum(value) - 1) > _ROUNDING:
        raise ValueError(f"{what} do not add up to 1")


def _check_pairs(subject: list[float], obj: list[float], kinds: int) -> None:
    """Enough kinds must occur for the vehicles of a scene, which are all of different kinds."""
    same = fsum(s * o for s, o in zip(subject, obj, strict=True))
    occurring = sum(s + o > _LEAST_PAIRS for s, o in zip(subject, obj, strict=True))
    if occurring < kinds or 1 - same < _LEAST_PAIRS:
        raise ValueError(
            f"by settings.subject_frequencies and object_frequencies a scene never has {kinds} kinds of "
            "vehicles"
        )


def _check_shards(manifest: dict[str, Any], settings: Settings) -> None:
    _expect(manifest["complete"], bool, "complete")
    shards, loops = manifest["shards"], set[str]()
    _expect(shards, dict, "shards")
    for name, entry in shards.items():
        task = task_of(settings, name)
        if task is None:
            raise ValueError(
                f"it lists a shard {brief(name)!r}, which data sets of these settings do not have"
            )
        if (
            not isinstance(entry, dict)
            or type(entry["examples"]) is not int
            or entry["examples"] != task.count
        ):
            raise ValueError(f"shards.{name} is not of {task.count} examples, as its settings make it")
        _expect(entry["sha256"], str, f"shards.{name}.sha256")
        if not _SHA256.fullmatch(entry["sha256"]):
            raise ValueError(f"shards.{name}.sha256 is {brief(entry['sha256'])!r}, not 64 hexadecimal digits")
        _check_count(entry["bytes"], f"shards.{name}.bytes", task.count * LEAST_BYTES)
        tried = entry["tried"]
        if not (
            type(tried) is dict and loops.issuperset(tried) and all(map(_is_tried, tried.values()))
        ):  # in words, and seldom
            _check_loops(tried, f"shards.{name}.tried", _check_tried)
            loops.update(tried)
    if manifest["complete"] and len(shards) < shard_count(settings):
        unlisted = next(task.name for task in each_task(settings) if task.name not in shards)
        raise ValueError(f"it is called complete but does not list the shard {unlisted}")


def _check_names(value: Any, settings: Settings) -> None:
    _expect(value, dict, "names")
    for key in names(Settings()):
        _check_texts(value[key], f"names.{key}", _MOST_NAMES)
    numbers = max(settings.kinds) + 1
    if len(value["entities"]) != numbers:
        raise ValueError(f"names.entities is not a list of {numbers} names")


def _check_summary(manifest: dict[str, Any], settings: Settings) -> None:
    sizes, summary = summaries.lengths(manifest["names"]), manifest["summary"]
    _expect(summary, dict, "summary")
    for split, counted in summary.items():
        if split not in SPLITS:
            raise ValueError(f"there is no split summary.{brief(split)}")
        _expect(counted, dict, f"summary.{split}")
        for name, size in sizes.items():
            what = f"summary.{split}.{name}"
            _expect(counted[name], list, what)
            if len(counted[name]) != size:
                raise ValueError(f"{what} is not a list of {size} counts")
            for number in counted[name]:
                _check_count(number, what)
            wanted = settings.counts()[split]
            if name in summaries.OF_EXAMPLES and (
                sum(counted[name]) > wanted or (manifest["complete"] and sum(counted[name]) != wanted)
            ):
                raise ValueError(f"{what} does not count {wanted:,} examples")
    for split, count in settings.counts().items():
        if manifest["complete"] and count and split not in summary:
            raise KeyError(f"summary.{split}")
