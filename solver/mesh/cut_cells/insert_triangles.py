# SPDX-License-Identifier: GPL-3.0-or-later
"""Divides the cells of tets along triangles, and marks the faces that these cover.

A triangle divides every cell that it meets by its whole plane; what of the new face it does not cover stays open. So
all cells stay convex, and two of them hang together where the face between them is open.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Indices
from ...runtime.jit import kernel
from ..geometry.exact_orientation import EXPANSION_SIZE, orientation_sign
from .cell_complex import OPEN, TET_FACE_COUNT, CellComplex, with_room
from .cell_lists import refresh_sides, refresh_walls, side_start
from .cutter_planes import CutterPlanes
from .divide_cells import BROKEN, DONE, DOUBT, NO_ROOM, divide_cell, divide_edges_of_face, divide_face
from .exact_signs import exact_sign
from .known_signs import DivisionScratch, begin_work, height_at_vertex, signs_of_face, vertex_sign
from .vertex_signs import IN_DOUBT, PositionedTets, SignScratch, holds

MAX_KNOWN = 64  # signs that were in doubt: those of a tet's vertices and one plane are wanted again and again
DIVIDE, COVER = 0, 1  # what is done with the cells of a tet, one after the other
FIRST_CELL = -2  # cell of a cursor that has only just come to its pair
# of the largest height of a tet's nodes: a section that lies so far outside of an edge does not meet the triangle
OUTSIDE_TOLERANCE = 1.0e-9
PLACE_DOUBT = 8.0  # how many times the error of heights, over their difference, a place on an edge may be off
BOX_SLACK = 1.0e-12  # of the coordinates


class NotConvex(Exception):
    """A cell is not convex, which signs without error never let happen."""


def insert_triangles(
    cells: CellComplex, planes: CutterPlanes, tets: PositionedTets, triangle: Indices, tet: Indices
) -> CellComplex:
    """Divides cells along triangles, and returns them, maybe in larger arrays.

    Args:
        cells: Changed.
        planes: Of the triangles.
        tets: See `PositionedTets`.
        triangle, tet: Pairs of a triangle and a tet that it meets, each pair once, (k,).

    Raises:
        NotConvex: See there.
    """
    known: dict[tuple[int, int], int] = {}
    signs, scratch = _sign_scratch(known), _division_scratch(cells)
    cursor, request = np.array([0, DIVIDE, FIRST_CELL], np.int64), np.zeros(2, np.int64)
    signs = signs._replace(request=request)
    while True:
        status = insert_pairs(cells, planes, tets, signs, scratch, triangle, tet, cursor)
        if status == DONE:
            return cells
        if status == BROKEN:
            raise NotConvex
        if status == NO_ROOM:
            cells = with_room(cells)
            scratch = _division_scratch(cells, int(scratch.number[0]))
        else:
            vertex, plane = (int(each) for each in request)
            if len(known) == MAX_KNOWN:
                known.clear()
            known[vertex, plane] = exact_sign(cells, planes, tets, vertex, plane)
            signs = _sign_scratch(known)._replace(request=request)


def _sign_scratch(known: dict[tuple[int, int], int]) -> SignScratch:
    keys = np.array([(vertex << 32) + plane + 1 for vertex, plane in known], np.int64)
    order = np.argsort(keys)
    return SignScratch(
        np.empty((4, 4)),
        np.empty((4, 4)),
        np.empty((4, 4)),
        np.empty(4),
        np.empty(4),
        np.empty(4),
        np.empty(EXPANSION_SIZE),
        np.zeros(2, np.int64),
        keys[order],
        np.array(list(known.values()), np.int8)[order],
    )


def _division_scratch(cells: CellComplex, number: int = 0) -> DivisionScratch:
    count = len(cells.vertex_tet)
    return DivisionScratch(
        np.zeros((4, count), np.int8),
        np.full((4, count), -1, np.int64),
        np.empty(count, np.int32),
        np.array([number], np.int64),
        np.zeros(1, np.int64),
        np.empty((4, 4)),
        np.empty(4),
        np.empty(4),
    )


@kernel(no_refcount=True)
def insert_pairs(cells, planes, tets, signs, scratch, triangle, tet, cursor):
    """Does what `insert_triangles` does from pair `cursor` on, as far as it comes.

    Args:
        cells, planes, tets, signs, scratch, triangle, tet: See there.
        cursor: The next pair, what is to be done with it (`DIVIDE` or `COVER`), and with which cell on, (3,).

    Returns:
        DONE, NO_ROOM, DOUBT or BROKEN.
    """
    while cursor[0] < len(triangle):
        status = insert_triangle(cells, planes, tets, signs, scratch, triangle[cursor[0]], tet[cursor[0]], cursor)
        if status != DONE:
            return status
        cursor[0] += 1
        scratch.number[0] += 1  # what is known of signs holds until here, also when this is called again
    return DONE


@kernel(device_only=True, no_refcount=True)
def insert_triangle(cells, planes, tets, signs, scratch, triangle, tet, cursor):
    """Divides the cells of one tet along one triangle; see `insert_pairs`."""
    begin_work(planes, tets, signs, scratch, triangle, tet)
    plane = planes.of_triangle[triangle, 0]
    if cursor[2] == FIRST_CELL:
        cursor[2] = tet  # the first cell of a tet has its number
    while cursor[1] == DIVIDE and cursor[2] >= 0:
        cell = cursor[2]
        following = cells.next_cell[cell]  # before the part below comes between
        if _is_far(cells, planes, cell, triangle) or _is_behind_wall(cells, planes, signs, cell, triangle):
            cursor[2] = following
            continue
        if not refresh_walls(cells, cell):
            return NO_ROOM
        above, below, doubt = _signs_of_cell(cells, planes, tets, signs, scratch, cell, plane)
        if doubt:
            return DOUBT
        if above and below and _may_meet(cells, planes, tets, signs, scratch, cell, triangle):
            status = divide_cell(cells, planes, tets, signs, scratch, cell, plane)
            if status != DONE:
                return status
        cursor[2] = following
    if cursor[1] == DIVIDE:
        cursor[1], cursor[2] = COVER, tet
    while cursor[2] >= 0:
        if not _is_far(cells, planes, cursor[2], triangle):
            status = _cover_walls(cells, planes, tets, signs, scratch, cursor[2], triangle)
            if status != DONE:
                return status
        cursor[2] = cells.next_cell[cursor[2]]
    cursor[1], cursor[2] = DIVIDE, FIRST_CELL
    return DONE


@kernel(device_only=True, no_refcount=True)
def _is_far(cells, planes, cell, triangle):
    """Returns whether the boxes of a cell and a triangle lie apart, by more than rounding can be."""
    for axis in range(3):
        if _is_apart(planes, triangle, axis, cells.cell_box[cell, axis], cells.cell_box[cell, 3 + axis]):
            return True
    return False


@kernel(device_only=True, no_refcount=True)
def _is_face_far(cells, planes, face, triangle):
    """Returns whether the boxes of a face and a triangle lie apart, by more than rounding can be."""
    first = cells.face_sides[face, 0]
    for axis in range(3):
        low, high = np.inf, -np.inf
        for k in range(first, first + cells.face_sides[face, 1]):
            place = cells.vertex_place[side_start(cells, cells.sides[k])]
            low, high = min(low, place[axis] - place[3]), max(high, place[axis] + place[3])
        if _is_apart(planes, triangle, axis, low, high):
            return True
    return False


@kernel(device_only=True, no_refcount=True)
def _is_apart(planes, triangle, axis, low, high):
    """Returns whether a triangle lies apart from what reaches from `low` to `high` along an axis."""
    corners = planes.triangle_corners[triangle]
    least = min(corners[0, axis], corners[1, axis], corners[2, axis])
    most = max(corners[0, axis], corners[1, axis], corners[2, axis])
    slack = BOX_SLACK * (abs(low) + abs(high) + abs(least) + abs(most))
    return least > high + slack or most < low - slack


@kernel(device_only=True, no_refcount=True)
def _signs_of_cell(cells, planes, tets, signs, scratch, cell, plane):
    above, below = False, False
    first = cells.cell_walls[cell, 0]
    for k in range(first, first + cells.cell_walls[cell, 1]):
        up, down, doubt = signs_of_face(cells, planes, tets, signs, scratch, cells.walls[k] >> 1, plane, 0)
        if doubt:
            return above, below, True
        above |= up
        below |= down
    return above, below, False


@kernel(device_only=True, no_refcount=True)
def _is_behind_wall(cells, planes, signs, cell, triangle):
    """Returns whether a triangle lies on or behind one of the planes of the cutters that bound a cell."""
    first = cells.cell_walls[cell, 0]
    for k in range(first, first + cells.cell_walls[cell, 1]):
        wall = cells.walls[k]
        code = cells.face_plane[wall >> 1]
        if code >= TET_FACE_COUNT and _is_behind(planes, signs, code - TET_FACE_COUNT, wall & 1, triangle):
            return True
    return False


@kernel(device_only=True, no_refcount=True)
def _may_meet(cells, planes, tets, signs, scratch, cell, triangle):
    """Returns False where the section of a cell by the triangle's plane lies on or outside of one of its edges."""
    for edge in range(3):
        if _section_is_outside(cells, planes, tets, signs, scratch, cell, triangle, edge):
            return False
    return True


@kernel(device_only=True, no_refcount=True)
def _is_behind(planes, signs, plane, is_below, triangle):
    """Returns whether no corner of a triangle is on the side of a plane on which a cell above, or below, it lies."""
    points = planes.points[plane]
    for i in range(3):
        if holds(planes, plane, planes.triangles[triangle, i]):
            continue
        corner = planes.triangle_corners[triangle, i]
        side = orientation_sign(points[0], points[1], points[2], corner, signs.expansion)
        if (side < 0) if is_below else (side > 0):
            return False
    return True


@kernel(device_only=True, no_refcount=True)
def _section_is_outside(cells, planes, tets, signs, scratch, cell, triangle, edge):
    """Returns whether the section of a cell by the triangle's plane lies on or outside of one of its edges."""
    first = cells.cell_walls[cell, 0]
    inner = planes.inner_side[triangle, edge]
    row, tet = scratch.rows[edge + 1], scratch.tet[0]
    tolerance = OUTSIDE_TOLERANCE * max(max(abs(row[0]), abs(row[1])), max(abs(row[2]), abs(row[3])))
    for k in range(first, first + cells.cell_walls[cell, 1]):
        face = cells.walls[k] >> 1
        start = cells.face_sides[face, 0]
        for s in range(start, start + cells.face_sides[face, 1]):
            a, b = side_start(cells, cells.sides[s]), side_start(cells, cells.sides[s] ^ 1)
            if scratch.sign[0, a] == 0:
                plane = planes.of_triangle[triangle, edge + 1]
                sign = vertex_sign(cells, planes, tets, signs, scratch, a, plane, edge + 1)
                if sign == IN_DOUBT or sign * inner > 0:
                    return False
            elif scratch.sign[0, a] * scratch.sign[0, b] < 0:
                place = max(cells.vertex_place[a, 3], cells.vertex_place[b, 3])
                if place * scratch.slope[edge + 1] > tolerance:
                    return False
                here = height_at_vertex(cells, tets, a, tet, scratch.rows[0])
                there = height_at_vertex(cells, tets, b, tet, scratch.rows[0])
                drop = abs(here - there)
                along = min(max(here / (here - there), 0.0), 1.0) if drop > 0.0 else 0.5
                height = height_at_vertex(cells, tets, a, tet, row)
                change = height_at_vertex(cells, tets, b, tet, row) - height
                # where an edge nearly lies in the plane, rounding may put the place at which it crosses it anywhere
                error = scratch.slack[0] + scratch.slope[0] * place
                doubt = min(1.0, PLACE_DOUBT * error / drop) if drop > 0.0 else 1.0
                if (height + along * change) * inner > -(tolerance + doubt * abs(change)):
                    return False
    return True


@kernel(device_only=True, no_refcount=True)
def _cover_walls(cells, planes, tets, signs, scratch, cell, triangle):
    """Marks the parts of a cell's walls in the plane of a triangle that it covers."""
    if not refresh_walls(cells, cell):
        return NO_ROOM
    first = cells.cell_walls[cell, 0]
    for k in range(first, first + cells.cell_walls[cell, 1]):
        face = cells.walls[k] >> 1
        if _is_face_far(cells, planes, face, triangle):
            continue
        doubt, is_within = _lies_in_plane(cells, planes, tets, signs, scratch, face, planes.of_triangle[triangle, 0])
        if doubt:
            return DOUBT
        if is_within:
            status = _cover_face(cells, planes, tets, signs, scratch, face, triangle)
            if status != DONE:
                return status
    return DONE


@kernel(device_only=True, no_refcount=True)
def _lies_in_plane(cells, planes, tets, signs, scratch, face, plane):
    """Returns whether a sign is in doubt, and whether all vertices of a face lie in the plane of slot 0."""
    first = cells.face_sides[face, 0]
    for k in range(first, first + cells.face_sides[face, 1]):
        sign = vertex_sign(cells, planes, tets, signs, scratch, side_start(cells, cells.sides[k]), plane, 0)
        if sign != 0:
            return sign == IN_DOUBT, False
    return False, True


@kernel(device_only=True, no_refcount=True)
def _cover_face(cells, planes, tets, signs, scratch, face, triangle):
    """Divides a face in the plane of a triangle along the triangle's edges, and marks what is within."""
    for k in range(3):
        if not refresh_sides(cells, face):  # its neighbour may just have been divided
            return NO_ROOM
        plane = planes.of_triangle[triangle, k + 1]
        above, below, doubt = signs_of_face(cells, planes, tets, signs, scratch, face, plane, k + 1)
        if doubt:
            return DOUBT
        is_inside_above = planes.inner_side[triangle, k] > 0
        if above and below:
            status = divide_edges_of_face(cells, planes, tets, signs, scratch, face, plane, k + 1)
            if status == DONE:
                status = divide_face(cells, scratch, face, plane, k + 1)
            if status != DONE:
                return status
            face = cells.face_children[face, 0 if is_inside_above else 1]
        elif not (above if is_inside_above else below):
            return DONE
    if cells.face_source[face] == OPEN:
        cells.face_source[face] = triangle
    return DONE
