"""Why a relation holds or does not, in words: the distance that was measured, and the one that counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from simtown.language.relations import RELATION_NAMES
from simtown.language.solids import BESIDE, CONTACT, FAR, NEAR, Solid, distance
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import depths
from simtown.town.relating import MARGINS, behind_camera

#: What the relations of a distance mean.
_MEANS = {"next to": f"under {BESIDE:g} m", "near": f"under {NEAR:g} m", "far from": f"over {FAR:g} m"}


def reason(relation: str, names: Sequence[str], solids: Sequence[Solid], camera: Camera, margin: float, holds: bool | None) -> str:
    """Why a relation of this `margin` (metres) holds, does not, or is too close to say: one sentence, without a full stop.

    Args:
        relation: its name.
        names: what the subject and the objects are called.
        solids: the same things, as relations see them.
        camera: from where they are seen.
        margin: as :func:`simtown.town.relating.measure` gives it.
        holds: whether it holds, or None.
    """
    least = MARGINS[relation]
    if relation in _MEANS:
        said = f"the {names[0]} and the {names[1]} are {max(distance(*solids), 0.0):.2f} m apart; {relation} means {_MEANS[relation]}"
        return said if holds is not None else f"{said}, and within {least:g} m of that it is too close to say: move one of them"
    if not np.isfinite(margin):
        return _impossible(relation, names, solids, camera)
    said = _MEASURED[relation](relation, names, solids, margin)
    if holds is None:
        return f"{said}; up to {least:g} m is too close to say: move one of them"
    return f"{said}; over {least:g} m counts" if relation in RELATION_NAMES or (holds and relation != "on") else said


def _impossible(relation: str, names: Sequence[str], solids: Sequence[Solid], camera: Camera) -> str:
    if relation == "overtaking":
        return f"the {names[0]} and the {names[1]} have not both moved the same way"
    behind = next(name for name, solid in zip(names, solids, strict=True) if behind_camera(camera, solid))
    return f"the {behind} is behind the camera, where left and right mean nothing"


def _sideways(relation: str, names: Sequence[str], solids: Sequence[Solid], margin: float) -> str:
    side = relation if margin >= 0 else {"left of": "right of", "right of": "left of"}[relation]
    return f"the {names[0]} is {abs(margin):.2f} m {side} the {names[1]} as the viewer sees them"


def _deep(relation: str, names: Sequence[str], solids: Sequence[Solid], margin: float) -> str:
    nearer = (relation == "in front of") == (margin >= 0)
    return f"the {names[0]} is {abs(margin):.2f} m {'nearer to' if nearer else 'farther from'} the viewer than the {names[1]}"


def _on(relation: str, names: Sequence[str], solids: Sequence[Solid], margin: float) -> str:
    (upper, lower), (subject, below) = solids, names
    if margin >= 0:
        return f"the {subject} stands on the {below}, its middle {margin:.2f} m from the edge"
    if depths(upper.middle[None], lower.outline)[0] < 0:
        return f"the middle of the {subject} is {-margin:.2f} m beside the {below}"
    height = upper.base - lower.top(*upper.middle)
    if not np.isfinite(height):
        return f"nothing of the {below} is under the middle of the {subject}"
    where = "above" if height > 0 else "below"
    return f"the foot of the {subject} is {abs(height):.2f} m {where} the {below}'s top there, which it may be by {CONTACT:g} m"


def _between(relation: str, names: Sequence[str], solids: Sequence[Solid], margin: float) -> str:
    subject, *ends = names
    for end, solid in zip(ends, solids[1:], strict=True):
        inside = float(depths(solids[0].middle[None], solid.outline)[0])
        if inside > 0 and margin < 0:
            return f"the middle of the {subject} is {inside:.2f} m inside the outline of the {end}"
    where = "inside" if margin >= 0 else "outside"
    return f"the middle of the {subject} is {abs(margin):.2f} m {where} the space between the {ends[0]} and the {ends[1]}"


def _facing(relation: str, names: Sequence[str], solids: Sequence[Solid], margin: float) -> str:
    (subject, seen), (viewer, target) = names, solids
    forward = np.array([np.cos(viewer.front), np.sin(viewer.front)])
    if margin >= 0:
        return f"the line straight ahead of the {subject} meets the {seen}, {margin:.2f} m inside its edge"
    if ((target.outline - viewer.middle) @ forward).max() <= 0:
        return f"the {seen} is behind the {subject}"
    return f"the line straight ahead of the {subject} passes the {seen} at {-margin:.2f} m"


def _overtaking(relation: str, names: Sequence[str], solids: Sequence[Solid], margin: float) -> str:
    passing, passed = (s.track for s in solids)
    assert passing is not None
    assert passed is not None  # without tracks the margin is not finite
    way = passed[-1] - passed[0]
    before, now = (float((passing - passed)[k] @ way / np.hypot(*way)) for k in (0, -1))
    was, is_ = (f"{abs(lead):.2f} m {'ahead of' if lead >= 0 else 'behind'}" for lead in (before, now))
    return f"the {names[0]} was {was} the {names[1]} and is {is_} it now"


_MEASURED: dict[str, Callable[[str, Sequence[str], Sequence[Solid], float], str]] = {
    "left of": _sideways,
    "right of": _sideways,
    "in front of": _deep,
    "behind": _deep,
    "on": _on,
    "between": _between,
    "facing": _facing,
    "overtaking": _overtaking,
}
