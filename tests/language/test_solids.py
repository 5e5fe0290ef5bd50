"""Relations of solid things against brute force: points sampled on meshes and outlines, and SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import spatial

from simtown.assets.atlas import atlas
from simtown.language.meaning import solids
from simtown.language.meaning.limits import BESIDE, CONTACT, FAR, NEAR
from simtown.language.meaning.solids import SOLID_RELATIONS, SURFACES, Solid
from simtown.scenes.footprints import GROUP, number
from simtown.town.things import Thing

quick = settings(max_examples=30)
# Kinds whose outline is that of the whole mesh.
whole = st.sampled_from([k for k, g in GROUP.items() if g in ("vehicle", "person")])
standing_on = st.sampled_from(["flatbed truck", "bench", "taxi", "dump truck"])
places = {"x": st.floats(-15, 15), "y": st.floats(-8, 8), "yaw": st.floats(-6.28, 6.28)}
things = st.builds(Thing, whole, **places)


def shadow(thing):
    """The corners of a mesh's shadow on the ground, by SciPy, in the world's frame."""
    points = atlas().mesh(number(thing.kind)).vertices[:, :2]
    points = points[spatial.ConvexHull(points).vertices]
    c, s = np.cos(thing.yaw), np.sin(thing.yaw)
    return points @ np.array([[c, s], [-s, c]]) + [thing.x, thing.y]


def within(points, cloud):
    return spatial.Delaunay(cloud).find_simplex(points) >= 0


@quick
@given(things, things)
def test_distance_and_what_follows_from_it(a, b):
    one, two = a.solid(), b.solid()
    found = solids.distance(one, two)
    edges = []
    for p in (shadow(a), shadow(b)):
        along = np.roll(p, -1, axis=0) - p
        edges.append(np.concatenate([p + t * along for t in np.linspace(0, 1, 60)]))
    brute = spatial.distance.cdist(*edges).min()
    if found > 0:
        assert found - 1e-6 <= brute <= found + 0.2
    relations = [SOLID_RELATIONS[name] for name in ("next to", "near", "far from")]
    assert [r.measure(one, two) for r in relations] == [BESIDE - found, NEAR - found, found - FAR]
    beside, close, far = (solids.truth(r.measure(one, two), r.margin) for r in relations)
    assert not (beside and not close)
    assert not (close and far)
    assert solids.distance(two, one) == pytest.approx(found, abs=1e-9)


@quick
@given(things, things, things)
def test_between_is_on_some_line_from_one_to_the_other(a, b, c):
    found = solids.between(a.solid(), b.solid(), c.solid())
    assert solids.between(a.solid(), c.solid(), b.solid()) == pytest.approx(found, abs=1e-9)
    middle = np.array([[a.x, a.y]])
    ends = [shadow(b), shadow(c)]
    brute = within(middle, np.concatenate(ends))[0] and not any(within(middle, e)[0] for e in ends)
    if abs(found) > 1e-6:
        assert (found > 0) == brute
    if found > 0.3:  # then a ball of that radius around the middle is between, too
        ring = middle + 0.99 * found * np.stack([np.cos(np.arange(8)), np.sin(np.arange(8))], axis=1)
        assert within(ring, np.concatenate(ends)).all()


@quick
@given(things, things)
def test_facing_is_a_line_of_sight_that_meets_the_other(a, b):
    found = solids.facing(a.solid(), b.solid())
    sight = np.array([a.x, a.y]) + np.linspace(0, 40, 2000)[:, None] * [np.cos(a.front), np.sin(a.front)]
    meets = within(sight, shadow(b)).any()
    inside = within(np.array([[a.x, a.y]]), shadow(b))[0]
    if abs(found) > 0.05 and not inside:
        assert (found > 0) == meets


def test_vehicles_look_along_their_yaw_and_people_at_the_viewer():
    taxi, man, jogger = Thing("taxi", 0, 0, yaw=0.5), Thing("man", 0, 0), Thing("jogger", 0, 0)
    assert (taxi.front, jogger.front) == (0.5, 0.0)
    assert np.isclose(man.front, -np.pi / 2)


def heights_around(corners, x, y):
    """Least and greatest height of (t, 3, 3) triangles over a point and eight a micrometre away."""
    found = []
    for dx, dy in np.array([[0, 0], *([np.cos(a), np.sin(a)] for a in np.arange(8) * np.pi / 4)]) * 1e-6:
        sides = np.roll(corners[:, :, :2], -1, axis=1) - corners[:, :, :2]
        to = np.array([x + dx, y + dy]) - corners[:, :, :2]
        turns = sides[..., 0] * to[..., 1] - sides[..., 1] * to[..., 0]
        met = corners[((turns > 0).all(axis=1) | (turns < 0).all(axis=1))]
        normal = np.cross(met[:, 1] - met[:, 0], met[:, 2] - met[:, 0])
        across = (np.array([x + dx, y + dy]) - met[:, 0, :2]) * normal[:, :2]
        height = met[:, 0, 2] - across.sum(axis=1) / normal[:, 2]
        found.append(height.max(initial=-np.inf))
    return min(found), max(found)


@quick
@given(standing_on, st.floats(-3, 3), st.floats(-1.5, 1.5), st.floats(0, 3))
def test_on_is_standing_where_the_other_ends(kind, x, y, z):
    below, man = Thing(kind, 0, 0), Thing("man", x, y, z)
    found = solids.on(man.solid(), below.solid())
    mesh = atlas().mesh(number(kind))
    least, most = heights_around(mesh.vertices[mesh.triangles], x, y)
    if found > 0:
        assert within(np.array([[x, y]]), shadow(below))[0]
        assert least - CONTACT - 1e-6 <= z <= most + CONTACT + 1e-6
    elif found < -0.3 and least == most:
        assert abs(z - most) > 0.3 or not within(np.array([[x, y]]), shadow(below))[0]
    top = below.top(x, y)
    if np.isfinite(top):
        assert solids.on(Thing("man", x, y, top).solid(), below.solid()) >= 0


def test_everything_is_on_one_part_of_the_ground():
    parts = {"road": (0.0, -3.0, -5.0), "sidewalk": (5.0, -6.5), "lawn": (9.0, -9.0)}
    for where, y in [(where, y) for where, ys in parts.items() for y in ys]:
        for z, expected in ((0.0, [where]), (2.0, [])):
            man = Thing("man", 0.0, y, z=z).solid()
            depths = {name: [solids.on(man, s) for s in strips] for name, strips in SURFACES.items()}
            assert [name for name, inside in depths.items() if max(inside) > 0] == expected


def moving(xs, ys=0.0):
    track = np.stack([np.asarray(xs, dtype=float), np.broadcast_to(ys, np.shape(xs))], axis=1)
    return Solid(np.zeros((3, 2)), 0.0, lambda x, y: 0.0, track[-1], track=track)


#: Metres a second that are none, or enough to have a direction.
speeds = st.floats(-10, 10).filter(lambda speed: speed == 0 or abs(speed) > 1e-3)


@quick
@given(st.floats(-20, 20), speeds, speeds, st.floats(-3, 3))
def test_overtaking_is_being_behind_first_and_ahead_at_last(start, fast, slow, turn):
    t = np.linspace(0, 2, 21)
    c, s = np.cos(turn), np.sin(turn)
    spin = np.array([[c, s], [-s, c]])
    a, b = (
        Solid(np.zeros((3, 2)), 0.0, lambda x, y: 0.0, m.track[-1], track=m.track @ spin)
        for m in (moving(start + fast * t, 1.0), moving(slow * t))
    )
    found = solids.overtaking(a, b)
    way = np.sign(slow)
    went_past = fast * slow > 0 and way * start < 0 < way * (start + 2 * (fast - slow))
    if np.isfinite(found) and abs(found) > 1e-6:
        assert (found > 0) == went_past
        assert solids.overtaking(b, a) < 0 or found < 0
    elif not np.isfinite(found):
        assert not went_past


def test_nothing_overtakes_without_having_moved():
    still = moving([0.0, 0.0])
    assert solids.overtaking(moving([-3.0, 3.0]), still) == -np.inf
    assert solids.overtaking(Thing("taxi", 0, 0).solid(), still) == -np.inf
