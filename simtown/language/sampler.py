"""Rejection sampling of (scene, question, answer), as the paper does it (sections 2.2, 6.3 and 6.5).

A scene and a fair answer come first; then questions are proposed from equation 5 until the logical form's
truth is the answer; then the distractor, if there is one, is drawn until it changes the truth of neither the
question nor its opposite. Every draw has an address (example, attempt), so example i depends on the settings,
the split and i alone. :mod:`simtown.language.rejection` has the procedure itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np

from simtown.core.streams import Stream
from simtown.language import rejection
from simtown.language.questions import STYLES
from simtown.language.rejection import (
    CAP,
    COMPONENTS,
    DISTRACTOR,
    DRAWS,
    ENTITY,
    FOUND,
    LOOPS,
    PLACEMENT,
    Arrays,
    Memory,
    SamplingPlan,
)
from simtown.language.relations import DEFAULT_RELATIONS, LATERAL, RADIAL, RELATIONS, relation_numbers
from simtown.scenes.camera import Camera
from simtown.scenes.paint import may_change
from simtown.scenes.placement import half_sizes
from simtown.scenes.scene import SceneBatch
from simtown.scenes.silhouette import desk
from simtown.scenes.street import SLOTS, draft, kinds
from simtown.scenes.weather import DEFAULT_WEATHERS, weather_numbers

#: The largest random shift of the camera to a side, along the view and in height, for a jitter of 1 m
#: (metres), and its turn (radians).
JITTER = (1.0, 0.25, 0.25, 0.03)
#: Names of rejection loops, in the order of LOOPS.
NAMES = ("entity", "placement", "question", "distractor")


class ImpossibleError(ValueError):
    """A rejection loop found no acceptable draw; the message names the setting that makes it impossible."""


@dataclass(frozen=True)
class Recipe:
    """What examples are sampled from.

    Attributes:
        seed: the data set's seed.
        split: "train", "val" or "test".
        subject: (k,) probabilities of each entity as subject, by catalogue number (equation 4).
        object: (k,) probabilities of each entity as object.
        distractor: whether every scene has a third vehicle.
        relations: names of the relations that are asked about.
        phrasing: a key of STYLES.
        weathers: names of the weathers that may occur.
        jitter: largest random shift of the camera to a side, metres, and a quarter as much along the view and
            in height (0 fixes it).
        paint: (36,) probabilities of each paint, or (0,): every kind keeps its own.
    """

    seed: int
    split: str
    subject: np.ndarray
    object: np.ndarray
    distractor: bool = False
    relations: tuple[str, ...] = DEFAULT_RELATIONS
    phrasing: str = "paper"
    weathers: tuple[str, ...] = DEFAULT_WEATHERS
    jitter: float = 0.0
    paint: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass
class Examples:
    """n sampled examples, the example first.

    Attributes:
        scene: the complete latent scenes.
        answer: (n,) bool.
        subject: (n,) int64 vehicle slot of the subject.
        object: (n,) int64 vehicle slot of the object.
        relation: (n,) int64 of RELATIONS.
        phrasing: (n,) int64 of PHRASINGS.
        margin: (n,) float32 metres by which the relation holds; negative if it does not.
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


def sample(recipe: Recipe, index: np.ndarray) -> Examples:
    """The examples with the numbers `index` ((n,) int64). Runs without the GIL.

    Raises:
        ImpossibleError: a setting allows none of them.
        ValueError: a relation or a weather is unknown.
    """
    index = np.ascontiguousarray(index, dtype=np.int64)
    plan = plan_of(recipe)
    vehicles = len(plan.sums)
    out, tried = _arrays(len(index), vehicles), np.zeros((LOOPS, 2), dtype=np.int64)
    memory = Memory(
        desk(len(plan.mirrors) + 1, vehicles),
        draft(),
        np.zeros((2, 2, vehicles)),
        np.zeros((2, 2 * vehicles)),
    )
    failed = rejection.examples(plan, index, memory, out, tried)
    if failed != FOUND:
        raise ImpossibleError(_why(recipe, vehicles, failed))
    arrays = out._asdict()
    scene = SceneBatch(**{f.name: arrays.pop(f.name) for f in fields(SceneBatch)})
    counts = {
        NAMES[loop]: (int(tried[loop, 0]), int(tried[loop, 1]))
        for loop in range(LOOPS)
        if loop != DISTRACTOR or recipe.distractor
    }
    return Examples(scene, **arrays, tried=counts)


def plan_of(recipe: Recipe) -> SamplingPlan:
    """A recipe in numbers. Raises ImpossibleError if there are too few entities, ValueError if a relation or
    a weather is unknown.
    """
    either = (recipe.subject + recipe.object) / 2
    chances = [recipe.subject, recipe.object] + [either] * recipe.distractor
    if min(np.count_nonzero(p) for p in chances) < len(chances) and np.count_nonzero(either) < len(chances):
        raise ImpossibleError(
            f"{len(chances)} different vehicles cannot be drawn from {np.count_nonzero(either)} entities "
            "with a frequency above 0: give more `entities` or other `frequencies`"
        )
    relations = relation_numbers(recipe.relations)
    axes = {RELATIONS[r].axis for r in relations}
    mirrors = [(True, False)] * (LATERAL in axes) + [(False, True), (True, True)][: len(axes)] * (
        RADIAL in axes
    )
    return SamplingPlan(
        keys=np.array([Stream(recipe.seed, recipe.split, component).key for component in COMPONENTS]),
        subject=np.ascontiguousarray(recipe.subject, dtype=np.float64),
        object=np.ascontiguousarray(recipe.object, dtype=np.float64),
        sums=np.stack([np.cumsum(p) / np.cumsum(p)[-1] for p in chances]),
        relations=relations,
        mirrors=np.array(mirrors),
        mirrors_of_three=int(
            LATERAL in axes
        ),  # three long vehicles may fit one way only: the third is not asked about
        exchangeable=RADIAL in axes,
        camera=Camera().row(),
        jitter=recipe.jitter * np.array(JITTER),
        weathers=weather_numbers(recipe.weathers),
        phrasings=np.array(STYLES[recipe.phrasing]),
        paints=np.cumsum(recipe.paint),
        may_change=may_change(),
        half=half_sizes(),
        street=kinds(),
    )


def _arrays(n: int, vehicles: int) -> Arrays:
    """Room for n examples."""
    shapes = {
        "entity": (vehicles,), "pose": (vehicles, 3), "paint": (vehicles,), "prop": (SLOTS,),
        "prop_pose": (SLOTS, 5), "prop_style": (SLOTS,), "sun": (2,), "camera": (7,), "visible": (vehicles,),
    }  # fmt: skip
    dtypes = {
        "entity": "i2", "paint": "i1", "prop": "i2", "prop_style": "u2", "weather": "u1", "fall_seed": "u4",
        "answer": "?", "subject": "i8", "object": "i8", "relation": "i8", "phrasing": "i8",
    }  # fmt: skip
    return Arrays(
        *(np.zeros((n, *shapes.get(name, ())), dtype=dtypes.get(name, "f4")) for name in Arrays._fields)
    )


def _why(recipe: Recipe, vehicles: int, loop: int) -> str:
    """What to say of a loop that found nothing acceptable."""
    if loop == ENTITY:
        return (
            f"no {vehicles} different entities in {CAP} draws: `frequencies` gives nearly all weight to too "
            "few of them"
        )
    if loop == PLACEMENT:
        return (
            f"no place was found for any of {DRAWS} pairs of vehicles in {CAP} attempts each: "
            f"`jitter={recipe.jitter}` or these `entities` do not fit the street"
        )
    if loop == DISTRACTOR:
        return (
            "no place for a distractor was found beside two of these vehicles: leave out `distractor` or use "
            "other `entities`"
        )
    return (
        f"no question with the drawn answer was found in {CAP} attempts: "
        f"`relations={','.join(recipe.relations)}` are too few, name more"
    )
