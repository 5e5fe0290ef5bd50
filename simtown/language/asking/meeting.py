"""Drawing how vehicles drive past one that stands: who passes it, who does so first, and when one is nearest.

Where a vehicle is before it passes, and after, has one distribution whether it passes early or late, or not
at all, and it waits, or has stopped, in the pictures between: so no picture alone tells which it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simtown.scenes.camera import Camera
from simtown.scenes.placement import LANES, SWAY, framed_road, half_sizes
from simtown.scenes.sequence import travel

#: Metres from the one that stands at which vehicles that pass it begin and end, and at most where one is
#: nearest to it.
_APART, _NEAREST = (0.8, 2.6), 6.0
#: Metres from a picture to the next of one that turns back, and how many times as fast it is on one way.
_STEP, _MOST_STEPS = (0.6, 1.1), 2
#: The middle of parked vehicles stands so far from the near kerb as half their width, and this (y, metres).
_PARKED_FROM, _PARKING_SWAY = -5.68, 0.15


class Meeting(NamedTuple):
    """How vehicles of n streets drive past one that stands.

    Attributes:
        one: (n, v, 3) motions of the first sequences of pairs; `other` of the second.
        other: as `one`.
        place: (n, v) metres along the road from the one that stands, at the anchor moment.
        lane: (n, v) place in LANES, -1 of the one that stands, -2 of vehicles that have no part in it.
    """

    one: np.ndarray
    other: np.ndarray
    place: np.ndarray
    lane: np.ndarray


def draw_meeting(
    deed: str, u: np.ndarray, entity: np.ndarray, slots: np.ndarray, answers: np.ndarray, seconds: np.ndarray
) -> Meeting:
    """Meetings in which both questions of pairs have their answers.

    Args:
        deed: "passes" (how many do), "order" (whether the first named passes before the third) or "nears" (in
            which picture the first is nearest to the second).
        u: (n, v, MOTION_DRAWS) uniform numbers.
        entity: (n, v).
        slots: (n, 3) of the vehicles that questions name, -1 if there is none.
        answers: (n, 2) of both questions.
        seconds: (n, P).
    """
    n, vehicles = entity.shape
    stands = slots[:, 0] if deed == "passes" else slots[:, 1]
    movers = {"order": slots[:, [0, 2]], "nears": slots[:, :1]}.get(deed)
    if movers is None:
        free = (entity >= 0) & (np.arange(vehicles) != stands[:, None])
        movers = np.argsort(~free, axis=1, kind="stable")[:, :2]
    rows = np.arange(n)[:, None]
    own = u[rows, movers]
    if deed == "nears":
        paths = [_nearest(own, answer[:, None], seconds) for answer in answers.T]
        place, motions = paths[0][0], [motion for _, motion in paths]
    else:
        order = np.arange(2)
        early = own[..., 3] < 0.5
        if deed == "order":
            early = (order == 0) == (answers[:, :1] == 1)
        passing = [order < answer[:, None] if deed == "passes" else order >= 0 for answer in answers.T]
        place, motions = _passing(own, early, passing, seconds)
    still = np.zeros((n, vehicles, 3), np.float32)
    meeting = Meeting(still, still.copy(), np.zeros((n, vehicles)), np.full((n, vehicles), -2))
    meeting.one[rows, movers], meeting.other[rows, movers] = motions
    meeting.place[rows, movers] = place
    first_lane = (own[:, :1, 0] < 0.5).astype(int)
    meeting.lane[rows, movers] = (first_lane + np.arange(movers.shape[1])) % 2
    meeting.lane[np.arange(n), stands] = -1
    return meeting


def _passing(
    u: np.ndarray, early: np.ndarray, passing: list[np.ndarray], seconds: np.ndarray
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Places at the anchor moment, (n, m), and two motions, (n, m, 3), of vehicles that pass or that, from
    the same place, stand or stay on their side.
    """
    apart = (seconds[:, 1] - seconds[:, 0])[:, None]
    way = np.where(u[..., 7] < 0.5, 1, -1)
    before, after = (_APART[0] + (_APART[1] - _APART[0]) * u[..., k] for k in (4, 5))
    lasts = (0.5 + 0.5 * u[..., 6]) * apart  # so no picture shows it beside the one that stands
    change = np.where(early, seconds[:, :1] + lasts, seconds[:, -1:] - lasts)

    def motion(metres: np.ndarray) -> np.ndarray:
        speed = metres / lasts
        columns = [np.where(early, speed, 0), np.where(early, 0, speed), change]
        return np.stack(columns, axis=2).astype(np.float32)

    passes = motion(way * (before + after))
    place = -way * before - travel(passes, seconds[:, :1])[:, 0]
    # from one side it drives to where it would be after it passes, or came from, but on this side
    stays = motion(np.where(place * way < 0, way * (before - after), way * (after - before)))
    stays = np.where((u[..., 3] * 16 % 1 < 0.5)[..., None], stays, motion(np.zeros_like(before)))
    return place, [np.where(own[..., None], passes, stays).astype(np.float32) for own in passing]


def _nearest(u: np.ndarray, picture: np.ndarray, seconds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The place at the anchor moment, (n, m), and the motion, (n, m, 3), of vehicles that are nearest in a
    picture, (n, 1), where they turn back.

    One that is nearest in the first picture drives away until the second and stands from then on; one that is
    nearest in the last stands until the last but one. So the ends show almost the same distances.
    """
    count, apart = seconds.shape[1], (seconds[:, 1] - seconds[:, 0])[:, None]
    before, after = picture, count - 1 - picture
    way = np.where(u[..., 7] < 0.5, 1, -1)
    step = way * (_STEP[0] + (_STEP[1] - _STEP[0]) * u[..., 4]) / apart
    coming = step * np.clip(after / np.maximum(before, 1), 1, _MOST_STEPS)
    going = step * np.clip(before / np.maximum(after, 1), 1, _MOST_STEPS)
    cases = [before == 0, after == 0]
    first, then = np.select(cases, [step, 0 * step], -coming), np.select(cases, [0 * step, -step], going)
    turn = np.select(cases, [1, count - 2], picture)
    change = np.broadcast_to(np.take_along_axis(seconds, turn, axis=1), first.shape)
    motion = np.stack([first, then, change], axis=2).astype(np.float32)
    metres = way * _NEAREST * u[..., 6]
    return metres - travel(motion, np.take_along_axis(seconds, picture, axis=1))[:, 0], motion


def place_meeting(
    meeting: Meeting, u: np.ndarray, entity: np.ndarray, camera: np.ndarray, seconds: np.ndarray
) -> np.ndarray:
    """(n, v, 3) float32 poses at the anchor moment of the vehicles of meetings, nan of the others.

    All pictures frame them. The one that stands is parked where the camera shows the kerb, and otherwise it
    stands in the other lane.
    """
    half = half_sizes()[entity]
    stands, takes_part = meeting.lane == -1, meeting.lane >= -1
    other_lane = 1 - np.where(meeting.lane >= 0, meeting.lane, 0).max(axis=1, keepdims=True)
    lane = np.where(stands, other_lane, np.maximum(meeting.lane, 0))
    y, yaw = (np.array(LANES)[lane, column] for column in range(2))
    y = y + SWAY * (2 * u[..., 1] - 1)
    parked = _PARKED_FROM + half[..., 1] + _PARKING_SWAY * u[..., 1]
    kerb_seen = (camera[:, 1] < Camera().y)[:, None]
    y = np.where(stands & kerb_seen, parked, y)
    yaw = np.where(stands & kerb_seen, np.where(u[..., 0] < 0.5, np.pi, 0.0), yaw)
    left, right = framed_road(entity, y, camera)
    moved = np.concatenate([travel(motion, seconds) for motion in (meeting.one, meeting.other)], axis=1)
    low = np.where(takes_part, left - meeting.place - moved.min(axis=1), -np.inf).max(axis=1)
    high = np.where(takes_part, right - meeting.place - moved.max(axis=1), np.inf).min(axis=1)
    middle = low + (high - low) * np.where(stands, u[..., 2], 0).sum(axis=1)
    pose = np.stack([middle[:, None] + meeting.place, y, yaw], axis=2).astype(np.float32)
    return np.where(takes_part[..., None], pose, np.float32(np.nan))
