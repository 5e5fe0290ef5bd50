"""The kernel `setup`, its PTX run on the emulator, against the processor's functions: everything that it
leaves, byte for byte.
"""

import re

import numpy as np
import pytest

pytest.importorskip("cuda.bindings", reason="needs cuda-bindings: pip install '.[dev]'")

from simtown.assets.atlas import atlas
from simtown.render import effects, ground
from simtown.render.cuda.compiler import source
from simtown.render.instances import instances
from simtown.render.light import DENSITY, LAMPS, THICK, lights
from simtown.render.raster import _Dark, _meshes, tables
from simtown.render.shading import clear_air
from simtown.render.sky import row_slope, sky_row
from simtown.scenes.camera import NEAR, object_to_camera, views
from simtown.scenes.scene import SceneBatch
from simtown.scenes.weather import WEATHERS
from tests.render.emulated import THREADS, Launch, faults_without_barriers
from tests.render.streets import close_up, crowded, streets

F = np.float32
SIZES = [(32, 32), (64, 64), (97, 97), (128, 64)]


def bits(values):
    """Numbers as they are stored, so that -0 and 0 differ."""
    return np.asarray(values, np.float32).view(np.uint32).tolist()


def line_of(view, y):
    """ground.ground_line, its numbers of the kind that they have within the processor's kernels."""
    return tuple(map(F, ground.ground_line(view, y)))


def matrix_of(view, pose):
    return tuple(map(F, object_to_camera(view, *pose)))


class Reference:
    """What the processor makes of scene n."""

    def __init__(self, batch: SceneBatch, n: int, width: int, height: int) -> None:
        self.atlas = _meshes(atlas())
        *self.tables, self.roles = tables()
        self.wide, self.high = 2 * width + 1, 2 * height + 1
        self.view = views(batch.camera, width, height)[n]
        self.light = lights(batch.weather, batch.intensity, batch.sun)[n]
        meshes, poses, styles, _, paints = instances(batch)
        self.meshes, self.poses, self.styles, self.paints = meshes[n], poses[n], styles[n], paints[n]
        self.dark = _Dark.sized(
            width,
            len(self.meshes),
            *(int(np.diff(x).max()) for x in (self.atlas.hull_start, self.atlas.lamp_start)),
        )
        args = (self.meshes, self.poses, 0, self.wide, self.high, self.dark)
        self.shadows = ground.collect_shadows(self.view, self.light, self.atlas, self.roles, *args)
        self.contacts = ground.collect_contacts(self.view, self.atlas, self.roles, *args)
        lit = self.light[LAMPS] > 0
        self.pools = (
            ground.collect_pools(self.view, self.light, self.atlas, tuple(self.tables), *args) if lit else 0
        )

    def matrices(self):
        return [matrix_of(self.view, pose) for pose in self.poses]

    def seen(self, slot, matrix):
        """Whether draw_instances looks at the triangles of a slot."""
        mesh, v = self.meshes[slot], self.view
        if mesh < 0:
            return False
        focal, cx = F(2) * v[12], F(2) * v[13]
        scale, edges = self.poses[slot, 5], [(F(0) - cx) / focal, (F(self.wide) - cx) / focal]
        radius, girth = self.atlas.radius[mesh] * scale, self.atlas.girths[mesh] * scale
        if matrix[11] + radius < F(NEAR):
            return False
        reach = [girth * np.sqrt(F(1) + e * e) + abs(e) * (abs(v[11]) * radius) for e in edges]
        return not (
            matrix[3] - edges[0] * matrix[11] < -reach[0] or matrix[3] - edges[1] * matrix[11] > reach[1]
        )

    def halos(self, width, height):
        """Rows as struct Halo has them, of lamps whose middles are on the picture."""
        palette, kinds, _ = self.tables
        rows = []
        for k, mesh in enumerate(self.meshes):
            if k == 0 or mesh < 0 or self.light[LAMPS] <= 0:
                continue
            matrix = matrix_of(self.view, self.poses[k])
            for lamp in self.atlas.lamps[self.atlas.lamp_start[mesh] : self.atlas.lamp_start[mesh + 1]]:
                x, y, radius, far = effects.halo(self.view, kinds, matrix, lamp)
                if radius > 0 and 0 <= np.floor(x) < width and 0 <= np.floor(y) < height:
                    rows.append([x, y, radius, far, *palette[int(lamp[3])], 0])
        return rows


def check_rows(reference, rows):
    view, light = reference.view, reference.light
    for y, row in enumerate(rows):
        line = line_of(view, y)
        _, _, *spot = ground.in_pairs(0, reference.wide, line)
        air = clear_air(light[DENSITY], light[THICK], line[0]) if line[0] > 0 else 0
        assert bits([row[x] for x in ("depth", "air", "x", "y", "dx", "dy")]) == bits(
            [line[0], air, *spot]
        ), y
        colours = [
            sky_row(view, light, y)[0],
            *sky_row(view, light, y - (y > 0 and row_slope(view, y) <= F(-0.03)))[::-1],
        ]
        actual = [
            (int(row[f"{x}_rg"]) & 0xFFFF) | int(row[f"{x}_rg"]) >> 16 << 21 | int(row[f"{x}_b"]) << 42
            for x in ("sky", "cloud", "under")
        ]
        assert actual == [int(x) for x in colours], y


def check_things(reference, places, ends):
    triangles = [0]
    for k, (place, matrix) in enumerate(zip(places, reference.matrices(), strict=True)):
        mesh, (c, s, scale) = reference.meshes[k], reference.poses[k, 3:]
        dx, dy, dz = reference.view[:3] - reference.poses[k, :3]
        sx, sy, sz = reference.light[:3]
        assert place["mesh"] == mesh
        role = int(reference.roles[mesh]) if mesh >= 0 else 0
        assert place["look"] == int(reference.styles[k]) | int(reference.paints[k]) << 16 | role << 24
        assert bits(place["matrix"]) == bits(matrix)
        assert bits([place[name] for name in ("x", "y", "z", "c", "s", "scale")]) == bits(reference.poses[k])
        if mesh >= 0:
            assert bits(place["eye"]) == bits(
                [(c * dx + s * dy) / scale, (-s * dx + c * dy) / scale, dz / scale]
            )
        assert bits(place["sun"]) == bits([c * sx + s * sy, -s * sx + c * sy, sz])
        triangles.append(
            int(np.diff(reference.atlas.triangle_start)[mesh]) if reference.seen(k, matrix) else 0
        )
    assert ends.tolist() == np.cumsum(triangles).tolist()


def check_shapes(shapes, rows, span_of, reference):
    """Rows are the processor's, and all that it darkens or lights lies within the columns."""
    assert [[s["top"], s["bottom"], s["number"]] for s in shapes] == [[*r[:2], i] for i, r in enumerate(rows)]
    for shape, row in zip(shapes, rows, strict=True):
        touched = np.zeros(reference.wide + 1, bool)
        started = False
        for y in range(reference.high):
            line = line_of(reference.view, y)
            if line[0] > 0 and (y % 2 == 0 or not started):
                started = True
                if row[0] <= y < row[1]:
                    touched |= np.repeat(span_of(int(shape["number"]), y, line), 2)
        at = np.flatnonzero(touched[:-1])
        if len(at):
            assert shape["left"] <= at[0]
            assert shape["right"] > at[-1]
        assert shape["left"] >= 0
        assert shape["right"] <= reference.wide


def check_shadows(reference, shapes, edges):
    dark = reference.dark
    rows = dark.shadow_rows[: reference.shadows]
    assert [s["edges"] for s in shapes] == rows[:, 3].tolist()
    for i, (_, _, begin, count) in enumerate(rows):
        assert bits(edges[i, :count, :3]) == bits(dark.edges[:, begin : begin + count].T)
        assert (edges[i, :count, 3] == 0).all()

    def darkened(i, y, line):
        one = dark._replace(shadow_rows=rows[i : i + 1], shade=np.zeros_like(dark.shade))
        ground.throw_shadows(y, *ground.in_pairs(0, reference.wide, line), 1, one)
        return one.shade[: (reference.wide + 1) // 2] > 0

    check_shapes(shapes, rows.tolist(), darkened, reference)


def check_contacts(reference, shapes, contacts):
    dark = reference.dark
    rows, rects = dark.contact_rows[: reference.contacts], dark.rects[: reference.contacts]
    fields = ("x", "y", "c", "s", "half_u", "half_v", "strength")
    assert bits([[c[name] for name in fields] for c in contacts]) == bits(rects)

    def darkened(i, y, line):
        one = dark._replace(
            contact_rows=rows[i : i + 1], rects=rects[i : i + 1], keep=np.ones_like(dark.keep)
        )
        ground.darken_contacts(y, *ground.in_pairs(0, reference.wide, line), F(1), 1, one)
        return one.keep[: (reference.wide + 1) // 2] < 1

    check_shapes(shapes, rows.tolist(), darkened, reference)


def check_pools(reference, shapes, pools):
    dark = reference.dark
    rows, expected = dark.pool_rows[: reference.pools], dark.pools[: reference.pools]
    assert [s["edges"] for s in shapes] == rows[:, 2].tolist()
    assert bits([[p[name] for name in ("x", "y", "c", "s", "along", "across")] for p in pools]) == bits(
        expected[:, :6]
    )
    packed = [(int(p["rg"]) & 0xFFFF) | int(p["rg"]) >> 16 << 21 | int(p["b"]) << 42 for p in pools]
    assert packed == [int(ground.glow_of(*w[6:9])) for w in expected]

    def lit(i, y, line):
        one = dark._replace(
            pool_rows=rows[i : i + 1], pools=expected[i : i + 1], glow=np.zeros_like(dark.glow)
        )
        ground.pour_light(y, 0, reference.wide, line, F(1), 1, one)
        return one.glow[: (reference.wide + 1) // 2] > 0

    check_shapes(shapes, rows.tolist(), lit, reference)


def check(batch: SceneBatch, width: int, height: int, seed: int = 0) -> np.ndarray:
    """Compare all that `setup` leaves; returns the counts."""
    launch = Launch(batch, width, height)
    launch.run("setup", (len(batch),), seed=seed)
    a = launch.arrays
    for n in range(len(batch)):
        reference = Reference(batch, n, width, height)
        counts = a["counts"][n]
        assert bits(a["views"][n]) == bits([*reference.view, 0])
        assert bits(a["lights"][n]) == bits([*reference.light, 0, 0, 0])
        assert [counts[x] for x in ("shadows", "contacts", "pools")] == [
            reference.shadows,
            reference.contacts,
            reference.pools,
        ]
        check_rows(reference, a["rows"][n])
        check_things(reference, a["places"][n], a["ends"][n])
        check_shadows(reference, a["shadow_shapes"][n][: reference.shadows], a["shadow_edges"][n])
        check_contacts(
            reference, a["contact_shapes"][n][: reference.contacts], a["contacts"][n][: reference.contacts]
        )
        check_pools(reference, a["pool_shapes"][n][: reference.pools], a["pools"][n][: reference.pools])
        halos = reference.halos(width, height)
        assert counts["halos"] == len(halos)
        assert bits([list(h) for h in a["halos"][n][: len(halos)].tolist()]) == bits(halos)
    return a["counts"]


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_streets_in_every_weather(width, height):
    check(streets(len(WEATHERS)), width, height, seed=width)


def test_things_close_up_by_level_and_tilted_cameras():
    check(close_up(), 64, 48)


def test_as_many_things_as_ids_can_number():
    counts = check(crowded(3, vehicles=105, props=150), 48, 32)
    assert counts["shadows"].max() > THREADS["setup"] / 2  # of those that may cast one
    assert counts["pools"].max() > THREADS["setup"]


def test_there_is_room_for_the_outlines_of_all_meshes():
    most = re.search(r"MOST_CORNERS = (\d+)", source("setup"))
    assert np.diff(atlas().hull_start).max() <= int(most[1])


def test_every_barrier_is_needed():
    batch = crowded(3)
    batch.weather[:], batch.intensity[:] = [WEATHERS.index(x) for x in ("rain", "snow", "night")], 1.0
    assert all(faults_without_barriers(lambda: Launch(batch, 32, 32), "setup", (len(batch),)))
