"""Settings as a manifest or a run holds them: every choice resolved, so that no file is read for them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

import msgspec

from simtown.datasets.frequency_tables import Tables, named_table, tables_of
from simtown.datasets.settings import CROWD, HandMade, Settings
from simtown.datasets.source import source_of

#: The key of :attr:`Settings.kinds` among the settings in a manifest, if the world seed is not 0.
KINDS = "kinds"
_DEFAULTS = {field.name: field.default for field in fields(Settings)}
#: Settings that a manifest leaves out if they have their default, since older data sets do not have them:
#: those behind `catalogue`.
LEFT_OUT: dict[str, Any] = dict([*_DEFAULTS.items()][[*_DEFAULTS].index("catalogue") + 1 :])
LEFT_OUT |= {"own_kinds": (), "hand_made": False}


def canonical(settings: Settings) -> Settings:
    """The same data set, all families named, without a `test_seed` or a `crowd` that is the usual one."""
    test_seed = None if settings.test_seed == settings.seed else settings.test_seed
    usual = settings.crowd == CROWD and settings.questions != ("paper",)
    crowd = "" if usual else settings.crowd
    names = source_of(settings).family_names()
    return replace(settings, test_seed=test_seed, questions=names, crowd=crowd)


def list_values(settings: Settings) -> dict[str, Any]:
    """The choices of :func:`canonical` by name; also `hand_made`, if the scenes are."""
    values = asdict(canonical(settings))
    del values["kept"]
    return values | ({"hand_made": True} if settings.hand_made else {})


def resolve(settings: Settings) -> dict[str, Any]:
    """The settings for JSON, with the frequencies themselves: a changed CSV file is a changed setting.

    The kinds are written out too, unless they are the first of the catalogue. Of a CSV file only the name
    and a digest are kept, since its folders are private.
    """
    subject, obj, paint = (table.tolist() for table in tables_of(settings))
    resolved = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in list_values(settings).items()
        if name not in LEFT_OUT or value != LEFT_OUT[name]
    }
    resolved["shard"] = settings.shard_size
    resolved |= {"subject_frequencies": subject, "object_frequencies": obj, "paint_frequencies": paint}
    if settings.table_from_file:
        resolved["frequencies"] = named_table(settings.frequencies, subject, obj)
    if settings.paint_from_file:
        resolved["paint"] = named_table(settings.paint, paint)
    if settings.world_seed or settings.own_kinds:
        resolved[KINDS] = list(settings.kinds)
    return resolved


def settings_from(resolved: dict[str, Any]) -> Settings:
    """Inverse of :func:`resolve`: the frequencies are kept, and no file is read for them.

    Raises ValueError for values that no settings have.
    """
    tables = {f"{name}_frequencies": name for name in Tables._fields}
    kept = {name: resolved.get(key, []) for key, name in tables.items()}
    own = {name: value for name, value in resolved.items() if name not in (KINDS, "hand_made", *tables)}
    if unknown := own.keys() - _DEFAULTS.keys():
        raise ValueError(f"settings.{min(unknown)} is unknown")
    made = HandMade if resolved.get("hand_made") else Settings
    settings = msgspec.convert({"own_kinds": [], **own}, made)
    named: dict[str, Any] = {}  # tables_of() reads no file for a name with a digest
    if settings.table_from_file:
        named["frequencies"] = named_table(settings.frequencies, kept["subject"], kept["object"])
    if settings.paint_from_file:
        named["paint"] = named_table(settings.paint, kept["paint"])
    return replace(settings, **named, kept=kept if named else None)


def in_words(resolved: dict[str, Any]) -> dict[str, str]:
    """Resolved settings as people compare them: each as a text, tables as digests."""
    s = dict(resolved)
    s.pop(KINDS, None)  # they follow from the seed
    subject, obj, paint = (s.pop(f"{role}_frequencies") for role in Tables._fields)
    s["frequencies"] = named_table(s["frequencies"], subject, obj)
    s["paint"] = named_table(s["paint"], paint) if paint else s["paint"]
    s["size"] = f"{s.pop('width')}x{s.pop('height')}"
    return as_texts(s)


def as_texts(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings of a data set by name, each as a text; of those that are long, digests."""
    s = {**LEFT_OUT, **settings}
    s["own_kinds"] = [record[:-58] for record in s["own_kinds"]]  # with 6 digits of their digests
    s["own_families"] = hashlib.sha256(s["own_families"].encode()).hexdigest()[:6]
    texts = {name: ",".join(map(str, value)) for name, value in s.items() if isinstance(value, list | tuple)}
    return {name: texts.get(name, str(value)) for name, value in s.items()}
