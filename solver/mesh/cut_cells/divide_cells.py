# SPDX-License-Identifier: GPL-3.0-or-later
"""Divides edges, faces and cells by a plane (kernels).

Every step may be taken again: where there is no room, or a sign is in doubt, nothing is half done that would be done
twice. So who calls makes room, or finds the sign, and calls again.
"""

from __future__ import annotations

import numpy as np

from ...runtime.jit import kernel
from .cell_complex import CELLS, EDGES, FACES, OPEN, SIDES, TET_FACE_COUNT, VERTICES, WALLS
from .cell_lists import refresh_sides, refresh_walls, side_start
from .vertex_signs import ALL_WEIGHTS, IN_DOUBT, fill_weights, sign_at_vertex

DONE, NO_ROOM, DOUBT, BROKEN = 0, 1, 2, 3


@kernel(device_only=True, no_refcount=True)
def divide_edge(cells, planes, tets, signs, edge, plane):
    """Divides an edge where it crosses a plane; returns whether it did, had no room, or is in doubt.

    Args:
        cells, planes, tets, signs: See there.
        edge: Its ends lie on either side.
        plane: Of the cutters.
    """
    vertex, one = cells.used[VERTICES], cells.used[EDGES]
    if vertex == len(cells.vertex_tet) or one + 2 > len(cells.edge_tet):
        return NO_ROOM
    tet, a, b = cells.edge_tet[edge], cells.edge_vertices[edge, 0], cells.edge_vertices[edge, 1]
    cells.vertex_tet[vertex] = tet
    cells.vertex_planes[vertex, 0] = cells.edge_planes[edge, 0]
    cells.vertex_planes[vertex, 1] = cells.edge_planes[edge, 1]
    cells.vertex_planes[vertex, 2] = TET_FACE_COUNT + plane
    orientation = sign_at_vertex(cells, planes, tets, signs, vertex, ALL_WEIGHTS)
    if orientation == IN_DOUBT:
        return DOUBT
    cells.vertex_orientation[vertex] = orientation
    error = fill_weights(planes, tets, signs, cells.vertex_planes[vertex], tet, cells.vertex_weights[vertex])
    size = 0.0
    for axis in range(3):
        low, high, place = np.inf, -np.inf, 0.0
        for i in range(4):
            x = tets.positions[tets.tets[tet, i], axis]
            low, high = min(low, x), max(high, x)
            place += cells.vertex_weights[vertex, i] * x
        cells.vertex_place[vertex, axis] = place
        size += abs(low) + abs(high)
    cells.vertex_place[vertex, 3] = size * error
    for k in range(2):
        child = one + k
        cells.edge_vertices[child, 0] = a if k == 0 else vertex
        cells.edge_vertices[child, 1] = vertex if k == 0 else b
        cells.edge_tet[child] = tet
        cells.edge_planes[child, 0], cells.edge_planes[child, 1] = (
            cells.edge_planes[edge, 0],
            cells.edge_planes[edge, 1],
        )
        cells.edge_children[child, 0], cells.edge_children[child, 1] = -1, -1
        cells.edge_children[edge, k] = child
    cells.used[VERTICES] = vertex + 1
    cells.used[EDGES] = one + 2
    return DONE


@kernel(device_only=True, no_refcount=True)
def _fit_box(cells, cell):
    """Writes the box around the vertices of a cell."""
    for axis in range(3):
        cells.cell_box[cell, axis], cells.cell_box[cell, 3 + axis] = np.inf, -np.inf
    first = cells.cell_walls[cell, 0]
    for k in range(first, first + cells.cell_walls[cell, 1]):
        face = cells.walls[k] >> 1
        start = cells.face_sides[face, 0]
        for s in range(start, start + cells.face_sides[face, 1]):
            place = cells.vertex_place[side_start(cells, cells.sides[s])]
            for axis in range(3):
                cells.cell_box[cell, axis] = min(cells.cell_box[cell, axis], place[axis] - place[3])
                cells.cell_box[cell, 3 + axis] = max(cells.cell_box[cell, 3 + axis], place[axis] + place[3])


@kernel(device_only=True, no_refcount=True)
def divide_edges_of_face(cells, planes, tets, signs, scratch, face, plane, slot):
    """Divides all edges of a face that cross a plane, signs of whose vertices are known in `slot`."""
    first = cells.face_sides[face, 0]
    for k in range(first, first + cells.face_sides[face, 1]):
        edge = cells.sides[k] >> 1
        one = scratch.sign[slot, cells.edge_vertices[edge, 0]]
        other = scratch.sign[slot, cells.edge_vertices[edge, 1]]
        if one * other < 0 and cells.edge_children[edge, 0] < 0:
            status = divide_edge(cells, planes, tets, signs, edge, plane)
            if status != DONE:
                return status
            vertex = cells.used[VERTICES] - 1
            scratch.sign[slot, vertex] = 0
            scratch.stamp[slot, vertex] = scratch.number[0]
    return DONE if refresh_sides(cells, face) else NO_ROOM


@kernel(device_only=True, no_refcount=True)
def divide_face(cells, scratch, face, plane, slot):
    """Divides a face, edges of which do not cross the plane any more, into what lies above, its first child, and below.

    Returns:
        DONE; NO_ROOM; BROKEN where the face is not convex, which exact signs never let happen.
    """
    first, count = cells.face_sides[face, 0], cells.face_sides[face, 1]
    up, down, zeros = -1, -1, 0  # where the part above begins, and where the one below does
    for k in range(count):
        if scratch.sign[slot, side_start(cells, cells.sides[first + k])] == 0:
            zeros += 1
            after = scratch.sign[slot, side_start(cells, cells.sides[first + (k + 1) % count])]
            if after > 0:
                up = k
            elif after < 0:
                down = k
    if up < 0 or down < 0 or zeros != 2:
        return BROKEN
    edge, child, at = cells.used[EDGES], cells.used[FACES], cells.used[SIDES]
    if edge == len(cells.edge_tet) or child + 2 > len(cells.face_tet) or at + count + 2 > len(cells.sides):
        return NO_ROOM
    cells.edge_vertices[edge, 0] = side_start(cells, cells.sides[first + up])
    cells.edge_vertices[edge, 1] = side_start(cells, cells.sides[first + down])
    cells.edge_tet[edge] = cells.face_tet[face]
    cells.edge_planes[edge, 0], cells.edge_planes[edge, 1] = cells.face_plane[face], TET_FACE_COUNT + plane
    cells.edge_children[edge, 0], cells.edge_children[edge, 1] = -1, -1
    for part in range(2):
        start, end = (up, down) if part == 0 else (down, up)
        begin, k = at, start
        while k != end:
            cells.sides[at] = cells.sides[first + k]
            at += 1
            k = (k + 1) % count
        cells.sides[at] = 2 * edge + (1 if part == 0 else 0)  # back from where the part ends to where it begins
        at += 1
        _copy_face(cells, face, child + part, begin, at - begin)
        cells.face_children[face, part] = child + part
    cells.used[EDGES], cells.used[FACES], cells.used[SIDES] = edge + 1, child + 2, at
    return DONE


@kernel(device_only=True, no_refcount=True)
def _copy_face(cells, face, child, first_side, side_count):
    cells.face_sides[child, 0], cells.face_sides[child, 1] = first_side, side_count
    cells.face_tet[child], cells.face_plane[child] = cells.face_tet[face], cells.face_plane[face]
    cells.face_source[child] = cells.face_source[face]
    cells.face_children[child, 0], cells.face_children[child, 1] = -1, -1


@kernel(device_only=True, no_refcount=True)
def divide_cell(cells, planes, tets, signs, scratch, cell, plane):
    """Divides a cell with vertices on both sides of a plane, whose signs are known in slot 0.

    The cell keeps what lies above; a new cell of the same tet gets what lies below.
    """
    first, count = cells.cell_walls[cell, 0], cells.cell_walls[cell, 1]
    for k in range(first, first + count):
        status = divide_edges_of_face(cells, planes, tets, signs, scratch, cells.walls[k] >> 1, plane, 0)
        if status != DONE:
            return status
    for k in range(first, first + count):
        face = cells.walls[k] >> 1
        above, below = _known_sides(cells, scratch, face)
        if above and below:
            status = divide_face(cells, scratch, face, plane, 0)
            if status != DONE:
                return status
    if not refresh_walls(cells, cell):
        return NO_ROOM
    return _close_both_parts(cells, scratch, cell, plane)


@kernel(device_only=True, no_refcount=True)
def _known_sides(cells, scratch, face):
    """Returns whether a face has vertices above and below a plane, by signs in slot 0."""
    above, below = False, False
    first = cells.face_sides[face, 0]
    for k in range(first, first + cells.face_sides[face, 1]):
        sign = scratch.sign[0, side_start(cells, cells.sides[k])]
        above |= sign > 0
        below |= sign < 0
    return above, below


@kernel(device_only=True, no_refcount=True)
def _close_both_parts(cells, scratch, cell, plane):
    """Makes the face between two parts of a cell whose faces have all been divided, and the cell below it."""
    first, count = cells.cell_walls[cell, 0], cells.cell_walls[cell, 1]
    new, face, begin = cells.used[CELLS], cells.used[FACES], cells.used[SIDES]
    at = cells.used[WALLS]
    length, vertex = 0, -1
    for k in range(first, first + count):
        wall = cells.walls[k]
        above, _ = _known_sides(cells, scratch, wall >> 1)
        if not above:
            continue
        start = cells.face_sides[wall >> 1, 0]
        for s in range(start, start + cells.face_sides[wall >> 1, 1]):
            edge = cells.edge_vertices[cells.sides[s] >> 1]
            if scratch.sign[0, edge[0]] == 0 and scratch.sign[0, edge[1]] == 0:
                # the new face runs along it the other way round than the wall does, seen from outside
                side = cells.sides[s] ^ 1 ^ (wall & 1)
                vertex = side_start(cells, side)
                scratch.next_side[vertex] = side
                length += 1
    if length < 3:
        return BROKEN
    if (
        new == len(cells.cell_tet)
        or face == len(cells.face_tet)
        or begin + length > len(cells.sides)
        or at + count + 2 > len(cells.walls)
    ):
        return NO_ROOM
    start = vertex
    for k in range(length):
        side = scratch.next_side[vertex]
        cells.sides[begin + k] = side
        vertex = side_start(cells, side ^ 1)
        if vertex == start and k + 1 < length:
            return BROKEN
    if vertex != start:
        return BROKEN
    cells.face_sides[face, 0], cells.face_sides[face, 1] = begin, length
    cells.face_tet[face], cells.face_plane[face] = cells.cell_tet[cell], TET_FACE_COUNT + plane
    cells.face_source[face] = OPEN
    cells.face_children[face, 0], cells.face_children[face, 1] = -1, -1
    for part in range(2):
        start_wall = at
        for k in range(first, first + count):
            above, _ = _known_sides(cells, scratch, cells.walls[k] >> 1)
            if above == (part == 0):
                cells.walls[at] = cells.walls[k]
                at += 1
        cells.walls[at] = 2 * face + part
        at += 1
        whose = cell if part == 0 else new
        cells.cell_walls[whose, 0], cells.cell_walls[whose, 1] = start_wall, at - start_wall
    cells.cell_tet[new] = cells.cell_tet[cell]
    cells.next_cell[new] = cells.next_cell[cell]
    cells.next_cell[cell] = new
    _fit_box(cells, cell)
    _fit_box(cells, new)
    cells.used[CELLS], cells.used[FACES] = new + 1, face + 1
    cells.used[SIDES], cells.used[WALLS] = begin + length, at
    return DONE
