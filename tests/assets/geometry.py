"""What tests of meshes measure."""

import numpy as np
import trimesh


def corners(mesh):
    return mesh.vertices[mesh.triangles]


def normals(mesh):
    p, q, r = corners(mesh).transpose(1, 0, 2)
    cross = np.cross(q - p, r - p)
    return cross / np.linalg.norm(cross, axis=1)[:, None]


def areas(mesh):
    p, q, r = corners(mesh).transpose(1, 0, 2)
    return np.linalg.norm(np.cross(q - p, r - p), axis=1) / 2


def solid(mesh):
    """As a trimesh with coinciding corners joined; its volume is positive only if it is wound outwards."""
    shape = trimesh.Trimesh(mesh.vertices, mesh.triangles, process=False)
    shape.merge_vertices(digits_vertex=4)
    shape.update_faces(shape.nondegenerate_faces())
    return shape
