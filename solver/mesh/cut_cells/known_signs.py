# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of vertices while one triangle divides the cells of one tet (kernels)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.jit import kernel
from .cell_lists import side_start
from .vertex_signs import IN_DOUBT, fill_heights, sign_at_vertex

HEIGHT_ERROR = 1.0e-14  # of the largest height of a tet's nodes: error of heights at vertices, with a margin


class DivisionScratch(NamedTuple):
    """Room for what is known of vertices while one triangle divides the cells of one tet.

    Attributes:
        sign: On which side of its plane, and of the planes through its three edges, each vertex lies, (4, v).
        stamp: The number of the work at which it was found out, (4, v).
        next_side: The side of the new face that begins at a vertex, (v,).
        number: Of the work, (1,).
        tet: The tet, (1,).
        rows: Heights of its nodes above these planes, (4, 4).
        slack: What of a height at a vertex may be rounding, (4,).
        slope: How much a height changes with the position, (4,).
    """

    sign: np.ndarray
    stamp: np.ndarray
    next_side: np.ndarray
    number: np.ndarray
    tet: np.ndarray
    rows: np.ndarray
    slack: np.ndarray
    slope: np.ndarray


@kernel(device_only=True, no_refcount=True)
def begin_work(planes, tets, signs, scratch, triangle, tet):
    """Writes what is known beforehand of a triangle's planes in a tet."""
    scratch.tet[0] = tet
    for k in range(4):
        plane = planes.of_triangle[triangle, k]
        fill_heights(planes, tets, plane, tet, scratch.rows[k], signs.height_errors)
        largest, error = 0.0, 0.0
        for i in range(4):
            largest = max(largest, abs(scratch.rows[k, i]))
            error = max(error, signs.height_errors[i])
        scratch.slope[k] = plane_slope(planes, plane)
        scratch.slack[k] = HEIGHT_ERROR * largest + error


@kernel(device_only=True, no_refcount=True)
def vertex_sign(cells, planes, tets, signs, scratch, vertex, plane, slot):
    """Returns what `sign_at_vertex` does, which is remembered in `slot` until the next work."""
    if scratch.stamp[slot, vertex] != scratch.number[0]:
        height = height_at_vertex(cells, tets, vertex, scratch.tet[0], scratch.rows[slot])
        if abs(height) > scratch.slack[slot] + scratch.slope[slot] * cells.vertex_place[vertex, 3]:
            sign = 1 if height > 0.0 else -1
        else:
            sign = sign_at_vertex(cells, planes, tets, signs, vertex, plane)
            if sign == IN_DOUBT:
                return IN_DOUBT
        scratch.sign[slot, vertex] = sign
        scratch.stamp[slot, vertex] = scratch.number[0]
    return scratch.sign[slot, vertex]


@kernel(device_only=True, no_refcount=True)
def signs_of_face(cells, planes, tets, signs, scratch, face, plane, slot):
    """Returns whether a face has vertices above and below a plane, and whether a sign is in doubt."""
    above, below = False, False
    first = cells.face_sides[face, 0]
    for k in range(first, first + cells.face_sides[face, 1]):
        sign = vertex_sign(cells, planes, tets, signs, scratch, side_start(cells, cells.sides[k]), plane, slot)
        if sign == IN_DOUBT:
            return above, below, True
        above |= sign > 0
        below |= sign < 0
    return above, below, False


@kernel(device_only=True, no_refcount=True)
def weight_in_tet(cells, tets, vertex, tet, i):
    """Returns the weight of node i of a tet at a vertex that lies in or on that tet."""
    own = cells.vertex_tet[vertex]
    if own == tet:
        return cells.vertex_weights[vertex, i]
    for j in range(4):
        if tets.tets[own, j] == tets.tets[tet, i]:
            return cells.vertex_weights[vertex, j]
    return 0.0


@kernel(device_only=True, no_refcount=True)
def height_at_vertex(cells, tets, vertex, tet, row):
    """Returns Σ λᵢ hᵢ at a vertex, with the heights hᵢ of the nodes of a tet, rounded."""
    total = 0.0
    for i in range(4):
        total += weight_in_tet(cells, tets, vertex, tet, i) * row[i]
    return total


@kernel(device_only=True, no_refcount=True)
def plane_slope(planes, plane):
    """Returns how much the height above a plane changes with the position at most: twice the area of its points."""
    a, b, c = planes.points[plane, 0], planes.points[plane, 1], planes.points[plane, 2]
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    return np.sqrt((uy * vz - uz * vy) ** 2 + (uz * vx - ux * vz) ** 2 + (ux * vy - uy * vx) ** 2)
