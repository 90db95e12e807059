# SPDX-License-Identifier: GPL-3.0-or-later
"""Remeshes collision surfaces: decimates meshes much finer than their tets, and splits long edges."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices, floats, indices

FINE_EDGE_LENGTH = 0.25  # edge length in tet sizes below which a mesh is much finer than its tets
MIN_FINE_VERTICES = 20_000  # number of vertices from which decimation pays
MAX_TRIANGLES = 2_000_000  # of a mesh whose edges are split
LENGTH_TOLERANCE = 1.0e-9  # relative length above the longest edge that is not split


def is_too_fine(vertices: Floats, triangles: Indices, tet_size: float) -> bool:
    """Returns whether a mesh has many more vertices than its tets need."""
    if len(vertices) < MIN_FINE_VERTICES:
        return False
    lengths = np.linalg.norm(vertices[triangles] - vertices[np.roll(triangles, -1, axis=1)], axis=2)
    return bool(np.median(lengths) < FINE_EDGE_LENGTH * tet_size)


def decimated_triangles(vertices: Floats, triangles: Indices, tet_size: float) -> Indices:
    """Returns triangles between fewer vertices: one vertex stays in each cube of a quarter of the tets' size.

    It is the one nearest to the mean of the vertices in the cube. Triangles keep their orientation; triangles within
    two cubes are removed, and of several triangles with the same vertices one stays.
    """
    used = np.unique(triangles)
    cell = np.floor((vertices[used] - vertices[used].min(axis=0)) / (FINE_EDGE_LENGTH * tet_size)).astype(np.int64)
    _, group = np.unique(cell, axis=0, return_inverse=True)
    group = group.ravel()
    count = np.bincount(group)
    center = np.stack([np.bincount(group, vertices[used, axis]) / count for axis in range(3)], axis=1)
    away = np.linalg.norm(vertices[used] - center[group], axis=1)
    order = np.lexsort((np.arange(len(used), dtype=np.int64), away, group))
    first = np.searchsorted(group[order], np.arange(len(count), dtype=np.int64))
    replacement = np.full(int(used.max(initial=-1)) + 1, -1, np.int64)
    replacement[used] = used[order[first]][group]
    fewer = replacement[triangles]
    fewer = fewer[(fewer != np.roll(fewer, 1, axis=1)).all(axis=1)]
    # faces with the same corners and opposite orientations are a closed fold, and none of them stays
    turn = fewer.argmin(axis=1)
    fewer = np.stack([fewer[np.arange(len(fewer), dtype=np.int64), (turn + k) % 3] for k in range(3)], axis=1)
    is_even = fewer[:, 1] < fewer[:, 2]
    _, place = np.unique(np.sort(fewer, axis=1), axis=0, return_inverse=True)
    balance = np.bincount(place.ravel(), np.where(is_even, 1, -1), minlength=int(place.max(initial=-1)) + 1)
    kept, seen = fewer[np.sign(balance[place.ravel()]) == np.where(is_even, 1, -1)], place.ravel()
    _, first = np.unique(seen[np.sign(balance[seen]) == np.where(is_even, 1, -1)], return_index=True)
    return indices(kept[np.sort(first)], -1, 3)


def split_edges(vertices: Floats, triangles: Indices, longest: float) -> tuple[Floats, Indices, Indices]:
    """Returns a mesh of the same shape without edges above `longest` [m]: long edges get a vertex at their midpoint.

    Both sides of an edge are split alike.

    Args:
        vertices: [m], (n, 3).
        triangles: Without distinct vertices at the same place, (t, 3).
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
        midpoint = np.full(len(edges), -1, np.int64)
        midpoint[is_long] = len(vertices) + np.arange(int(is_long.sum()), dtype=np.int64)
        vertices = np.concatenate([vertices, vertices[edges[is_long]].mean(axis=1)])
        triangles, part_of = _split_at_midpoints(vertices, triangles.astype(np.int64), midpoint[number])
        order = np.argsort(part_of, kind="stable")
        triangles, origin = triangles[order], origin[part_of[order]]
    return floats(vertices, -1, 3), indices(triangles, -1, 3), origin


def _edges(triangles: Indices) -> tuple[np.ndarray, np.ndarray]:
    """Returns all edges, (e, 2), and the edge of each triangle from corner i to the next, (t, 3)."""
    sides = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2).astype(np.int64))
    key = sides[:, 0] * (int(triangles.max(initial=0)) + 1) + sides[:, 1]
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return sides[first], number.reshape(-1, 3)


def _split_at_midpoints(vertices: Floats, triangles: np.ndarray, midpoint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns triangles split at the midpoints of edges, −1 for none, (t, 3), and the triangle each is a part of."""
    count = (midpoint >= 0).sum(axis=1)
    pieces, part_of = [triangles[count == 0]], [np.flatnonzero(count == 0)]

    def add(rows: np.ndarray, *corners: np.ndarray) -> None:
        pieces.append(np.column_stack(corners))
        part_of.append(rows)

    rows, (a, b, c), (ab, _, _) = _rotate_corners(triangles, midpoint, count == 1, midpoint >= 0)
    add(rows, a, ab, c)
    add(rows, ab, b, c)
    rows, (a, b, c), (_, bc, ca) = _rotate_corners(triangles, midpoint, count == 2, midpoint < 0)
    add(rows, c, ca, bc)
    # the shorter diagonal of the quad a b bc ca does not depend on the order of the corners
    one = np.linalg.norm(vertices[bc] - vertices[a], axis=1) <= np.linalg.norm(vertices[ca] - vertices[b], axis=1)
    add(rows, a, b, np.where(one, bc, ca))
    add(rows, np.where(one, a, b), bc, ca)
    rows, (a, b, c), (ab, bc, ca) = _rotate_corners(triangles, midpoint, count == 3, np.ones_like(midpoint, bool))
    for corners in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)):
        add(rows, *corners)
    return np.concatenate(pieces), np.concatenate(part_of)


def _rotate_corners(
    triangles: np.ndarray, midpoint: np.ndarray, which: Bools, is_first: Bools
) -> tuple[np.ndarray, list, list]:
    """Returns some triangles with the marked edge first: their numbers, corners and midpoints."""
    rows = np.flatnonzero(which)
    turn = is_first[rows].argmax(axis=1)
    columns = [(turn + k) % 3 for k in range(3)]
    return rows, [triangles[rows, k] for k in columns], [midpoint[rows, k] for k in columns]
