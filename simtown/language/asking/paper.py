"""Rejection sampling of (scene, question, answer), as the paper does it (sections 2.2, 6.3 and 6.5).

A scene and a fair answer come first; then questions are proposed from equation 5 until the logical form's
truth is the answer; then the distractor, if there is one, is drawn until it changes the truth of neither the
question nor its opposite. Every draw has an address (example, attempt), so example i depends on the settings,
the split and i alone. simtown/kernels/processor/rejection.hpp has the procedure itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simtown import kernels
from simtown.core.streams import Stream
from simtown.language.meaning import relations
from simtown.language.meaning.relations import DEFAULT_RELATIONS, LATERAL, RADIAL, RELATION_NAMES, RELATIONS
from simtown.language.words.questions import STYLES
from simtown.scenes.camera import Camera, draw_cameras
from simtown.scenes.paint import may_change
from simtown.scenes.placement import half_sizes
from simtown.scenes.scene import SceneBatch, empty_batch
from simtown.scenes.silhouette import kernel_shapes
from simtown.scenes.street import SLOTS, kernel_kinds
from simtown.scenes.weather import DEFAULT_WEATHERS, ELEVATIONS, weather_numbers

#: Most attempts of any one loop for one example, and draws of kinds before an example is impossible, as the
#: kernel has them (simtown/kernels/processor/rejection.hpp).
CAP, DRAWS = 10_000, 30
#: Names of rejection loops, as rows of `tried`; the kernel returns the number of one that failed, or FOUND.
LOOPS = ("entity", "placement", "question", "distractor")
FOUND = len(LOOPS)
#: Components of the addresses of draws, in the order of the kernel's.
COMPONENTS = (
    "entity", "placement", "question", "distractor", "distractor kind", "camera", "answer", "weather",
    "street", "phrasing", "paint",
)  # fmt: skip


class ImpossibleError(ValueError):
    """A rejection loop found no acceptable draw; the message names the setting that makes it impossible."""


@dataclass(frozen=True)
class Recipe:
    """The recipe from which examples are sampled.

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
        varied: whether cameras stand on both sides, low and high.
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
    varied: bool = False
    paint: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def stream(self, component: str) -> Stream:
        """The draws of a component."""
        return Stream(self.seed, self.split, component)


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
    plan = plan_of(recipe)
    n, vehicles = len(index), len(plan["sums"])
    scene, tried = empty_batch(n, vehicles, SLOTS), np.zeros((len(LOOPS), 2), dtype=np.int64)
    subject, obj, relation, phrasing = np.zeros((4, n), dtype=np.int64)
    margin, visible = np.zeros(n, dtype=np.float32), np.zeros((n, vehicles), dtype=np.float32)
    out = {"answer": np.zeros(n, bool), "relation": relation, "phrasing": phrasing}
    out |= {"margin": margin, "visible": visible}
    slots = {"subject_slot": subject, "object_slot": obj}
    scene.camera[:] = draw_cameras(Camera(), recipe.stream, index, recipe.jitter, recipe.varied)
    given = plan | kernel_shapes() | kernel_kinds() | {"index": np.ascontiguousarray(index, dtype=np.int64)}
    failed = kernels.call("sample", **given, **vars(scene), **out, **slots, tried=tried)
    if failed != FOUND:
        raise ImpossibleError(_why(recipe, vehicles, failed))
    counts = {name: (proposed, kept) for name, (proposed, kept) in zip(LOOPS, tried.tolist(), strict=True)}
    if not recipe.distractor:
        del counts["distractor"]
    return Examples(scene, subject=subject, object=obj, **out, tried=counts)


def plan_of(recipe: Recipe) -> dict[str, Any]:
    """A recipe as the kernel takes it.

    Raises ImpossibleError if there are too few entities, ValueError if a relation or a weather is unknown.
    """
    either = (recipe.subject + recipe.object) / 2
    chances = [recipe.subject, recipe.object] + [either] * recipe.distractor
    if min(np.count_nonzero(p) for p in chances) < len(chances) and np.count_nonzero(either) < len(chances):
        raise ImpossibleError(
            f"{len(chances)} different vehicles cannot be drawn from {np.count_nonzero(either)} entities "
            "with a frequency above 0: give more `entities` or other `frequencies`"
        )
    asked = np.array([RELATION_NAMES.index(name) for name in recipe.relations])
    axes = {RELATIONS[r].axis for r in asked}
    # mirror images in which a scene of two vehicles must be acceptable too: along LATERAL, along RADIAL
    mirrors = [(True, False)] * (LATERAL in axes) + [(False, True), (True, True)][: len(axes)] * (
        RADIAL in axes
    )
    return {
        "keys": np.array([recipe.stream(component).key for component in COMPONENTS]),
        "subject": np.ascontiguousarray(recipe.subject, dtype=np.float64),
        "object": np.ascontiguousarray(recipe.object, dtype=np.float64),
        "sums": np.stack([np.cumsum(p) / np.cumsum(p)[-1] for p in chances]),
        "relations": asked,
        "mirrors": np.array(mirrors),
        # three long vehicles may fit one way only: the third is not asked about
        "mirrors_of_three": LATERAL in axes,
        "exchangeable": RADIAL in axes,
        "weathers": weather_numbers(recipe.weathers),
        "phrasings": np.array(STYLES[recipe.phrasing]),
        "paints": np.cumsum(recipe.paint),
        "may_change": may_change(),
        "half": half_sizes(),
        "axis": np.array(relations.AXES),
        "sign": np.array(relations.SIGNS),
        "least": np.array(relations.LEAST),
        "elevation": np.array(ELEVATIONS),
    }


def _why(recipe: Recipe, vehicles: int, loop: int) -> str:
    """The message for a loop that found nothing acceptable."""
    return (
        f"no {vehicles} different entities in {CAP} draws: "
        "`frequencies` gives nearly all weight to too few of them",
        f"no place was found for any of {DRAWS} pairs of vehicles in {CAP} attempts each: "
        f"`jitter={recipe.jitter}` or these `entities` do not fit the street",
        f"no question with the drawn answer was found in {CAP} attempts: "
        f"`relations={','.join(recipe.relations)}` are too few, name more",
        "no place for a distractor was found beside two of these vehicles: "
        "leave out `distractor` or use other `entities`",
    )[loop]
