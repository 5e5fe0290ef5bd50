"""The Python text that makes a town: the shortest list of its verbs, or else its whole scene."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from simtown.scenes.camera import CAMERAS
from simtown.town import checks
from simtown.town.checks import TownError
from simtown.town.things import Thing

if TYPE_CHECKING:
    from simtown.town.town import Town

#: The attributes that a thing is placed with beside x and y, and those that it gets afterwards.
_PLACED, _MOVING = ("z", "yaw", "scale", "style", "paint"), ("velocity", "spin")


def program(town: Town) -> str:
    """The text; see :meth:`simtown.Town.program`."""
    text = "\n".join(_verbs(town) or _whole_scene(town))
    names = ["Town", *(name for name in ("Camera", "Scene", "Weather") if f"{name}(" in text)]
    parts = "from simtown.scenes.scene import Prop, Vehicle\n" if "Scene(" in text else ""
    return f"from simtown import {', '.join(sorted(names))}\n{parts}\n{text}\n"


def _verbs(town: Town) -> list[str]:
    """The town by its verbs, each tried on a town of its own; [] if they do not make the same scene."""
    began = town._began
    if began.how == "scene":
        return []
    arguments: dict[str, Any] = {"seed": town.seed} if town.seed else {}
    name = "Town"
    if began.how == "random":
        arguments |= {"vehicles": began.vehicles} if began.vehicles != 3 else {}
        arguments |= {"weather": began.weather} if began.weather is not None else {}
        name = "Town.random"
    made = type(town)(**arguments) if name == "Town" else type(town).random(**arguments)
    lines = [f"town = {_call(name, **arguments)}"]

    def do(verb: str, *given: Any, **values: Any) -> bool:
        try:
            getattr(made, verb)(*given, **values)
        except TownError:
            return False
        lines.append(f"town.{_call(verb, *given, **values)}")
        return True

    kept = _kept(made._things, town._things)
    gone = [t.name for t in made._things if t.name not in kept]
    if gone:
        do("remove", *gone) if kept else do("clear")
    attributes = ("x", "y", *_PLACED, *_MOVING, "pace", "later")
    waiting = [(t, _unlike(made[t.name], t, *attributes)) for t in town._things[: len(kept)]]
    while waiting := [(t, values) for t, values in waiting if values]:  # one may stand where another stood
        stuck = [(t, values) for t, values in waiting if not do("change", t.name, **values)]
        if len(stuck) == len(waiting):
            return []
        waiting = stuck
    for thing in town._things[len(kept) :]:
        plain = Thing(thing.kind, 0.0, 0.0)
        values = {"x": thing.x, "y": thing.y} | _unlike(plain, thing, *_PLACED)
        if thing.group != "vehicle":
            values["style"] = thing.style  # without it one is drawn
        if not do("place", thing.kind, **values):
            return []
        if moving := _unlike(plain, thing, *_MOVING):
            do("change", made._things[-1].name, **moving)
        if thing.pace or thing.later:
            do("drive", made._things[-1].name, thing.pace, **_later(thing))
    sky = town.weather
    if made.weather != sky:
        ways = (sky.kind, (sky.kind, sky.intensity), sky)
        value = next(v for v in ways if checks.changed_weather(made.weather, v) == sky)
        made.weather = value
        lines.append(f"town.weather = {_shown(value)}")
    if made.camera != town.camera:
        made.camera = town.camera
        named = (name for name, camera in CAMERAS.items() if camera == town.camera)
        lines.append(f"town.camera = {_shown(next(named, town.camera))}")
    return lines if made.to_scene(128) == town.to_scene(128) else []


def _kept(first: list[Thing], things: list[Thing]) -> list[str]:
    """Names of the things that have been there from the start: these come before all others."""
    places = {(t.name, t.kind): place for place, t in enumerate(first)}
    names: list[str] = []
    last = -1
    for thing in things:
        if (place := places.get((thing.name, thing.kind), -1)) <= last:
            break
        names.append(thing.name)
        last = place
    return names


def _unlike(before: Thing, after: Thing, *names: str) -> dict[str, Any]:
    """The attributes of `after` that differ from those of `before`."""
    return {name: getattr(after, name) for name in names if getattr(after, name) != getattr(before, name)}


def _whole_scene(town: Town) -> list[str]:
    """The town as a scene, thing by thing."""
    scene = town.to_scene()
    lines = ["town = Town.from_scene(", "    Scene("]
    for name, parts in (("vehicles", scene.vehicles), ("props", scene.props)):
        lines += [f"        {name}=[", *(f"            {_shown(part)}," for part in parts), "        ],"]
    lines += [f"        {name}={_shown(getattr(scene, name))}," for name in ("weather", "camera")]
    lines += ["    ),", f"    seed={town.seed},", ")"]
    names = [t.name for t in type(town).from_scene(scene).things]
    driving = [(name, t) for name, t in zip(names, town.things, strict=True) if t.pace or t.later]
    return lines + [f"town.{_call('drive', name, t.pace, **_later(t))}" for name, t in driving]


def _later(thing: Thing) -> dict[str, float]:
    """The arguments of :meth:`simtown.Town.drive` of a thing's second speed."""
    return dict(zip(("then", "at"), thing.later, strict=True)) if thing.later else {}


def _shown(value: Any) -> str:
    """A value as Python writes it, texts in double quotes; of a part of a scene what is not its default."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    if not type(value).__module__.startswith("simtown."):
        return repr(value)
    given = {f.name: getattr(value, f.name) for f in fields(value) if getattr(value, f.name) != f.default}
    return _call(type(value).__name__, **given)


def _call(name: str, *given: Any, **values: Any) -> str:
    named = (f"{key}={_shown(value)}" for key, value in values.items())
    return f"{name}({', '.join([*map(_shown, given), *named])})"
