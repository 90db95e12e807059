# SPDX-License-Identifier: GPL-3.0-or-later
"""Leaves vertices of very fine meshes out, so that skins cost what their tets cost."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices, indices

FINE_EDGE_LENGTH = 0.25  # length of edges below which a mesh is much finer than its tets, in tet sizes
MIN_VERTICES = 20_000  # vertices from which that matters


def is_too_fine(vertices: Floats, triangles: Indices, tet_size: float) -> bool:
    """Whether a mesh has many more vertices than its tets need."""
    if len(vertices) < MIN_VERTICES:
        return False
    lengths = np.linalg.norm(vertices[triangles] - vertices[np.roll(triangles, -1, axis=1)], axis=2)
    return bool(np.median(lengths) < FINE_EDGE_LENGTH * tet_size)


def decimated_triangles(vertices: Floats, triangles: Indices, tet_size: float) -> Indices:
    """Returns triangles between fewer of the vertices: of those in a cube of a quarter of the tets' size one is left.

    It is the one nearest to the middle of those in the cube. Triangles
    keep the way they face; those that lie within two cubes go, and of several on the same three vertices one stays.
    """
    used = np.unique(triangles)
    cell = np.floor((vertices[used] - vertices[used].min(axis=0)) / (FINE_EDGE_LENGTH * tet_size)).astype(np.int64)
    _, group = np.unique(cell, axis=0, return_inverse=True)
    group = group.ravel()
    count = np.bincount(group)
    middle = np.stack([np.bincount(group, vertices[used, axis]) / count for axis in range(3)], axis=1)
    away = np.linalg.norm(vertices[used] - middle[group], axis=1)
    order = np.lexsort((np.arange(len(used), dtype=np.int64), away, group))
    first = np.searchsorted(group[order], np.arange(len(count), dtype=np.int64))
    stands_for = np.full(int(used.max(initial=-1)) + 1, -1, np.int64)
    stands_for[used] = used[order[first]][group]
    fewer = stands_for[triangles]
    fewer = fewer[(fewer != np.roll(fewer, 1, axis=1)).all(axis=1)]
    # of faces on the same corners that look both ways none is left: they are a fold that has closed
    turn = fewer.argmin(axis=1)
    fewer = np.stack([fewer[np.arange(len(fewer), dtype=np.int64), (turn + k) % 3] for k in range(3)], axis=1)
    is_even = fewer[:, 1] < fewer[:, 2]
    _, place = np.unique(np.sort(fewer, axis=1), axis=0, return_inverse=True)
    balance = np.bincount(place.ravel(), np.where(is_even, 1, -1), minlength=int(place.max(initial=-1)) + 1)
    kept, seen = fewer[np.sign(balance[place.ravel()]) == np.where(is_even, 1, -1)], place.ravel()
    _, first = np.unique(seen[np.sign(balance[seen]) == np.where(is_even, 1, -1)], return_index=True)
    return indices(kept[np.sort(first)], -1, 3)
