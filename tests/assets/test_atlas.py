"""The atlas's flat arrays against the meshes they were made of."""

from itertools import pairwise, product

import numpy as np
import pytest

from simtown.assets.atlas import SALOON, atlas
from simtown.assets.catalogue import ENTITIES, PROPS, STREET_MESHES, entity_mesh, prop_mesh
from simtown.assets.kept import kept
from simtown.assets.palette import GLOW, HEADLAMP, MATERIALS, TAILLAMP, WINDOW
from simtown.assets.street.road_surface import REACH, ROAD_EDGE, ground

NAMES = (*ENTITIES, *(f"{kind} {pose}" for kind, pose in STREET_MESHES), "ground")
KINDS = np.array([m.kind for m in MATERIALS])


@pytest.fixture(scope="module")
def a():
    return atlas()


def own(starts, number):
    return slice(starts[number], starts[number + 1])


def test_numbers_run_entities_props_ground(a):
    assert a.ground == len(ENTITIES) + len(STREET_MESHES)
    first = {0: entity_mesh(ENTITIES[0]), len(ENTITIES): prop_mesh(PROPS[0]), a.ground: ground()}
    for number, mesh in first.items():
        assert np.abs(a.mesh(number).vertices - mesh.vertices).max() < 1 / 4096


def test_normals_are_unit_outward_and_give_the_plane(a):
    p, q, r = a.vertices[a.triangles].astype(np.float64).transpose(1, 0, 2)
    expected = np.cross(q - p, r - p)
    expected /= np.linalg.norm(expected, axis=1)[:, None]
    assert np.abs(a.normals[:, :3] - expected).max() < 1e-6
    for corner in (p, q, r):
        assert np.abs((expected * corner).sum(axis=1) - a.normals[:, 3]).max() < 3e-5


def test_bounds_and_radius(a):
    for number in range(len(NAMES)):
        v = a.vertices[own(a.vertex_start, number)].astype(np.float64)
        assert np.array_equal(a.bounds[number], [v.min(axis=0), v.max(axis=0)])
        assert a.radius[number] == pytest.approx(np.linalg.norm(v, axis=1).max(), rel=1e-6)


def test_hull_reaches_as_far_as_the_mesh(a):
    """Along the axes and the diagonals of the cube."""
    grid = np.array([d for d in product((-1, 0, 1), repeat=3) if np.abs(d).sum() in (1, 3)])
    for number in range(len(NAMES)):
        v = a.vertices[own(a.vertex_start, number)].astype(np.float64)
        h = a.hull[own(a.hull_start, number)].astype(np.float64)
        assert np.array_equal((v @ grid.T).max(axis=0), (h @ grid.T).max(axis=0))
        assert set(map(tuple, h.tolist())) <= set(map(tuple, v.tolist()))


def test_lamps_lie_on_their_mesh(a):
    assert len(a.lamps) > 100
    facing = {HEADLAMP: 1.0, TAILLAMP: -1.0, GLOW: 0.0}
    for number, name in enumerate(NAMES):
        lamps = a.lamps[own(a.lamp_start, number)]
        used = a.materials[own(a.triangle_start, number)]
        glowing = {int(m) for m in used if KINDS[m] in facing}
        assert set(lamps[:, 3].astype(int).tolist()) == glowing, name
        for lamp in lamps:
            assert (a.bounds[number, 0] - 1e-6 <= lamp[:3]).all()
            assert (lamp[:3] <= a.bounds[number, 1] + 1e-6).all()
            assert lamp[4] == facing[int(KINDS[int(lamp[3])])]


def test_only_windows_have_part_numbers_and_those_of_a_vehicle_have_one(a):
    assert (a.parts[KINDS[a.materials] != WINDOW] == 0).all()
    assert a.parts.max() > 10
    vehicles = np.arange(len(a.triangles)) < a.triangle_start[len(ENTITIES)]
    assert set(a.parts[vehicles & (KINDS[a.materials] == WINDOW)].tolist()) == {SALOON}


def test_a_window_lights_as_a_whole(a):
    """Flat neighbours that share an edge are one pane, which is lit or dark as one: they have one number."""
    split = []
    for number, name in enumerate(NAMES):
        rows = np.arange(a.triangle_start[number], a.triangle_start[number + 1])
        rows = rows[KINDS[a.materials[rows]] == WINDOW]
        for i, j in pairwise(rows):
            if len(set(a.triangles[i]) & set(a.triangles[j])) == 2 and a.parts[i] != a.parts[j]:
                split.append(name)
    assert not split


def test_the_ground_lies_flat_under_the_road(a):
    mesh = a.mesh(a.ground)
    p = mesh.vertices[mesh.triangles]
    flat = np.ptp(p[:, :, 2], axis=1) == 0
    normals = a.normals[own(a.triangle_start, a.ground)]
    assert (normals[flat, 2] == 1).all()
    assert np.abs(p[flat][:, :, 2]).max() <= 0.025
    asphalt = np.array([MATERIALS[m].name == "asphalt" for m in mesh.materials])
    size = np.ptp(p[asphalt].reshape(-1, 3), axis=0).tolist()
    assert size == pytest.approx([2 * REACH, 2 * ROAD_EDGE, 0], abs=1e-3)
    assert (normals[~flat, 1] < 0).all()  # hills face the viewer
    # and lean back a little, for snow; what is flatter is drawn as level ground
    assert ((normals[~flat, 2] > 0.1) & (normals[~flat, 2] < 0.5)).all()


def test_arrays_are_built_once(tmp_path, monkeypatch):
    monkeypatch.setenv("SIMTOWN_CACHE", str(tmp_path / "cache"))
    built = []

    def build():
        built.append(1)
        return {"rows": np.arange(len(built))}

    assert [len(kept("a", build)["rows"]) for _ in range(3)] == [1, 1, 1]
    (file,) = (tmp_path / "cache" / "town").iterdir()
    file.write_bytes(file.read_bytes()[:100])  # damaged
    assert [len(kept("a", build)["rows"]) for _ in range(2)] == [2, 2]
    monkeypatch.setenv("SIMTOWN_CACHE", "/dev/null/cache")  # no folder can be made
    assert [len(kept("a", build)["rows"]) for _ in range(2)] == [3, 4]
