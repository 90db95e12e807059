# SPDX-License-Identifier: GPL-3.0-or-later
"""The closed surfaces of what cuts leave: polygons in tets, those of the surface and both sides of every cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from .cell_complex import VERTICES
from .join_copies import DividedTets, TetCopies


@dataclass(frozen=True, eq=False)
class PieceSurfaces:
    """Polygons around the material of copies; each lies in one tet, flat, counterclockwise seen from outside.

    Attributes:
        vertices: Positions [m], (v, 3).
        weights: Weights of each corner in the tet of its polygon, (c, 4).
        polygon_start: First corner of each polygon, and the number of corners at the end, (p + 1,).
        corners: Vertex of each corner, (c,).
        edge: Number of the edge from each corner to the next, (c,).
        copy: The copy of the tet that moves each polygon, (p,).
        source: The triangle that it is a part of, (p,).
    """

    vertices: Floats
    weights: Floats
    polygon_start: Indices
    corners: Indices
    edge: Indices
    copy: Indices
    source: Indices

    @property
    def polygon_of_corner(self) -> Indices:
        """(c,)."""
        return np.repeat(np.arange(len(self.copy), dtype=np.int32), np.diff(self.polygon_start))

    @property
    def next_corner(self) -> Indices:
        """The corner that follows each one round its polygon, (c,)."""
        after = np.arange(1, len(self.corners) + 1, dtype=np.int32)
        after[self.polygon_start[1:] - 1] = self.polygon_start[:-1]
        return after


def piece_surfaces(tets: Indices, divided: DividedTets, copies: TetCopies, kept: Bools) -> PieceSurfaces:
    """Returns the polygons around the copies that are kept.

    Args:
        tets: (m, 4).
        divided, copies: See there.
        kept: (c,).
    """
    cells = divided.cells
    face, copy, is_back = _covered_sides(divided, copies, kept)
    first, count = cells.face_sides[face].T.astype(np.int64)
    start = np.concatenate([[0], np.cumsum(count, dtype=np.int64)])
    within = np.arange(start[-1], dtype=np.int64) - np.repeat(start[:-1], count)
    turned = np.repeat(is_back, count)
    at = np.repeat(first, count) + np.where(turned, np.repeat(count, count) - 1 - within, within)
    side = cells.sides[at] ^ turned
    vertex = cells.edge_vertices[side >> 1, side & 1]
    return PieceSurfaces(
        cells.vertex_place[: cells.used[VERTICES], :3].copy(),
        _weights_in(tets, divided, vertex, np.repeat(copies.parent[copy], count)),
        indices(start),
        indices(vertex),
        indices(side >> 1),
        indices(copy),
        cells.face_source[face],
    )


def _covered_sides(divided: DividedTets, copies: TetCopies, kept: Bools) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the sides of covered faces that bound copies which are kept: face, copy, and whether it is the back."""
    cells, count = divided.cells, len(divided.parts.face_cells)
    faces = np.flatnonzero((cells.face_children[:count, 0] < 0) & (cells.face_source[:count] >= 0))
    of_cell = divided.parts.face_cells[faces]
    copy = np.where(of_cell >= 0, copies.of_part[divided.parts.part[of_cell]], -1)
    row, column = np.nonzero((copy >= 0) & kept[copy])
    return faces[row], copy[row, column], column


def _weights_in(tets: Indices, divided: DividedTets, vertex: np.ndarray, tet: np.ndarray) -> Floats:
    """Returns the weights of vertices in tets that they lie in or on, (k, 4)."""
    cells = divided.cells
    own = tets[divided.touched[cells.vertex_tet[vertex]]]
    same = own[:, None, :] == tets[tet][:, :, None]
    return floats(np.einsum("kij,kj->ki", same, cells.vertex_weights[vertex]), -1, 4)


def is_closed(surfaces: PieceSurfaces, piece: Indices) -> Bools:
    """Returns for each piece whether its polygons go along every edge as often one way as the other, (p,).

    Args:
        surfaces: See there.
        piece: The piece of each polygon, (f,).
    """
    polygon = surfaces.polygon_of_corner
    way = np.where(surfaces.corners < surfaces.corners[surfaces.next_corner], 1, -1)
    key = piece[polygon].astype(np.int64) * (int(surfaces.edge.max(initial=0)) + 1) + surfaces.edge
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    balance = np.bincount(number.ravel(), way, minlength=len(first))
    open_pieces = piece[polygon[first[balance != 0]]]
    closed = np.ones(int(piece.max(initial=-1)) + 1, np.bool_)
    closed[open_pieces] = False
    return closed


def enclosed_volumes(surfaces: PieceSurfaces, piece: Indices) -> Floats:
    """Returns the volumes that closed pieces enclose [m³], (p,), by the divergence theorem."""
    polygon = surfaces.polygon_of_corner
    middle = surfaces.vertices[surfaces.corners].mean(axis=0)
    a = surfaces.vertices[surfaces.corners[surfaces.polygon_start[polygon]]] - middle
    b = surfaces.vertices[surfaces.corners] - middle
    c = surfaces.vertices[surfaces.corners[surfaces.next_corner]] - middle
    cones = np.einsum("ki,ki->k", a, np.cross(b, c)) / 6.0
    return floats(np.bincount(piece[polygon], cones, minlength=int(piece.max(initial=-1)) + 1))
