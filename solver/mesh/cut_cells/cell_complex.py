# SPDX-License-Identifier: GPL-3.0-or-later
"""The cells into which tets are divided: vertices, edges, faces and cells that neighbours share, in arrays that grow.

All cells are convex and lie in one tet. Nothing is ever deleted: an edge or a face that is divided gets two children,
and whoever has it in a list finds these there the next time. So a cell may have several faces in one plane, where its
neighbours are finer.

Positions are only rounded copies. What a vertex is, says the three planes through it: a face of its tet, or a plane of
the cutter, which is a linear function on the tet by its values at the four nodes. Neighbours have the same values at
the nodes that they share, so they divide their face in the same way, whatever shape the tets have now.

Source: Sifakis (2007), Simulation and Control of Human Anatomy, section 7.3 and appendix C: polygons in the barycentric
space of each tet, points as intersections of three triangles. Convex cells instead of boundary tracking are our own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Floats, Indices
from ..cutting.tet_complex import FACE_CORNERS, TetComplex

# which number of `used` counts what
VERTICES, EDGES, FACES, CELLS, SIDES, WALLS = range(6)

OPEN = -1  # source of a face that no triangle of a cutter covers
TET_FACE_COUNT = 4  # plane codes below are the faces of the tet itself, by the opposite node


class CellComplex(NamedTuple):
    """Cells of tets; v vertices, e edges, f faces, c cells, and room for more in every array.

    A side is an edge in a direction: 2 · edge, or 2 · edge + 1 for the way back. A wall of a cell is a face that bounds
    it: 2 · face where the sides of the face are counterclockwise seen from outside of the cell, else 2 · face + 1.

    Attributes:
        used: How many vertices, edges, faces, cells, sides and walls there are, (6,).
        vertex_weights: Barycentric weights in the vertex's tet, rounded, (v, 4).
        vertex_tet: The tet by whose nodes its planes and weights are told, (v,).
        vertex_planes: Three planes that have only this point in common, (v, 3): a face of the tet (0 to 3), or
            `TET_FACE_COUNT` + a plane of the cutters.
        vertex_place: Position, rounded, and how far from there it may be, (v, 4).
        vertex_orientation: Sign of the determinant of these planes and of the sum of all weights, 1 or −1, (v,).
        edge_vertices: (e, 2).
        edge_tet, edge_planes: Two planes that meet in its line, as for vertices, (e,) and (e, 2).
        edge_children: The halves of an edge that has been divided: from its first vertex, to its second; or −1, (e, 2).
        face_sides: First of its sides in `sides`, and how many, (f, 2).
        face_tet, face_plane: The plane in which it lies, as for vertices, (f,).
        face_children: The parts of a face that has been divided, or −1, (f, 2).
        face_source: The triangle of the cutters that covers it, or `OPEN`, (f,).
        cell_walls: First of its walls in `walls`, and how many, (c, 2).
        cell_tet: (c,).
        cell_box: Lower and upper corner of a box around it, (c, 6).
        next_cell: The next cell of the same tet, or −1, (c,).
        sides, walls: Lists of all faces and cells, one after the other.
    """

    used: np.ndarray
    vertex_weights: np.ndarray
    vertex_place: np.ndarray
    vertex_tet: np.ndarray
    vertex_planes: np.ndarray
    vertex_orientation: np.ndarray
    edge_vertices: np.ndarray
    edge_tet: np.ndarray
    edge_planes: np.ndarray
    edge_children: np.ndarray
    face_sides: np.ndarray
    face_tet: np.ndarray
    face_plane: np.ndarray
    face_children: np.ndarray
    face_source: np.ndarray
    cell_walls: np.ndarray
    cell_tet: np.ndarray
    cell_box: np.ndarray
    next_cell: np.ndarray
    sides: np.ndarray
    walls: np.ndarray


# which of `used` says how much of each array is used
_COUNTED_BY = {
    "vertex_weights": VERTICES,
    "vertex_place": VERTICES,
    "vertex_tet": VERTICES,
    "vertex_planes": VERTICES,
    "vertex_orientation": VERTICES,
    "edge_vertices": EDGES,
    "edge_tet": EDGES,
    "edge_planes": EDGES,
    "edge_children": EDGES,
    "face_sides": FACES,
    "face_tet": FACES,
    "face_plane": FACES,
    "face_children": FACES,
    "face_source": FACES,
    "cell_walls": CELLS,
    "cell_tet": CELLS,
    "cell_box": CELLS,
    "next_cell": CELLS,
    "sides": SIDES,
    "walls": WALLS,
}


def with_room(cells: CellComplex, factor: int = 2) -> CellComplex:
    """Returns the same cells in arrays with room for `factor` times as many of all."""
    arrays = {"used": cells.used}
    for name, kind in _COUNTED_BY.items():
        old, count = getattr(cells, name), int(cells.used[kind])
        new = np.empty((factor * len(old) + 64, *old.shape[1:]), old.dtype)
        new[:count] = old[:count]
        arrays[name] = new
    return CellComplex(**arrays)


def whole_tets(whole: TetComplex, positions: Floats) -> CellComplex:
    """Returns one cell for each tet, numbered as the tets are; nodes are at `positions`, (n, 3)."""
    tets, faces, edges = whole.tets, whole.face_nodes, whole.edge_nodes
    nodes, first_corner = np.unique(tets, return_index=True)
    place = np.full(int(tets.max(initial=-1)) + 1, -1, np.int64)
    place[nodes] = np.arange(len(nodes), dtype=np.int64)
    corner = first_corner % 4
    others = FACE_CORNERS[corner]  # the faces through a corner are those opposite to the other three
    weights = np.zeros((len(nodes), 4))
    weights[np.arange(len(nodes), dtype=np.int64), corner] = 1.0
    orientation = np.linalg.det(np.concatenate([np.eye(4)[others], np.ones((len(nodes), 1, 4))], axis=1))
    face_tet, face_column = _first_tets(whole.tet_faces, len(faces))
    edge_tet, edge_planes = _edge_planes(whole, face_tet)
    sides = _face_sides(whole)
    walls = _tet_walls(whole)
    count = len(tets)
    return CellComplex(
        used=np.array([len(nodes), len(edges), len(faces), count, sides.size, walls.size], np.int64),
        vertex_weights=weights,
        vertex_place=np.concatenate([positions[nodes], np.zeros((len(nodes), 1))], axis=1),
        vertex_tet=(first_corner // 4).astype(np.int32),
        vertex_planes=others.astype(np.int32),
        vertex_orientation=np.sign(np.round(orientation)).astype(np.int8),
        edge_vertices=place[edges].astype(np.int32),
        edge_tet=edge_tet,
        edge_planes=edge_planes,
        edge_children=np.full((len(edges), 2), -1, np.int32),
        face_sides=_even_ranges(len(faces), 3),
        face_tet=face_tet,
        face_plane=face_column,
        face_children=np.full((len(faces), 2), -1, np.int32),
        face_source=np.full(len(faces), OPEN, np.int32),
        cell_walls=_even_ranges(count, 4),
        cell_tet=np.arange(count, dtype=np.int32),
        cell_box=np.concatenate([positions[tets].min(axis=1), positions[tets].max(axis=1)], axis=1),
        next_cell=np.full(count, -1, np.int32),
        sides=sides.ravel(),
        walls=walls.ravel(),
    )


def _even_ranges(count: int, length: int) -> Indices:
    first = np.arange(count, dtype=np.int32) * np.int32(length)
    return np.stack([first, np.full(count, length, np.int32)], axis=1)


def _first_tets(tet_faces: Indices, face_count: int) -> tuple[Indices, Indices]:
    """Returns for each face a tet that has it, and which face of this tet it is."""
    found, corner = np.unique(tet_faces.ravel(), return_index=True)
    assert len(found) == face_count
    return (corner // 4).astype(np.int32), (corner % 4).astype(np.int32)


def _edge_planes(whole: TetComplex, face_tet: Indices) -> tuple[Indices, Indices]:
    """Returns for each edge a tet that has it, and the two faces of this tet that meet there."""
    found, at = np.unique(whole.face_edges.ravel(), return_index=True)
    assert len(found) == len(whole.edge_nodes)
    tet = face_tet[at // 3]
    is_end = (whole.tets[tet][:, :, None] == whole.edge_nodes[:, None, :]).any(axis=2)
    return tet, np.argsort(is_end, axis=1, kind="stable")[:, :2].astype(np.int32)


def _face_sides(whole: TetComplex) -> Indices:
    """Returns the sides of faces whose nodes, in rising order, are counterclockwise, (f, 3)."""
    # edges run from node 0 to 1, 1 to 2 and 0 to 2
    return (2 * whole.face_edges + np.array([0, 0, 1], np.int32)).astype(np.int32)


def _tet_walls(whole: TetComplex) -> Indices:
    """Returns the walls of tets, (m, 4)."""
    return (2 * whole.tet_faces + whole.tet_sides).astype(np.int32)
