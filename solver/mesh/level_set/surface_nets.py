# SPDX-License-Identifier: GPL-3.0-or-later
"""A closed surface of quads where a level set is zero: a vertex in each cell that it crosses, a quad for each edge.

The surface is a manifold where the voxels inside are well-composed: no four around an edge and no eight around a corner
touch only across. Where they do, as where parts come closer than a voxel, the nearest node outside joins the inside.

Sources: Gibson (1998), Constrained elastic surface nets; Latecki (1997), 3D well-composed pictures.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices, floats
from .voxel_grid import VoxelGrid

CORNERS = tuple(itertools.product((0, 1), repeat=3))
EDGES = tuple(
    (a, b) for a, b in itertools.combinations(CORNERS, 2) if sum(x != y for x, y in zip(a, b, strict=True)) == 1
)
DIAGONALS = tuple((a, tuple(1 - x for x in a)) for a in CORNERS[:4])
JOINED_DEPTH = 0.01  # [voxels], of a node that joins the inside
MAX_REPAIRS = 1000


@dataclass(frozen=True, eq=False)
class SurfaceNet:
    """A closed surface with a vertex in each cell that it crosses.

    Attributes:
        vertices: Means of the places where the edges of their cells cross the surface [m], (n, 3).
        quads: Their normals point to where the level set is positive, (q, 4).
        middles: Of the cells [m], (n, 3).
        crossings: Places where edges of cells cross the surface [m], (k, 3).
        vertex: The vertex of the cell of each crossing, (k,).
    """

    vertices: Floats
    quads: Indices
    middles: Floats
    crossings: Floats
    vertex: Indices


def surface_net(phi: Floats, grid: VoxelGrid) -> SurfaceNet:
    """Returns the surface where a level set is zero.

    Args:
        phi: At the nodes, (x, y, z) [m]; positive at the border of the grid.
        grid: The nodes.
    """
    phi = well_composed(phi, grid.voxel)
    is_in = phi < 0.0
    count = np.sum([_at(is_in, corner) for corner in CORNERS], axis=0)
    is_crossed = (count > 0) & (count < 8)
    cells = np.argwhere(is_crossed)
    places, vertex = [], []
    for a, b in EDGES:
        first, second = _at(phi, a)[is_crossed], _at(phi, b)[is_crossed]
        cut = np.flatnonzero((first < 0.0) != (second < 0.0))
        share = first[cut] / (first[cut] - second[cut])
        places.append(cells[cut] + np.array(a) + share[:, None] * np.subtract(b, a))
        vertex.append(cut)
    crossings, of = grid.positions(np.concatenate(places)), np.concatenate(vertex)
    sums: Floats = np.stack([np.bincount(of, crossings[:, i], len(cells)) for i in range(3)], axis=1)
    number = np.full(is_crossed.shape, -1, np.int32)
    number[is_crossed] = np.arange(len(cells), dtype=np.int32)
    quads = np.concatenate([_quads_across(is_in, number, axis) for axis in range(3)])
    means = floats(sums / np.bincount(of, minlength=len(cells))[:, None])
    return SurfaceNet(means, quads, grid.positions(cells + 0.5), crossings, of)


def well_composed(phi: Floats, voxel: float) -> Floats:
    """Returns a level set, (x, y, z), whose inside is well-composed; nodes outside join it until it is."""
    phi = phi.copy()
    for _ in range(MAX_REPAIRS):
        joining = _nodes_that_join(phi)
        if not len(joining):
            break
        phi[tuple(joining.T)] = -JOINED_DEPTH * voxel
    return phi


def _nodes_that_join(phi: Floats) -> Indices:
    """Returns the nodes outside that are nearest to the surface where voxels touch only across, (k, 3)."""
    is_in, found = phi < 0.0, []
    for axis in range(3):
        one, other = (np.eye(3, dtype=np.int64)[(axis + k) % 3] for k in (1, 2))
        square = [_window(is_in, shift, one + other) for shift in (0 * one, one, other, one + other)]
        is_across = (square[0] == square[3]) & (square[1] == square[2]) & (square[0] != square[1])
        found.append(_nearest_outside(phi, np.argwhere(is_across), [0 * one, one, other, one + other]))
    cube = {corner: _at(is_in, corner) for corner in CORNERS}
    count = np.sum([cube[corner] for corner in CORNERS], axis=0)
    for a, b in DIAGONALS:
        is_across = (cube[a] == cube[b]) & (count == np.where(cube[a], 2, 6))
        found.append(_nearest_outside(phi, np.argwhere(is_across), [np.array(corner) for corner in CORNERS]))
    return np.unique(np.concatenate(found), axis=0)


def _nearest_outside(phi: Floats, places: Indices, shifts: list[np.ndarray]) -> Indices:
    """Returns of the nodes around each place, (k, 3), the one outside with the least distance."""
    if not len(places):
        return np.zeros((0, 3), np.int64)
    nodes = places[:, None] + np.array(shifts)
    values = phi[tuple(np.moveaxis(nodes, 2, 0))]
    chosen = np.argmin(np.where(values < 0.0, np.inf, values), axis=1)
    return nodes[np.arange(len(places), dtype=np.int64), chosen]


def _at(values: Floats | Bools, corner: tuple[int, ...]) -> np.ndarray:
    """Returns the values at one corner of all cells."""
    return values[tuple(slice(c, n - 1 + c) for c, n in zip(corner, values.shape, strict=True))]


def _window(values: Bools, shift: np.ndarray, size: np.ndarray) -> Bools:
    return values[
        tuple(slice(s, n - w + s) for s, w, n in zip(shift.tolist(), size.tolist(), values.shape, strict=True))
    ]


def _quads_across(is_in: Bools, number: Indices, axis: int) -> Indices:
    """Returns the quads around the grid edges along an axis whose ends lie on different sides, (q, 4)."""
    step, one, other = (np.eye(3, dtype=np.int64)[(axis + k) % 3] for k in range(3))
    first, second = _window(is_in, 0 * step, step), _window(is_in, step, step)
    found = []
    for leaves, order in ((first & ~second, (0, 1, 2, 3)), (~first & second, (3, 2, 1, 0))):
        nodes = np.argwhere(leaves)
        ring = [nodes - one - other, nodes - other, nodes, nodes - one]
        found.append(np.stack([number[tuple(ring[k].T)] for k in order], axis=1))
    return np.concatenate(found).astype(np.int32)
