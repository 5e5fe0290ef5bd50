"""All relations of a town by name: those that data sets ask about, and those of solid things."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from simtown.language.relations import LATERAL, RELATIONS, margins, separations
from simtown.language.solids import BESIDE, FAR, NEAR, SOLID_RELATIONS, Solid, distance
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import depths, hull

#: Every relation of a town by name, with the metres within which its truth is undefined.
MARGINS = {r.name: r.margin for r in RELATIONS} | {n: r.margin for n, r in SOLID_RELATIONS.items()}
_PLANAR = tuple(r.name for r in RELATIONS)


def measure(relation: str, camera: Camera, subject: Solid, *objects: Solid) -> float:
    """Metres by which a relation holds between things as `camera` sees them.

    The number is negative if the relation fails, and -inf if it cannot hold.
    """
    if relation in _PLANAR:
        return float(_planar(camera, [subject, objects[0]])[relation][0, 1])
    return float(SOLID_RELATIONS[relation].measure(subject, *objects))


def table(camera: Camera, solids: list[Solid]) -> dict[str, np.ndarray]:
    """The margins of every relation between n things, by its name.

    They are (n, n) float64, for "between" (n, n, n), and nan for a thing with itself.
    """
    n = len(solids)
    tables = _planar(camera, solids)
    gaps = np.full((n, n), np.nan)
    for j, i in combinations(range(n), 2):
        gaps[i, j] = gaps[j, i] = distance(solids[i], solids[j])
    tables["next to"], tables["near"], tables["far from"] = BESIDE - gaps, NEAR - gaps, gaps - FAR
    for name in ("on", "facing", "overtaking"):
        relation = SOLID_RELATIONS[name].measure
        values = [[relation(a, b) if a is not b else np.nan for b in solids] for a in solids]
        tables[name] = np.array(values).reshape(n, n)
    tables["between"] = _betweens(solids)
    for table_ in tables.values():
        np.einsum("ii...->i...", table_)[...] = np.nan
    return {name: tables[name] for name in MARGINS}


def behind_camera(camera: Camera, solid: Solid) -> bool:
    """Whether a thing's middle is beside or behind the camera, where left and right mean nothing."""
    dx, dy = solid.middle - np.array([camera.x, camera.y])
    return bool(dy * np.cos(camera.yaw) - dx * np.sin(camera.yaw) <= 0)


def _planar(camera: Camera, solids: list[Solid]) -> dict[str, np.ndarray]:
    """(n, n) margins of the relations that data sets ask about, by name."""
    n = len(solids)
    poses = np.array([[*s.middle, 0.0] for s in solids], dtype=np.float32).reshape(1, n, 3)
    with np.errstate(divide="ignore", invalid="ignore"):  # beside the camera
        separation = separations(poses, camera.row()[None])
    i, j = (k.ravel() for k in np.indices((n, n)))
    separation = np.broadcast_to(separation, (n * n, 2, n, n))
    columns = (margins(separation, np.full(n * n, r), i, j) for r in range(len(_PLANAR)))
    tables = {name: column.reshape(n, n) for name, column in zip(_PLANAR, columns, strict=True)}
    behind = np.array([behind_camera(camera, s) for s in solids], dtype=bool)
    for relation in RELATIONS:
        if relation.axis == LATERAL:
            tables[relation.name][behind[:, None] | behind] = -np.inf
    return tables


def most_between(
    subjects: list[Solid], pairs: list[tuple[Solid, Solid]], distinct: np.ndarray
) -> tuple[int, int]:
    """The numbers of a subject and a pair of objects for which the margin of "between" is greatest.

    Most pairs are only bounded: no subject is deeper between two things than in the strip that holds both.

    Args:
        subjects: n things.
        pairs: m pairs of things.
        distinct: (m, n) bool, whether the subject is neither of the pair; at least once.
    """
    middles = np.array([s.middle for s in subjects])
    ends = {id(end): end for pair in pairs for end in pair}
    outside = {key: -depths(middles, end.outline) for key, end in ends.items()}
    bounds = np.full(distinct.shape, -np.inf)
    for k, (b, c) in enumerate(pairs):
        along = c.middle - b.middle
        length = float(np.hypot(*along))
        across = np.array([-along[1], along[0]]) / length if length > 1e-9 else np.array([1.0, 0.0])
        edges, places = np.concatenate([b.outline @ across, c.outline @ across]), middles @ across
        strip = np.minimum(edges.max() - places, places - edges.min())
        bound = np.minimum(strip, np.minimum(outside[id(b)], outside[id(c)]))
        bounds[k] = np.where(distinct[k], bound, -np.inf)
    margin, subject, pair = -np.inf, 0, 0
    highest = bounds.max(axis=1)
    for k in np.argsort(-highest, kind="stable").tolist():
        if highest[k] <= margin + 1e-9:
            break
        b, c = pairs[k]
        whole = depths(middles, hull(np.concatenate([b.outline, c.outline])))
        margins = np.where(distinct[k], np.minimum(whole, bounds[k]), -np.inf)
        if margins.max() > margin:
            margin, subject, pair = float(margins.max()), int(margins.argmax()), k
    return subject, pair


def _betweens(solids: list[Solid]) -> np.ndarray:
    """(n, n, n) margins of "between"."""
    n = len(solids)
    middles = np.array([s.middle for s in solids]).reshape(n, 2)
    inside = np.array([depths(middles, s.outline) for s in solids]).reshape(n, n)
    out = np.full((n, n, n), np.nan)
    for b, c in combinations(range(n), 2):
        whole = depths(middles, hull(np.concatenate([solids[c].outline, solids[b].outline])))
        out[:, b, c] = out[:, c, b] = np.minimum(whole, np.minimum(-inside[b], -inside[c]))
        out[[b, c], b, c] = out[[b, c], c, b] = np.nan
    return out
