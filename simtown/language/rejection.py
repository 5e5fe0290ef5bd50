"""One example by rejection sampling, compiled: the paper's procedure (sections 2.2, 6.3 and 6.5), read from
:func:`example` downwards.

A :class:`SamplingPlan` is a recipe in numbers. Every draw has an address (component, example, attempt), so an
example's arrays depend on the plan and its number alone.
"""

# mypy: disable-error-code="no-untyped-def,operator"
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simtown.core.exact import inlined_kernel, inner_kernel, part_of_kernel
from simtown.core.streams import pick, uniform, words
from simtown.language.relations import LATERAL, RADIAL, margin, stands, truth
from simtown.scenes.paint import paint_of
from simtown.scenes.placement import LEAST_VISIBLE, pair_lanes, place, place_beside, too_close
from simtown.scenes.silhouette import Desk, hides, in_picture, look, put, share
from simtown.scenes.street import Draft, PropKinds, street_of
from simtown.scenes.weather import weather_of

F = np.float32
#: Most attempts of any one loop for one example; reached only where a setting makes an example impossible.
CAP = 10_000
#: Attempts at a distractor before the whole scene is placed anew.
PATIENCE = 40
#: Scenes in which a distractor is tried before another kind is drawn for it: three long vehicles may not fit
#: the street.
SCENES_A_KIND = 10
#: Scenes in which a distractor is tried at all.
ROUNDS = CAP // PATIENCE
#: Draws of kinds before an example is impossible. A few pairs, such as a semi-trailer truck and a caravan,
#: hardly fit the street in a scene and all its mirror images.
DRAWS = 30
#: Rejection loops, as rows of `tried`; FOUND if none of them failed.
ENTITY, PLACEMENT, QUESTION, DISTRACTOR, FOUND = range(5)
LOOPS = 4
#: Components of the addresses of draws, in the order of :attr:`SamplingPlan.keys`.
COMPONENTS = (
    "entity", "placement", "question", "distractor", "distractor kind", "camera", "answer", "weather",
    "street", "phrasing", "paint",
)  # fmt: skip
_KIND, _CAMERA, _ANSWER, _WEATHER, _STREET, _PHRASING, _PAINT = range(4, len(COMPONENTS))
#: Numbers as arguments: numba compiles a function again for each literal number in a call.
_0, _1, _2, _3 = (np.int64(number) for number in range(4))
_LEAST_VISIBLE, _PI = F(LEAST_VISIBLE), F(np.pi)
#: A share of which rounding does not matter.
_ENOUGH = LEAST_VISIBLE + 0.001


class SamplingPlan(NamedTuple):
    """What examples are sampled from, in numbers.

    Attributes:
        keys: (components, 2) uint64, a Stream's `key` of each of COMPONENTS.
        subject: (k,) float64 probabilities of each entity as subject.
        object: (k,) float64 probabilities of each entity as object.
        sums: (vehicles, k) float64 cumulative probabilities of each vehicle's entity.
        relations: (r,) int64 that are asked about.
        mirrors: (m, 2) bool, mirror images in which a scene of two vehicles must be acceptable too: LATERAL
            and RADIAL exchanged or not.
        mirrors_of_three: how many of these must be acceptable with a distractor.
        exchangeable: whether the lanes may be exchanged, see :func:`~simtown.scenes.placement.draw_poses`.
        camera: (7,) float32 row of the fixed camera.
        jitter: (4,) float64 largest shifts of its first numbers.
        weathers: (w,) uint8.
        phrasings: (p,) int64.
        paints: (36,) float64 cumulative probabilities, or (0,).
        may_change: (entities + 1,) bool, which entities may be painted.
        half: (entities, 2) float64 half sizes, metres.
        street: see :class:`~simtown.scenes.street.PropKinds`.
    """

    keys: np.ndarray
    subject: np.ndarray
    object: np.ndarray
    sums: np.ndarray
    relations: np.ndarray
    mirrors: np.ndarray
    mirrors_of_three: int
    exchangeable: bool
    camera: np.ndarray
    jitter: np.ndarray
    weathers: np.ndarray
    phrasings: np.ndarray
    paints: np.ndarray
    may_change: np.ndarray
    half: np.ndarray
    street: PropKinds


class Arrays(NamedTuple):
    """Arrays of n examples, to be filled.

    The columns from `entity` to `camera` are those of :class:`~simtown.scenes.scene.SceneBatch`, the others
    those of :class:`~simtown.language.sampler.Examples`.
    """

    entity: np.ndarray
    pose: np.ndarray
    paint: np.ndarray
    prop: np.ndarray
    prop_pose: np.ndarray
    prop_style: np.ndarray
    weather: np.ndarray
    intensity: np.ndarray
    sun: np.ndarray
    fall_seed: np.ndarray
    camera: np.ndarray
    answer: np.ndarray
    subject: np.ndarray
    object: np.ndarray
    relation: np.ndarray
    phrasing: np.ndarray
    margin: np.ndarray
    visible: np.ndarray


class Memory(NamedTuple):
    """The memory in which examples are made, one after the other. Every thread has its own.

    Attributes:
        desk: see :class:`~simtown.scenes.silhouette.Desk`. Its first image is the scene, the others are its
            mirror images.
        draft: see :class:`~simtown.scenes.street.Draft`.
        taken, pieces: see :func:`~simtown.scenes.placement.place_beside`.
    """

    desk: Desk
    draft: Draft
    taken: np.ndarray
    pieces: np.ndarray


@inner_kernel
def examples(plan, index, memory, out, tried):
    """Sample the examples `index` into `out`.

    Returns FOUND, or the loop that failed for the first example that cannot be made.
    """
    for n in range(len(index)):
        failed = example(plan, index[n], memory, out, n, tried)
        if failed != FOUND:
            return failed
    return FOUND


@part_of_kernel
def example(plan, index, memory, out, n, tried):
    """Sample one example into row n. Returns FOUND, or the loop that found nothing acceptable."""
    desk = memory.desk
    draw_camera(plan, index, out.camera[n])
    _look(desk, plan.mirrors, out.camera[n])
    answer = fair_answer(plan.keys[_ANSWER], index)
    failed, subject, relation, draw = ENTITY, _0, _0, _0
    while failed != FOUND:
        if draw == DRAWS:
            return failed
        if not draw_kinds(plan, index, draw, desk.entity, tried):
            return ENTITY
        failed, subject, relation = _arrange(plan, index, memory, answer, out.visible[n], tried)
        draw += 1
    out.answer[n], out.subject[n], out.relation[n], out.object[n] = answer, subject, relation, 1 - subject
    out.margin[n] = _margin(desk, relation, subject, 1 - subject)
    for slot in range(len(desk.entity)):
        out.entity[n, slot] = desk.entity[slot]
        for i in range(3):
            out.pose[n, slot, i] = desk.pose[0, slot, i]
    _dress(plan, index, memory.draft, out, n)
    return FOUND


@part_of_kernel
def _arrange(plan, index, memory, answer, visible, tried):
    """Place vehicles of the drawn kinds and find a question with the drawn answer.

    Returns FOUND or the loop that found nothing acceptable, the subject's slot, and the relation.
    """
    desk = memory.desk
    failed, subject, relation, scene = DISTRACTOR, _0, _0, _0
    while failed == DISTRACTOR and scene < ROUNDS:
        if scene >= SCENES_A_KIND:
            desk.entity[2] = _another_kind(plan, index, desk.entity, scene)
        if not _place_pair(plan, index, desk, scene, visible, tried):
            failed = PLACEMENT
        else:
            subject, relation = _ask(plan, index, desk, answer, scene, tried)
            if subject < 0:
                failed = QUESTION
            elif len(desk.entity) == 2 or _place_distractor(
                plan, index, memory, scene, subject, relation, visible, tried
            ):
                failed = FOUND
        scene += 1
    return failed, subject, relation


@part_of_kernel
def _dress(plan, index, draft, out, n):
    """Draw what does not depend on the vehicles' places: weather, street, words and paint."""
    out.weather[n], out.intensity[n], out.sun[n, 0], out.sun[n, 1], out.fall_seed[n] = weather_of(
        plan.keys[_WEATHER], index, plan.weathers
    )
    prop, pose, style = out.prop[n], out.prop_pose[n], out.prop_style[n]
    street_of(plan.keys[_STREET], index, out.weather[n], plan.street, draft, prop, pose, style)
    u = uniform(words(plan.keys[_PHRASING], index, _0, _0)[0])
    out.phrasing[n] = plan.phrasings[int(u * len(plan.phrasings))]
    draws = words(plan.keys[_PAINT], index, _0, _0)
    for slot in range(out.entity.shape[1]):
        out.paint[n, slot] = paint_of(draws[slot], out.entity[n, slot], plan.paints, plan.may_change)


@part_of_kernel
def draw_kinds(plan, index, draw, entity, tried):
    """Draw the kinds of a scene's vehicles for the time `draw`, by equation 4, until they differ.

    Returns False if they never do.
    """
    vehicles = len(plan.sums)
    for attempt in range(draw * CAP, draw * CAP + CAP):
        tried[ENTITY, 0] += 1
        draws = words(plan.keys[ENTITY], index, attempt, _0)
        for slot in range(vehicles):
            entity[slot] = pick(uniform(draws[slot]), plan.sums[slot])
        differ = entity[0] != entity[1]
        if vehicles == 3:
            differ = differ and entity[2] != entity[0] and entity[2] != entity[1]
        if differ:
            tried[ENTITY, 1] += 1
            return True
    return False


@part_of_kernel
def _another_kind(plan, index, entity, scene):
    """A kind of distractor as :func:`draw_kinds` draws it, given those of the two vehicles asked about."""
    u = uniform(words(plan.keys[_KIND], index, scene, _0)[0])
    total = 0.0
    for kind in range(len(plan.subject)):
        total += 0.0 if kind in (entity[0], entity[1]) else plan.subject[kind] + plan.object[kind]
    drawn, total_before = 0, 0.0
    for kind in range(len(plan.subject)):
        total_before += 0.0 if kind in (entity[0], entity[1]) else plan.subject[kind] + plan.object[kind]
        drawn += total_before <= u * total
    return drawn


@part_of_kernel
def draw_camera(plan, index, row):
    """The camera of an example: the fixed one, moved at random if there is a jitter."""
    draws = words(plan.keys[_CAMERA], index, _0, _0)
    for i in range(7):
        row[i] = plan.camera[i]
    for i in range(4):
        if plan.jitter[i] != 0:
            row[i] += F(plan.jitter[i] * (2 * uniform(draws[i]) - 1))


@part_of_kernel
def fair_answer(key, index):
    """Whether the answer is yes: of examples 2j and 2j + 1 exactly one is."""
    return (uniform(words(key, index // 2, _0, _0)[0]) < 0.5) != (index % 2 == 1)


@inlined_kernel
def mirrored(x, y, yaw, mirror):
    """A pose with left and right exchanged (mirror[LATERAL]), with near and far exchanged (mirror[RADIAL]),
    or both.
    """
    if mirror[LATERAL]:
        x, yaw = -x, -yaw
    if mirror[RADIAL]:
        y, yaw = -y, _PI - yaw
    return x, y, yaw


@part_of_kernel
def mirror_camera(row, mirror):
    """Exchange left and right of a camera row, in place, if mirror[LATERAL]."""
    if mirror[LATERAL]:
        row[0], row[3] = -row[0], -row[3]


@part_of_kernel
def _look(desk, mirrors, row):
    """Set up the camera of a scene, and of its mirror images."""
    look(desk, _0, row)
    for m in range(len(mirrors)):
        seen = desk.camera[m + 1]
        for i in range(7):
            seen[i] = row[i]
        mirror_camera(seen, mirrors[m])
        look(desk, m + 1, seen)


@part_of_kernel
def _place_pair(plan, index, desk, scene, visible, tried):
    """Place the two vehicles asked about until they fit and some relation between them is defined.

    Returns False if they never do.
    """
    a, b, row, half = desk.entity[0], desk.entity[1], desk.camera[0], plan.half
    for attempt in range(scene * CAP, scene * CAP + CAP):
        tried[PLACEMENT, 0] += 1
        way, across_a, along_a, _ = words(plan.keys[PLACEMENT], index, attempt, _0)
        across_b, along_b, _, _ = words(plan.keys[PLACEMENT], index, attempt, _1)
        lanes = pair_lanes(uniform(way), a, b, half, row, plan.exchangeable)
        x, y, yaw = place(
            lanes[0], uniform(across_a), uniform(along_a), half[a, 0], half[a, 1], row, plan.exchangeable
        )
        put(desk, _0, _0, F(x), F(y), F(yaw))
        x, y, yaw = place(
            lanes[1], uniform(across_b), uniform(along_b), half[b, 0], half[b, 1], row, plan.exchangeable
        )
        put(desk, _0, _1, F(x), F(y), F(yaw))
        if not _any_defined(plan, desk) or too_close(desk.entity, desk.pose[0], half, _1, _0):
            continue
        if _acceptable(desk, plan.mirrors, len(plan.mirrors), _0, _2, visible):
            tried[PLACEMENT, 1] += 1
            return True
    return False


@part_of_kernel
def _ask(plan, index, desk, answer, scene, tried):
    """Propose questions from equation 5 until their truth is the answer.

    Proposals whose entities are not both in the scene can never be accepted, so they are left out: the
    accepted distribution is the same.

    Returns the subject's slot and the relation; (-1, 0) if no proposal is accepted.
    """
    a, b = desk.entity[0], desk.entity[1]
    forward, backward = plan.subject[a] * plan.object[b], plan.subject[b] * plan.object[a]
    for attempt in range(scene * CAP, scene * CAP + CAP):
        tried[QUESTION, 0] += 1
        order, which, _, _ = words(plan.keys[QUESTION], index, attempt, _0)
        subject = 1 if uniform(order) * (forward + backward) >= forward else 0
        relation = plan.relations[int(uniform(which) * len(plan.relations))]
        if truth(_margin(desk, relation, subject, 1 - subject), relation) == (1 if answer else -1):
            tried[QUESTION, 1] += 1
            return subject, relation
    return -1, 0


@part_of_kernel
def _place_distractor(plan, index, memory, scene, subject, relation, visible, tried):
    """Place the third vehicle until it fits and changes the truth of neither the question nor its opposite.

    Returns False if it never does.
    """
    desk, row, pose = memory.desk, memory.desk.camera[0], memory.desk.pose[0]
    for attempt in range(scene * CAP, scene * CAP + PATIENCE):
        tried[DISTRACTOR, 0] += 1
        where, across, _, _ = words(plan.keys[DISTRACTOR], index, attempt, _0)
        x, y, yaw = place_beside(
            uniform(where), uniform(across), desk.entity, pose, plan.half, row, memory.taken, memory.pieces
        )
        put(desk, _0, _2, F(x), F(y), F(yaw))
        if too_close(desk.entity, pose, plan.half, _2, _0) or too_close(desk.entity, pose, plan.half, _2, _1):
            continue
        if not unchanged(desk.entity, pose, row, subject, 1 - subject, relation):
            continue
        if _acceptable(desk, plan.mirrors, plan.mirrors_of_three, _2, _3, visible):
            tried[DISTRACTOR, 1] += 1
            return True
    return False


@part_of_kernel
def unchanged(entity, pose, row, subject, obj, relation):
    """Whether the third vehicle changes the truth of neither the question nor its opposite.

    A question "is a red truck left of a green car?" holds if some red truck is left of some green car, so a
    third vehicle of a kind that is asked about could make it, or its opposite, true as well.
    """
    if entity[2] != entity[subject] and entity[2] != entity[obj]:
        return True
    s, o = stands(pose[subject, 0], pose[subject, 1], row), stands(pose[obj, 0], pose[obj, 1], row)
    third = stands(pose[2, 0], pose[2, 1], row)
    alone = truth(margin(relation, s, o), relation)  # the opposite's truth is this one's negative
    as_subject = entity[2] != entity[subject] or truth(margin(relation, third, o), relation) == alone
    as_object = entity[2] != entity[obj] or truth(margin(relation, s, third), relation) == alone
    return as_subject and as_object


@inner_kernel
def _acceptable(desk, mirrors, images, first, count, visible):
    """Whether vehicles are wholly in the picture and visible enough, in a scene and `images` mirror images.

    A scene is acceptable only if its mirror image along every axis that is asked about is too: else a kind
    that easily hides others would stand more often on one side of them, and the words of a question alone
    would hint at its answer.

    Vehicles before slot `first` were acceptable before the others came and are in place in all images; the
    others are in place in the scene. Fills the shares of the scene's vehicles into `visible`.
    """
    for image in range(images + 1):
        for slot in range(first, count):
            if image > 0:
                x, y, yaw = mirrored(
                    desk.pose[0, slot, 0], desk.pose[0, slot, 1], desk.pose[0, slot, 2], mirrors[image - 1]
                )
                put(desk, image, slot, x, y, yaw)
            if not in_picture(desk, image, slot):
                return False
    for image in range(images, -1, -1):
        for slot in range(count):
            if slot < first and not hides(desk, image, count - 1, slot):
                continue
            seen = share(desk, image, slot, count, _ENOUGH if image > 0 else 1.0)
            if seen < _LEAST_VISIBLE:
                return False
            desk.seen[slot] = seen
    for slot in range(count):
        if slot >= first or hides(desk, _0, count - 1, slot):
            visible[slot] = desk.seen[slot]
    return True


@inlined_kernel
def _any_defined(plan, desk):
    defined = False
    for relation in plan.relations:
        defined = defined or truth(_margin(desk, relation, _0, _1), relation) != 0
    return defined


@inlined_kernel
def _margin(desk, relation, subject, obj):
    """Metres by which a relation holds between two vehicles of a scene."""
    row, pose = desk.camera[0], desk.pose[0]
    return margin(
        relation, stands(pose[subject, 0], pose[subject, 1], row), stands(pose[obj, 0], pose[obj, 1], row)
    )
