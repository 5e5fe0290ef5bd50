"""pybullet's TinyRenderer, and scenes as placed meshes for it and for the other engines of render.py."""

from __future__ import annotations

import tempfile
from typing import NamedTuple

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.palette import MATERIALS
from simtown.render.instances import instances
from simtown.render.light import lights
from simtown.scenes.camera import NEAR, views
from simtown.scenes.scene import SceneBatch

FAR = 1000.0
PALETTE = np.array([m.colour for m in MATERIALS])

#: Colour (h, w, 3 or 4), depth (h, w) and instance ids (h, w) of a frame, each in the engine's own type.
Images = tuple[np.ndarray, np.ndarray, np.ndarray]


class Placed(NamedTuple):
    """The placed meshes of n scenes.

    Attributes:
        meshes: (n, i) numbers in the atlas, -1 for none.
        matrices: (n, i, 4, 4) float64, from the mesh's frame to the world's.
        ids: (i,) instance ids.
        views: (n, 15) float64.
    """

    meshes: np.ndarray
    matrices: np.ndarray
    ids: np.ndarray
    views: np.ndarray


def placed(batch: SceneBatch, size: int) -> Placed:
    """The meshes of a batch's scenes at their places."""
    meshes, poses, _, ids, _ = instances(batch)
    x, y, z, c, s, k = np.moveaxis(poses.astype(np.float64), -1, 0)
    zeros, ones = np.zeros_like(x), np.ones_like(x)
    rows = [k * c, -k * s, zeros, x, k * s, k * c, zeros, y, zeros, zeros, k, z, zeros, zeros, zeros, ones]
    matrices = np.stack(rows, axis=-1).reshape(*x.shape, 4, 4)
    return Placed(meshes, matrices, ids, views(batch.camera, size, size).astype(np.float64))


def projection(view: np.ndarray, size: int) -> np.ndarray:
    """(4, 4) from the camera's frame to OpenGL's clip space."""
    f, cx, cy = view[12:15] * 2 / size
    depth = [(FAR + NEAR) / (NEAR - FAR), 2 * FAR * NEAR / (NEAR - FAR)]
    return np.array([[f, 0, 1 - cx, 0], [0, f, cy - 1, 0], [0, 0, *depth], [0, 0, -1, 0]])


def to_camera(view: np.ndarray) -> np.ndarray:
    """(4, 4) from the world to the camera's frame (x right, y up, looking along -z)."""
    out = np.eye(4)
    out[:3, :3] = np.stack([view[3:6], view[6:9], -view[9:12]])
    out[:3, 3] = -out[:3, :3] @ view[:3]
    return out


def corners(mesh: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A mesh's separate triangles: corners (3 t, 3), normals (3 t, 3) and materials (3 t,)."""
    a, t = atlas(), slice(*atlas().triangle_start[mesh : mesh + 2])
    normals, materials = np.repeat(a.normals[t, :3], 3, axis=0), np.repeat(a.materials[t], 3)
    return a.vertices[a.triangles[t]].reshape(-1, 3), normals, materials


class Tiny:
    """pybullet's TinyRenderer with shadows.

    Every instance is one body, textured with the palette. A body cannot be rescaled, and hidden bodies cost
    as much as visible ones. So bodies are made of ready shapes and removed again, which measures faster than
    moving a pool of them.
    """

    def __init__(self, batch: SceneBatch, size: int) -> None:
        import cv2
        import pybullet

        batch = batch[:48]  # every scale needs a shape of its own
        self._pb, self._size, self._placed = pybullet, size, placed(batch, size)
        pybullet.connect(pybullet.DIRECT)
        with tempfile.TemporaryDirectory() as folder:
            colours = (PALETTE[:, ::-1] * 255).round().astype(np.uint8)
            picture = np.repeat(np.tile(colours, (8 * len(PALETTE), 1, 1)), 8, axis=1)
            cv2.imwrite(f"{folder}/palette.png", picture)
            self._texture = pybullet.loadTexture(f"{folder}/palette.png")
        view = self._placed.views[0]
        self._camera = (to_camera(view).T.ravel().tolist(), projection(view, size).T.ravel().tolist())
        self._sun = lights(batch.weather, batch.intensity, batch.sun)[:, :3].astype(float)
        self._shapes: dict[tuple[int, float], int] = {}
        self._scenes = [self._bodies(row) for row in range(len(batch))]

    def _bodies(self, row: int) -> list[tuple[int, int, list[float], list[float]]]:
        """(id, shape, place, quaternion) of each instance of a scene."""
        out = []
        for slot in np.flatnonzero(self._placed.meshes[row] >= 0):
            matrix, mesh = self._placed.matrices[row, slot], int(self._placed.meshes[row, slot])
            half = np.arctan2(matrix[1, 0], matrix[0, 0]) / 2
            place = (matrix[:3, 3].tolist(), [0.0, 0.0, float(np.sin(half)), float(np.cos(half))])
            out.append((int(self._placed.ids[slot]), self._shape(mesh, float(matrix[2, 2])), *place))
        return out

    def _shape(self, mesh: int, scale: float) -> int:
        if (mesh, scale) not in self._shapes:
            spots, normals, materials = corners(mesh)
            across = (materials + 0.5) / len(PALETTE)
            uvs = np.stack([across, np.full_like(across, 0.5)], axis=1)
            given = {"vertices": spots.tolist(), "normals": normals.tolist(), "uvs": uvs.tolist()}
            given |= {"indices": list(range(len(spots))), "meshScale": [scale] * 3}
            self._shapes[mesh, scale] = self._pb.createVisualShape(self._pb.GEOM_MESH, **given)
        return self._shapes[mesh, scale]

    def draw(self, first: int, count: int) -> Images:
        """Draw so many scenes from `first` on; returns the pictures of the last one."""
        pb, size = self._pb, self._size
        for n in range(first, first + count):
            row = n % len(self._scenes)
            names = {-1: 0}  # of bodies; -1 is the background
            for name, shape, place, turn in self._scenes[row]:
                body = pb.createMultiBody(0, -1, shape, basePosition=place, baseOrientation=turn)
                pb.changeVisualShape(body, -1, textureUniqueId=self._texture)
                names[body] = name
            sun = self._sun[row].tolist()
            _, _, colour, buffer, seen = pb.getCameraImage(
                size, size, *self._camera, lightDirection=sun, shadow=1, renderer=pb.ER_TINY_RENDERER
            )
            table = np.zeros(max(names) + 2, dtype=np.uint8)
            table[np.array(list(names)) + 1] = list(names.values())
            for body in list(names)[1:]:
                pb.removeBody(body)
            share = 2 * np.reshape(buffer, (size, size)) - 1
            depth = 2 * FAR * NEAR / (FAR + NEAR - share * (FAR - NEAR))
            ids = table[np.reshape(seen, (size, size)) + 1]
        return np.reshape(colour, (size, size, 4)), depth, ids
