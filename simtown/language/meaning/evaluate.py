"""The values of programs over many scenes at once, in strong Kleene logic.

A truth is 1, -1, or 0 where it is too close to say. A set is two: what surely belongs, and what possibly
does. simtown/kernels/processor/programs.cpp runs them.

- "the" means the one member of a set. If it may be one of several, only what is true of each of them is
  said, and nothing if perhaps there is none. What is the same for all that it may be is not "too close to
  say": if perhaps there is none, the question cannot be asked.
- "every" member has a property only if there is one. Nothing stands in a relation to itself, so that "every
  bus" next to a bus means every other one, and "every bus" left of the school bus all but the school bus.
- What is nearest to a thing is another thing.
- What stands beside the road has no driver, colour, lane or direction: that it has one is false, and what it
  has cannot be asked. It is possibly there if little of it shows; what could be taken for it, or shows some,
  is possibly one (:mod:`simtown.language.meaning.sights`).
- Where a vehicle is in view that readers may call by a noun though it does not mean it, such as a kick
  scooter for "scooter", a question with this noun cannot be asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from simtown import kernels
from simtown.assets.catalogue import ENTITIES
from simtown.language.meaning.limits import NEARER, SOLID_MARGINS
from simtown.language.meaning.programs import (
    ATTRIBUTES,
    COLOURS,
    DIRECTIONS,
    LANES,
    ORDERS,
    PROGRAM_RELATIONS,
    SOLIDS,
    WORD,
    WORDS,
)
from simtown.language.meaning.relations import DRIVER_RELATIONS, RADIAL, RELATIONS
from simtown.language.meaning.views import (
    PERHAPS_SHOWN,
    Views,
    alike,
    bulks,
    classify_hidden,
    judge_colours,
    members,
    noun_colours,
    only_colour,
    outlines,
    partly_hidden,
    thirds,
    view_scenes,
)
from simtown.scenes.scene import SceneBatch
from simtown.scenes.silhouette import visibility
from simtown.scenes.weather import WEATHERS

#: Whether a program has a value in a scene, something is too close to say, or it asks about what is not
#: there, or not once.
KNOWN, CLOSE, ILL_POSED = range(3)
#: Words of programs that ask for colours.
_COLOURED = [WORD + WORDS.index(word) for word in ("colour", *COLOURS)]
#: Words of programs that ask how much of a vehicle others hide.
HIDING_WORDS = [WORD + WORDS.index(word) for word in ("hidden", "sight")]
#: These, and those of programs in which the pixels of a colour are counted.
SEEN_WORDS = [*HIDING_WORDS, *_COLOURED]
#: Those that ask for what else is seen in the picture.
_PICTURED = [WORD + WORDS.index(word) for word in ("hidden", "partly hidden", "entirely visible", "box")]
#: Values of vehicles, in the order in which the kernel has them.
_VALUES = (*ATTRIBUTES[:6], "third")


class Values(NamedTuple):
    """The values of n programs.

    Attributes:
        answer: (n,) int64: 1 or 0 for yes or no, a count, or the number of a kind, colour, lane, direction,
            weather or share hidden; metres rounded for a distance; the third of the picture for a box.
        number: (n,) float64 metres of a distance, the slot of a box, else nan.
        state: (n,) int8 KNOWN, CLOSE or ILL_POSED; the answer means nothing unless it is KNOWN.
        margin: (n,) float64 metres by which the least clear of the relations that decide the answer holds or
            fails; inf if there is none.
        idle: (n,) bool: whether some part of the program changes nothing: a filter that surely leaves out no
            sure member, or an order or "every" of fewer than two sure members.
    """

    answer: np.ndarray
    number: np.ndarray
    state: np.ndarray
    margin: np.ndarray
    idle: np.ndarray

    def clear(self) -> np.ndarray:
        """(n,) bool: which programs have a value, and no part that changes nothing."""
        return np.asarray((self.state == KNOWN) & ~self.idle)

    def at(self, rows: np.ndarray) -> Values:
        """The values of some programs."""
        return Values(*(column[rows] for column in self))

    def keep(self, rows: np.ndarray, values: Values) -> None:
        """Exchange those of some programs."""
        for whole, part in zip(self, values, strict=True):
            whole[rows] = part

    @classmethod
    def empty(cls, n: int) -> Values:
        """Values of n programs: the answer 0, known, without a number or a margin."""
        return cls(
            np.zeros(n, int), np.full(n, np.nan), np.zeros(n, np.int8), np.full(n, np.inf), np.zeros(n, bool)
        )


def evaluate(
    scenes: Any,
    stored: np.ndarray,
    visible: np.ndarray | None = None,
    size: tuple[int, int] = (256, 144),
    at: np.ndarray | None = None,
    *,
    by_name: bool = False,
    given: Mapping[str, np.ndarray] | None = None,
) -> Values:
    """The values of (n, LENGTH) stored programs, each in a scene. Runs without the GIL.

    Args:
        scenes: a SceneBatch of s.
        stored: programs as :func:`simtown.language.meaning.programs.stored` makes them.
        visible: (s, v) visible shares of vehicles, if they are known.
        size: width and height of the picture, pixels.
        at: (n,) the scene of each program, if not its own.
        by_name: whether a noun means its own kinds alone, whatever else in view readers may call so.
        given: (s, v) "sight", "bulk" or values, such as "direction", of vehicles in place of their own, and
            (s, v, v) "met", whether one passes, or nears, another (:mod:`simtown.language.meaning.moments`).
    """
    at = np.arange(len(stored)) if at is None else at
    out = Values.empty(len(stored))
    beside = np.isin(stored, _beside()).any(axis=1)
    for things in (False, True):
        rows = np.flatnonzero(beside == things)
        if not len(rows):
            continue
        asked, place = np.unique(at[rows], return_inverse=True)
        programs, shown = np.ascontiguousarray(stored[rows], dtype=np.int16), scenes[asked]
        views = view_scenes(shown, size, things)
        shares = None if visible is None else visible[asked]
        value, colours, hides = _see_vehicles(shown, views, shares, size, programs, place)
        vehicles = shown.entity.shape[1]
        bulk = bulks()[views.mesh] * views.scale
        met = np.zeros((len(asked), vehicles, vehicles), np.int8)
        for name, column in (given or {}).items():
            if name in _VALUES:
                value[:, :, _VALUES.index(name)] = column[asked]
            else:
                {"sight": views.sight, "bulk": bulk, "met": met}[name][:, :vehicles] = column[asked]
        found = Values.empty(len(rows))
        kernels.call(
            "run_programs",
            **_tables(by_name),
            programs=programs,
            kind=views.kind.astype(np.int16)[place],
            solid=views.mesh.astype(np.int16)[place],
            sight=views.sight[place],
            pose=np.ascontiguousarray(views.pose[place], dtype=np.float32),
            scale=views.scale[place],
            bulk=bulk[place],
            camera=shown.camera.astype(np.float32)[place],
            weather=views.weather[place],
            value=value[place],
            colours=colours[place],
            hides=hides[place],
            met=met[place],
            called=views.called[place],
            **found._asdict(),
        )
        out.keep(rows, found)
    return out


def _see_vehicles(
    scenes: SceneBatch,
    views: Views,
    visible: np.ndarray | None,
    size: tuple[int, int],
    programs: np.ndarray,
    at: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What programs ask of the vehicles of the scenes `at`: values (s, v, 7) int16 in the order of _VALUES,
    and truths (s, v, colours) int8 of having a colour and (s, v) int8 of being partly hidden.
    """
    shape = scenes.entity.shape
    value = np.full((*shape, len(_VALUES)), -1, dtype=np.int16)
    colours, hides = np.zeros((*shape, len(COLOURS)), np.int8), np.zeros(shape, np.int8)
    columns = {"lane": views.lane, "direction": views.direction, "group": views.group}
    columns["kind"] = views.kind[:, : shape[1]]
    for name, column in columns.items():
        value[:, :, _VALUES.index(name)] = column
    # expensive columns are computed only for programs that use them
    coloured, pictured = (
        np.unique(at[np.isin(programs, words).any(axis=1)]) for words in (_COLOURED, _PICTURED)
    )
    if visible is None and (len(coloured) or len(pictured)):
        visible = visibility(scenes.entity, scenes.pose, scenes.camera)
    if visible is not None and len(coloured):
        colours[coloured] = judge_colours(scenes[coloured], visible[coloured], size)
        value[coloured, :, _VALUES.index("colour")] = only_colour(colours[coloured])
    if visible is not None and len(pictured):
        hides[pictured] = partly_hidden(visible[pictured])
        hidden = classify_hidden(1 - visible[pictured].astype(np.float64))
        value[pictured, :, _VALUES.index("hidden")] = hidden
        value[pictured, :, _VALUES.index("third")] = thirds(scenes[pictured], size)
    return value, colours, hides


@cache
def _beside() -> list[int]:
    """The numbers of nouns for what stands beside the road."""
    return [number for number, kinds in members().items() if not kinds[: len(ENTITIES)].any()]


@cache
def _tables(by_name: bool) -> dict[str, np.ndarray]:
    """Tables for the kernel: meanings of words, relations, margins, and outlines of what stands in slots."""
    classes: tuple[tuple[str, ...], ...] = (
        PROGRAM_RELATIONS, ORDERS, ATTRIBUTES, COLOURS, LANES, DIRECTIONS,
        ("partly hidden", "entirely visible"), WEATHERS,
    )  # fmt: skip
    places = {word: place for names in classes for place, word in enumerate(names)}
    nouns = np.full(WORD + len(WORDS), -1, dtype=np.int16)
    nouns[list(members())] = np.arange(len(members()))
    rows = {r.name: (r.axis, r.sign, r.margin, 0) for r in RELATIONS}
    rows |= {r.name: (r.axis, r.sign, r.margin, 1) for r in DRIVER_RELATIONS}
    for measure, name in enumerate(SOLIDS, RADIAL + 1):
        rows[name] = (measure, 1, SOLID_MARGINS[name], 0)
    footprints, corner_count = outlines()
    return {
        "places": np.array([places.get(word, 0) for word in WORDS], dtype=np.int16),
        "noun_places": nouns,
        "nouns": np.stack([*members().values()]),
        "alike": alike() * (alike() == PERHAPS_SHOWN) if by_name else alike(),
        "noun_colours": noun_colours(),
        "relations": np.array([rows[name] for name in PROGRAM_RELATIONS], dtype=np.float64),
        "constants": np.array([NEARER]),
        "outlines": footprints,
        "corner_count": corner_count,
    }
