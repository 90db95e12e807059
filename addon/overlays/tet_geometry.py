# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometry of the tet overlay: index lists of faces and edges, and positions of a frame. Knows no Blender."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...solver.bake.cache import CacheReader
from ...solver.mesh.boundary_faces import boundary_faces
from ...solver.mesh.local_tet_numbering import TET_FACES
from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import StorageFailed
from ..cache.baked_tets import body_tets

__all__ = [
    "TetGeometry",
    "face_edges",
    "load_geometry",
    "boundary_faces",
    "node_positions",
    "shaded_faces",
    "topology_at",
]

# direction to the light, and the brightness of faces that point away from it
LIGHT_DIRECTION = np.array([-0.36, -0.48, 0.80])
MIN_BRIGHTNESS = 0.25


@dataclass(frozen=True)
class TetGeometry:
    """The tets of one body as index lists.

    Attributes:
        nodes: Range of the body's nodes in the positions of a frame: first, and one past the last.
        faces: Outer faces, (k, 3), by nodes of the body.
        edges: Their edges, each once, (l, 2).
        joined: All faces of the tets that join surfaces far apart along the mesh, (m, 3).
        core: Outer faces of the rigid core, (n, 3).
    """

    nodes: tuple[int, int]
    faces: Indices
    edges: Indices
    joined: Indices
    core: Indices


def face_edges(faces: Indices) -> Indices:
    """Returns the edges (l, 2) of the faces, each once."""
    if len(faces) == 0:
        return np.zeros((0, 2), np.int32)
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def load_geometry(reader: CacheReader, key: str, topology: int = 0) -> TetGeometry | None:
    """Returns the geometry of the body `key` in a topology, or None if the cache has no tets yet."""
    body = body_tets(reader, key)
    try:
        if body is None:
            return None
        (tets, nodes), parent = body.tets_and_nodes(reader, topology), body.parents(reader, topology)
        core = reader.read_model(key).get("core_tets", np.zeros(0, np.int32))
    except StorageFailed:
        return None
    faces = boundary_faces(tets)
    joined, of_core = tets[np.isin(parent, body.joined)], tets[np.isin(parent, core)]
    return TetGeometry(nodes, faces, face_edges(faces), joined[:, TET_FACES].reshape(-1, 3), boundary_faces(of_core))


def topology_at(folder: Path, frame: int) -> int:
    """Returns the number of a baked frame's topology.

    Raises:
        StorageFailed: The frame cannot be read.
    """
    return CacheReader(folder).read_frame(frame).topology


def shaded_faces(points: npt.NDArray[np.float32], faces: Indices, colour: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Returns the corners of all faces, (3 f, 3), and their shaded colours, (3 f, 4)."""
    corners = points[faces].astype(np.float64)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1)
    light = np.divide(normals @ LIGHT_DIRECTION, length, out=np.zeros(len(faces)), where=length > 0)
    shade = MIN_BRIGHTNESS + (1.0 - MIN_BRIGHTNESS) * (0.5 + 0.5 * light)
    colours = np.ones((len(faces), 4))
    colours[:, :3] = shade[:, None] * np.array(colour[:3])
    return corners.reshape(-1, 3), np.repeat(colours, 3, axis=0)


def node_positions(folder: Path, frame: int, nodes: tuple[int, int]) -> npt.NDArray | None:
    """Returns the node positions of one body [m], world, (n, 3), at the frame or the nearest baked one."""
    try:
        reader = CacheReader(folder)
        baked = reader.baked_range()
        if baked is None:
            return None
        return reader.read_frame(min(max(frame, baked[0]), baked[1])).x[nodes[0] : nodes[1]]
    except StorageFailed:
        return None
