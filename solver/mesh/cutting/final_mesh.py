# SPDX-License-Identifier: GPL-3.0-or-later
"""The render mesh after the cut: closed pieces whose vertices are tied to tets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats, Indices


@dataclass(frozen=True)
class FinalMesh:
    """Polygons of closed pieces, outward; k vertices, f faces, c corners.

    A face of the render mesh that no crack touches stays whole; it may get corners on its sides where a neighbour was
    cut. Every other face lies in one tet, so it stays flat: parts of triangles of the render mesh, and broken faces.

    Attributes:
        rest: Positions at rest [m], (k, 3).
        tet: The tet that each vertex is tied to, (k,).
        weights: Its barycentric weights there, (k, 4).
        source_vertex: The vertex of the render mesh that it is, or −1 for a new one, (k,). One vertex of the render
            mesh may stand here several times.
        face_start: First corner of each face, and c at the end, (f + 1,).
        corners: The vertex of each corner, counterclockwise seen from outside, (c,).
        source_face: The face of the render mesh that each face is (a part of), −1 for a broken face, (f,).
        face_tet: The tet that holds the face; of a face that stayed whole, the tet of its first corner, (f,).
        partner: For a broken face the one that it fitted to, else −1, (f,). It parted where `face_tet` of the two
            parted.
        piece: Number of the piece that each face belongs to, from 0, (f,). A piece is all material that tets still
            hold together; it may have several closed surfaces (a cavity, or two walls in one tet).
        corner_triangle: The triangle of the render mesh that each corner lies on, −1 on broken faces, (c,).
        corner_weights: Barycentric weights of the corner in that triangle, (c, 3); 0 on broken faces.
    """

    rest: Floats
    tet: Indices
    weights: Floats
    source_vertex: Indices
    face_start: Indices
    corners: Indices
    source_face: Indices
    face_tet: Indices
    partner: Indices
    piece: Indices
    corner_triangle: Indices
    corner_weights: Floats

    @property
    def face_count(self) -> int:
        """Number of faces."""
        return len(self.face_start) - 1

    @property
    def piece_count(self) -> int:
        """Number of pieces."""
        return int(self.piece.max(initial=-1)) + 1

    @property
    def is_broken(self) -> np.ndarray:
        """Which faces are broken faces, (f,)."""
        return self.source_face < 0

    @property
    def face_of_corner(self) -> Indices:
        """The face of each corner, (c,)."""
        return np.repeat(np.arange(self.face_count, dtype=np.int32), np.diff(self.face_start))

    @property
    def next_corner(self) -> Indices:
        """The corner that follows each one round its face, (c,)."""
        after = np.arange(1, len(self.corners) + 1, dtype=np.int32)
        after[self.face_start[1:] - 1] = self.face_start[:-1]
        return after
