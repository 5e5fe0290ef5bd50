"""Drawing what differs in the pictures of sequences: how vehicles drive, an edit.

What is asked for is drawn, and not waited for: the vehicle that a question names gets the motion or the edit
that makes the answer true. Vehicles come from a flow that is wider than the picture: the place in the middle
of the sequence is drawn first, over more road than the picture frames, and the direction afterwards. So what
drives left is framed as often, and in the same places, as what drives right, in the pictures' reverse order;
and a lane says nothing about a direction, since backing is as likely as driving on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from simtown.assets.entities import ENTITIES
from simtown.core.streams import Stream
from simtown.language.meaning.limits import MOVED, PACE_RATIO
from simtown.language.meaning.programs import OVER_TIME
from simtown.language.meaning.views import paint_colours
from simtown.scenes.paint import may_change
from simtown.scenes.placement import GAP, LANES, SWAY, apart, framed_road, half_sizes
from simtown.scenes.sequence import Sequence, pictures, travel

#: Metres that a vehicle drives from a picture to the next, and the seconds between, of which one is drawn.
STEP, BETWEEN = (0.6, 2.0), (0.25, 0.5, 1.0)
#: The path of a vehicle whose direction is asked for: a share of the road on which a picture frames it, and
#: metres at least. A place tells the direction only if it is less than that from an edge.
_SHARE, _LEAST = (0.1, 0.18), 0.8
#: Shares of the other vehicles that stand, and below which they drive at one speed; the rest change theirs.
_STANDS, _STEADY = 0.3, 0.8
#: How many times faster a vehicle is after it speeds up, or before it slows down.
_RATIO = (1.6, 3.0)
#: Metres of road beyond the picture from which vehicles come that are not asked about.
_BEYOND = 5.0
#: Uniform numbers for each vehicle, and for an edit.
MOTION_DRAWS, EDIT_DRAWS = 8, 6


class Goal(NamedTuple):
    """What the vehicle that is asked about does in n sequences.

    Attributes:
        slot: (n,) its slot, -1 if no vehicle is.
        deed: name of OVER_TIME, or "" if anything will do.
        answer: (n,) place in its values.
    """

    slot: np.ndarray
    deed: str
    answer: np.ndarray

    def of(self, deed: str, vehicles: int) -> np.ndarray:
        """(n, v) the answers that vehicles must have to a deed, -1 where anything will do."""
        own = (np.arange(vehicles) == self.slot[:, None]) & (self.deed == deed)
        return np.where(own, self.answer[:, None], -1)


def draw_seconds(stream: Stream, index: np.ndarray, count: int, whole: float) -> np.ndarray:
    """(n, P) seconds of pictures, alike apart, of which a random one is the anchor moment.

    Args:
        stream: the draws.
        index: (n,) addresses.
        count: P.
        whole: seconds from the first picture to the last; 0 if the time between two is drawn.
    """
    between, anchor = stream.uniform(index, 2).T
    step = np.array(BETWEEN)[(between * len(BETWEEN)).astype(np.int64)]
    step = np.full_like(step, whole / (count - 1)) if whole else step
    return ((np.arange(count) - (anchor * count).astype(np.int64)[:, None]) * step[:, None]).astype(
        np.float32
    )


def draw_speeds(
    u: np.ndarray, yaw: np.ndarray, seconds: np.ndarray, goal: Goal, room: np.ndarray
) -> np.ndarray:
    """(n, v, 3) float32 motions by which the goals are reached.

    Args:
        u: (n, v, MOTION_DRAWS) uniform numbers.
        yaw: (n, v) headings.
        seconds: (n, P).
        goal: of the vehicle that is asked about.
        room: (n, v) metres of road on which a picture frames vehicles.
    """
    vehicles = yaw.shape[1]
    motion, drive, pace = (goal.of(deed, vehicles) for deed in ("motion", "drive", "pace"))
    steady, faster, slower, starts, stops = range(len(OVER_TIME["pace"]))
    kind = np.select(
        [u[..., 3] < _STANDS, u[..., 3] < _STEADY], [-1, steady], 1 + (u[..., 6] * 4).astype(int)
    )
    kind = np.where(pace >= 0, pace, np.where((motion == 0) | (motion == 1) | (drive >= 0), steady, kind))
    kind = np.where(motion == 2, -1, kind)
    way = np.where(u[..., 7] < 0.5, 1.0, -1.0)
    way = np.where(drive >= 0, np.where((yaw == 0) == (drive == 0), 1.0, -1.0), way)
    way = np.where((motion == 0) | (motion == 1), 1.0 - 2.0 * motion, way)
    step = STEP[0] + (STEP[1] - STEP[0]) * u[..., 4]
    short = np.maximum((_SHARE[0] + (_SHARE[1] - _SHARE[0]) * u[..., 4]) * room, _LEAST)
    step = np.where((motion >= 0) | (drive >= 0), short / (seconds.shape[1] - 1), step)
    ratio = _RATIO[0] + (_RATIO[1] - _RATIO[0]) * u[..., 5]
    slow = np.maximum(step / ratio, STEP[0] / PACE_RATIO)
    first = np.select([kind == -1, kind == starts, kind == faster], [0.0, 0.0, slow], step)
    then = np.select([kind == -1, kind == stops, kind == slower], [0.0, 0.0, slow], step)
    apart = (seconds[:, 1] - seconds[:, 0])[:, None]
    early, late = seconds[:, 1:2], seconds[:, -2:-1]
    change = np.where((kind == -1) | (kind == steady), 0.0, early + (late - early) * u[..., 6])
    return np.stack([way * first / apart, way * then / apart, change], axis=2).astype(np.float32)


def make_faster(motion: np.ndarray, slots: np.ndarray, faster: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Motions of which one of two vehicles drives farther than the other: where needed they exchange speeds.

    Args:
        motion: (n, v, 3).
        slots: (n, 2) the two vehicles.
        faster: (n,) bool, whether the first is the faster one.
        seconds: (n, P).
    """
    rows = np.arange(len(motion))[:, None]
    own = motion[rows, slots]
    way = np.where(own[..., :2].sum(axis=2, keepdims=True) < 0, -1, 1).astype(np.float32)
    own[..., :2] = np.abs(own[..., :2])
    far = np.diff(travel(own, seconds[:, [0, -1]]), axis=1)[:, 0]
    swap = (far[:, 0] > far[:, 1]) != faster
    own = np.where(swap[:, None, None], own[:, ::-1], own)
    own[..., :2] *= way
    result = motion.copy()
    result[rows, slots] = own
    return result


def draw_places(
    u: np.ndarray,
    entity: np.ndarray,
    camera: np.ndarray,
    moved: list[np.ndarray],
    asked: np.ndarray,
    whole: np.ndarray,
) -> np.ndarray:
    """(n, v, 3) float32 poses at the anchor moment.

    Args:
        u: (n, v, MOTION_DRAWS) uniform numbers.
        entity: (n, v).
        camera: (n, 7).
        moved: metres from the anchor moment, (n, P, v) each, of sequences that share these places.
        asked: (n, v) bool, which vehicles a question is about; the others come from a wider flow, so that
            they are in the way of these in all places alike.
        whole: (n, v) bool, which vehicles all pictures must frame; the others come from the flow.
    """
    lane = np.where(u[..., 0] < 0.5, 1, 0)
    y, yaw = (np.array(LANES)[lane, column] for column in range(2))
    y = y + SWAY * (2 * u[..., 1] - 1)
    left, right = framed_road(entity, y, camera)
    every = np.concatenate(moved, axis=1)
    middle = 0.5 * (moved[0][:, 0] + moved[0][:, -1])
    reach = 0.5 * np.abs(moved[0][:, -1] - moved[0][:, 0]) + np.where(asked, 0, _BEYOND)
    low = np.where(whole, left - every.min(axis=1), left - reach - middle)
    high = np.where(whole, right - every.max(axis=1), right + reach - middle)
    x = low + (high - low) * u[..., 2]
    pose = np.stack([x, y, yaw], axis=2).astype(np.float32)
    pose[entity < 0] = 0
    return pose


def keep_apart(entity: np.ndarray, pose: np.ndarray, motion: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """(n,) bool, whether no two vehicles come closer than the gap from the first picture to the last.

    Two that drive along one lane are closest at an end, or when one of them changes its speed.
    """
    first, last = seconds.min(axis=1, keepdims=True), seconds.max(axis=1, keepdims=True)
    moments = np.concatenate([first, last, np.clip(motion[..., 2], first, last)], axis=1)
    x = pose[:, None, :, 0].astype(np.float64) + travel(motion, moments)
    half = half_sizes()[entity]
    i, j = np.triu_indices(entity.shape[1], 1)
    between = x[:, :, i] - x[:, :, j]
    near = np.abs(pose[:, i, 1] - pose[:, j, 1]) < half[:, i, 1] + half[:, j, 1] + GAP
    room = half[:, i, 0] + half[:, j, 0] + GAP
    clear = (between > room[:, None]).all(axis=1) | (between < -room[:, None]).all(axis=1)
    there = (entity[:, i] >= 0) & (entity[:, j] >= 0)
    return np.asarray((clear | ~near | ~there).all(axis=1))


def edited(sequence: Sequence, goal: Goal, u: np.ndarray, chances: np.ndarray) -> Sequence:
    """Sequences with the edits of goals about "change".

    Args:
        sequence: n sequences of which nothing is edited.
        goal: what happens to a vehicle.
        u: (n, EDIT_DRAWS) uniform numbers.
        chances: (entities,) of the kinds for which it may be exchanged.
    """
    if goal.deed != "change":
        return sequence
    rows, slot = np.arange(len(sequence)), goal.slot
    street = sequence.street
    is_ = {name: goal.answer == place for place, name in enumerate(OVER_TIME["change"])}
    entity, paint = street.entity[rows, slot].copy(), street.paint[rows, slot].copy()
    pose = street.pose[rows, slot].astype(np.float64)
    pose[:, 2] = np.where(is_["turned"], np.where(pose[:, 2] == 0, LANES[1][1], 0.0), pose[:, 2])
    step = (MOVED + 0.5 + 3 * u[:, 0]) * np.where(u[:, 1] < 0.5, 1, -1)
    pose[:, 0] += np.where(is_["moved"], step, 0)
    sums = np.cumsum(chances)
    other = np.minimum(np.searchsorted(sums, u[:, 2] * sums[-1], side="right"), len(ENTITIES) - 1)
    colours = paint_colours()
    paints = np.flatnonzero(colours >= 0)
    old, new = paints[(u[:, 3:5] * len(paints)).astype(int).T]
    # whatever happens, its paint is none that its kind has more often
    paint = np.where(may_change()[entity], old, -1)
    gone, came = is_["went"], is_["came"]
    own = street.entity.copy(), street.pose.copy(), street.paint.copy()
    own[2][rows, slot] = paint
    fits = may_change()[entity] & (colours[new] != colours[old])
    paint = np.where(is_["painted"] & fits, new, np.where(is_["exchanged"], -1, paint)).astype(np.int8)
    for column, empty in zip(own, (-1, 0, -1), strict=True):
        column[rows[came], slot[came]] = empty
    new_pose = pose.astype(np.float32)
    new_pose[gone] = 0
    return replace(
        sequence,
        street=replace(street, entity=own[0], pose=own[1], paint=own[2]),
        edited=slot.astype(np.uint8),
        edit_entity=np.where(gone, -1, np.where(is_["exchanged"], other, entity)).astype(np.int16),
        edit_pose=new_pose,
        edit_paint=np.where(gone, -1, paint).astype(np.int8),
    )


def may_stand(sequence: Sequence) -> np.ndarray:
    """(n,) bool, whether after the edits no two vehicles touch and the camera frames the one that changes."""
    after = pictures(sequence)[np.arange(len(sequence)) * sequence.seconds.shape[1] + 1]
    rows, slot = np.arange(len(sequence)), np.minimum(sequence.edited, after.entity.shape[1] - 1)
    x, y = after.pose[..., 0], after.pose[..., 1].astype(np.float64)
    left, right = framed_road(after.entity.astype(np.int64), y, after.camera)
    framed = (x >= left) & (x <= right) | (after.entity < 0)
    return apart(after.entity.astype(np.int64), after.pose) & framed[rows, slot]
