"""The values of programs over the pictures of sequences.

What a vehicle does over a sequence (where it drives, how fast, what happened to it) is a value like its
colour: :func:`show` works it out from the places in the pictures, in the order in which they are shown, so
that the evaluator of single pictures can run every program. Nodes about pictures, such as "ever", combine
what a part is worth in each of them, in strong Kleene logic.

- Where a vehicle drives is known if some two neighbouring pictures show it; how far, if the first and the
  last do; whether it changes its speed, if all do.
- A part about pictures depends on what each of them shows: what is not seen there is "perhaps there".
- Whether a vehicle passes another is known if the first and the last picture show both, on a side on which
  the camera sees it, too; which picture shows them nearest, if all do. In a part about pictures, it has
  passed by then.
- A question that names no picture is about what is in any of them: all in which it can be asked must agree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from simtown.core.exact import sincos
from simtown.language.meaning.evaluate import CLOSE, ILL_POSED, KNOWN, Values, evaluate
from simtown.language.meaning.limits import (
    CAMERA_STEP,
    DRIVEN,
    LANE_EDGE,
    LATER,
    MOVED,
    PACE_RATIO,
    PASSED,
    PLACED,
    SEATS_APART,
)
from simtown.language.meaning.programs import (
    DIRECTIONS,
    MEETINGS,
    OF_SEQUENCE,
    OVER_PICTURES,
    OVER_TIME,
    SPEEDS,
    Form,
    decode,
    encode,
    stored,
)
from simtown.language.meaning.views import has_front
from simtown.scenes.camera import NOMINAL
from simtown.scenes.placement import LEAST_VISIBLE
from simtown.scenes.scene import SceneBatch
from simtown.scenes.sequence import Sequence, pictures
from simtown.scenes.silhouette import unclipped_boxes, visibility

#: What stands for an order by speed, and for values over time, in the programs of a single picture.
_ORDERS = dict(zip(SPEEDS, ("biggest", "smallest"), strict=True))
_ASKED, _TESTED = "kind", "direction"
#: Places in the cameras of "left", "nearer" and "higher", and the sign of the step.
_CAMERA_AXES = ((0, -1), (1, 1), (2, 1))


@dataclass(eq=False)
class Shown:
    """n sequences as they are shown, P pictures each.

    Attributes:
        scenes: n P scenes, those of a sequence one after the other.
        visible: (n, P, v) float32 share of each vehicle that no other hides.
        seen: (n, P, v) bool, whether a picture shows a vehicle whole, and enough of it.
        deeds: by name of OVER_TIME (n, v) int64 place in its values, -1 where unclear; of OF_SEQUENCE (n,).
        meetings: by name of MEETINGS (n, P, v, v) int8 truth of whether the first vehicle does that to the
            second, up to each picture.
        travel: (n, v) float64 metres from the first picture to the last, nan unless both show the vehicle.
    """

    scenes: SceneBatch
    visible: np.ndarray
    seen: np.ndarray
    deeds: dict[str, np.ndarray]
    meetings: dict[str, np.ndarray]
    travel: np.ndarray

    def __len__(self) -> int:
        return len(self.seen)


def show(sequence: Sequence, order: np.ndarray, visible: np.ndarray | None = None) -> Shown:
    """Sequences as they are shown in an order, (n, P); `visible` are the shares, if they are known."""
    (n, count), scenes = order.shape, pictures(sequence, order)
    box = unclipped_boxes(scenes.entity, scenes.pose, scenes.camera, *NOMINAL)
    inside = (box[..., :2] >= 0).all(axis=2) & (box[..., 2:] <= NOMINAL).all(axis=2)
    if visible is None:
        visible = visibility(scenes.entity, scenes.pose, scenes.camera)
    visible = visible.reshape(n, count, scenes.entity.shape[1])
    seen = inside.reshape(visible.shape) & (visible >= LEAST_VISIBLE)
    pose, entity, paint, camera = (
        column.reshape(n, count, *column.shape[1:])
        for column in (scenes.pose.astype(np.float64), scenes.entity, scenes.paint, scenes.camera)
    )
    x = pose[..., 0]
    aside = aside_of(pose, camera)
    here = (entity >= 0).all(axis=1)
    steps, both = np.diff(x, axis=1), seen[:, 1:] & seen[:, :-1]
    driven = np.where(both, steps, 0).sum(axis=1)
    still = (steps == 0).all(axis=1)
    motion = np.select([driven > DRIVEN, driven < -DRIVEN, still], [0, 1, 2], -1)
    motion = np.where(both.any(axis=1) & here, motion, -1)
    ahead = np.cos(pose[:, 0, :, 2]) > 0
    front = has_front()[entity[:, 0]]
    drive = np.where((motion >= 0) & (motion < 2) & front, motion != np.where(ahead, 0, 1), -1)
    deeds = {
        "motion": motion,
        "drive": drive.astype(np.int64),
        "pace": _pace(sequence, order, seen),
        "change": _change(entity, pose, paint),
        "camera": _camera_step(camera[:, 0], camera[:, -1]),
        "seat": _seat(entity, pose, camera, seen),
        "place": _place(entity[:, -1], aside, box.reshape(*visible.shape, 4), seen[:, -1]),
        "moment": _one_moment(x, seen),
    }
    ends = seen[:, 0] & seen[:, -1]
    path = np.where(ends, np.abs(x[:, -1] - x[:, 0]), np.nan)
    return Shown(scenes, visible, seen, deeds, meetings_of(x, aside, seen), path)


def aside_of(pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """(n, P, v, v) metres by which the first vehicle stands right of the second, as the camera sees it."""
    eye = camera[:, :, :, None].astype(np.float64)
    dx, dy = pose[..., 0] - eye[:, :, 0], pose[..., 1] - eye[:, :, 1]
    sin, cos = sincos(eye[:, :, 3])
    along = dy * cos - dx * sin
    slope = (dx * cos + dy * sin) / along
    return np.asarray(
        (slope[..., None] - slope[..., None, :]) * 0.5 * (along[..., None] + along[..., None, :])
    )


def meetings_of(x: np.ndarray, aside: np.ndarray, seen: np.ndarray) -> dict[str, np.ndarray]:
    """What MEETINGS are true, from (n, P, v) places along the road: where the camera does not see the same,
    it is unclear.
    """
    gap = x[..., :, None] - x[..., None, :]
    both = seen[..., :, None] & seen[..., None, :]
    own = np.eye(x.shape[2], dtype=bool)
    agree = (gap > 0) == (aside > 0)
    far = np.minimum(np.abs(gap), np.abs(aside)) >= PASSED
    side = np.sign(gap) * (agree & far & both)
    passes = -side * side[:, :1]
    away, seen_away = np.abs(gap), np.abs(aside)
    clear = both.all(axis=1) & (away.argmin(axis=1) == seen_away.argmin(axis=1))
    for metres in (away, seen_away):
        first, second = np.sort(metres, axis=1)[:, :2].swapaxes(0, 1)
        clear &= second - first >= PASSED
    nears = np.where(away == away.min(axis=1, keepdims=True), 1, -1) * clear[:, None]
    return {
        name: np.where(own, -1, truth).astype(np.int8)
        for name, truth in zip(MEETINGS, (passes, nears), strict=True)
    }


def _one_moment(x: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """(n,) whether nothing drives between pictures: 1, or 0 if what the first and the last show does, by
    enough; -1 otherwise.
    """
    still = (x == x[:, :1]).all(axis=(1, 2))
    far = np.abs(x[:, -1] - x[:, 0]) >= LATER
    return np.where(still, 1, np.where((far & seen[:, 0] & seen[:, -1]).any(axis=1), 0, -1))


def _seat(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """(n, v) the picture, after the first, that each vehicle's driver sees; -1 unless it differs enough from
    all others: another one that looks the same way along its lane is SEATS_APART, and it shows a vehicle.
    """
    x, y, yaw = np.moveaxis(pose[:, :1], 3, 0)
    alike = np.abs(camera[:, :, 1, None] - y) < LANE_EDGE / 2
    alike &= np.sign(-np.sin(camera[:, :, 3, None])) == np.sign(np.cos(yaw))
    alike[:, 0] = False
    near = alike & (np.abs(camera[:, :, 0, None] - x) < SEATS_APART)
    own = near & (entity < 0)
    shows = (own & seen.any(axis=2, keepdims=True)).any(axis=1)
    others = np.where(shows, near.sum(axis=1), alike.sum(axis=1))
    return np.where((others == 1) & own.any(axis=1) & has_front()[entity[:, 0]], own.argmax(axis=1), -1)


def _place(kind: np.ndarray, aside: np.ndarray, box: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """(n, v) the place from the left of each vehicle among those of its kind in the last picture; -1 unless
    all are seen, it is apart from the others, and there and in the first picture both edges of their outlines
    are in the same order as their middles.
    """
    rivals = (kind[:, :, None] == kind[:, None]) & ~np.eye(kind.shape[1], dtype=bool)
    ends = [0, -1]
    edges = box[:, ends][..., [0, 2]]
    right = edges[:, :, :, None] > edges[:, :, None]
    agree = (right == (aside[:, ends] > 0)[..., None]).all(axis=(1, 4))
    last = aside[:, -1]
    clear = (~rivals | (agree & (np.abs(last) >= PLACED) & seen[:, None])).all(axis=2) & seen
    return np.where(clear, (rivals & (last > 0)).sum(axis=2), -1)


def _pace(sequence: Sequence, order: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """(n, v) places in the values of "pace"."""
    count = order.shape[1]
    first, then, change = np.moveaxis(np.abs(sequence.motion), 2, 0)
    change = np.where(first == then, sequence.seconds[:, 1:2], sequence.motion[..., 2])
    one_way = sequence.motion[..., 0] * sequence.motion[..., 1] >= 0
    between = (change >= sequence.seconds[:, 1:2]) & (change <= sequence.seconds[:, -2:-1])
    backwards = (order[:, :1] > order[:, -1:]) & np.ones_like(one_way)
    before, after = np.where(backwards, [then, first], [first, then])
    cases = [
        (before == after) & (before > 0),
        (before > 0) & (after >= PACE_RATIO * before),
        (after > 0) & (before >= PACE_RATIO * after),
        (before == 0) & (after > 0),
        (before > 0) & (after == 0),
    ]
    # stopping is slowing down, too
    places = np.select([cases[0], cases[3], cases[4], cases[1], cases[2]], [0, 3, 4, 1, 2], -1)
    return np.where(seen.all(axis=1) & one_way & between & (count > 2), places, -1)


def _change(entity: np.ndarray, pose: np.ndarray, paint: np.ndarray) -> np.ndarray:
    """(n, v) places in the values of "change", from (n, P, v) kinds, poses and paints."""
    before, after = entity[:, 0], entity[:, -1]
    came, went = (before < 0) & (after >= 0), (before >= 0) & (after < 0)
    both = (before >= 0) & (after >= 0)
    place = np.abs(pose[:, 0, :, :2] - pose[:, -1, :, :2]).max(axis=2)
    turned = pose[:, 0, :, 2] != pose[:, -1, :, 2]
    exchanged = before != after
    parts = [turned, (paint[:, 0] != paint[:, -1]) & ~exchanged, place > 0, exchanged]
    several = np.sum(parts, axis=0) > 1
    unclear = (place > 0) & (place < MOVED) | turned & ~has_front()[before]
    clear = both & ~several & ~unclear
    cases = [came, went, *(part & clear for part in parts), clear & ~np.any(parts, axis=0)]
    return np.select(cases, [5, 6, 1, 2, 3, 4, 0], -1)


def _camera_step(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """(n,) places in the values of "camera" of the step between two cameras, (n, 7); -1 unless it is along
    one axis, and long enough.
    """
    steps = np.stack([(last[:, axis] - first[:, axis]) * sign for axis, sign in _CAMERA_AXES], axis=1)
    other = (first[:, 3:] != last[:, 3:]).any(axis=1) | ((steps != 0).sum(axis=1) != 1)
    axis = np.abs(steps).argmax(axis=1)
    step = steps[np.arange(len(steps)), axis]
    return np.where(other | (np.abs(step) < CAMERA_STEP), -1, 2 * axis + (step < 0))


@lru_cache(maxsize=65536)
def _read(program: bytes) -> tuple[Form, tuple[Form, ...]]:
    """A stored program, and its parts that single pictures answer."""
    form = decode(np.frombuffer(program, dtype=np.int16))
    return form, tuple(leaf for leaf in dict.fromkeys(_leaves(form)) if leaf not in _WHOLE)


@lru_cache(maxsize=65536)
def _leaf(form: Form) -> tuple[tuple[int, ...], str]:
    """A program of a single picture that has the value of a part, and the value over time in it, or ""."""
    asked = next((name for name in OVER_TIME if name in form.words), "")

    def translated(part: Any) -> Any:
        if not isinstance(part, Form):
            return part
        match part.name, *part.parts:
            case "query", name, phrase if name == asked:
                return Form("query", (_ASKED, translated(phrase)))
            case "has", name, value if name == asked:
                return Form("has", (_TESTED, DIRECTIONS[OVER_TIME[asked].index(value)]))
            case ("compared" | "most") as order, speed, *others if speed in _ORDERS:
                return Form(order, (_ORDERS[speed], *map(translated, others)))
        return Form(part.name, tuple(map(translated, part.parts)))

    meeting = next((name for name in MEETINGS if name in form.words), "")
    return tuple(encode(translated(form))), asked or meeting or ("speed" if form.words & {*SPEEDS} else "")


@lru_cache(maxsize=65536)
def over_pictures(form: Form) -> bool:
    """Whether a program has a node about pictures."""
    return any(part.name in OVER_PICTURES for part in form.forms())


def _leaves(form: Form) -> Iterator[Form]:
    """The parts of a program that single pictures answer."""
    if not over_pictures(form):
        yield form
        return
    for part in form.parts:
        if isinstance(part, Form):
            yield from _leaves(part)


def evaluate_shown(shown: Shown, programs: np.ndarray, size: tuple[int, int]) -> Values:
    """The values of (n, LENGTH) programs, each over the pictures of its sequence, of so many pixels."""
    n, count = shown.seen.shape[:2]
    read = [_read(program.tobytes()) for program in programs]
    forms = [form for form, _ in read]
    leaves = [(row, leaf) for row, (_, own) in enumerate(read) for leaf in own]
    values = _leaf_values(shown, forms, leaves, size)
    of_row: list[dict[Form, Values]] = [{} for _ in range(n)]
    for place, (row, leaf) in enumerate(leaves):
        of_row[row][leaf] = values.at(np.arange(place * count, (place + 1) * count))
    out = Values.empty(n)
    for row, form in enumerate(forms):
        if form in _WHOLE:
            answer = int(shown.deeds[_WHOLE[form]][row])
            state = KNOWN if answer >= 0 else CLOSE
        else:
            answer, state = _combined(form, of_row[row])
        out.answer[row], out.state[row] = answer, state
        known = of_row[row].values()
        out.margin[row] = min((float(part.margin.min()) for part in known), default=np.inf)
        out.idle[row] = any(part.idle[part.state != ILL_POSED].all() for part in known)
    return out


_WHOLE = {Form("query", (name,)): name for name in OF_SEQUENCE}


def _leaf_values(
    shown: Shown, forms: list[Form], leaves: list[tuple[int, Form]], size: tuple[int, int]
) -> Values:
    """The values of leaves, each with its row, in all pictures of its row: those of a leaf one after the
    other.
    """
    n, count, vehicles = shown.seen.shape
    out = Values.empty(len(leaves) * count)
    translated = [_leaf(leaf) for _, leaf in leaves]
    flat = shown.scenes.entity >= 0
    groups = defaultdict(list)
    for place, ((row, _), (_, asked)) in enumerate(zip(leaves, translated, strict=True)):
        groups[asked, over_pictures(forms[row])].append(place)
    for (asked, names_pictures), places in groups.items():
        own, seen = np.array(places), shown.seen
        if not names_pictures:
            seen = np.broadcast_to(seen.any(axis=1, keepdims=True), seen.shape)
        given = {"sight": np.where(flat, seen.reshape(flat.shape), -1).astype(np.int8)}
        if asked in shown.meetings:
            table = shown.meetings[asked]
            table = table if names_pictures else np.broadcast_to(table[:, -1:], table.shape)
            given["met"] = table.reshape(n * count, vehicles, vehicles)
        elif asked == "speed":
            given["bulk"] = np.repeat(shown.travel, count, axis=0)
        elif asked:
            given |= dict.fromkeys((_ASKED, _TESTED), np.repeat(shown.deeds[asked], count, axis=0))
        at = (np.array([leaves[i][0] for i in places])[:, None] * count + np.arange(count)).reshape(-1)
        numbers = np.repeat(stored([list(translated[i][0]) for i in places]), count, axis=0)
        visible = shown.visible.reshape(n * count, vehicles)
        values = evaluate(shown.scenes, numbers, visible, size, at, given=given)
        out.keep((own[:, None] * count + np.arange(count)).reshape(-1), values)
    return out


def _combined(form: Form, leaves: dict[Form, Values]) -> tuple[int, int]:
    """The answer and the state of a program, from the values of its leaves in each picture."""
    if not over_pictures(form):
        return _agreed(leaves[form])
    match form.name, *form.parts:
        case "at", number, part if not over_pictures(part):
            own = leaves[part]
            if number > len(own.answer):
                return 0, ILL_POSED
            return int(own.answer[number - 1]), int(own.state[number - 1])
        case "differs", part:
            own = leaves[part]
            known = own.answer[own.state == KNOWN]
            if (own.state == ILL_POSED).any():
                return 0, ILL_POSED
            return (1, KNOWN) if len({*known.tolist()}) > 1 else (0, int(own.state.max()))
    asked = [_truths(part, leaves) for part in form.parts]
    truths = [part for part in asked if part is not None]
    if len(truths) < len(asked):
        return 0, ILL_POSED
    first, *others = truths
    match form.name:
        case "ever" | "or":
            truth = max(int(np.max(part)) for part in truths)
        case "always" | "and":
            truth = min(int(np.min(part)) for part in truths)
        case "not":
            truth = -int(first[0])
        case "first":
            begins = _begins(first)
            if begins == len(first):
                return 0, ILL_POSED
            return (begins, KNOWN) if begins >= 0 else (0, CLOSE)
        case "earlier":
            one, other = _begins(first), _begins(others[0])
            if min(one, other) == len(first):
                return 0, ILL_POSED
            if one < 0 or other < 0 or one == other:
                return 0, CLOSE
            truth = 1 if one < other else -1
    return (int(truth > 0), KNOWN) if truth else (0, CLOSE)


def _truths(form: Any, leaves: dict[Form, Values]) -> np.ndarray | None:
    """The truth of a part: in each picture, or of a part about pictures one; None if it cannot be asked."""
    if over_pictures(form):
        answer, state = _combined(form, leaves)
        return None if state == ILL_POSED else np.array([(2 * answer - 1) * (state == KNOWN)])
    own = leaves[form]
    if (own.state == ILL_POSED).any():
        return None
    return np.where(own.state == KNOWN, 2 * own.answer - 1, 0)


def _begins(truths: np.ndarray) -> int:
    """The first place at which something is true, the number of places if it never is, -1 if unclear."""
    for place, truth in enumerate(truths.tolist()):
        if truth >= 0:
            return place if truth else -1
    return len(truths)


def _agreed(values: Values) -> tuple[int, int]:
    """What all pictures say in which a question can be asked."""
    asked = values.state != ILL_POSED
    if not asked.any():
        return 0, ILL_POSED
    if (values.state[asked] == CLOSE).any():
        return 0, CLOSE
    answers = values.answer[asked]
    return int(answers[0]), KNOWN if (answers == answers[0]).all() else ILL_POSED
