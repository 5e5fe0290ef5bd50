"""A town as a file: JSON that holds everything, so that the town goes on as if it had never been saved."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from simtown.core.files import save_bytes
from simtown.core.untrusted import RefusedError, cause, read_bytes
from simtown.scenes.camera import Camera
from simtown.scenes.scene import Weather
from simtown.town import checks
from simtown.town.checks import FARTHEST, TownError, file_path, shown
from simtown.town.motion.tracks import write_tracks
from simtown.town.things import Thing, write

if TYPE_CHECKING:
    from simtown.town.town import Town

#: The largest file that is read, bytes.
_LARGEST = 50_000_000
#: The attributes of a :class:`Thing` that a file has if they are not the defaults; its name comes first.
_KEPT = {"name": "", **{f.name: f.default for f in fields(Thing) if f.name not in ("name", "track", "town")}}
#: What every thing keeps.
_ALWAYS = {"name", *(f.name for f in fields(Thing) if f.default is MISSING)} - {"town"}

#: A place along an axis, metres, and the x and y of a thing.
_Axis = Annotated[float, msgspec.Meta(ge=-FARTHEST, le=FARTHEST)]
_Place = tuple[_Axis, _Axis]


class Start(msgspec.Struct, frozen=True, omit_defaults=True):
    """The beginning of a town: as an empty street, a random one or a scene; the last two arguments are of
    random.
    """

    how: Literal["empty", "random", "scene"]
    vehicles: int = 3
    weather: str | tuple[str, float] | Weather | None = None


class _Saved(msgspec.Struct, forbid_unknown_fields=True):
    """The contents of a file; `tracks` are the places of things in the last seconds, by name."""

    format: Literal["simtown town 1"]
    began: Start
    seed: int
    draws: int
    time: float
    keeps_height: bool
    weather: Weather
    camera: Camera
    things: list[dict[str, Any]]
    tracks: list[tuple[float, dict[str, _Place]]]


def save(town: Town, path: str | Path) -> None:
    """Write a town, whole or not at all; see :meth:`simtown.Town.save`."""
    path = file_path(path)
    if path.suffix.lower() != ".json":
        raise TownError(f"{path} does not end as a saved town does: end it in .json")
    try:
        save_bytes(path, msgspec.json.format(encode(town), indent=1) + b"\n")
    except OSError as error:
        raise TownError(f"{path} cannot be written ({error.strerror}): give another path") from None


def encode(town: Town) -> bytes:
    """A town as JSON."""
    kept = ("began", "time", "keeps_height", "weather", "camera")
    values: dict[str, Any] = {name: getattr(town, f"_{name}") for name in kept}
    values |= {"seed": town._dice.seed, "draws": town._dice.draws}
    values["things"] = [
        {name: getattr(t, name) for name, default in _KEPT.items() if getattr(t, name) != default}
        for t in town._things
    ]
    tracks = [(time, {t.name: place for t, place in places.items()}) for time, places in town._tracks]
    return msgspec.json.encode(_Saved("simtown town 1", **values, tracks=tracks))


def load(cls: type[Town], path: str | Path) -> Town:
    """The town of a file; see :meth:`simtown.Town.load`."""
    path = file_path(path)
    try:
        if path.stat().st_size > _LARGEST:
            raise TownError(f"{path} is not a saved town: it is larger than {_LARGEST // 10**6} MB")
        return decode(cls, read_bytes(path), str(path))
    except FileNotFoundError as error:
        raise TownError(f"there is no file {path}: give one that town.save wrote") from error
    except (OSError, RefusedError) as error:
        raise TownError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def decode(cls: type[Town], content: bytes | str, name: str = "this") -> Town:
    """The town of what :func:`encode` made; errors call it by a name."""
    try:
        saved = msgspec.json.decode(content, type=_Saved)
        town = cls.__new__(cls)
        town._start(saved.seed, saved.began)
        _fill(town, saved)
    except (
        msgspec.MsgspecError,
        RecursionError,
        LookupError,
        TypeError,
        AttributeError,
        UnicodeError,
        TownError,
    ) as error:
        raise TownError(f"{name} is not a saved town: {cause(error)}") from error
    return town


def _fill(town: Town, saved: _Saved) -> None:
    """Put into a new town what a file holds. Raises TownError for what no town can hold."""
    town._weather, town._camera = checks.weather(saved.weather), checks.camera(saved.camera)
    town._keeps_height, town._time = saved.keeps_height, checks.number(saved.time, "the time", 0.0)
    town._dice.draws = checks.whole(saved.draws, "draws", 0, 2**32)
    by_name: dict[str, Thing] = {}
    for entry in saved.things:
        if absent := _ALWAYS - entry.keys():
            raise TownError(f"a thing lacks its {min(absent)}")
        if unknown := entry.keys() - _KEPT.keys():
            raise TownError(f"a thing has {shown(min(unknown))}, which no thing keeps")
        name, way = entry.pop("name"), msgspec.convert(entry.pop("way", None), _Place | None)
        thing = Thing(**entry, way=way)
        if name in by_name or not re.fullmatch(rf"{re.escape(thing.kind)}( [1-9]\d{{0,3}})?", name):
            raise TownError(f"a {thing.kind} is called {shown(name)}: give each thing a name of its own")
        by_name[name] = town._add(thing)
        write(by_name[name], name=name)
    times = [*(time for time, _ in saved.tracks), town._time]
    if times != sorted(times):
        raise TownError("its tracks are not in the order of time")
    for time, places in saved.tracks:
        if missing := places.keys() - by_name.keys():
            raise TownError(f"its tracks name {shown(min(missing))}, which is not among its things")
        town._tracks.append((time, {by_name[name]: place for name, place in places.items()}))
    write_tracks(town._tracks, town._things)
