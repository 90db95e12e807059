# SPDX-License-Identifier: GPL-3.0-or-later
"""The lists of faces and cells, in which the halves of what has been divided take its place (kernels)."""

from __future__ import annotations

from ...runtime.jit import kernel
from .cell_complex import SIDES, WALLS


@kernel(device_only=True, no_refcount=True)
def side_start(cells, side):
    """Returns the vertex at which a side begins."""
    return cells.edge_vertices[side >> 1, side & 1]


@kernel(device_only=True, no_refcount=True)
def refresh_sides(cells, face):
    """Replaces the edges of a face that have been divided by their halves; returns whether there was room."""
    while True:
        first, count = cells.face_sides[face, 0], cells.face_sides[face, 1]
        divided = 0
        for k in range(first, first + count):
            divided += cells.edge_children[cells.sides[k] >> 1, 0] >= 0
        if divided == 0:
            return True
        at = cells.used[SIDES]
        if at + count + divided > len(cells.sides):
            return False
        start = at
        for k in range(first, first + count):
            side = cells.sides[k]
            one, other = cells.edge_children[side >> 1, 0], cells.edge_children[side >> 1, 1]
            if one < 0:
                cells.sides[at] = side
                at += 1
                continue
            if side & 1:
                one, other = other, one
            cells.sides[at] = 2 * one + (side & 1)
            cells.sides[at + 1] = 2 * other + (side & 1)
            at += 2
        cells.face_sides[face, 0] = start
        cells.face_sides[face, 1] = at - start
        cells.used[SIDES] = at


@kernel(device_only=True, no_refcount=True)
def refresh_walls(cells, cell):
    """Replaces the faces of a cell that have been divided by their parts, and the edges of all; returns whether there
    was room."""
    while True:
        first, count = cells.cell_walls[cell, 0], cells.cell_walls[cell, 1]
        divided = 0
        for k in range(first, first + count):
            divided += cells.face_children[cells.walls[k] >> 1, 0] >= 0
        if divided == 0:
            break
        at = cells.used[WALLS]
        if at + count + divided > len(cells.walls):
            return False
        start = at
        for k in range(first, first + count):
            wall = cells.walls[k]
            if cells.face_children[wall >> 1, 0] < 0:
                cells.walls[at] = wall
                at += 1
                continue
            for child in range(2):
                cells.walls[at] = 2 * cells.face_children[wall >> 1, child] + (wall & 1)
                at += 1
        cells.cell_walls[cell, 0] = start
        cells.cell_walls[cell, 1] = at - start
        cells.used[WALLS] = at
    for k in range(cells.cell_walls[cell, 0], cells.cell_walls[cell, 0] + cells.cell_walls[cell, 1]):
        if not refresh_sides(cells, cells.walls[k] >> 1):
            return False
    return True
