"""Rejection sampling of (scene, question, answer), as the paper does it (sections 2.2, 6.3 and 6.5).

A scene and a fair answer come first; then questions are proposed from equation 5 until the logical form's truth is the answer;
then the distractor, if there is one, is drawn until it changes the truth of neither the question nor its opposite. Every draw
has an address (example, attempt), so example i depends on the settings, the split and i alone.

Proposals from equation 5 whose entities are not both in the scene can never be accepted, so they are left out beforehand:
the accepted distribution is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import numpy as np

from simtown.language.questions import STYLES
from simtown.language.relations import LATERAL, RADIAL, RELATIONS, margins, relation_numbers, separations, truths
from simtown.scenes.camera import NOMINAL, Camera
from simtown.scenes.paint import draw_paints
from simtown.scenes.placement import GAP, LEAST_VISIBLE, apart, draw_beside, draw_pairs, half_sizes, overlap, within
from simtown.scenes.scene import SceneBatch
from simtown.scenes.silhouette import unclipped_boxes, visibility
from simtown.scenes.street import draw_street
from simtown.scenes.weather import WEATHERS, draw_weather
from simtown.streams import Stream, choose

#: Most attempts of any one loop for one example; reached only where a setting makes an example impossible.
CAP = 10_000
#: Attempts at a distractor before the whole scene is placed anew.
PATIENCE = 40
#: Scenes in which a distractor is tried before another kind is drawn for it: three long vehicles may not fit the street.
SCENES_A_KIND = 10
#: How many places are looked at together when few examples still want one.
TOGETHER = 64
#: The largest random shift of the camera to a side, along the view and in height, for a jitter of 1 m (metres), and its turn (radians).
JITTER = (1.0, 0.25, 0.25, 0.03)


class ImpossibleError(ValueError):
    """A rejection loop found no acceptable draw; the message names the setting that makes it impossible."""


@dataclass(frozen=True)
class Recipe:
    """What examples are sampled from.

    Attributes:
        seed: the data set's seed.
        split: "train", "val" or "test".
        subject, object: (k,) probabilities of each entity, by catalogue number, as subject and as object (equation 4).
        distractor: whether a third vehicle stands in every scene.
        relations: names of the relations asked about.
        phrasing: a key of STYLES.
        weathers: kinds that may occur.
        jitter: largest random shift of the camera to a side, metres, and a quarter as much along the view and in height (0 fixes it).
        paint: (36,) probabilities of each paint, or (0,): every kind keeps its own.
    """

    seed: int
    split: str
    subject: np.ndarray
    object: np.ndarray
    distractor: bool = False
    relations: tuple[str, ...] = ("left of", "right of")
    phrasing: str = "paper"
    weathers: tuple[str, ...] = WEATHERS
    jitter: float = 0.0
    paint: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass
class Examples:
    """n sampled examples, the example first.

    Attributes:
        scene: the complete latent scenes.
        answer: (n,) bool.
        subject, object: (n,) int64 vehicle slots asked about.
        relation: (n,) int64 of RELATIONS.
        phrasing: (n,) int64 of PHRASINGS.
        margin: (n,) float32 metres by which the relation holds (negative: by which it fails).
        visible: (n, v) float32 visible share of each vehicle.
        tried: (proposed, accepted) counts of every rejection loop, by name.
    """

    scene: SceneBatch
    answer: np.ndarray
    subject: np.ndarray
    object: np.ndarray
    relation: np.ndarray
    phrasing: np.ndarray
    margin: np.ndarray
    visible: np.ndarray
    tried: dict[str, tuple[int, int]] = field(default_factory=dict)


def _untimed(_: str) -> AbstractContextManager[None]:
    return nullcontext()


def answers(seed: int, split: str, index: np.ndarray) -> np.ndarray:
    """(n,) bool, fair and in pairs: of examples 2j and 2j + 1 exactly one is true, so every even prefix is balanced."""
    first = Stream(seed, split, "answer").uniform(index // 2, 1)[:, 0] < 0.5
    result: np.ndarray = first ^ (index % 2 == 1)
    return result


def draw_entities(recipe: Recipe, index: np.ndarray, tried: dict[str, tuple[int, int]]) -> np.ndarray:
    """Entities of each scene, all different: (n, 2 or 3) int64; the first two by equation 4, then the distractor.

    The distractor follows the mean of the subject and the object marginal.
    """
    both = (recipe.subject + recipe.object) / 2
    chances = [recipe.subject, recipe.object] + [both] * recipe.distractor
    if min(np.count_nonzero(p) for p in chances) < len(chances) and np.count_nonzero(both) < len(chances):
        raise ImpossibleError(
            f"{len(chances)} different vehicles cannot be drawn from {np.count_nonzero(both)} entities with a frequency above 0: "
            "give more --entities or other --frequencies"
        )
    sums = [np.cumsum(p) / np.cumsum(p)[-1] for p in chances]
    stream = Stream(recipe.seed, recipe.split, "entity")
    out = np.zeros((len(index), len(chances)), dtype=np.int64)
    pending, proposed = np.arange(len(index)), 0
    for attempt in range(CAP):
        u = stream.uniform(index[pending], len(chances), attempt)
        drawn = np.stack([choose(u[:, i], s) for i, s in enumerate(sums)], axis=1)
        out[pending] = drawn
        proposed += len(pending)
        same = drawn[:, 0] == drawn[:, 1]
        if recipe.distractor:
            same |= (drawn[:, 2] == drawn[:, 0]) | (drawn[:, 2] == drawn[:, 1])
        pending = pending[same]
        if not len(pending):
            tried["entity"] = (proposed, len(index))
            return out
    raise ImpossibleError(f"no {len(chances)} different entities in {CAP} draws: --frequencies gives nearly all weight to too few of them")


def _another_kind(recipe: Recipe, index: np.ndarray, pair: np.ndarray, round_: int) -> np.ndarray:
    """Kinds of distractors as :func:`draw_entities` draws them, given the (n, 2) entities asked about: (n,) int64."""
    chances = np.tile(recipe.subject + recipe.object, (len(pair), 1))
    np.put_along_axis(chances, pair, 0.0, axis=1)
    sums = np.cumsum(chances, axis=1)
    u = Stream(recipe.seed, recipe.split, "distractor kind").uniform(index, 1, round_)
    return (sums <= u * sums[:, -1:]).sum(axis=1)


def draw_cameras(recipe: Recipe, index: np.ndarray) -> np.ndarray:
    """(n, 7) float32 camera rows: the paper's fixed one, or one moved by up to `jitter` metres."""
    rows = np.tile(Camera().row(), (len(index), 1))
    if recipe.jitter:
        u = 2 * Stream(recipe.seed, recipe.split, "camera").uniform(index, 4) - 1
        rows[:, :4] += (recipe.jitter * np.array(JITTER) * u).astype(np.float32)
    return rows


def sample(recipe: Recipe, index: np.ndarray, stage: Callable[[str], AbstractContextManager[None]] = _untimed) -> Examples:
    """The examples with the numbers `index` ((n,) int64). Raises ImpossibleError where a setting allows none.

    `stage` is entered around the parts named "sample" and "question", for whoever wants to time them apart.
    """
    index = np.asarray(index, dtype=np.int64)
    n = len(index)
    tried: dict[str, tuple[int, int]] = {}
    with stage("sample"):
        entity = draw_entities(recipe, index, tried)
        camera = draw_cameras(recipe, index)
        answer = answers(recipe.seed, recipe.split, index)
    pose = np.zeros((*entity.shape, 3), dtype=np.float32)
    visible = np.zeros(entity.shape, dtype=np.float32)
    subject, obj, relation = (np.zeros(n, dtype=np.int64) for _ in range(3))
    pending = np.arange(n)
    for round_ in range(CAP // PATIENCE):
        with stage("sample"):
            if round_ >= SCENES_A_KIND:
                entity[pending, 2] = _another_kind(recipe, index[pending], entity[pending, :2], round_)
            _place(recipe, index, entity, camera, round_, pending, pose, visible, tried)
        with stage("question"):
            asked = _question(recipe, index, entity, camera, answer, round_, pending, pose, (subject, obj, relation), tried)
            left = (
                _distract(recipe, index, entity, camera, round_, pending, pose, visible, asked, tried) if recipe.distractor else pending[:0]
            )
        pending = left
        if not len(pending):
            break
    else:
        raise ImpossibleError(
            "no place for a distractor was found beside two of these vehicles: leave out --distractor or use other --entities"
        )
    with stage("sample"):
        margin = margins(separations(pose, camera), relation, subject, obj)
        weather = draw_weather(Stream(recipe.seed, recipe.split, "weather"), index, recipe.weathers)
        street = draw_street(Stream(recipe.seed, recipe.split, "street"), index, weather.weather)
        allowed = np.array(STYLES[recipe.phrasing])
        phrasing = allowed[(Stream(recipe.seed, recipe.split, "phrasing").uniform(index, 1)[:, 0] * len(allowed)).astype(np.int64)]
        paint = draw_paints(Stream(recipe.seed, recipe.split, "paint"), index, entity, recipe.paint)
        scene = SceneBatch(
            entity.astype(np.int16), pose, paint, *street, weather.weather, weather.intensity, weather.sun, weather.fall_seed, camera
        )
    return Examples(scene, answer, subject, obj, relation, phrasing, margin.astype(np.float32), visible, tried)


def _count(tried: dict[str, tuple[int, int]], loop: str, proposed: int, accepted: int) -> None:
    before = tried.get(loop, (0, 0))
    tried[loop] = (before[0] + proposed, before[1] + accepted)


def _address(round_: int, attempt: int) -> int:
    return round_ * CAP + attempt


def _axes(recipe: Recipe) -> set[int]:
    """The axes that are asked about, LATERAL and RADIAL."""
    return {RELATIONS[r].axis for r in relation_numbers(recipe.relations)}


def _fits(recipe: Recipe, entity: np.ndarray, pose: np.ndarray, camera: np.ndarray,
          before: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Which scenes of vehicles that stand apart are acceptable, (n,) bool, and the visible shares (n, v) of those.

    A scene is acceptable only if its mirror image along every axis that is asked about is too: else a kind that easily hides
    others would stand more often on one side of them, and the words of a question alone would hint at its answer.
    `before`: the visible shares of acceptable scenes to which the last vehicle came.
    """
    axes = _axes(recipe)
    images: list[tuple[int, ...]] = [(LATERAL,)] if LATERAL in axes else []
    if RADIAL in axes and entity.shape[1] == 2:  # three long vehicles may fit one way only: the third is not asked about
        images += [(RADIAL,), (LATERAL, RADIAL)][: len(axes)]
    fine, shares = _seen(entity, pose, camera, before)
    for image in images:
        enough = None if before is None else np.ones_like(before[fine])  # of what was acceptable, only the last vehicle can hide more
        fine[fine] = _seen(entity[fine], *mirrored(pose[fine], camera[fine], image), enough)[0]
    return fine, shares


def _seen(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray, before: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Whether all vehicles are in the picture and visible enough, (n,) bool, and the visible shares (n, v) of those that are."""
    box = unclipped_boxes(entity, pose, camera, *NOMINAL)
    fine = within(box)
    shares = np.zeros(entity.shape, dtype=np.float32)
    before = None if before is None else before[fine]
    shares[fine] = visibility(entity[fine], pose[fine], camera[fine], box[fine], LEAST_VISIBLE, before)
    return fine & ((shares >= LEAST_VISIBLE) | (entity < 0)).all(axis=1), shares


def mirrored(pose: np.ndarray, camera: np.ndarray, axes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Scenes with left and right exchanged (LATERAL: the camera with them) or with near and far exchanged (RADIAL).

    Outlines on the ground are mirrored, whatever the yaw; a vehicle heads so that one which keeps to its lane keeps to a lane.
    """
    pose, camera = pose.copy(), camera.copy()
    if LATERAL in axes:
        pose[..., 0] = -pose[..., 0]
        pose[..., 2] = -pose[..., 2]
        camera[:, 0], camera[:, 3] = -camera[:, 0], -camera[:, 3]
    if RADIAL in axes:
        pose[..., 1] = -pose[..., 1]
        pose[..., 2] = np.float32(np.pi) - pose[..., 2]
    return pose, camera


#: Poses (m, v, 3) and visible shares (m, v) of proposals, and which of them serve, (m,) bool.
Proposals = tuple[np.ndarray, np.ndarray, np.ndarray]


def _search(recipe: Recipe, loop: str, index: np.ndarray, round_: int, most: int, draws: int,
            propose: Callable[[np.ndarray, np.ndarray], Proposals], pending: np.ndarray, pose: np.ndarray, visible: np.ndarray,
            tried: dict[str, tuple[int, int]]) -> np.ndarray:  # fmt: skip
    """Fill `pose` and `visible`, example by example, with the first of `most` proposals that serves; returns the examples without one.

    A proposal is made from `draws` uniform numbers. The fewer examples are left, the more of their attempts are looked at
    together: the first that serves counts, as it would one by one.
    """
    stream, begin = Stream(recipe.seed, recipe.split, loop), 0
    while begin < most and len(pending):
        count = min(max(1, TOGETHER // len(pending)), most - begin)
        attempt = _address(round_, begin) + np.tile(np.arange(count), len(pending))
        rows = np.repeat(pending, count)
        drawn, shares, fine = propose(rows, stream.uniform(index[rows], draws, attempt))
        table = fine.reshape(-1, count)
        found, first = table.any(axis=1), table.argmax(axis=1)
        chosen = (np.arange(len(pending)) * count + first)[found]
        _count(tried, loop, int(np.where(found, first + 1, count).sum()), len(chosen))
        done, slots = pending[found], drawn.shape[1]
        pose[done, :slots], visible[done, :slots] = drawn[chosen], shares[chosen]
        pending, begin = pending[~found], begin + count
    return pending


def _accepted(recipe: Recipe, entity: np.ndarray, pose: np.ndarray, camera: np.ndarray, fine: np.ndarray,
              before: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Visible shares (n, v), and which of the scenes that are `fine` so far are acceptable, (n,) bool: see :func:`_fits`."""
    fits, seen = _fits(recipe, entity[fine], pose[fine], camera[fine], None if before is None else before[fine])
    shares, accepted = np.zeros(entity.shape, dtype=np.float32), fine.copy()
    shares[np.flatnonzero(fine)], accepted[fine] = seen, fits
    return shares, accepted


def _place(recipe: Recipe, index: np.ndarray, entity: np.ndarray, camera: np.ndarray, round_: int, pending: np.ndarray,
           pose: np.ndarray, visible: np.ndarray, tried: dict[str, tuple[int, int]]) -> None:  # fmt: skip
    """Place the two vehicles asked about until they fit and some relation between them is defined."""
    wanted = relation_numbers(recipe.relations)
    exchangeable = RADIAL in _axes(recipe)

    def propose(rows: np.ndarray, u: np.ndarray) -> Proposals:
        pair, seen_by = entity[rows, :2], camera[rows]
        drawn = draw_pairs(u.reshape(-1, 2, 3), pair, seen_by, exchangeable)
        apart_by = separations(drawn, seen_by)
        zero, one = np.zeros(len(rows), dtype=np.int64), np.ones(len(rows), dtype=np.int64)
        fine = np.any([truths(margins(apart_by, zero + r, zero, one), zero + r) != 0 for r in wanted], axis=0) & apart(pair, drawn)
        return drawn, *_accepted(recipe, pair, drawn, seen_by, fine)

    if len(_search(recipe, "placement", index, round_, CAP, 6, propose, pending, pose, visible, tried)):
        raise ImpossibleError(
            f"no place was found for two vehicles in {CAP} attempts: --jitter {recipe.jitter} or these --entities do not fit the street"
        )


def _question(recipe: Recipe, index: np.ndarray, entity: np.ndarray, camera: np.ndarray, answer: np.ndarray, round_: int,
              pending: np.ndarray, pose: np.ndarray, out: tuple[np.ndarray, np.ndarray, np.ndarray],
              tried: dict[str, tuple[int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Propose questions from equation 5 until their truth in the scene is the answer; returns `out`, filled where pending."""
    stream = Stream(recipe.seed, recipe.split, "question")
    wanted = relation_numbers(recipe.relations)
    subject, obj, relation = out
    first, second = entity[:, 0], entity[:, 1]
    forward = recipe.subject[first] * recipe.object[second]
    backward = recipe.subject[second] * recipe.object[first]
    for attempt in range(CAP):
        u = stream.uniform(index[pending], 2, _address(round_, attempt))
        swap = (u[:, 0] * (forward[pending] + backward[pending]) >= forward[pending]).astype(np.int64)
        r = wanted[(u[:, 1] * len(wanted)).astype(np.int64)]
        value = truths(margins(separations(pose[pending, :2], camera[pending]), r, swap, 1 - swap), r)
        fine = value == np.where(answer[pending], 1, -1)
        _count(tried, "question", len(pending), int(fine.sum()))
        done = pending[fine]
        subject[done], obj[done], relation[done] = swap[fine], 1 - swap[fine], r[fine]
        pending = pending[~fine]
        if not len(pending):
            return out
    raise ImpossibleError(
        f"no question with the drawn answer was found in {CAP} attempts: --relations {','.join(recipe.relations)} are too few, name more"
    )


def _distract(recipe: Recipe, index: np.ndarray, entity: np.ndarray, camera: np.ndarray, round_: int, pending: np.ndarray,
              pose: np.ndarray, visible: np.ndarray, asked: tuple[np.ndarray, np.ndarray, np.ndarray],
              tried: dict[str, tuple[int, int]]) -> np.ndarray:  # fmt: skip
    """Place the third vehicle; returns the examples for which no attempt served."""

    def propose(rows: np.ndarray, u: np.ndarray) -> Proposals:
        kinds, drawn, seen_by = entity[rows], pose[rows], camera[rows]
        drawn[:, 2] = draw_beside(u, kinds, drawn, seen_by)
        half = half_sizes()[kinds]
        fine = np.logical_not(overlap(drawn[:, 2:], half[:, 2:], drawn[:, :2], half[:, :2], GAP).any(axis=1))
        fine[fine] = unchanged(kinds[fine], drawn[fine], seen_by[fine], *(a[rows[fine]] for a in asked))
        return drawn, *_accepted(recipe, kinds, drawn, seen_by, fine, visible[rows, :2])

    return _search(recipe, "distractor", index, round_, PATIENCE, 2, propose, pending, pose, visible, tried)


def unchanged(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray, subject: np.ndarray, obj: np.ndarray,
              relation: np.ndarray) -> np.ndarray:  # fmt: skip
    """Whether the third vehicle leaves the truth of a question, and of its opposite, as the first two make it: (n,) bool.

    A question "is a red truck left of a green car?" holds if some red truck is left of some green car, so a third vehicle of
    a kind that is asked about could make it, or its opposite, true as well.
    """
    separation = separations(pose, camera)
    rows, third = np.arange(len(entity)), np.full_like(subject, 2)
    alone = truths(margins(separation, relation, subject, obj), relation)  # the opposite's truth is this one's negative
    fine = np.ones(len(entity), dtype=bool)
    for s, o, role in ((third, obj, subject), (subject, third, obj)):
        stands_in = entity[:, 2] == entity[rows, role]
        fine &= ~(stands_in & (truths(margins(separation, relation, s, o), relation) != alone))
    return fine
