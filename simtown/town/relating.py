"""All relations of a town by name: metres by which they hold, and why they do, in words."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from simtown.language.meaning.limits import BESIDE, CONTACT, FAR, NEAR
from simtown.language.meaning.relations import (
    DRIVER_RELATIONS,
    LATERAL,
    RELATIONS,
    own_separations,
    separations,
)
from simtown.language.meaning.solids import (
    SOLID_RELATIONS,
    Solid,
    SolidRelation,
    betweens,
    distance,
    truth,
)
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import depths

#: Every relation of a town by name, with the metres within which its truth is undefined.
MARGINS = {r.name: r.margin for r in (*RELATIONS, *DRIVER_RELATIONS)}
MARGINS |= {name: relation.margin for name, relation in SOLID_RELATIONS.items()}
#: The relations that data sets ask about, too, by name: in the viewer's frame and in a driver's.
VIEWERS, DRIVERS = ({r.name: r for r in every} for every in (RELATIONS, DRIVER_RELATIONS))
#: What the relations of a distance mean.
_MEANS = {"next to": f"under {BESIDE:g} m", "near": f"under {NEAR:g} m", "far from": f"over {FAR:g} m"}


def add_relation(relation: SolidRelation) -> None:
    """Let every town of this process answer a relation of one's own, of a subject to one object.

    Questions say it as "is the taxi NAME the bus": a participle such as "tailgating", or a phrase such as
    "level with", of words that mean nothing else. No data set asks about it.
    """
    SOLID_RELATIONS[relation.name] = relation
    MARGINS[relation.name] = relation.margin


def measure(relation: str, camera: Camera, subject: Solid, *objects: Solid) -> float:
    """Metres by which a relation holds between things as `camera` sees them.

    The number is negative if the relation fails, and -inf if it cannot hold.
    """
    if relation in SOLID_RELATIONS:
        return float(SOLID_RELATIONS[relation].measure(subject, *objects))
    return float(_planar(camera, [subject, *objects])[relation][0, 1])


def table(camera: Camera, solids: list[Solid]) -> dict[str, np.ndarray]:
    """The margins of every relation between n things, by its name.

    They are (n, n) float64, for "between" (n, n, n), and nan for a thing with itself.
    """
    n = len(solids)
    tables = _planar(camera, solids)
    gaps = np.full((n, n), np.nan)
    pairs = list(combinations(range(n), 2))
    for j, i in pairs:
        gaps[i, j] = gaps[j, i] = distance(solids[i], solids[j])
    tables["next to"], tables["near"], tables["far from"] = BESIDE - gaps, NEAR - gaps, gaps - FAR
    for name in SOLID_RELATIONS.keys() - tables.keys() - {"between"}:
        relation = SOLID_RELATIONS[name].measure
        values = [[relation(a, b) if a is not b else np.nan for b in solids] for a in solids]
        tables[name] = np.array(values).reshape(n, n)
    tables["between"] = np.full((n, n, n), np.nan)
    for (b, c), row in zip(pairs, betweens(solids, [(solids[b], solids[c]) for b, c in pairs]), strict=True):
        row[[b, c]] = np.nan
        tables["between"][:, b, c] = tables["between"][:, c, b] = row
    for table_ in tables.values():
        np.einsum("ii...->i...", table_)[...] = np.nan
    return {name: tables[name] for name in MARGINS}


def behind_camera(camera: Camera, solid: Solid) -> bool:
    """Whether a thing's middle is beside or behind the camera, where left and right mean nothing."""
    return bool(camera.place(*solid.middle)[1] <= 0)


def _planar(camera: Camera, solids: list[Solid]) -> dict[str, np.ndarray]:
    """(n, n) margins of the viewer's relations, and of those that the driver of the second thing sees."""
    poses = np.array([[*s.middle, s.front] for s in solids], dtype=np.float32).reshape(1, -1, 3)
    with np.errstate(divide="ignore", invalid="ignore"):  # beside the camera
        seen = separations(poses, camera.row()[None])[0]
    own = own_separations(poses)[0]
    tables = {name: r.sign * seen[r.axis] for name, r in VIEWERS.items()}
    tables |= {name: r.sign * own[r.axis] for name, r in DRIVERS.items()}
    behind = np.array([behind_camera(camera, s) for s in solids], dtype=bool)
    for name in (name for name, relation in VIEWERS.items() if relation.axis == LATERAL):
        tables[name][behind[:, None] | behind] = -np.inf
    return tables


def reason(relation: str, names: list[str], solids: Sequence[Solid], camera: Camera, margin: float) -> str:
    """One sentence, without a full stop: why a relation holds, fails, or is too close to say.

    `names` and `solids` are of subject and objects, `margin` is that of :func:`measure`.
    """
    least = MARGINS[relation]
    holds = truth(margin, least)
    if relation in _MEANS:
        metres = max(distance(*solids), 0.0)
        sentence = f"{names[0]} and {names[1]} are {metres:.2f} m apart"
        sentence += f"; {relation} means {_MEANS[relation]}"
        if holds is None:
            sentence += f", and within {least:g} m of that it is too close to say: move one of them"
        return sentence
    if not np.isfinite(margin):
        if relation == "overtaking":
            return f"{names[0]} and {names[1]} have not both moved the same way"
        if relation not in VIEWERS:  # one's own
            return f"{names[0]} is not {relation} {names[1]}"
        behind = next(n for n, solid in zip(names, solids, strict=True) if behind_camera(camera, solid))
        return f"{behind} is behind the camera, where left and right mean nothing"
    framed = relation in VIEWERS or relation in DRIVERS
    if framed:
        sentence = _framed(relation, names, margin)
    elif relation in _MEASURED:
        sentence = _MEASURED[relation](names, solids, margin)
    else:  # one's own
        sentence = (
            f"{names[0]} is {'' if margin >= 0 else 'not '}{relation} {names[1]}, by {abs(margin):.2f} m"
        )
    if holds is None:
        sentence += f"; up to {least:g} m is too close to say: move one of them"
    elif framed or (holds and relation != "on"):
        sentence += f" ({least:g} m needed)"
    return sentence


def _framed(relation: str, names: list[str], margin: float) -> str:
    """Relations of things to each other as the viewer or a driver sees it."""
    frame = VIEWERS.get(relation) or DRIVERS[relation]
    positive, lateral = (frame.sign > 0) == (margin >= 0), frame.axis == LATERAL
    subject, other = f"{names[0]} is {abs(margin):.2f} m", names[1]
    if relation in DRIVERS:
        side = ("to the left", "to the right") if lateral else ("behind", "ahead")
        return f"seen from {other}, {subject} {side[positive]}"
    if lateral:
        return f"{subject} {'right' if positive else 'left'} of {other} as the viewer sees them"
    return f"{subject} {'farther from' if positive else 'nearer to'} the viewer than {other}"


def _on(names: list[str], solids: Sequence[Solid], margin: float) -> str:
    (upper, lower), (subject, below) = solids, names
    if margin >= 0:
        return f"the middle of {subject} is on {below}, {margin:.2f} m from the edge"
    if depths(upper.middle[None], lower.outline)[0] < 0:
        return f"the middle of {subject} is {-margin:.2f} m beside {below}"
    height = upper.base - lower.top(*upper.middle)
    if not np.isfinite(height):
        return f"nothing of {below} is under the middle of {subject}"
    where = "above" if height > 0 else "below"
    foot = f"the foot of {subject} is {abs(height):.2f} m {where} {below}'s top there"
    return f"{foot}, which it may be by {CONTACT:g} m"


def _between(names: list[str], solids: Sequence[Solid], margin: float) -> str:
    subject, *ends = names
    for end, solid in zip(ends, solids[1:], strict=True):
        inside = float(depths(solids[0].middle[None], solid.outline)[0])
        if inside > 0 and margin < 0:
            return f"the middle of {subject} is {inside:.2f} m inside the outline of {end}"
    where = f"{'inside' if margin >= 0 else 'outside'} the space between {ends[0]} and {ends[1]}"
    return f"the middle of {subject} is {abs(margin):.2f} m {where}"


def _facing(names: list[str], solids: Sequence[Solid], margin: float) -> str:
    (subject, seen), (viewer, target) = names, solids
    forward = np.array([np.cos(viewer.front), np.sin(viewer.front)])
    if margin >= 0:
        return f"the line straight ahead of {subject} meets {seen}, {margin:.2f} m inside its edge"
    if ((target.outline - viewer.middle) @ forward).max() <= 0:
        return f"{seen} is behind {subject}"
    return f"the line straight ahead of {subject} passes {seen} at {-margin:.2f} m"


def _overtaking(names: list[str], solids: Sequence[Solid], margin: float) -> str:
    passing, passed = (np.asarray(s.track) for s in solids)  # without tracks the margin is not finite
    way = passed[-1] - passed[0]
    before, now = (float((passing - passed)[k] @ way / np.hypot(*way)) for k in (0, -1))
    was, now_is = (f"{abs(lead):.2f} m {'ahead of' if lead >= 0 else 'behind'}" for lead in (before, now))
    return f"{names[0]} was {was} {names[1]} and is {now_is} it now"


#: The sentence about the margin of each relation that is neither the viewer's nor one of distance.
_MEASURED = {"on": _on, "between": _between, "facing": _facing, "overtaking": _overtaking}
