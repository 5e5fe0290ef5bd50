"""What holds for every kind of vehicle and everything beside the road: one test a property."""

from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from simtown.assets import catalogue, palette
from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, POSES, PROPS, STREET, STREET_MESHES, entity_mesh, prop_mesh
from simtown.assets.mesh import Mesh
from simtown.assets.palette import MATERIALS, PAINTS, material
from simtown.assets.vehicles import buses
from simtown.render.raster import Raster
from simtown.scenes.scene import Scene, SceneBatch, Vehicle, Weather
from tests.assets.geometry import areas, corners
from tests.every import for_every

VEHICLE_TRIANGLES, STREET_TRIANGLES = 1500, 450
LONGEST, WIDEST, HIGHEST = 6.2, 2.25, 3.63
#: A name for every mesh of the atlas but the ground's, in its order.
MESHES = (*ENTITIES, *PROPS, *(f"{kind}, pose {pose}" for kind, pose in STREET_MESHES[len(PROPS) :]))


def made(name) -> Mesh:
    """The mesh of a name, made anew."""
    number = MESHES.index(name)
    return entity_mesh(name) if number < len(ENTITIES) else prop_mesh(*STREET_MESHES[number - len(ENTITIES)])


mesh_of = cache(made)


@cache
def drawn(name) -> Mesh:
    """The mesh as the renderers get it, on the atlas's grid."""
    return atlas().mesh(MESHES.index(name))


def pieces(mesh):
    """The mesh's connected parts, each as triangles of point numbers, where points that coincide are one."""
    edges = (mesh.triangles.ravel(), np.roll(mesh.triangles, 1, axis=1).ravel())
    graph = coo_matrix((np.ones(len(edges[0])), edges), shape=[len(mesh.vertices)] * 2)
    label = connected_components(graph, directed=False)[1]
    points = np.unique(mesh.vertices, axis=0, return_inverse=True)[1].reshape(-1)
    for part in np.unique(label[mesh.triangles]):
        triangles = mesh.triangles[label[mesh.triangles[:, 0]] == part]
        merged = points[triangles]
        yield triangles, merged[[len(set(t)) == 3 for t in merged.tolist()]]


@for_every(MESHES)
def test_well_formed_and_within_its_triangle_budget(name):
    mesh = mesh_of(name)
    least, most = (20, VEHICLE_TRIANGLES) if name in ENTITIES else (4, STREET_TRIANGLES)
    assert least <= len(mesh.triangles) <= most
    assert mesh.vertices.shape[1:] == mesh.triangles.shape[1:] == (3,)
    assert np.isfinite(mesh.vertices).all()
    assert mesh.triangles.dtype.kind == "i"
    assert set(mesh.triangles.ravel().tolist()) <= set(range(len(mesh.vertices)))
    assert mesh.materials.shape == (len(mesh.triangles),)
    assert set(mesh.materials.tolist()) <= set(range(len(MATERIALS)))


@for_every(MESHES)
def test_the_atlas_rounds_to_its_grid_and_drops_slivers_only(name):
    """Rounding may close a sliver; it must not eat visible faces."""
    before, after = mesh_of(name), drawn(name)
    assert np.array_equal(after.vertices * 4096, np.round(after.vertices * 4096))
    assert np.abs(after.vertices - before.vertices).max() <= 0.5 / 4096 + 1e-12
    assert (areas(after) > 1e-6).all()
    assert areas(after).sum() == pytest.approx(areas(before).sum(), rel=2e-3)
    assert len(after.triangles) >= 0.97 * len(before.triangles)


@for_every(MESHES)
def test_neighbouring_triangles_wind_alike(name):
    """No edge is run through twice in the same direction."""
    for _, merged in pieces(drawn(name)):
        directed = Counter((t[k - 1], t[k]) for t in merged.tolist() for k in range(3))
        assert max(directed.values(), default=1) == 1


@for_every(MESHES)
def test_closed_parts_wind_outwards(name):
    mesh = drawn(name)
    for triangles, merged in pieces(mesh):
        edges = {(t[k - 1], t[k]) for t in merged.tolist() for k in range(3)}
        if all((b, a) in edges for a, b in edges):
            points = mesh.vertices[triangles] - mesh.vertices[triangles].mean(axis=(0, 1))
            assert np.linalg.det(points).sum() / 6 > 1e-7


@for_every(ENTITIES)
def test_vehicle_fits_the_lane_and_is_centred(name):
    """Placement and framing judge a footprint about the origin."""
    bounds = mesh_of(name).bounds
    length, width, height = np.ptp(bounds, axis=0)
    assert max(1.0, width) < length <= LONGEST
    assert 0.5 < width <= WIDEST
    assert 1.0 < height <= HIGHEST
    assert (np.abs(bounds.mean(axis=0))[:2] <= [0.15, 0.02]).all()


@for_every(ENTITIES)
def test_vehicle_stands_on_the_road_at_either_end(name):
    """The spread of its lowest points covers a good part of the length, or it would seem to fall over."""
    mesh = mesh_of(name)
    low = mesh.vertices[mesh.vertices[:, 2] < mesh.bounds[0, 2] + 0.12]
    assert abs(mesh.bounds[0, 2]) <= 0.02
    assert np.ptp(low[:, 0]) > 0.3 * np.ptp(mesh.vertices[:, 0])


@for_every(ENTITIES)
def test_vehicle_wears_no_street_material(name):
    """Tints are drawn for street kinds only; road and ground take snow and water differently."""
    street = {palette.TINT_WALL, palette.TINT_ROOF, palette.TINT_CLOTH}
    street |= {palette.GROUND, palette.ROAD, palette.CLOUD}
    assert not street & {MATERIALS[m].kind for m in mesh_of(name).materials}


def seen_from_the_side(mesh, x, z):
    """(len(x), len(z)) materials that are seen of the right flank from far away, -1 where there is none."""
    nearest, seen = np.full((len(x), len(z)), np.inf), np.full((len(x), len(z)), -1)
    for (p, q, r), paint in zip(corners(mesh), mesh.materials, strict=True):
        double_area = (q[0] - p[0]) * (r[2] - p[2]) - (r[0] - p[0]) * (q[2] - p[2])
        if double_area <= 1e-9:  # turned away
            continue
        columns = slice(*np.searchsorted(x, [min(p[0], q[0], r[0]), max(p[0], q[0], r[0])]))
        rows = slice(*np.searchsorted(z, [min(p[2], q[2], r[2]), max(p[2], q[2], r[2])]))
        u, v = x[columns, None] - p[0], z[None, rows] - p[2]
        b = (u * (r[2] - p[2]) - (r[0] - p[0]) * v) / double_area
        c = ((q[0] - p[0]) * v - u * (q[2] - p[2])) / double_area
        y = p[1] + b * (q[1] - p[1]) + c * (r[1] - p[1])
        nearer = (b >= 0) & (c >= 0) & (b + c <= 1) & (y < nearest[columns, rows])
        nearest[columns, rows][nearer] = y[nearer]
        seen[columns, rows][nearer] = paint
    return seen


@for_every(catalogue.BODIES.items())
def test_the_body_is_a_good_part_of_what_is_painted(name, paint):
    """Exchanging the body's paint changes at least a fifth of the plain paint that is seen from the side."""
    assert paint in PAINTS
    assert name not in catalogue.NAMED_BY_COLOUR or name.startswith(paint)
    mesh = mesh_of(name)
    x, z = (np.arange(low, high, 0.04) + 0.02 for low, high in mesh.bounds.T[[0, 2]])
    seen = seen_from_the_side(mesh, x, z)
    assert (seen == material(paint)).sum() >= 0.2 * ((seen >= 0) & (seen < len(PAINTS))).sum()


@for_every(buses.KINDS)
def test_windows_of_buses_are_lit_at_night(name):
    """On either flank, a good part of what is seen of it is warm and bright."""
    scenes = [Scene([Vehicle(name, 0.0, -1.85, yaw)], [], Weather("night", 1.0)) for yaw in (0.0, np.pi)]
    frames = Raster().render(SceneBatch.of(scenes), 256, 128)
    own, red, blue = frames.ids == 1, frames.rgb[..., 0].astype(int), frames.rgb[..., 2].astype(int)
    lit = own & (red > 140) & (red > blue + 40)
    assert (lit.sum(axis=(1, 2)) > 0.08 * own.sum(axis=(1, 2))).all()


@for_every(name for name in MESHES[len(ENTITIES) :] if name not in STREET["cloud"])
def test_prop_stands_on_the_ground(name):
    assert abs(mesh_of(name).bounds[0, 2]) <= 0.06


@for_every(STREET["person"])
def test_poses_are_told_apart_at_a_glance(name):
    """Outlines seen from the road, or from beside, differ by a good part of a person's area."""
    x, z = np.arange(-1.6, 1.6, 0.04), np.arange(0.02, 2.6, 0.04)
    views = [(prop_mesh(name, pose), prop_mesh(name, pose).turned(70.0)) for pose in range(POSES)]
    outlines = [[seen_from_the_side(view, x, z) >= 0 for view in pair] for pair in views]
    for one, other in combinations(outlines, 2):
        assert max(np.mean(a != b) / np.mean(a) for a, b in zip(one, other, strict=True)) > 0.1


@for_every(STREET["building"])
def test_building_front_faces_the_road(name):
    """Most of what can be seen from the road faces it, and the street's rows can rely on the width."""
    mesh = mesh_of(name)
    p, q, r = corners(mesh).transpose(1, 0, 2)
    towards = -np.cross(q - p, r - p)[:, 1]
    assert towards[towards > 0].sum() > 3 * -towards[towards < 0].sum()
    # draw_street takes the right half for the half width
    assert -mesh.bounds[0, 0] <= mesh.bounds[1, 0] + 1e-3
    assert mesh.bounds[0, 1] > -2.5  # nothing juts out over the pavement's middle


def test_all_meshes_differ():
    a = atlas()
    seen = {}
    for number, name in enumerate(MESHES):
        mesh = a.mesh(number)
        order = np.lexsort(corners(mesh).reshape(len(mesh.triangles), 9).T)
        key = (corners(mesh)[order].tobytes(), mesh.materials[order].tobytes())
        assert key not in seen, f"{name} looks like {seen[key]}"
        seen[key] = name


def test_no_two_vehicles_look_nearly_the_same():
    """By area of each colour in each direction: questions about kinds that look alike have no answer."""
    profiles = np.zeros((len(ENTITIES), len(MATERIALS), 6))
    for name, profile in zip(ENTITIES, profiles, strict=True):
        p, q, r = corners(mesh_of(name)).transpose(1, 0, 2)
        area = np.cross(q - p, r - p) / 2
        np.add.at(profile, mesh_of(name).materials, np.maximum(np.concatenate([area, -area], axis=1), 0))
    for (i, a), (j, b) in combinations(enumerate(profiles), 2):
        assert np.abs(a - b).sum() > 0.1 * max(a.sum(), b.sum()), (ENTITIES[i], ENTITIES[j])
