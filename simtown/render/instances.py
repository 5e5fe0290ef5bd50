"""Scene batches as lists of placed meshes, the one form that every renderer draws."""

import numpy as np

from simtown.assets.atlas import NO_PAINT
from simtown.assets.catalogue import ENTITIES, STREET_MESHES
from simtown.scenes.scene import SceneBatch


def check_slots(vehicles: int, props: int) -> None:
    """Raises ValueError if a scene has more slots than there are instance ids."""
    if vehicles + props > 255:
        scene = f"a scene of {vehicles} vehicles and {props} props"
        raise ValueError(f"{scene} has more things than masks can number: give at most 255 in all")


def instances(batch: SceneBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The ground, then vehicle slots, then prop slots, of every scene.

    Returns:
        meshes: (n, i) int32 atlas numbers, -1 for an empty slot.
        poses: (n, i, 6) float32 x, y, z (metres), cos yaw, sin yaw, scale.
        styles: (n, i) uint16.
        ids: (i,) uint8 instance id of each slot, as in :class:`~simtown.render.frames.Frames`.
        paints: (n, i) uint8 material of each body's triangles: the scene's choice, or the entity's own;
            NO_PAINT where there is no body.

    Raises:
        ValueError: there are more slots than ids.
    """
    n, v, p = len(batch), batch.entity.shape[1], batch.prop.shape[1]
    check_slots(v, p)
    meshes = np.full((n, 1 + v + p), -1, dtype=np.int32)
    meshes[:, 0] = len(ENTITIES) + len(STREET_MESHES)
    meshes[:, 1:] = batch.meshes()
    poses = np.zeros((n, 1 + v + p, 6), dtype=np.float32)
    poses[:, 0, 3] = poses[:, 0, 5] = 1.0
    poses[:, 1:] = batch.mesh_poses()
    styles = np.zeros((n, 1 + v + p), dtype=np.uint16)
    styles[:, 1 + v :] = batch.prop_style
    ids = np.concatenate([[0], np.arange(1, 1 + v + p)]).astype(np.uint8)
    paints = np.full((n, 1 + v + p), NO_PAINT, dtype=np.uint8)
    paints[:, 1 : 1 + v] = batch.body_paints()
    return meshes, poses, styles, ids, paints
