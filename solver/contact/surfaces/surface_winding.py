# SPDX-License-Identifier: GPL-3.0-or-later
"""How often surfaces wind around points, piece by piece.

A closed piece does not wind around what is outside its box. So only the triangles of pieces around a point count, and
of those that are open. A body in hundreds of pieces needs no tree of all its triangles in every step for that.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...mesh.geometry.face_edges import face_edges
from ...mesh.geometry.triangle_bvh import build_bvh
from ...mesh.geometry.winding_number import solid_angle, winding_numbers
from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.frozen_memo import derived
from ...runtime.jit import kernel
from .collision_surfaces import CollisionSurfaces, Int64s

MAX_DIRECT_SOLID_ANGLES = 100_000  # number up to which summing all solid angles takes less than building a tree


class PieceTriangles(NamedTuple):
    """The triangles of all pieces, p of them, piece by piece.

    Attributes:
        start: First row of each piece, (p + 1,).
        corners: Vertices of the triangles, (t, 3).
        is_closed: Which pieces have no open edge, (p,).
    """

    start: Int64s
    corners: Indices
    is_closed: Bools


def surface_winding_numbers(surfaces: CollisionSurfaces, at: Floats, point: Indices, surface: Indices) -> Floats:
    """Returns the winding number of a surface around each point, for vertices at [m], (v, 3), (k,)."""
    result, pieces = np.zeros(len(point)), _piece_triangles(surfaces)
    boxes = np.empty((len(pieces.is_closed), 6))
    if len(point):
        bound_piece_triangles(pieces, at, boxes)
    for number in np.unique(surface).tolist():
        own, among = surface == number, np.searchsorted(surfaces.pieces.surface, [number, number + 1])
        asked = at[point[own]]
        if count_solid_angles(asked, pieces, boxes, *among) <= MAX_DIRECT_SOLID_ANGLES:
            out = np.empty(len(asked))
            sum_piece_solid_angles(asked, at, pieces, boxes, *among, out)
            result[own] = out
        else:
            triangles = surfaces.triangles[surfaces.triangles_of(number)]
            result[own] = winding_numbers(build_bvh(at, triangles), asked)
    return result


@derived
def _piece_triangles(surfaces: CollisionSurfaces) -> PieceTriangles:
    """Returns the triangles of surfaces by their pieces."""
    of, count = surfaces.pieces.of_triangle, len(surfaces.pieces.surface)
    edges = face_edges(surfaces.triangles)
    is_open = edges.balance[edges.edge] != 0
    is_closed = np.ones(count, bool)
    is_closed[np.repeat(of, 3)[is_open]] = False
    start = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=count), dtype=np.int64)])
    return PieceTriangles(start, surfaces.triangles[np.argsort(of, kind="stable")], is_closed)


@kernel()
def bound_piece_triangles(pieces, at, boxes):
    """Writes the boxes around the triangles of `PieceTriangles`, for vertices at [m], (v, 3), (p, 6)."""
    for piece in range(len(boxes)):
        for axis in range(3):
            boxes[piece, axis], boxes[piece, 3 + axis] = np.inf, -np.inf
        for t in range(pieces.start[piece], pieces.start[piece + 1]):
            for corner in range(3):
                vertex = pieces.corners[t, corner]
                for axis in range(3):
                    boxes[piece, axis] = min(boxes[piece, axis], at[vertex, axis])
                    boxes[piece, 3 + axis] = max(boxes[piece, 3 + axis], at[vertex, axis])


@kernel()
def count_solid_angles(points, pieces, boxes, first, last):
    """Returns how many solid angles `sum_piece_solid_angles` sums."""
    count = 0
    for i in range(len(points)):
        for piece in range(first, last):
            if _may_wind_around(points, i, pieces, boxes, piece):
                count += pieces.start[piece + 1] - pieces.start[piece]
    return count


@kernel()
def sum_piece_solid_angles(points, at, pieces, boxes, first, last, out):
    """Writes how often pieces wind around points [m], (k, 3), (k,).

    Args:
        points: See above.
        at: Vertices [m], (v, 3).
        pieces, boxes: `PieceTriangles`, and the boxes around them [m], (p, 6).
        first, last: The pieces from `first` to before `last` count.
        out: Out.
    """
    corners = np.empty((1, 9))
    for i in range(len(points)):
        angle = 0.0
        for piece in range(first, last):
            if not _may_wind_around(points, i, pieces, boxes, piece):
                continue
            for t in range(pieces.start[piece], pieces.start[piece + 1]):
                for corner in range(3):
                    for axis in range(3):
                        corners[0, 3 * corner + axis] = at[pieces.corners[t, corner], axis]
                angle += solid_angle(corners, 0, points[i, 0], points[i, 1], points[i, 2])
        out[i] = angle / (4.0 * math.pi)


@kernel(device_only=True)
def _may_wind_around(points, i, pieces, boxes, piece):
    """Returns whether a piece is open, or its box has point i in it."""
    if not pieces.is_closed[piece]:
        return True
    for axis in range(3):
        if points[i, axis] < boxes[piece, axis] or points[i, axis] > boxes[piece, 3 + axis]:
            return False
    return True
