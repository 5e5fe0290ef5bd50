"""One stored scene in other forms: a GLB file for any 3D viewer."""

from typing import Any

import numpy as np
import trimesh

from simtown.assets import palette
from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.render.instances import instances
from simtown.scenes.scene import SceneBatch


def glb(scene: SceneBatch) -> bytes:
    """The first scene of a batch as binary glTF.

    Units are metres, y points up as glTF requires. Each instance is a named node, with colours per face.
    """
    meshes, poses, styles, _, paints = instances(scene[:1])
    world = trimesh.Scene()
    vehicles, props = scene.entity[0].tolist(), scene.prop[0].tolist()
    names = [
        "ground",
        *(ENTITIES[e] for e in vehicles),
        *(PROPS[p] for p in props),
    ]
    for k, number in enumerate(meshes[0]):
        if number < 0:  # an empty slot
            continue
        x, y, z, c, s, scale = poses[0, k].astype(float)
        solid = _painted_solid(int(number), int(styles[0, k]), int(paints[0, k]))
        turn = np.array([[c, -s, 0, x], [s, c, 0, y], [0, 0, 1, z], [0, 0, 0, 1]])
        turn = turn @ np.diag([scale, scale, scale, 1])
        upright = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1.0]])  # z up to y up
        name = f"{k:02d} {names[k]}"
        world.add_geometry(solid, node_name=name, geom_name=name, transform=upright @ turn)
    content: bytes = world.export(file_type="glb", tree_postprocessor=_matte)
    return content


def _painted_solid(number: int, style: int, paint: int) -> trimesh.Trimesh:
    """The mesh with a number of the atlas, each face in its colour."""
    mesh = atlas().mesh(number)
    body = atlas().body[slice(*atlas().triangle_start[number : number + 2])]
    colours = np.array([material.colour for material in palette.MATERIALS])
    kinds = np.array([material.kind for material in palette.MATERIALS])
    face = colours[np.where(body, paint, mesh.materials)]
    for kind, tints, pick in (
        (palette.TINT_WALL, palette.WALL_TINTS, style),
        (palette.TINT_ROOF, palette.ROOF_TINTS, style // palette.TINTS),
        (palette.TINT_CLOTH, palette.CLOTH_TINTS, style),
    ):
        face[kinds[mesh.materials] == kind] = palette.rgb_table(tints)[pick % palette.TINTS]
    corners = mesh.vertices[mesh.triangles].reshape(-1, 3)  # not shared: every face keeps its colour
    linear = np.where(face <= 0.04045, face / 12.92, ((face + 0.055) / 1.055) ** 2.4)  # as in glTF
    rgba = np.concatenate([np.repeat(linear, 3, axis=0), np.ones((len(corners), 1))], axis=1)
    triangles = np.arange(len(corners)).reshape(-1, 3)
    levels = (rgba * 255 + 0.5).astype(np.uint8)
    return trimesh.Trimesh(corners, triangles, vertex_colors=levels, process=False)


def _matte(tree: dict[str, Any]) -> None:
    """Give every mesh a matte material: glTF's default is metal, which is black if it mirrors nothing."""
    tree["materials"] = [{"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.9}}]
    for mesh in tree["meshes"]:
        for primitive in mesh["primitives"]:
            primitive["material"] = 0
