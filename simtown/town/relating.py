"""All relations of a town by name: those that data sets ask about, and those of solid things."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from simtown.language.relations import DRIVER_RELATIONS, LATERAL, RELATIONS, own_separations, separations
from simtown.language.solids import (
    BESIDE,
    FAR,
    NEAR,
    SOLID_RELATIONS,
    Solid,
    SolidRelation,
    betweens,
    distance,
)
from simtown.scenes.camera import Camera

#: Every relation of a town by name, with the metres within which its truth is undefined.
MARGINS = {r.name: r.margin for r in (*RELATIONS, *DRIVER_RELATIONS)}
MARGINS |= {name: relation.margin for name, relation in SOLID_RELATIONS.items()}
#: The relations that data sets ask about, too, by name: in the viewer's frame and in a driver's.
VIEWERS, DRIVERS = ({r.name: r for r in every} for every in (RELATIONS, DRIVER_RELATIONS))


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
