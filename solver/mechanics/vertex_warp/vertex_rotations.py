# SPDX-License-Identifier: GPL-3.0-or-later
"""The rotation field: for every node, how the edges at it have turned.

By least squares it is the R that brings the edges u_k at rest nearest to the present ones v_k: with Σ v_k u_kᵀ = V S Uᵀ
that is R = V Uᵀ, the smallest singular vector turned round where it would be a reflection. Or two frames of three
edges are compared, R = N' Nᵀ, with n1 along the mean of three edges, n2 across it and the first of them, n3 = n1 × n2.

Source: MDMJC02, equations (14), (15) and (16).
"""

from __future__ import annotations

import math

import numpy as np

from ...linalg.block_pattern import BlockPattern, UInt32s
from ...runtime.arrays import Floats
from ...runtime.counter_rng import uniform
from ...runtime.jit import kernel
from ...runtime.simd.vec3 import (
    vec3_add_cross,
    vec3_axpy,
    vec3_fma,
    vec3_load,
    vec3_store,
    vec3_sum,
    vec3_unpack,
    vec3_zero,
)
from ..elements.nearest_rotation import nearest_rotation

SQUARENESS_TOLERANCE = 1.0e-3  # share of how square a corner is, that makes no difference
MIN_RELATIVE_LENGTH = 1.0e-12  # of the lengths that a direction is made of: shorter ones have none


@kernel(allow_fma=True)
def least_squares_rotations(begin, end, row_start, column, edges, x, rotations):
    """Writes R of the nodes from `begin` to `end`, row by row, (n, 9).

    Args:
        row_start, column: Of the pattern: which nodes a node has edges with.
        edges: u at rest per block, from its row's node to its column's [m], (b, 3).
        x: Node positions [m], (n, 3).
        rotations: Out.
    """
    for i in range(begin, end):
        write_least_squares_rotation(i, row_start, column, edges, x, rotations)


@kernel(allow_fma=True, device_only=True)
def write_least_squares_rotation(i, row_start, column, edges, x, rotations):
    """Writes the rotation of least squares of one node."""
    # the columns of Σ v uᵀ
    first, second, third, here = vec3_zero(), vec3_zero(), vec3_zero(), vec3_load(x, 3 * i)
    for k in range(row_start[i], row_start[i + 1]):
        u, v, w = vec3_unpack(vec3_load(edges, 3 * k))
        along = vec3_axpy(vec3_load(x, 3 * column[k]), -1.0, here)
        first, second, third = vec3_axpy(first, u, along), vec3_axpy(second, v, along), vec3_axpy(third, w, along)
    (a, d, g), (b, e, h), (c, f, m) = vec3_unpack(first), vec3_unpack(second), vec3_unpack(third)
    own = rotations[i]
    own[0], own[1], own[2], own[3], own[4], own[5], own[6], own[7], own[8] = nearest_rotation(a, b, c, d, e, f, g, h, m)


@kernel(allow_fma=True)
def edge_rotations(begin, end, row_start, column, edges, chosen, x, rotations):
    """Writes R = N' Nᵀ of the nodes from `begin` to `end`, row by row, (n, 9).

    Where three edges have no frame any more, in tets that are crushed flat, it is that of least squares.

    Args:
        row_start, column, edges, x, rotations: As for `least_squares_rotations`.
        chosen: Blocks of the three edges of every node, (n, 3).
    """
    frames = np.empty(18)
    for i in range(begin, end):
        here = vec3_load(x, 3 * i)
        p, q, r = chosen[i, 0], chosen[i, 1], chosen[i, 2]
        is_frame = write_frame(vec3_load(edges, 3 * p), vec3_load(edges, 3 * q), vec3_load(edges, 3 * r), frames, 0)
        u, v = vec3_axpy(vec3_load(x, 3 * column[p]), -1.0, here), vec3_axpy(vec3_load(x, 3 * column[q]), -1.0, here)
        w = vec3_axpy(vec3_load(x, 3 * column[r]), -1.0, here)
        if write_frame(u, v, w, frames, 9) and is_frame:
            for row in range(3):
                for col in range(3):
                    entry = 0.0
                    for k in range(0, 9, 3):
                        entry += frames[9 + k + row] * frames[k + col]
                    rotations[i, 3 * row + col] = entry
        else:
            write_least_squares_rotation(i, row_start, column, edges, x, rotations)


@kernel(allow_fma=True, device_only=True)
def write_frame(u, v, w, frames, place):
    """Writes n1, n2, n3 of three edges, nine numbers from `place` on; returns whether there are such."""
    mean = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), 1.0, u), 1.0, v), 1.0, w)
    across = vec3_add_cross(vec3_zero(), mean, u)
    # squares of lengths, and of what the edges are long
    size = vec3_sum(vec3_fma(vec3_fma(vec3_fma(vec3_zero(), u, u), v, v), w, w))
    long, wide = vec3_sum(vec3_fma(vec3_zero(), mean, mean)), vec3_sum(vec3_fma(vec3_zero(), across, across))
    if not (
        long > MIN_RELATIVE_LENGTH * MIN_RELATIVE_LENGTH * size
        and wide > MIN_RELATIVE_LENGTH * MIN_RELATIVE_LENGTH * size * long
        and size < math.inf
    ):
        return False
    n1 = vec3_axpy(vec3_zero(), 1.0 / math.sqrt(long), mean)
    n2 = vec3_axpy(vec3_zero(), 1.0 / math.sqrt(wide), across)
    vec3_store(frames, place, n1)
    vec3_store(frames, place + 3, n2)
    vec3_store(frames, place + 6, vec3_add_cross(vec3_zero(), n1, n2))
    return True


def chosen_edges(pattern: BlockPattern, Dm: Floats) -> UInt32s:
    """Returns three edges of every node, as blocks, (n, 3): those of the tet with the squarest corner there.

    The first of them is the one that is farthest from their mean. Among corners that are equally square, as in
    lattices, chance decides, by the numbers of the tets alone: taken always on the same side, frames would lean a whole
    body to that side. Nodes without tets have their diagonal.

    Args:
        pattern: Of the m tets.
        Dm: Their edge matrices at rest [m], (m, 3, 3).
    """
    corners = np.concatenate([np.zeros((len(Dm), 1, 3)), np.swapaxes(Dm, 1, 2)], axis=1)
    away = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]], np.int64)
    edges = (corners[:, away] - corners[:, :, None]).reshape(-1, 3, 3)  # of each corner
    unit = edges / np.linalg.norm(edges, axis=2, keepdims=True)
    square = np.abs(np.linalg.det(unit))
    across = np.linalg.norm(np.cross(edges.sum(axis=1)[:, None], unit), axis=2)
    blocks = np.take_along_axis(pattern.corner_block.reshape(-1, 4, 4), away[None], axis=2).reshape(-1, 3)
    first = np.argmax(across, axis=1)[:, None]
    blocks = np.take_along_axis(blocks, (first + np.arange(3, dtype=np.int64)) % 3, axis=1)
    chosen = np.repeat(pattern.diagonal[:, None], 3, axis=1)
    node = np.repeat(np.arange(pattern.node_count, dtype=np.int64), np.diff(pattern.corner_start.astype(np.int64)))
    of_corner = square[pattern.corners]
    most = np.zeros(pattern.node_count)
    np.maximum.at(most, node, of_corner)
    is_best = of_corner > (1.0 - SQUARENESS_TOLERANCE) * most[node]
    lot = uniform(pattern.corners)
    order = np.lexsort((lot, ~is_best, node))
    best = order[np.flatnonzero(np.diff(node[order], prepend=-1))]
    chosen[node[best]] = blocks[pattern.corners[best]]
    return np.ascontiguousarray(chosen)
