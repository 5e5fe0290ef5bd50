"""The view that programs have of many scenes at once: vehicles, where they stand and head, and their colours.

Slots are a scene's vehicles, then, if a program names them, the things beside the road. Of n scenes s is the
number of slots and v that of vehicles. Truth is 1, -1, or 0 where something is too close to say.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, PROPS, STREET_MESHES
from simtown.assets.palette import ALSO_CALLED, COLOUR_WORDS, PAINTS, TINTS
from simtown.language.meaning.colours import clear, colour_of, seen
from simtown.language.meaning.limits import (
    COLOUR_PIXELS,
    HIDDEN,
    HIDDEN_MARGIN,
    LANE_EDGE,
    LEAST_FOG,
    LEAST_INTENSITY,
    NO_COLOUR,
    THIRD_MARGIN,
    UNCLEAR_TURN,
)
from simtown.language.meaning.nouns import GROUPS, NOUNS, group_of, other_readings
from simtown.language.meaning.programs import COLOURS, ENTITY, PROP, WORD, WORDS
from simtown.language.meaning.sights import also_shown, street_sights
from simtown.scenes.camera import NOMINAL
from simtown.scenes.footprints import outline
from simtown.scenes.scene import SceneBatch
from simtown.scenes.silhouette import boxes
from simtown.scenes.weather import WEATHERS

#: Thirds of the picture in which the middle of a box may be.
THIRDS = ("left third", "middle third", "right third")
#: What a kind that a noun does not mean may be instead, as the kernel has it.
PERHAPS_SHOWN, CALLED_SO, CALLED_SO_IF_PAINTED = 1, 2, 3
_WEAK = [WEATHERS.index(name) for name in ("cloudy", "rain", "fog", "snow")]
#: Kinds whose two ends look alike from the side: no picture shows which way they head.
ENDS_ALIKE = ("double-decker bus", "tram", "road roller")
#: By direction, the angle from the viewer's right, radians.
HEADINGS = {"right": 0.0, "left": np.pi, "away": np.pi / 2, "viewer": -np.pi / 2}


class Views(NamedTuple):
    """n scenes as programs see them, but for what takes long to see.

    Attributes:
        kind: (n, s) int64 kinds of what stands in the slots: of ENTITIES, then of PROPS; -1 is an empty slot.
        mesh: (n, s) int number in the atlas of what stands there, -1 in an empty slot.
        sight: (n, s) int8: 1 where a slot's thing is seen, 0 where it is hardly seen, -1 where there is none.
        pose: (n, s, 3) float32 x, y and yaw.
        scale: (n, s) float64 scale of each thing; 1 is the catalogue's size.
        group: (n, v) int64 place in GROUPS of each vehicle's kind, -1 in an empty slot.
        lane: (n, v) int64 place in LANES of each vehicle, -1 if it stands in none.
        direction: (n, v) int64 place in DIRECTIONS of where the viewer sees each vehicle head, -1 if unclear.
        called: (n, v) int16 the colours that readers may call each vehicle's body by, a bit each.
        weather: (n,) int64 place in WEATHERS of each scene's weather, -1 if it is too weak to tell.
    """

    kind: np.ndarray
    mesh: np.ndarray
    sight: np.ndarray
    pose: np.ndarray
    scale: np.ndarray
    group: np.ndarray
    lane: np.ndarray
    direction: np.ndarray
    called: np.ndarray
    weather: np.ndarray


def view_scenes(scenes: SceneBatch, size: tuple[int, int] = NOMINAL, things: bool = False) -> Views:
    """The views of n scenes in pictures of a size, pixels.

    With `things`, what stands beside the road has slots behind the vehicles.
    """
    entity, y = scenes.entity.astype(np.int64), scenes.pose[..., 1]
    lane = np.where(np.abs(y) >= LANE_EDGE, np.where(y < 0, 2, -1), np.where(y < 0, 0, 1))
    turn = scenes.pose[..., 2].astype(np.float64) - scenes.camera[:, None, 3]
    weather = scenes.weather.astype(np.int64)
    least = np.where(weather == WEATHERS.index("fog"), LEAST_FOG, LEAST_INTENSITY)
    weak = np.isin(weather, _WEAK) & (scenes.intensity < least)
    views = Views(
        kind=entity,
        mesh=scenes.entity,
        sight=np.where(entity >= 0, 1, -1).astype(np.int8),
        pose=scenes.pose,
        scale=np.ones(entity.shape),
        group=groups()[entity],
        lane=np.where(entity >= 0, lane, -1),
        direction=np.where(has_front()[entity], classify_headings(turn), -1),
        called=_called()[scenes.body_paints()],
        weather=np.where(weak, -1, weather),
    )
    if not things:
        return views
    props = scenes.prop.astype(np.int64)
    kind = np.where(props >= 0, props + len(ENTITIES), -1)
    return views._replace(
        kind=np.concatenate([views.kind, kind], axis=1),
        mesh=scenes.meshes(),
        sight=np.concatenate([views.sight, street_sights(scenes, size)], axis=1),
        pose=np.concatenate([views.pose, scenes.prop_pose[:, :, [0, 1, 3]]], axis=1),
        scale=np.concatenate([views.scale, scenes.prop_pose[..., 4]], axis=1),
    )


def body_colours(scenes: SceneBatch) -> np.ndarray:
    """(n, v) int64 place in COLOURS of the colour of each vehicle's body, -1 if it has no name."""
    return np.where(scenes.entity >= 0, colour_of()[scenes.body_paints()], -1)


def judge_colours(scenes: SceneBatch, visible: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """(n, v, c) int8 truth of whether each vehicle has each colour, by (n, v) visible shares."""
    shares = seen(scenes)
    box = boxes(scenes, *size)
    area = (box[..., 2] - box[..., 0]) * (box[..., 3] - box[..., 1]) * visible / 2
    pixels = shares * area[..., None]
    body = body_colours(scenes)[..., None] == np.arange(len(COLOURS))
    shown = clear(shares, body) & (pixels >= COLOUR_PIXELS)
    doubtful = _doubtful()[scenes.body_paints()]
    no = ~body & (shares <= NO_COLOUR) & shown.any(axis=2, keepdims=True)
    return np.where(doubtful, 0, np.where(shown, 1, np.where(no, -1, 0))).astype(np.int8)


def only_colour(truths: np.ndarray) -> np.ndarray:
    """(n, v) int64 place in COLOURS of each vehicle's colour, -1 if it is not clear."""
    yes = truths == 1
    return np.where(yes.any(axis=2), yes.argmax(axis=2), -1)


def partly_hidden(visible: np.ndarray) -> np.ndarray:
    """Int8 truth of whether other vehicles hide some of vehicles, by their visible shares."""
    hidden = 1.0 - visible - HIDDEN[0]
    return ((hidden > HIDDEN_MARGIN[0]) * 1 - (hidden < -HIDDEN_MARGIN[0])).astype(np.int8)


def thirds(scenes: SceneBatch, size: tuple[int, int]) -> np.ndarray:
    """(n, v) int64 place in THIRDS of the middle of each vehicle's box, -1 near a border."""
    box = boxes(scenes, *size)
    third = (box[..., 0] + box[..., 2]) * (len(THIRDS) / 2) / size[0]
    near = np.min([np.abs(third - border) for border in range(1, len(THIRDS))], axis=0) < THIRD_MARGIN
    return np.where(near, -1, np.clip(third.astype(np.int64), 0, 2))


def classify_headings(turn: np.ndarray) -> np.ndarray:
    """Places in DIRECTIONS of angles from the viewer's right, radians; -1 where unclear."""
    off = np.abs((turn[..., None] - [*HEADINGS.values()] + np.pi) % (2 * np.pi) - np.pi)
    return np.where(off.min(axis=-1) <= np.pi / 4 - UNCLEAR_TURN, off.argmin(axis=-1), -1)


def classify_hidden(share: np.ndarray) -> np.ndarray:
    """Places in the answers of "hidden" of shares that are hidden; -1 near a border."""
    borders = zip(HIDDEN, HIDDEN_MARGIN, strict=True)
    near = np.any([np.abs(share - border) <= margin for border, margin in borders], axis=0)
    return np.where(near, -1, np.digitize(share, HIDDEN))


@cache
def outlines() -> tuple[np.ndarray, np.ndarray]:
    """Footprints of the meshes in the atlas, the empty slot last.

    Returns:
        (m + 1, k, 2) float64 corners, and (m + 1,) int64 how many of the k count.
    """
    vehicles = [outline(kind) for kind in ENTITIES]
    props = [outline(kind, TINTS * TINTS * pose) for kind, pose in STREET_MESHES]
    polygons = [*vehicles, *props, np.zeros((1, 2))]
    count = np.array([len(polygon) for polygon in polygons])
    return np.stack([np.resize(polygon, (count.max(), 2)) for polygon in polygons]), count


@cache
def bulks() -> np.ndarray:
    """(m + 1,) float64 side of a cube as big as each mesh in the atlas, metres; the empty slot has none."""
    low, high = atlas().bounds[:-1].astype(np.float64).transpose(1, 0, 2)
    return np.append(np.cbrt(np.prod(high - low, axis=1)), 0.0)


@cache
def groups() -> np.ndarray:
    """(entities + 1,) int64 place in GROUPS of every kind, -1 of the empty slot."""
    return np.array([*(GROUPS.index(group_of(kind)) for kind in ENTITIES), -1])


@cache
def has_front() -> np.ndarray:
    """(entities + 1,) bool: whether pictures show which way a kind heads; the empty slot has no front."""
    return ~np.isin([*ENTITIES, ""], [*ENDS_ALIKE, ""])


@cache
def nouns() -> dict[int, str]:
    """All nouns by their numbers in programs."""
    kinds = {ENTITY + place: name for place, name in enumerate(ENTITIES)}
    kinds |= {PROP + place: name for place, name in enumerate(PROPS)}
    return kinds | {WORD + place: word for place, word in enumerate(WORDS) if word in NOUNS}


@cache
def members() -> dict[int, np.ndarray]:
    """By the number of a noun in programs, (kinds + 1,) bool: which kinds it means, the empty slot last."""
    kinds = np.array([*ENTITIES, *PROPS, ""])
    return {
        number: np.isin(kinds, NOUNS[noun]) if number >= WORD else kinds == noun
        for number, noun in nouns().items()
    }


@cache
def alike() -> np.ndarray:
    """By the place of a noun in nouns(), (kinds + 1,) int8: PERHAPS_SHOWN for kinds that could be taken for
    what it means beside the road, or show one. Of a noun for vehicles, CALLED_SO for kinds that readers may
    call so, and CALLED_SO_IF_PAINTED for those that they may call so in the colour that it names.
    """
    kinds = np.array([*ENTITIES, *PROPS, ""])
    table = np.zeros((len(nouns()), len(kinds)), dtype=np.int8)
    for row, noun, means in zip(table, nouns().values(), members().values(), strict=True):
        if means[: len(ENTITIES)].any():
            others = other_readings(noun)
            row[np.isin(kinds, [*others.always])] = CALLED_SO
            row[np.isin(kinds, [*others.if_painted])] = CALLED_SO_IF_PAINTED
        else:
            row[np.isin(kinds, [*also_shown(kinds[means].tolist())])] = PERHAPS_SHOWN
    return table


@cache
def noun_colours() -> np.ndarray:
    """By the place of a noun in nouns(), int16 bit of the colour that it names, as in Views.called, or 0."""
    colours = [other_readings(noun).colour for noun in nouns().values()]
    return np.array([1 << list(COLOUR_WORDS).index(colour) if colour else 0 for colour in colours], np.int16)


@cache
def _called() -> np.ndarray:
    """(256,) int16 the colours that every paint may be called by, a bit each."""
    own = colour_of()[:, None] == np.arange(len(COLOURS))
    return ((own | _doubtful()) @ (1 << np.arange(len(COLOURS)))).astype(np.int16)


@cache
def _doubtful() -> np.ndarray:
    """(256, c) bool: the colours that a paint may be called by, if there are several."""
    table = np.zeros((len(colour_of()), len(COLOURS)), dtype=bool)
    for paint, words in ALSO_CALLED.items():
        places = [list(COLOUR_WORDS).index(word) for word in words]
        table[PAINTS.index(paint), [*places, colour_of()[PAINTS.index(paint)]]] = True
    return table


@cache
def paint_colours() -> np.ndarray:
    """(36,) int64 place in COLOURS of every paint, -1 if its colour has no name or several."""
    return np.where(_doubtful().any(axis=1), -1, colour_of())[: len(PAINTS)]


@cache
def own_colours() -> np.ndarray:
    """(entities,) int64 the same of each kind's own body."""
    return np.asarray(paint_colours()[atlas().own_paint[: len(ENTITIES)]])
