"""The second renderer: pyrender on OpenGL, slower, with softer edges and smoother air in large pictures.

It draws the same state through another pipeline (GPU or Mesa instead of our own), so it also checks the
geometry of the rasteriser. Faces have the colours of the rasteriser, and stars, halos, rain
and snow are the rasteriser's. The ground and the sky are simpler: shadows and lamplight have steps, and there
are no clouds over the sky and no reflections.
"""

import atexit
import os
from functools import lru_cache
from typing import Any, NamedTuple

import cv2
import numpy as np

from simtown import kernels
from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES
from simtown.assets.palette import CLOUD, GLOW, GROUND, HEADLAMP, MATERIALS, ROAD
from simtown.core.extras import how_to_install
from simtown.render.frames import Frames, check_size
from simtown.render.light import (
    AMOUNT,
    DENSITY,
    FOG,
    HORIZON,
    LAMPS,
    SHADOW,
    STARS,
    SUN,
    THICK,
    TOP,
    VEHICLE_SUN,
)
from simtown.render.mesh_tables import CASTS, town
from simtown.render.raster import scenes_of
from simtown.scenes.camera import NEAR
from simtown.scenes.scene import SceneBatch, check_scenes

#: Colour is drawn this many times denser, on top of pyrender's four samples.
_DENSE = 2
#: Where the sky hangs and where the view ends, metres: behind the hills, and near enough for 24 bits of
#: depth.
_SKY, _FAR = 900.0, 1000.0
_SKY_STRIPS = 24
#: Nearness of what is a metre away, as the rasteriser's samples have it.
_METRE = ((1 << 32) - (1 << 20)) * NEAR / 65536
_KINDS = np.array([m.kind for m in MATERIALS])


class NoOpenGLError(ImportError):
    """pyrender is not installed, or it finds no way to draw; the message says what to install."""


class _Street(NamedTuple):
    """One scene as its passes need it, float64 but for numbers of meshes, styles and materials (i,)."""

    view: np.ndarray
    light: np.ndarray
    meshes: np.ndarray
    poses: np.ndarray
    styles: np.ndarray
    paints: np.ndarray

    @property
    def slots(self) -> np.ndarray:
        """Numbers of the filled slots, the ground (0) first."""
        return np.flatnonzero(self.meshes >= 0)

    def matrix(self, slot: int) -> np.ndarray:
        """(4, 4) from a slot's mesh to the world."""
        x, y, z, c, s, scale = self.poses[slot]
        return np.array(
            [(scale * c, -scale * s, 0, x), (scale * s, scale * c, 0, y), (0, 0, scale, z), (0, 0, 0, 1.0)]
        )

    def project(self, spots: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Picture x and y (pixels) and depth (metres) of points (..., 3) of the world."""
        away, view = spots - self.view[:3], self.view
        depth = away @ view[9:12]
        share = view[12] / np.maximum(depth, 1e-3)
        return view[13] + share * (away @ view[3:6]), view[14] - share * (away @ view[6:9]), depth


def _import_pyrender() -> Any:
    if "DISPLAY" not in os.environ:
        os.environ.setdefault("PYOPENGL_PLATFORM", "egl")
    if not hasattr(np, "infty"):
        setattr(np, "infty", np.inf)  # noqa: B010  pyrender 0.1.45 was written for NumPy 1
    try:
        import pyrender
    except ModuleNotFoundError as error:
        raise NoOpenGLError(f"the opengl renderer needs pyrender: {how_to_install('opengl')}") from error
    except Exception as error:  # PyOpenGL raises whatever comes up where a library is missing
        raise _no_platform(error) from error
    return pyrender


def _no_platform(error: Exception) -> NoOpenGLError:
    platform = os.environ.get("PYOPENGL_PLATFORM", "the display")
    why = " ".join(str(error).split()) or type(error).__name__
    cure = "install the Debian packages libegl1 libegl-mesa0 libgl1-mesa-dri and set PYOPENGL_PLATFORM=egl"
    return NoOpenGLError(f"no OpenGL through {platform} ({why}): {cure}")


@lru_cache(maxsize=1)
def _offscreen() -> Any:
    """The process's one off-screen context, which is resized as needed.

    Deleting one of two contexts would close the display of both.
    """
    pyrender = _import_pyrender()
    try:
        screen = pyrender.OffscreenRenderer(64, 64)
    except Exception as error:
        raise _no_platform(error) from error
    atexit.register(screen.delete)
    if not screen._platform.supports_framebuffers():
        raise _no_platform(ValueError("it has no framebuffers, which smooth edges need"))
    return screen


class OpenGL:
    """Draws batches of scenes with pyrender.

    All objects of a process share one context: use them from one thread. Raises NoOpenGLError (an
    ImportError) if pyrender or a driver is missing.
    """

    def __init__(self) -> None:
        self._screen = _offscreen()
        self._pyrender = _import_pyrender()
        self._paint = self._pyrender.MetallicRoughnessMaterial(alphaMode="OPAQUE")
        self._scene = self._pyrender.Scene()
        self._camera = self._add_camera(self._scene)
        self._nodes: dict[int, list[Any]] = {}

    def render(self, batch: SceneBatch, width: int, height: int, geometry: bool = True) -> Frames:
        """Pictures, and with `geometry` depth and instance ids, of every scene of a batch, at one size.

        Raises ValueError if the size is out of range or a scene's numbers stand for nothing.
        """
        check_size(width, height)
        check_scenes(batch)
        frames = Frames.empty(len(batch), width, height, geometry)
        scenes = scenes_of(batch, width, height)
        columns = [scenes[name] for name in ("views", "lights", "meshes", "poses", "styles", "paints")]
        columns = [each.astype(float) if each.dtype == np.float32 else each for each in columns]
        streets = [_Street(*row) for row in zip(*columns, strict=True)]
        # all geometry, then all colour: the context changes its size, and drops its meshes, twice a batch
        screen = self._screen
        screen.viewport_width, screen.viewport_height = width, height
        depths: dict[int, np.ndarray] = {}
        for n, street in enumerate(streets):
            # depth hides what is behind things
            if geometry or (street.light[[STARS, LAMPS, AMOUNT]] > 0).any():
                names, depths[n] = self._geometry(street, scenes["ids"])
                if geometry:
                    frames.ids[n], frames.depth[n] = names, depths[n]
        screen.viewport_width, screen.viewport_height = _DENSE * width, _DENSE * height
        for n, street in enumerate(streets):
            rgb = cv2.resize(self._colour(street), (width, height), interpolation=cv2.INTER_AREA)
            frames.rgb[n] = (rgb * 255.0 + 0.5).astype(np.uint8)
            if n in depths:
                # the rasteriser's own stars, halos of lamps, rain and snow
                scene = {name: each if name == "ids" else each[n : n + 1] for name, each in scenes.items()}
                nearness = (_METRE / depths[n]).astype(np.uint16)
                kernels.call("lay_over", **town(), **scene, nearness=nearness, rgb=frames.rgb[n])
        return frames

    def _add_camera(self, scene: Any) -> Any:
        return scene.add(self._pyrender.IntrinsicsCamera(1.0, 1.0, 0.0, 0.0, NEAR, _FAR))

    def _place_camera(self, scene: Any, node: Any, view: np.ndarray, dense: int) -> None:
        node.camera.fx = node.camera.fy = dense * view[12]
        node.camera.cx, node.camera.cy = dense * view[13], dense * view[14]
        pose = np.eye(4)
        pose[:3] = np.stack([view[3:6], view[6:9], -view[9:12], view[:3]], axis=1)
        scene.set_pose(node, pose)

    def _geometry(self, street: _Street, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ids (h, w) uint8 and depth (h, w) float32 at pixels' middles. Meshes stay in the driver."""
        self._place_camera(self._scene, self._camera, street.view, 1)
        used: dict[int, int] = {}
        shown: dict[Any, int] = {}
        for slot in street.slots:
            mesh = int(street.meshes[slot])
            node = self._node(mesh, used.get(mesh, 0))
            used[mesh] = used.get(mesh, 0) + 1
            self._scene.set_pose(node, street.matrix(slot))
            shown[node] = int(ids[slot])
        picture, depth = self._screen.render(self._scene, self._pyrender.RenderFlags.SEG, seg_node_map=shown)
        return picture[:, :, 0], np.where(depth > 0, depth, np.float32(np.inf))

    def _node(self, mesh: int, copy: int) -> Any:
        """The scene's node number `copy` of an atlas mesh; nodes left from earlier scenes are hidden."""
        nodes = self._nodes.setdefault(mesh, [])
        if not nodes:
            shape = atlas().mesh(mesh)
            part = self._pyrender.Primitive(shape.vertices, indices=shape.triangles, material=self._paint)
            nodes.append(self._scene.add(self._pyrender.Mesh([part])))
        while len(nodes) <= copy:
            nodes.append(self._scene.add(nodes[0].mesh))
        return nodes[copy]

    def _colour(self, street: _Street) -> np.ndarray:
        """(dense h, dense w, 3) float32 colour in [0, 1] of one scene, without halos and what falls."""
        width, height = self._screen.viewport_width // _DENSE, self._screen.viewport_height // _DENSE
        passes = zip(_sky(street, width, height), _painted(street), strict=True)
        corners, colours = map(np.concatenate, passes)
        scene = self._pyrender.Scene(bg_color=[0.0, 0.0, 0.0, 0.0])
        points, colours = corners.reshape(-1, 3), colours.reshape(-1, 4)
        soup = self._pyrender.Primitive(points, color_0=colours, material=self._paint)
        scene.add(self._pyrender.Mesh([soup]))
        self._place_camera(scene, self._add_camera(scene), street.view, _DENSE)
        flags = self._pyrender.RenderFlags.FLAT | self._pyrender.RenderFlags.RGBA
        rgba = self._screen.render(scene, flags)[0].astype(np.float32) / np.float32(255.0)
        return _on_the_ground(rgba[:, :, :3], rgba[:, :, 3:], street)


def _painted(street: _Street) -> tuple[np.ndarray, np.ndarray]:
    """Triangles in the world: corners (t, 3, 3), metres, and colours (t, 3, 4) behind the air.

    The ground has no air yet. The fourth channel is 1 on flat ground, so that after multisampling it is the
    ground's share of a pixel.
    """
    a, light, slots = atlas(), street.light, street.slots
    starts, stops = a.triangle_start[street.meshes[slots]], a.triangle_start[street.meshes[slots] + 1]
    triangle = np.concatenate([np.arange(i, j) for i, j in zip(starts, stops, strict=True)])
    owner = np.repeat(slots, stops - starts)
    matrix = np.repeat([street.matrix(slot) for slot in slots], stops - starts, axis=0)
    shape = a.vertices[a.triangles[triangle]].astype(np.float64)
    corners = shape @ matrix[:, :3, :3].transpose(0, 2, 1) + matrix[:, None, :3, 3]
    normals = a.normals[triangle, :3].astype(np.float64)
    materials = np.where(a.body[triangle], street.paints[owner], a.materials[triangle])
    nz = normals[:, 2]
    facing, glance = _facing_and_glance(street, owner, normals, corners)
    # snow lies on hills, as in draw_instances
    upright = np.where(owner == 0, np.maximum(nz, 0.55), nz)
    suns = np.where(street.meshes[owner] < len(ENTITIES), VEHICLE_SUN, SUN)
    colours = np.zeros((len(owner), 3), dtype=np.float32)
    kernels.call(
        "shade_faces",
        **town(),
        light=light.astype(np.float32),
        nz=upright.astype(np.float32),
        facing=facing.astype(np.float32),
        glance=glance.astype(np.float32),
        suns=suns.astype(np.int64),
        face_materials=materials.astype(np.uint8),
        face_styles=street.styles[owner],
        face_parts=a.parts[triangle],
        out=colours,
    )
    kind = _KINDS[materials]
    flat = (owner == 0) & ((kind == GROUND) | (kind == ROAD) | (nz > 0.5))
    depth = np.maximum(street.project(corners)[2], 0.0)
    density = light[DENSITY] * np.where(kind == CLOUD, 0.25, 1.0)
    air = np.where(flat[:, None], 1.0, _clear_air(density[:, None], light[THICK], depth))[:, :, None]
    fogged = light[FOG : FOG + 3] * (1 - air) + colours[:, None] * air
    share = np.broadcast_to(flat[:, None, None], (len(flat), 3, 1))
    return corners, np.clip(np.concatenate([fogged, share], axis=-1), 0.0, 1.0)


def _facing_and_glance(
    street: _Street, owner: np.ndarray, normals: np.ndarray, corners: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(t,) cosines between faces and the sun, at least 0, and (t,) upward parts of mirrored rays of sight."""
    light = street.light
    c, s = street.poses[owner, 3], street.poses[owner, 4]
    sun = np.column_stack(
        [c * light[0] + s * light[1], c * light[1] - s * light[0], np.full(len(c), light[2])]
    )
    facing = np.maximum((normals * sun).sum(axis=1), 0.0)
    nx, ny, nz = normals.T
    ray = corners.mean(axis=1) - street.view[:3]
    turned = np.column_stack([c * nx - s * ny, s * nx + c * ny, nz])
    mirrored = ray[:, 2] - 2.0 * (ray * turned).sum(axis=1) * nz
    return facing, mirrored / np.sqrt((ray * ray).sum(axis=1))


def _clear_air(density: np.ndarray | float, thick: float, depth: np.ndarray) -> np.ndarray:
    """Share of light that crosses `depth` metres of air, as shading.clear_air."""
    x = density * depth + (thick * depth) ** 4
    return 1.0 / (1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0))))


def _sky(street: _Street, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the sky like _painted: strips behind everything, so multisampling blends edges with the sky."""
    view, light = street.view, street.light
    # slopes against the view's axis, a pixel over
    top = (view[14] + 1) / view[12]
    bottom = (view[14] - height - 1) / view[12]
    slopes = np.concatenate([[bottom], np.linspace(max(0.0, bottom), max(top, bottom), _SKY_STRIPS + 1)])
    t = np.clip(slopes * 1.9, 0.0, 1.0)
    t = (t * (2.0 - t))[:, None]
    haze = min(light[DENSITY] * 28.0 + light[THICK] * 16.0, 1.0) * (1.0 - 0.5 * t)
    colour = light[HORIZON : HORIZON + 3] * (1 - t) + light[TOP : TOP + 3] * t
    colour = colour * (1 - haze) + light[FOG : FOG + 3] * haze
    rgba = np.concatenate([colour, np.zeros((len(t), 1))], axis=1)
    ahead = view[:3] + _SKY * (view[9:12] + slopes[:, None] * view[6:9])
    half = _SKY * (width / 2 + 1) / view[12] * view[3:6]
    left, right = ahead - half, ahead + half
    # two triangles a strip, between a row of `left` and `right` and the next
    corners = np.stack([left[:-1], right[:-1], right[1:], left[:-1], right[1:], left[1:]], axis=1)
    colours = np.stack([rgba[:-1], rgba[:-1], rgba[1:], rgba[:-1], rgba[1:], rgba[1:]], axis=1)
    return corners.reshape(-1, 3, 3), colours.reshape(-1, 3, 4)


def _on_the_ground(rgb: np.ndarray, share: np.ndarray, street: _Street) -> np.ndarray:
    """The fog, shadows and lamplight on the ground, of which each (dense) pixel holds a `share` (h, w, 1)."""
    view, light = street.view, street.light
    slope = (view[14] - (np.arange(len(rgb)) + 0.5) / _DENSE) / view[12]
    # of a ray through the row, a metre ahead: ground is at one depth all along it
    down = -(view[11] + slope * view[8])
    away = view[2] / np.maximum(down, 1e-3)
    air = np.where(down > 1e-3, _clear_air(light[DENSITY], light[THICK], away), 0.0)
    clear = share * air.astype(np.float32)[:, None, None]
    out = rgb + (share - clear) * (light[FOG : FOG + 3].astype(np.float32) - rgb)
    shadow = _rings(street, _shadows(street), (1.06, 0.99, 0.92), 85, rgb.shape)
    out *= 1 - np.float32(light[SHADOW] / 255.0) * shadow * clear
    if light[LAMPS] > 0:
        pool = _rings(street, _pools(street), (1.0, 0.78, 0.56, 0.34), 50, rgb.shape)
        warm = np.array([0.19, 0.155, 0.085], dtype=np.float32)
        out += np.float32(light[LAMPS] / 255.0) * pool * clear * (out * np.float32(1.1) + warm)
    return np.clip(out, 0.0, 1.0)


def _shadows(street: _Street) -> list[np.ndarray]:
    """Corners (k, 2) on the ground, metres, of the convex shadow of each instance that casts one."""
    a, out = atlas(), []
    lean = street.light[:2] / street.light[2]
    for slot in street.slots[1:]:
        mesh = street.meshes[slot]
        if not town()["roles"][mesh] & CASTS:
            continue
        matrix = street.matrix(slot)
        spots = a.hull[a.hull_start[mesh] : a.hull_start[mesh + 1]] @ matrix[:3, :3].T + matrix[:3, 3]
        flat = spots[:, :2] - lean * np.maximum(spots[:, 2:], 0.0)
        out.append(cv2.convexHull(flat.astype(np.float32))[:, 0].astype(np.float64))
    return out


def _pools(street: _Street) -> list[np.ndarray]:
    """Draw light on the ground like _shadows: a fan before each head lamp, a pool under each lantern."""
    a, out, turn = atlas(), [], np.arange(12) * np.pi / 6
    for slot in street.slots[1:]:
        mesh, matrix, forward = street.meshes[slot], street.matrix(slot), street.poses[slot, 3:5]
        left = np.array([-forward[1], forward[0]])
        for lamp in a.lamps[a.lamp_start[mesh] : a.lamp_start[mesh + 1]]:
            kind, spot = _KINDS[int(lamp[3])], matrix[:3, :3] @ lamp[:3] + matrix[:3, 3]
            if kind == HEADLAMP:
                middle, reach, across = spot[:2] + 2.3 * forward, 2.3, 0.85
            elif kind == GLOW and spot[2] > 3.4:
                middle, reach, across = spot[:2], 2.0, 2.0
            else:
                continue
            ring = np.outer(np.cos(turn) * reach, forward) + np.outer(np.sin(turn) * across, left)
            out.append(middle + ring)
    return out


def _rings(
    street: _Street, polygons: list[np.ndarray], sizes: tuple[float, ...], step: int, shape: tuple[int, ...]
) -> np.ndarray:
    """(h, w, 1) uint8 mask, dense: each polygon before the eye in nested sizes, one `step` more in each."""
    mask = np.zeros((shape[0], shape[1], 1), dtype=np.uint8)
    for i, size in enumerate(sizes):
        for polygon in polygons:
            middle = polygon.mean(axis=0)
            flat = np.column_stack([middle + (polygon - middle) * size, np.zeros(len(polygon))])
            x, y, depth = street.project(flat)
            if (depth >= NEAR).all():
                # 4 bits below a pixel
                spots = np.clip((np.stack([x, y], axis=1) * _DENSE - 0.5) * 16, -(1 << 19), 1 << 19)
                cv2.fillConvexPoly(mask, np.round(spots).astype(np.int32), step * (i + 1), cv2.LINE_8, 4)
    return mask
