"""Values over the pictures of sequences, against plain loops over the places in each picture."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.assets.entities import ENTITIES
from simtown.language.asking.families import sequence_families
from simtown.language.asking.question import AskingRecipe
from simtown.language.asking.question_world import AskedWorld
from simtown.language.asking.sequences import REVERSED, SequenceRecipe, ask_sequences
from simtown.language.meaning.answers import ANSWERS
from simtown.language.meaning.evaluate import CLOSE, ILL_POSED, KNOWN, evaluate
from simtown.language.meaning.moments import evaluate_shown, show
from simtown.language.meaning.programs import ENTITY, decode, encode, parse, stored
from simtown.language.meaning.views import ENDS_ALIKE
from simtown.scenes.placement import LEAST_VISIBLE
from simtown.scenes.scene import Scene, SceneBatch, Vehicle
from simtown.scenes.sequence import Sequence, in_order, pictures
from simtown.scenes.silhouette import unclipped_boxes, visibility
from simtown.scenes.weather import DEFAULT_WEATHERS

SIZE = (128, 128)
COUNTS = {"time": 4, "change": 2, "views": 3}


def recipe(mode, *names):
    chances = np.full(60, 1 / 60)
    world = replace(AskedWorld.of(chances, np.zeros(0), DEFAULT_WEATHERS, 2, 4), pictures=COUNTS[mode])
    own = tuple(
        f for f in sequence_families().values() if f.sequence == mode and (not names or f.name in names)
    )
    return SequenceRecipe(AskingRecipe(3, "train", world, own, DEFAULT_WEATHERS, SIZE), mode, COUNTS[mode])


def tracks(sequence, order):
    """By slot, what each picture shows of it: (kind, x, y, yaw, paint, whether it is seen), in order."""
    scenes = pictures(sequence, order[None])
    share = visibility(scenes.entity, scenes.pose, scenes.camera)
    box = unclipped_boxes(scenes.entity, scenes.pose, scenes.camera, 256, 144)
    rows = []
    for slot in range(scenes.entity.shape[1]):
        shots = []
        for k in range(len(scenes)):
            x0, y0, x1, y1 = box[k, slot]
            seen = x0 >= 0 and y0 >= 0 and x1 <= 256 and y1 <= 144 and share[k, slot] >= LEAST_VISIBLE
            pose = [float(value) for value in scenes.pose[k, slot]]
            shots.append((int(scenes.entity[k, slot]), *pose, int(scenes.paint[k, slot]), bool(seen)))
        rows.append(shots)
    return rows, scenes.camera.astype(float)


def driven(shots):
    """Metres along the road between neighbouring pictures that both show a vehicle, or None."""
    steps = [b[1] - a[1] for a, b in pairwise(shots) if a[5] and b[5]]
    return sum(steps) if steps else None


def plain_motion(shots):
    metres = driven(shots)
    if metres is None:
        return None
    if len({shot[1] for shot in shots}) == 1:
        return "still"
    return "right" if metres > 0.5 else "left" if metres < -0.5 else None


def plain_drive(shots):
    way = {"right": 1, "left": -1}.get(plain_motion(shots))
    if way is None or ENTITIES[shots[0][0]] in ENDS_ALIKE:
        return None
    return "forwards" if way * np.cos(shots[0][3]) > 0 else "backwards"


def plain_pace(shots):
    """From the metres of the first and the last step, since all steps take as long."""
    if not all(shot[5] for shot in shots):
        return None
    steps = [abs(b[1] - a[1]) for a, b in pairwise(shots)]
    first, last = steps[0], steps[-1]
    if first < 1e-4 or last < 1e-4:
        return "starts" if last > first else "stops" if first > last else None
    if abs(first - last) < 1e-4:
        return "goes on"
    ratio = last / first
    return "speeds up" if ratio >= 1.5 else "slows down" if ratio <= 1 / 1.5 else None


def plain_change(shots):
    (kind, x, y, yaw, paint, _), (after, x2, y2, yaw2, paint2, _) = shots[0], shots[-1]
    if kind < 0 or after < 0:
        return "came" if kind < 0 else "went"
    found = [
        name
        for name, differs in (
            ("exchanged", kind != after), ("turned", yaw != yaw2),
            ("painted", kind == after and paint != paint2), ("moved", abs(x - x2) >= 1 or abs(y - y2) >= 1),
        )
        if differs
    ]  # fmt: skip
    return found[0] if len(found) == 1 else None if found else "nothing"


def plain_camera(cameras):
    dx, dy, dz = (cameras[-1] - cameras[0])[:3].tolist()
    names = {
        ("left", "right")[dx > 0]: dx,
        ("farther", "nearer")[dy > 0]: dy,
        ("lower", "higher")[dz > 0]: dz,
    }
    (name,) = [name for name, metres in names.items() if abs(metres) >= 1]
    return name


def seen_aside(shot, other, camera):
    """Metres from one to another, to the right of a camera that looks along the street."""
    depths = [own[2] - camera[1] for own in (shot, other)]
    tangents = [(own[1] - camera[0]) / depth for own, depth in zip((shot, other), depths, strict=True)]
    return (tangents[0] - tangents[1]) * sum(depths) / 2


def side(shots, other, k, camera):
    """-1 or 1, to the left or right of another one along the road in a picture, and as the camera sees it; 0
    if close, not seen, or if the two differ.
    """
    metres = shots[k][1] - other[k][1], seen_aside(shots[k], other[k], camera)
    if min(map(abs, metres)) < 0.5 or not (shots[k][5] and other[k][5]):
        return 0
    return {(True, True): 1, (False, False): -1}.get((metres[0] > 0, metres[1] > 0), 0)


def passed(shots, other, cameras):
    """By picture, whether one has passed another by then, or None."""
    signs = [side(shots, other, k, cameras[k]) for k in range(len(shots))]
    return [None if not (signs[0] and sign) else sign != signs[0] for sign in signs]


def plain_first(shots, other, cameras):
    """The picture in which one has passed another; the number of pictures if none does."""
    truths = passed(shots, other, cameras)
    begins = truths.index(True) if True in truths else len(truths)
    return None if None in truths[:begins] else begins


def plain_nearest(shots, other, cameras):
    """The picture in which two are nearest by 0.5 m, both along the road and as the cameras see it."""
    if not all(a[5] and b[5] for a, b in zip(shots, other, strict=True)):
        return None
    found = set()
    for metres in (
        [abs(a[1] - b[1]) for a, b in zip(shots, other, strict=True)],
        [abs(seen_aside(*both)) for both in zip(shots, other, cameras, strict=True)],
    ):
        first, second = sorted(metres)[:2]
        found.add(metres.index(first) if second - first >= 0.5 else None)
    return None if None in found or len(found) > 1 else f"picture {found.pop() + 1}"


def plain_seat(shots, cameras):
    """The picture, after the first, whose camera stands where a vehicle is, and looks where it heads."""
    _, x, y, yaw, *_ = shots[0]
    here = [
        k + 1
        for k, (cx, cy, _, turn, *_) in enumerate(cameras.tolist())
        if k and abs(cx - x) < 3 and abs(cy - y) < 1.85 and np.cos(turn + np.pi / 2 - yaw) > 0.9
    ]
    return f"picture {here[0]}" if len(here) == 1 else None


def plain_place(every, kind, cameras):
    """The place from the left, in the last picture, of the leftmost one of the first: by angles."""
    own = [shots for shots in every if shots[0][0] == kind]
    assert all(shots[0][5] and shots[-1][5] for shots in own)

    def along(shots, camera):
        dx, dy = shots[0][1] - camera[0], shots[0][2] - camera[1]
        return -np.angle(np.exp(-1j * camera[3]) * complex(dx, dy))

    leftmost = min(own, key=lambda shots: along(shots, cameras[0]))
    last = sorted(own, key=lambda shots: along(shots, cameras[-1]))
    return ("first", "second", "third")[[shots is leftmost for shots in last].index(True)]


def plain_moment(every):
    apart = [abs(shots[-1][1] - shots[0][1]) for shots in every if shots[0][5] and shots[-1][5]]
    still = all(len({shot[1] for shot in shots}) == 1 for shots in every)
    return "yes" if still else "no" if max(apart) >= 1.5 else None


PLAIN = {"motion": plain_motion, "drive": plain_drive, "pace": plain_pace, "change": plain_change}


def plain_answer(form, shots, cameras):
    """The answer of a question of the families, in words."""
    if form.name == "query" and form.parts == ("camera",):
        return plain_camera(cameras)
    if form.name == "query" and form.parts == ("moment",):
        return plain_moment(shots)
    if form.name == "at":
        return plain_place(shots, ENTITIES.index(form.parts[1].parts[1].parts[0].parts[1].parts[0]), cameras)

    def meant(phrase):
        kind = ENTITIES.index(phrase.parts[0].parts[0])
        (slot,) = [s for s, own in enumerate(shots) if kind in [shot[0] for shot in own]]
        return shots[slot]

    if form.name == "count":
        stands = meant(form.parts[0].parts[1].parts[0])
        others = [own for own in shots if own is not stands and own[0][0] >= 0]
        truths = [passed(own, stands, cameras)[-1] for own in others]
        return None if None in truths else str(sum(truths))
    if form.name == "first":
        return plain_nearest(
            *(meant(phrase) for phrase in (form.parts[0].parts[0], form.parts[0].parts[1].parts[0])), cameras
        )
    if form.name == "earlier":
        (one, stands), (other, _) = (
            map(meant, (part.parts[0], part.parts[1].parts[0])) for part in form.parts
        )
        begins = [plain_first(own, stands, cameras) for own in (one, other)]
        return None if None in begins else "yes" if begins[0] < begins[1] else "no"
    if form.name == "query" and form.parts[0] == "seat":
        return plain_seat(meant(form.parts[1]), cameras)
    if form.name == "holds":
        one, other = (meant(phrase) for phrase in (form.parts[0], form.parts[1].parts[1]))
        more = abs(one[-1][1] - one[0][1]) - abs(other[-1][1] - other[0][1])
        return "yes" if more > 0.5 else "no" if more < -0.5 else None
    return PLAIN[form.parts[0]](meant(form.parts[1]))


@pytest.mark.parametrize("mode", COUNTS)
def test_answers_are_what_the_places_in_the_pictures_say(mode):
    own = recipe(mode)
    asked = ask_sequences(own, np.arange(96))
    for row, family in enumerate(asked.family.tolist()):
        shots, cameras = tracks(asked.sequence[row : row + 1], asked.order[row])
        names = ANSWERS[own.asking.families[family].answer]
        assert plain_answer(decode(asked.program[row]), shots, cameras) == names[asked.answer[row]]


def test_both_edges_of_alike_vehicles_have_one_order_from_the_left():
    asked = ask_sequences(recipe("views", "match"), np.arange(32))
    for row, program in enumerate(asked.program):
        scenes = pictures(asked.sequence[row : row + 1], asked.order[row : row + 1])
        kind = encode(decode(program))[-1] - ENTITY
        box = unclipped_boxes(scenes.entity, scenes.pose, scenes.camera, 256, 144)[
            :, scenes.entity[0] == kind
        ]
        for shot in (0, -1):
            assert (box[shot, :, 0].argsort() == box[shot, :, 2].argsort()).all()


@pytest.mark.parametrize("mode", COUNTS)
def test_an_example_depends_on_its_number_alone(mode):
    own = recipe(mode)
    every, few = ask_sequences(own, np.arange(24)), ask_sequences(own, np.array([5, 22]))
    for name, column in few.sequence.columns().items():
        assert (column == every.sequence.columns()[name][[5, 22]]).all()
    assert few.words == [every.words[5], every.words[22]]
    assert (few.answer == every.answer[[5, 22]]).all()


def test_direction_cannot_be_told_from_the_places_of_one_picture():
    """Of reversed pairs, a place in the first picture says little about the direction."""
    asked = ask_sequences(recipe("time", "backs"), np.arange(3000))
    assert (asked.shared == REVERSED).all()
    motion = asked.sequence.motion[::2, :, 0]
    kinds = np.array([encode(decode(program))[-1] - ENTITY for program in asked.program[::2]])
    slot = (asked.sequence.street.entity[::2] == kinds[:, None]).argmax(axis=1)
    rows = np.arange(len(slot))
    x = pictures(asked.sequence[::2]).pose[::4, :, 0][rows, slot]
    right = motion[rows, slot] > 0
    framed = np.abs(x) < 6
    halves = [right[framed & (x < 0)].mean(), right[framed & (x >= 0)].mean()]
    assert abs(halves[0] - halves[1]) < 0.12
    lane = asked.sequence.street.pose[::2][rows, slot, 1] > 0
    assert abs(right[lane].mean() - right[~lane].mean()) < 0.12


TRUTHS = [
    "holds(the(all(taxi)), related(left of, the(all(bus))))",
    "holds(the(all(taxi)), related(right of, the(all(bus))))",
    "exist(all(bus))",
]


@given(
    st.lists(st.floats(-5, 5, width=32), min_size=2, max_size=2), st.floats(-3, 3, width=32),
    st.sampled_from(TRUTHS), st.sampled_from(TRUTHS), st.permutations(range(3)),
)  # fmt: skip
def test_nodes_combine_what_each_picture_says(places, speed, one, other, order):
    taxi, bus = Vehicle("taxi", places[0], -1.85), Vehicle("city bus", places[1], 1.85, np.pi)
    one, other = (text.replace("bus", "city bus") for text in (one, other))
    sequence = Sequence.still(SceneBatch.of([Scene(vehicles=[taxi, bus])]), 3)
    sequence.motion[0, 0, :2], sequence.seconds[0] = speed, [0, 1, 2]
    order = np.array([order], dtype=np.uint8)
    shown = show(sequence, order)

    def value(text):
        values = evaluate_shown(shown, stored([encode(parse(text))]), SIZE)
        return (
            int(values.answer[0])
            if values.state[0] == KNOWN
            else [None, "ill"][int(values.state[0] == ILL_POSED)]
        )

    def alone(text, k):
        """The truth in one picture, of what this shows."""
        scene = shown.scenes[np.array([k])]
        seen = np.where(shown.seen[:, k], 1, 0).astype(np.int8)
        values = evaluate(scene, stored([encode(parse(text))]), size=SIZE, given={"sight": seen})
        return {KNOWN: bool(values.answer[0]), CLOSE: None, ILL_POSED: "ill"}[int(values.state[0])]

    a, b = ([alone(text, k) for k in range(3)] for text in (one, other))
    if "ill" in (*a, *b):
        return
    kleene = {True: 1, False: 0, None: None}
    assert [value(f"at({k + 1}, {one})") for k in range(3)] == [kleene[truth] for truth in a]
    assert value(f"ever({one})") == (1 if True in a else None if None in a else 0)
    assert value(f"always({one})") == (0 if False in a else None if None in a else 1)
    assert value(f"differs({one})") == (1 if {True, False} <= {*a} else None if None in a else 0)

    def begins(truths):
        for k, truth in enumerate(truths):
            if truth is not False:
                return k if truth else None
        return "never"

    first, second = begins(a), begins(b)
    assert value(f"first({one})") == ("ill" if first == "never" else first)
    known = None not in (first, second) and first != second
    never = len(a)
    at = [never if start == "never" else start for start in (first, second)]
    if first == second == "never":
        assert value(f"earlier({one}, {other})") == "ill"
    else:
        assert value(f"earlier({one}, {other})") == (int(at[0] < at[1]) if known else None)


def test_reversed_pairs_are_one_sequence_and_all_others_share_a_picture():
    for mode, count in COUNTS.items():
        asked = ask_sequences(recipe(mode), np.arange(64))
        one, other = (pictures(asked.sequence[k::2], asked.order[k::2]).columns() for k in (0, 1))
        shared = asked.shared[::2]
        assert (asked.answer[::2] != asked.answer[1::2]).all()
        for name in one:
            first, second = (part[name].reshape(32, count, -1) for part in (one, other))
            back = shared == REVERSED
            assert (first[back] == second[back][:, ::-1]).all()
            rows = np.flatnonzero(~back)
            assert (first[rows, shared[rows]] == second[rows, shared[rows]]).all()
        assert (asked.order[0::2] == in_order(count)).all()
