# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts triangles until no edge is longer than asked for, the same way on both sides of an edge."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices, floats, indices

MAX_TRIANGLES = 2_000_000
LENGTH_TOLERANCE = 1.0e-9


def split_edges(vertices: Floats, triangles: Indices, longest: float) -> tuple[Floats, Indices, Indices]:
    """Returns a mesh of the same shape without edges above `longest` [m]: long edges get a vertex in the middle.

    Args:
        vertices: [m], (n, 3).
        triangles: Vertices at the same place have to be one, (t, 3).
        longest: [m], > 0.

    Returns:
        Vertices, the given ones first, (n + k, 3), triangles, and the triangle that each is a part of, (t',) rising.
    """
    origin = np.arange(len(triangles), dtype=np.int32)
    while len(triangles) < MAX_TRIANGLES:
        edges, number = _edges(triangles)
        is_long = np.linalg.norm(vertices[edges[:, 1]] - vertices[edges[:, 0]], axis=1) > longest * (
            1.0 + LENGTH_TOLERANCE
        )
        if not is_long.any():
            break
        middle = np.full(len(edges), -1, np.int64)
        middle[is_long] = len(vertices) + np.arange(int(is_long.sum()), dtype=np.int64)
        vertices = np.concatenate([vertices, vertices[edges[is_long]].mean(axis=1)])
        triangles, part_of = _split_triangles(vertices, triangles.astype(np.int64), middle[number])
        order = np.argsort(part_of, kind="stable")
        triangles, origin = triangles[order], origin[part_of[order]]
    return floats(vertices, -1, 3), indices(triangles, -1, 3), origin


def _edges(triangles: Indices) -> tuple[np.ndarray, np.ndarray]:
    """Returns all edges, (e, 2), and those of each triangle, from corner i to the next, (t, 3)."""
    sides = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2).astype(np.int64))
    key = sides[:, 0] * (int(triangles.max(initial=0)) + 1) + sides[:, 1]
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return sides[first], number.reshape(-1, 3)


def _split_triangles(vertices: Floats, triangles: np.ndarray, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns triangles cut at the middles of edges, −1 where they have none, (t, 3), and what each is part of."""
    count = (middle >= 0).sum(axis=1)
    pieces, part_of = [triangles[count == 0]], [np.flatnonzero(count == 0)]

    def add(rows: np.ndarray, *corners: np.ndarray) -> None:
        pieces.append(np.column_stack(corners))
        part_of.append(rows)

    rows, (a, b, c), (ab, _, _) = _rotate_corners(triangles, middle, count == 1, middle >= 0)
    add(rows, a, ab, c)
    add(rows, ab, b, c)
    rows, (a, b, c), (_, bc, ca) = _rotate_corners(triangles, middle, count == 2, middle < 0)
    add(rows, c, ca, bc)
    # of the quad a b bc ca the shorter diagonal, the same whichever way the triangle is turned
    one = np.linalg.norm(vertices[bc] - vertices[a], axis=1) <= np.linalg.norm(vertices[ca] - vertices[b], axis=1)
    add(rows, a, b, np.where(one, bc, ca))
    add(rows, np.where(one, a, b), bc, ca)
    rows, (a, b, c), (ab, bc, ca) = _rotate_corners(triangles, middle, count == 3, np.ones_like(middle, bool))
    for corners in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)):
        add(rows, *corners)
    return np.concatenate(pieces), np.concatenate(part_of)


def _rotate_corners(
    triangles: np.ndarray, middle: np.ndarray, which: Bools, is_first: Bools
) -> tuple[np.ndarray, list, list]:
    """Returns some triangles so that their first edge is the one marked: their numbers, corners and middles."""
    rows = np.flatnonzero(which)
    turn = is_first[rows].argmax(axis=1)
    columns = [(turn + k) % 3 for k in range(3)]
    return rows, [triangles[rows, k] for k in columns], [middle[rows, k] for k in columns]
