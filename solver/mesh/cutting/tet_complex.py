# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers the faces and edges of tets, and says which tets meet at each face."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices

# Face i is opposite to node i, its corners counterclockwise seen from outside of a positive tet.
FACE_CORNERS = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]], np.int64)


class OverlappingTets(Exception):
    """A face belongs to more than two tets, or to two on the same side."""


@dataclass(frozen=True)
class TetComplex:
    """Faces and edges of tets, each once.

    Attributes:
        tets: Nodes of the tets, (m, 4).
        face_nodes: Nodes of each face, rising, (f, 3).
        face_tets: The tet for which the face, its nodes in rising order, is counterclockwise seen from outside of the
            tet, and the tet on the other side; −1: none, (f, 2).
        tet_faces: Face opposite to each node, (m, 4).
        tet_sides: Which column of `face_tets` the tet is, for each of its faces, (m, 4).
        edge_nodes: Nodes of each edge, rising, (e, 2).
        face_edges: The edges from node 0 to 1, 1 to 2 and 2 to 0 of each face, (f, 3).
    """

    tets: Indices
    face_nodes: Indices
    face_tets: Indices
    tet_faces: Indices
    tet_sides: Indices
    edge_nodes: Indices
    face_edges: Indices

    @property
    def is_inner(self) -> Bools:
        """Which faces have a tet on either side, (f,)."""
        return np.asarray(self.face_tets.min(axis=1) >= 0)

    def node_corners(self, column: int, faces: npt.NDArray) -> Indices:
        """Returns where the nodes of faces stand in the tet of one column, 0 … 3, (k, 3)."""
        inside = self.tets[self.face_tets[faces, column]]
        return np.argmax(inside[:, None, :] == self.face_nodes[faces][:, :, None], axis=2).astype(np.int32)


def make_tet_complex(nodes: Floats, tets: Indices) -> TetComplex:
    """Returns faces and edges of tets of any orientation.

    Args:
        nodes: Positions that say which way round a tet is, (n, 3).
        tets: Tets, (m, 4).

    Raises:
        OverlappingTets: A face belongs to more than two tets, or to two on the same side.
    """
    corner = nodes[tets]
    is_negative = np.linalg.det(corner[:, 1:] - corner[:, :1]) < 0.0
    faces = tets[:, FACE_CORNERS].reshape(-1, 3)
    face_nodes, tet_faces = _unique_rows(np.sort(faces, axis=1))
    odd = np.argsort(faces, axis=1)
    is_odd = ((odd[:, 1] - odd[:, 0]) % 3 == 2).reshape(-1, 4)  # 0 2 1 and its rotations
    sides = (is_odd ^ is_negative[:, None]).astype(np.int32)
    face_tets = np.full((len(face_nodes), 2), -1, np.int32)
    owner = np.repeat(np.arange(len(tets), dtype=np.int32), 4)
    face_tets[tet_faces, sides.ravel()] = owner
    if (face_tets[tet_faces, sides.ravel()] != owner).any():
        raise OverlappingTets
    edges = face_nodes[:, [[0, 1], [1, 2], [0, 2]]].reshape(-1, 2)
    edge_nodes, face_edges = _unique_rows(edges)
    return TetComplex(
        tets, face_nodes, face_tets, tet_faces.reshape(-1, 4), sides, edge_nodes, face_edges.reshape(-1, 3)
    )


def parted_faces(whole: TetComplex, parted_tets: Indices) -> Bools:
    """Returns at which faces the two tets have different nodes now, (f,)."""
    is_parted = np.zeros(len(whole.face_nodes), np.bool_)
    inner = np.flatnonzero(whole.is_inner)
    now = [
        np.take_along_axis(parted_tets[whole.face_tets[inner, column]], whole.node_corners(column, inner), axis=1)
        for column in (0, 1)
    ]
    is_parted[inner] = (now[0] != now[1]).any(axis=1)
    return is_parted


def _unique_rows(rows: npt.NDArray) -> tuple[Indices, Indices]:
    """Returns the different rows and, for each row, the number of its kind."""
    size = np.int64(rows.max(initial=0)) + 1
    key = rows[:, 0].astype(np.int64)
    for column in range(1, rows.shape[1]):
        # numbered at every column, so that no product of node counts overflows
        _, key = np.unique(key, return_inverse=True)
        key = key.ravel() * size + rows[:, column]
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return rows[first].astype(np.int32), number.ravel().astype(np.int32)
