"""Why a relation holds or fails, in words: the distance that was measured, and the one that counts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from simtown.language.relations import LATERAL
from simtown.language.solids import BESIDE, CONTACT, FAR, NEAR, Solid, distance
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import depths
from simtown.town.relating import DRIVERS, MARGINS, VIEWERS, behind_camera

Solids = tuple[Solid, ...]
#: What the relations of a distance mean.
_MEANS = {"next to": f"under {BESIDE:g} m", "near": f"under {NEAR:g} m", "far from": f"over {FAR:g} m"}


def the(name: object) -> str:
    """A thing's name with its article; one with a number has none: "the taxi", "taxi 2"."""
    return str(name) if str(name)[-1:].isdigit() else f"the {name}"


def listed(things: Iterable[object], last: str = "and") -> str:
    """Names in a row: "taxi, tram and taxi 2"; of more than eight the first."""
    names = [str(thing) for thing in things]
    if len(names) > 8:
        return f"{', '.join(names[:8])}, ..."
    return f" {last} ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def reason(
    relation: str, names: list[str], solids: Solids, camera: Camera, margin: float, holds: bool | None
) -> str:
    """One sentence, without a full stop: why a relation holds, fails, or is too close to say.

    `names` and `solids` are of subject and objects, `margin` is :func:`simtown.town.relating.measure`.
    """
    least = MARGINS[relation]
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
        sentence += f"; over {least:g} m counts"
    return sentence


def _framed(relation: str, names: list[str], margin: float) -> str:
    """How things stand to each other as the viewer or a driver sees it."""
    frame = VIEWERS.get(relation) or DRIVERS[relation]
    positive, lateral = (frame.sign > 0) == (margin >= 0), frame.axis == LATERAL
    subject, other = f"{names[0]} is {abs(margin):.2f} m", names[1]
    if relation in DRIVERS:
        side = ("to the left", "to the right") if lateral else ("behind", "ahead")
        return f"seen from {other}, {subject} {side[positive]}"
    if lateral:
        return f"{subject} {'right' if positive else 'left'} of {other} as the viewer sees them"
    return f"{subject} {'farther from' if positive else 'nearer to'} the viewer than {other}"


def _on(names: list[str], solids: Solids, margin: float) -> str:
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


def _between(names: list[str], solids: Solids, margin: float) -> str:
    subject, *ends = names
    for end, solid in zip(ends, solids[1:], strict=True):
        inside = float(depths(solids[0].middle[None], solid.outline)[0])
        if inside > 0 and margin < 0:
            return f"the middle of {subject} is {inside:.2f} m inside the outline of {end}"
    where = f"{'inside' if margin >= 0 else 'outside'} the space between {ends[0]} and {ends[1]}"
    return f"the middle of {subject} is {abs(margin):.2f} m {where}"


def _facing(names: list[str], solids: Solids, margin: float) -> str:
    (subject, seen), (viewer, target) = names, solids
    forward = np.array([np.cos(viewer.front), np.sin(viewer.front)])
    if margin >= 0:
        return f"the line straight ahead of {subject} meets {seen}, {margin:.2f} m inside its edge"
    if ((target.outline - viewer.middle) @ forward).max() <= 0:
        return f"{seen} is behind {subject}"
    return f"the line straight ahead of {subject} passes {seen} at {-margin:.2f} m"


def _overtaking(names: list[str], solids: Solids, margin: float) -> str:
    passing, passed = (np.asarray(s.track) for s in solids)  # without tracks the margin is not finite
    way = passed[-1] - passed[0]
    before, now = (float((passing - passed)[k] @ way / np.hypot(*way)) for k in (0, -1))
    was, now_is = (f"{abs(lead):.2f} m {'ahead of' if lead >= 0 else 'behind'}" for lead in (before, now))
    return f"{names[0]} was {was} {names[1]} and is {now_is} it now"


#: The sentence about the margin of each relation that is neither the viewer's nor one of distance.
_MEASURED = {"on": _on, "between": _between, "facing": _facing, "overtaking": _overtaking}
