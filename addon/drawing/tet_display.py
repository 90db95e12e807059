# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a body's tets is drawn: faces and edges as index lists, positions of one frame. No Blender in here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...solver.arrays import Indices
from ...solver.cache import CacheReader
from ...solver.errors import StorageFailed
from ...solver.mesh_files.outside import FACES, outside_faces

__all__ = ["TetDisplay", "face_edges", "load", "outside_faces", "positions"]


@dataclass(frozen=True)
class TetDisplay:
    """The tets of one body, ready to be drawn.

    Attributes:
        nodes: Where the body's nodes are in a frame's positions: first and one past the last.
        faces: Faces of the outside, (k, 3), nodes of the body.
        edges: Their edges, each once, (l, 2).
        joined: All faces of the tets that join surfaces far apart along the mesh, (m, 3).
    """

    nodes: tuple[int, int]
    faces: Indices
    edges: Indices
    joined: Indices


def face_edges(faces: Indices) -> Indices:
    """Returns the edges (l, 2) of the faces, each once."""
    if len(faces) == 0:
        return np.zeros((0, 2), np.int32)
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def load(reader: CacheReader, key: str) -> TetDisplay | None:
    """Returns what is to be drawn of the body `key`, or None when the cache has no tets of it yet."""
    first = 0
    try:
        for body in reader.head.bodies:
            model = reader.read_model(body.key)
            last = first + len(model["nodes"])
            if body.key == key:
                tets = np.asarray(model["tets"], np.int32)
                joined = np.asarray(model.get("joined_tets", np.zeros(0)), np.int64)
                faces = outside_faces(tets)
                return TetDisplay((first, last), faces, face_edges(faces), tets[joined][:, FACES].reshape(-1, 3))
            first = last
    except StorageFailed:
        pass
    return None


def positions(folder: Path, frame: int, nodes: tuple[int, int]) -> npt.NDArray[np.float32] | None:
    """Returns the node positions of one body [m], world, (n, 3), at the frame or the nearest baked one."""
    try:
        reader = CacheReader(folder)
        baked = reader.baked()
        if baked is None:
            return None
        return reader.read_frame(min(max(frame, baked[0]), baked[1])).x[nodes[0] : nodes[1]]
    except StorageFailed:
        return None
