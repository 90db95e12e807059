# SPDX-License-Identifier: GPL-3.0-or-later
"""The zero level of values on a grid as a closed surface of quads: one vertex per cell that it passes through.

A vertex is the mean of the places where the level crosses the edges of its cell. The surface is a 2-manifold where the
grid is well-composed: no square of four points has its two insides on one diagonal, and no cube of eight has
two insides, or two outsides, at opposite corners alone. `make_well_composed` turns the points that are in the way.

Sources: Gibson (1998), Constrained Elastic Surface Nets; Latecki (1997), 3D Well-Composed Pictures.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices

Counts = npt.NDArray[np.int64]

CORNERS = np.array(list(np.ndindex(2, 2, 2)), np.int64)
# pairs of corners of a cell that differ along one axis
EDGES = tuple((a, b) for a in range(8) for b in range(a + 1, 8) if int(np.abs(CORNERS[a] - CORNERS[b]).sum()) == 1)
# a point that is turned inside is this share of its neighbours' spread below zero
TURNED_SHARE = 1.0e-3


def surface_nets(values: Floats) -> tuple[Floats, Indices]:
    """Returns the surface on which well-composed values, (x, y, z), are zero.

    No value at the border of the grid may be negative, so that the surface is closed.

    Returns:
        Vertices in units of the grid, (n, 3), and quads that face from negative to positive values, (q, 4).
    """
    is_in = values < 0.0
    number, cell = _crossed_cells(is_in)
    vertices = _crossing_means(values, cell)
    quads: list[npt.NDArray[np.int64]] = []
    for axis in range(3):
        before = np.moveaxis(is_in, axis, 0)
        crosses = np.moveaxis(before[:-1] != before[1:], 0, axis)
        edge = np.argwhere(crosses)
        second, third = (axis + 1) % 3, (axis + 2) % 3
        around = []
        # counter-clockwise as seen from the end of the axis
        for back_second, back_third in ((1, 1), (0, 1), (0, 0), (1, 0)):
            of_cell = edge.copy()
            of_cell[:, second] -= back_second
            of_cell[:, third] -= back_third
            around.append(number[tuple(of_cell.T)])
        quad = np.stack(around, axis=1)
        faces_back = ~is_in[tuple(edge.T)]
        quad[faces_back] = quad[faces_back][:, ::-1]
        quads.append(quad)
    return vertices, np.concatenate(quads).astype(np.int32)


def _crossed_cells(is_in: Bools) -> tuple[Counts, Counts]:
    """Returns the number of the vertex of each cell, −1 for none, (x, y, z), and the cells with a vertex, (n, 3)."""
    shape = tuple(count - 1 for count in is_in.shape)
    inside = np.zeros(shape, np.int8)
    for offset in CORNERS:
        inside += _shifted(is_in, offset, shape)
    cell = np.argwhere((inside > 0) & (inside < 8))
    number = np.full(shape, -1, np.int64)
    number[tuple(cell.T)] = np.arange(len(cell), dtype=np.int64)
    return number, cell


def _shifted(values: np.ndarray, offset: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return values[tuple(slice(int(o), int(o) + n) for o, n in zip(offset, shape, strict=True))]


def _crossing_means(values: Floats, cell: Counts) -> Floats:
    """Returns the mean of the crossings of the edges of cells, (n, 3)."""
    corner = np.stack([values[tuple((cell + offset).T)] for offset in CORNERS], axis=1)
    total, count = np.zeros((len(cell), 3)), np.zeros(len(cell))
    for a, b in EDGES:
        crosses = np.flatnonzero((corner[:, a] < 0.0) != (corner[:, b] < 0.0))
        one, other = corner[crosses, a], corner[crosses, b]
        share = (one / (one - other))[:, None]
        total[crosses] += CORNERS[a] + share * (CORNERS[b] - CORNERS[a])
        count[crosses] += 1.0
    return np.asarray(cell + total / count[:, None], np.float64)


def make_well_composed(values: Floats) -> None:
    """Makes values, (x, y, z), negative at points where the surface would touch itself, in place."""
    depth = TURNED_SHARE * float(np.abs(values).max(initial=0.0))
    while True:
        turned = _points_in_the_way(values)
        if not len(turned):
            return
        values.ravel()[turned] = -depth


def _points_in_the_way(values: Floats) -> Counts:
    """Returns flat indices of outside points at which insides meet on a diagonal alone."""
    is_in, found = values < 0.0, []
    flat = np.arange(values.size, dtype=np.int64).reshape(values.shape)
    for axis in range(3):
        offsets = [o for o in CORNERS if o[axis] == 0]  # (0, 0), (0, 1), (1, 0), (1, 1) in the other two
        shape = tuple(n - (a != axis) for a, n in enumerate(values.shape))
        a, b, c, d = (_shifted(is_in, o, shape) for o in offsets)
        is_crossed = (a == d) & (b == c) & (a != b)
        found += _least_outside(values, flat, offsets, is_crossed)
    shape = tuple(n - 1 for n in values.shape)
    inside = [_shifted(is_in, offset, shape) for offset in CORNERS]
    count = np.sum(inside, axis=0, dtype=np.int8)
    for first in range(4):
        a, b = inside[first], inside[7 - first]
        is_crossed = ((count == 2) & a & b) | ((count == 6) & ~a & ~b)
        found += _least_outside(values, flat, list(CORNERS), is_crossed)
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


def _least_outside(values: Floats, flat: Counts, offsets: list[np.ndarray], is_crossed: Bools) -> list[Counts]:
    """Returns the outside corner with the least value of every crossed square or cube."""
    place = np.argwhere(is_crossed)
    if not len(place):
        return []
    index = np.stack([flat[tuple((place + offset).T)] for offset in offsets], axis=1)
    value = values.ravel()[index]
    value[value < 0.0] = np.inf
    return [index[np.arange(len(index), dtype=np.int64), np.argmin(value, axis=1)]]
