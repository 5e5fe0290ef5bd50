"""Frames per second of the rasteriser and of other renderers, on the same scenes in the same run.

    python benchmarks/render.py [--scenes 256] [--sizes 128,256] [--rounds 5] [--seconds 2]

Every frame shows a new street and yields colour, depth and instance ids. All engines draw the same triangles
at the same poses through the same camera; `ids equal` compares their ids with the rasteriser's. The
rasteriser does all it can (anti-aliasing, shadows, weather, halos); the others do less, as the table says.
Each engine gets what makes it fast: meshes are uploaded once, only poses change.

Engines run in processes of their own and take turns, in rounds, so that a slow minute of the machine hits all
alike. Mesa draws with one thread. `per core` divides by the processor time used (all threads) instead of the
clock's: on a machine that others use too it is the steadier figure. Writes benchmarks/results/render.csv.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from machine import RESULTS, Apart, Rows, machine, options
from tiny import FAR, PALETTE, Images, Tiny, corners, placed, projection, to_camera

from simtown.assets.atlas import atlas
from simtown.bench.engines import the_scenes
from simtown.render.frames import Frames
from simtown.render.light import lights
from simtown.render.raster import Raster
from simtown.scenes.camera import NEAR
from simtown.scenes.scene import SceneBatch

SKY = (0.6, 0.8, 0.95)
#: Scenes whose ids are compared with the rasteriser's.
CHECKED = 4


class Rasteriser:
    """Like every engine here it draws the scenes of one batch at one size: `count` of them, from number
    `first` and round again after the last; it returns the images of the last one.
    """

    def __init__(self, batch: SceneBatch, size: int, threads: int = 1) -> None:
        self._batch, self._size, self._threads = batch, size, threads
        self._raster, self._pool = Raster(), ThreadPoolExecutor(threads)

    def draw(self, first: int, count: int) -> Images:
        rows = np.arange(first, first + count) % len(self._batch)
        step = min(512, 8_000_000 // self._size**2)  # as much as the writer of a data set asks for at once
        for start in range(0, count, step):
            parts = np.array_split(rows[start : start + step], 4 * self._threads if self._threads > 1 else 1)
            *_, frames = self._pool.map(self._render, [part for part in parts if len(part)])
        return frames.rgb[-1], frames.depth[-1], frames.ids[-1]

    def _render(self, rows: np.ndarray) -> Frames:
        return self._raster.render(self._batch[rows], self._size, self._size)


class Pyrender:
    """A lit pass for colour and depth, and a segmentation pass; one light and ambient, palette colours."""

    def __init__(self, batch: SceneBatch, size: int) -> None:
        np.infty = np.inf  # type: ignore[attr-defined]  # noqa: NPY201  pyrender 0.1.45 was written for NumPy 1
        import pyrender

        self._flags, self._placed = pyrender.RenderFlags, placed(batch, size)
        self._scene = pyrender.Scene(bg_color=[*SKY, 1.0], ambient_light=(0.5, 0.5, 0.5))
        view = self._placed.views[0]
        pose = np.linalg.inv(to_camera(view))
        lens = pyrender.IntrinsicsCamera(view[12], view[12], view[13], view[14], NEAR, FAR)
        self._scene.add(lens, pose=pose)
        self._scene.add(pyrender.DirectionalLight(intensity=3.0), pose=pose)
        self._screen = pyrender.OffscreenRenderer(size, size)
        meshes = np.unique(self._placed.meshes[self._placed.meshes >= 0]).tolist()
        self._meshes = {mesh: self._mesh(pyrender, mesh) for mesh in meshes}
        nodes = [self._scene.add(mesh) for mesh in self._meshes.values()]
        self._screen.render(self._scene)
        for node in nodes:
            self._scene.remove_node(node)
        # what is not in the scene would be dropped, and uploaded anew when it comes back
        self._screen._renderer._update_context = lambda *_: None
        self._none = pyrender.Mesh([], is_visible=False)
        first = self._meshes[int(self._placed.meshes[0, 0])]
        self._slots = [self._scene.add(first) for _ in self._placed.ids]

    @staticmethod
    def _mesh(pyrender: Any, mesh: int) -> Any:
        spots, normals, materials = corners(mesh)
        paint = pyrender.MetallicRoughnessMaterial(alphaMode="OPAQUE", metallicFactor=0.0)
        colours = PALETTE[materials]
        part = pyrender.Primitive(spots, normals=normals, color_0=colours, material=paint)
        return pyrender.Mesh([part])

    def draw(self, first: int, count: int) -> Images:
        for n in range(first, first + count):
            row = n % len(self._placed.meshes)
            shown = {}
            for slot, node in enumerate(self._slots):
                mesh = int(self._placed.meshes[row, slot])
                node.mesh = self._meshes[mesh] if mesh >= 0 else self._none
                if mesh >= 0:
                    self._scene.set_pose(node, self._placed.matrices[row, slot])
                    shown[node] = int(self._placed.ids[slot])
            colour, depth = self._screen.render(self._scene, self._flags.NONE)
            ids, _ = self._screen.render(self._scene, self._flags.SEG, shown)
        return colour, depth, ids[:, :, 0]


_VERTEX = """
#version 430
uniform mat4 camera;
uniform vec3 sun;
in vec3 spot; in vec3 normal; in vec3 paint;
in vec4 row0; in vec4 row1; in vec4 row2;
flat out vec3 shade;
void main() {
    vec4 p = vec4(spot, 1.0);
    gl_Position = camera * vec4(dot(row0, p), dot(row1, p), dot(row2, p), 1.0);
    vec3 n = normalize(vec3(dot(row0.xyz, normal), dot(row1.xyz, normal), dot(row2.xyz, normal)));
    shade = paint * (0.45 + 0.25 * n.z + 0.6 * max(dot(n, sun), 0.0));
}"""
_FRAGMENT = """
#version 430
flat in vec3 shade;
out vec4 colour;
void main() { colour = vec4(shade, 1.0); }"""
_VERTEX_IDS = """
#version 430
uniform mat4 camera;
in vec3 spot;
in vec4 row0; in vec4 row1; in vec4 row2; in int name;
flat out int instance;
out float away;
void main() {
    vec4 p = vec4(spot, 1.0);
    gl_Position = camera * vec4(dot(row0, p), dot(row1, p), dot(row2, p), 1.0);
    instance = name;
    away = gl_Position.w;
}"""
_FRAGMENT_IDS = """
#version 430
flat in int instance;
in float away;
layout(location = 0) out uint id;
layout(location = 1) out float depth;
void main() { id = uint(instance); depth = away; }"""


def provoking() -> tuple[np.ndarray, np.ndarray]:
    """Indices (t, 3) such that each triangle's last vertex is its own, and the atlas vertex behind each new
    one.

    Then a face's colour lies on one vertex, and few vertices need be doubled.
    """
    a = atlas()
    source, taken = list(range(len(a.vertices))), np.zeros(len(a.vertices), dtype=bool)
    out = np.empty_like(a.triangles)
    for t, triangle in enumerate(a.triangles):
        free = np.flatnonzero(~taken[triangle])
        last = int(free[0]) if len(free) else 2
        out[t] = np.roll(triangle, 2 - last)
        if len(free):
            taken[out[t, 2]] = True
        else:
            source.append(int(out[t, 2]))
            out[t, 2] = len(source) - 1
    return out, np.array(source)


class ModernGL:
    """Instanced: one indirect multi-draw a pass, a colour pass of four samples and a pass of ids and depth.

    Lambert, no shadows.
    """

    def __init__(self, batch: SceneBatch, size: int) -> None:
        import moderngl as library

        moderngl: Any = library
        self._placed, self._size = placed(batch, size), size
        self._sun = lights(batch.weather, batch.intensity, batch.sun)[:, :3]
        self._context = ctx = moderngl.create_standalone_context(backend="egl")
        a = atlas()
        triangles, source = provoking()
        normals, paints = np.zeros((len(source), 3), np.float32), np.zeros((len(source), 4), np.uint8)
        normals[triangles[:, 2]] = a.normals[:, :3]
        paints[triangles[:, 2], :3] = (PALETTE[a.materials] * 255).round()
        looks = np.concatenate([a.vertices[source].view(np.uint8), normals.view(np.uint8), paints], axis=1)
        self._places = ctx.buffer(reserve=len(self._placed.ids) * 52)
        self._orders = ctx.buffer(reserve=len(self._placed.ids) * 20)

        def array(vertex: str, fragment: str, faces: np.ndarray, *parts: tuple[Any, ...]) -> Any:
            indices = ctx.buffer(faces.astype(np.uint32).tobytes())
            return ctx.vertex_array(ctx.program(vertex, fragment), list(parts), index_buffer=indices)

        corner = (ctx.buffer(looks.tobytes()), "3f 3f 3f1 1x1", "spot", "normal", "paint")
        place = (self._places, "4f 4f 4f 4x/i", "row0", "row1", "row2")
        self._paint = array(_VERTEX, _FRAGMENT, triangles, corner, place)
        corner = (ctx.buffer(a.vertices.tobytes()), "3f", "spot")
        place = (self._places, "4f 4f 4f 1i/i", "row0", "row1", "row2", "name")
        self._name = array(_VERTEX_IDS, _FRAGMENT_IDS, a.triangles, corner, place)
        shape = (size, size)
        buffer, depth = ctx.renderbuffer, ctx.depth_renderbuffer
        self._dense = ctx.framebuffer(buffer(shape, 4, samples=4), depth(shape, samples=4))
        self._plain = ctx.framebuffer(buffer(shape, 4))
        targets = [buffer(shape, 1, dtype="u1"), buffer(shape, 1, dtype="f4")]
        self._names = ctx.framebuffer(targets, depth(shape))
        ctx.enable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        cameras = [(projection(view, size) @ to_camera(view)).T for view in self._placed.views]
        self._cameras = np.stack(cameras).astype(np.float32)
        self._instance = np.dtype([("rows", np.float32, 12), ("name", np.int32)])
        kinds = (((size, size, 3), np.uint8), (shape, np.float32), (shape, np.uint8))
        self._buffers = tuple(np.zeros(*kind) for kind in kinds)

    def _place(self, row: int) -> int:
        """Upload a scene's instances, by mesh, and its drawing orders; how many orders."""
        a, meshes = atlas(), self._placed.meshes[row]
        slots = np.argsort(meshes, kind="stable")[np.count_nonzero(meshes < 0) :]
        places = np.empty(len(slots), dtype=self._instance)
        places["rows"] = self._placed.matrices[row, slots, :3].reshape(-1, 12)
        places["name"] = self._placed.ids[slots]
        self._places.write(places)
        kinds, first, count = np.unique(meshes[slots], return_index=True, return_counts=True)
        start, stop = a.triangle_start[kinds], a.triangle_start[kinds + 1]
        orders = np.stack([3 * (stop - start), count, 3 * start, np.zeros_like(start), first], axis=1)
        self._orders.write(orders.astype(np.uint32))
        return len(kinds)

    def draw(self, first: int, count: int) -> Images:
        colour, depth, ids = self._buffers
        for n in range(first, first + count):
            row = n % len(self._placed.meshes)
            orders = self._place(row)
            for array in (self._paint, self._name):
                array.program["camera"].write(self._cameras[row].tobytes())
            self._paint.program["sun"].value = tuple(self._sun[row].tolist())
            self._dense.use()
            self._dense.clear(*SKY)
            self._paint.render_indirect(self._orders, count=orders)
            self._names.use()
            self._names.clear(0.0, 0.0, 0.0, 0.0)
            self._name.render_indirect(self._orders, count=orders)
            self._context.copy_framebuffer(self._plain, self._dense)
            self._plain.read_into(colour, components=3, alignment=1)
            self._names.read_into(ids, components=1, attachment=0, alignment=1, dtype="u1")
            self._names.read_into(depth, components=1, attachment=1, alignment=1, dtype="f4")
        return colour[::-1], depth[::-1], ids[::-1]


class Contender(NamedTuple):
    """An engine's name, what it draws, its class, and what else the class is given."""

    name: str
    draws: str
    kind: Callable[..., Any]
    more: tuple[int, ...] = ()


ALL = "anti-aliased, shadows, weather"
LIT = "4 samples, one light, no shadows"
CONTENDERS = [
    Contender("simtown raster, 1 thread", ALL, Rasteriser),
    Contender("simtown raster, 2 threads", ALL, Rasteriser, (2,)),
    Contender("pyrender, EGL", LIT, Pyrender),
    Contender("pybullet TinyRenderer", "1 sample, one light, shadows", Tiny),
    Contender("moderngl, EGL, instanced", LIT, ModernGL),
]


class Drawing:
    """An engine and how many frames it has drawn."""

    def __init__(self, number: int, scenes: int, size: int) -> None:
        contender = CONTENDERS[number]
        self._engine, self._drawn = contender.kind(the_scenes(scenes), size, *contender.more), 0

    def ids(self) -> np.ndarray:
        """Of the first scenes."""
        return np.stack([np.array(self._engine.draw(i, 1)[2]) for i in range(CHECKED)])

    def draw(self, frames: int) -> np.ndarray:
        """Frames a second of the clock and of the processor."""
        clock, busy = perf_counter(), process_time()
        self._engine.draw(self._drawn, frames)
        self._drawn += frames
        return frames / np.array([perf_counter() - clock, process_time() - busy])


def measure(size: int, scenes: int, rounds: int, seconds: float) -> Iterator[dict[str, Any]]:
    """One row an engine, of `rounds` rounds of about `seconds` each."""
    engines: dict[Contender, Apart] = {}
    ids, frames = {}, {}
    for number, contender in enumerate(CONTENDERS):
        try:
            engine = Apart(Drawing, number, scenes, size, LP_NUM_THREADS="1", PYOPENGL_PLATFORM="egl")
        except Exception as error:  # a missing library or driver: this engine is left out
            print(f"left out at {size}: {contender.name}: {' '.join(str(error).split())[:200]}")
            continue
        engines[contender], ids[contender] = engine, engine.call("ids")
        engine.call("draw", 8)  # the first frames compile shaders
        frames[contender] = max(8, int(seconds * engine.call("draw", 24)[0]))
    runs = {contender: [] for contender in engines}
    for _ in range(rounds):
        for contender, engine in engines.items():
            runs[contender].append(engine.call("draw", frames[contender]))
    ours = CONTENDERS[0]
    for contender, engine in engines.items():
        engine.end()
        fps, per_core = np.transpose(runs[contender])
        faster, faster_per_core = np.median(np.divide(runs[ours], runs[contender]), axis=0)
        yield {
            "size": size,
            "engine": contender.name,
            "draws": contender.draws,
            "fps": round(median(fps), 1),
            "fps_low": round(min(fps), 1),
            "fps_high": round(max(fps), 1),
            "fps_per_core": round(median(per_core), 1),
            "raster_is_faster": round(faster, 2),
            "raster_is_faster_per_core": round(faster_per_core, 2),
            "ids_equal": round(float((ids[contender] == ids[ours]).mean()), 5),
            "rounds": rounds,
            "frames_a_round": frames[contender],
        }


def main() -> None:
    args = options(__doc__, scenes=256, sizes=[128, 256], rounds=5, seconds=2.0, out=RESULTS / "render.csv")
    here = machine("numpy", "pyrender", "PyOpenGL", "pybullet", "moderngl")
    rows = Rows(args.out, f"{here}; load average {os.getloadavg()[0]:.1f}; LP_NUM_THREADS=1")
    for size in args.sizes:
        for row in measure(size, args.scenes, args.rounds, args.seconds):
            rows.add({**row, "scenes": args.scenes})


if __name__ == "__main__":
    main()
