# SPDX-License-Identifier: GPL-3.0-or-later
"""Larger tets deep inside: an octree over the lattice's cells whose leaves are joined like body-centred cells.

Leaves have sides of 1, 2 or 4 cells (levels 0, 1, 2); leaves that touch, even at a corner, differ by one level at most.
Middles and corners of leaves are points of the fine lattice. Between two equal leaves there are the four tets of the
lattice, a tet being halved where the middle of its edge is a corner of smaller leaves. Between a leaf and four smaller
ones, both sides of each quarter of the face are joined to its two halves.

Source: Labelle and Shewchuk (2007), Isosurface Stuffing, section 3.1; the diagonals of quarters are chosen to run from
    the middle of the face to its corner.
"""

from __future__ import annotations

import itertools

import numpy as np

from ...runtime.arrays import Bools, Indices
from .bcc_lattice import Lattice, lattice_tets
from .morphology import erode, erode_by_faces

FACE_CORNERS = ((0, 0), (1, 0), (1, 1), (0, 1))
FACE_DIRECTIONS = ((0, -1), (1, 0), (0, 1), (-1, 0))


def leaf_levels(lattice: Lattice, is_inside: Bools, most: int) -> Indices:
    """Returns the level of the leaf in which each cell lies, (x, y, z) cells; cells per side are multiples of 2^most.

    No point of a tet at a larger leaf may be an end of a cut edge, or it might be warped. Such points are corners of
    the leaf's cells and middles of the cells around it: their neighbours in the lattice have to be inside.

    Args:
        lattice: The lattice.
        is_inside: Which points are inside, (n,).
        most: Greatest level, 0 to 2.
    """
    level = np.zeros(lattice.cell_counts, np.int32)
    corners = is_inside[: lattice.corner_count].reshape(lattice.corner_counts)
    middles = is_inside[lattice.corner_count :].reshape(lattice.cell_counts)
    deep = erode_by_faces(middles)
    x, y, z = lattice.cell_counts
    for dx, dy, dz in np.ndindex(2, 2, 2):
        deep &= corners[dx : dx + x, dy : dy + y, dz : dz + z]
    deep = erode(deep)
    for step in range(1, most + 1):
        if step > 1:
            # as wide as a leaf of the level below, so that the next smaller one lies around the larger ones
            deep = erode(level == step - 1, 2 ** (step - 1))
        whole = _blocks(deep, step).all(axis=(1, 3, 5))
        level[np.kron(whole, np.ones((2**step,) * 3, np.bool_)).astype(np.bool_)] = step
    return level


def graded_tets(lattice: Lattice, level: Indices, wanted: Bools) -> Indices:
    """Returns the tets of the leaves that have a wanted point, positively oriented, (m, 4).

    Tets between cells of level 0 have their long edges at 0–1 and 2–3; only such tets may be cut.
    """
    parts = [lattice_tets(lattice, wanted, level == 0)]
    for step in range(1, int(level.max(initial=0)) + 1):
        parts += _equal_leaves(lattice, level, step)
        parts += _unequal_leaves(lattice, level, step)
    return np.concatenate(parts)


def _equal_leaves(lattice: Lattice, level: Indices, step: int) -> list[Indices]:
    """Returns the tets between leaves of one level: 4 per face, or 2 instead of one at a halved edge."""
    size = 2**step  # of a leaf, in cells, and half of it in half cells
    leaf = np.pad(level[::size, ::size, ::size], 1, constant_values=step)
    parts = []
    for axis in range(3):
        along, u, v = np.roll(np.eye(3, dtype=np.int64), axis, axis=1)
        below = np.argwhere(leaf == step)
        below = below[(below > 0).all(axis=1) & (below < np.array(leaf.shape, np.int64) - 1).all(axis=1)]
        below = below[
            (leaf[tuple((below + along).T)] == step)
            & ((below + along) < np.array(leaf.shape, np.int64) - 1).all(axis=1)
        ]
        corner = 2 * size * (below - 1 + along)
        middle = corner + size * (u + v - along)
        for side, (du, dv) in enumerate(FACE_DIRECTIONS):
            outer = below + du * u + dv * v
            is_halved = (leaf[tuple(outer.T)] < step) | (leaf[tuple((outer + along).T)] < step)
            first = corner + 2 * size * (FACE_CORNERS[side][0] * u + FACE_CORNERS[side][1] * v)
            second = corner + 2 * size * (FACE_CORNERS[(side + 1) % 4][0] * u + FACE_CORNERS[(side + 1) % 4][1] * v)
            half = (first + second) // 2
            ends = [(~is_halved, first, second), (is_halved, first, half), (is_halved, half, second)]
            for chosen, a, b in ends:
                points = np.stack([middle, middle + 2 * size * along, a, b], axis=1)[chosen]
                parts.append(_point_numbers(lattice, points))
    return parts


def _unequal_leaves(lattice: Lattice, level: Indices, step: int) -> list[Indices]:
    """Returns the tets between leaves of one level and the four smaller leaves at a face."""
    size = 2**step
    leaf = np.pad(level[::size, ::size, ::size], 1, constant_values=step)
    parts = []
    for axis, sign in itertools.product(range(3), (-1, 1)):
        along, u, v = np.roll(np.eye(3, dtype=np.int64), axis, axis=1)
        large = np.argwhere(leaf == step)
        large = large[(large > 0).all(axis=1) & (large < np.array(leaf.shape, np.int64) - 1).all(axis=1)]
        large = large[leaf[tuple((large + sign * along).T)] < step]
        middle = 2 * size * (large - 1) + size
        face = middle + sign * size * along
        for du, dv in itertools.product((-1, 1), (-1, 1)):
            small = face + size // 2 * (sign * along + du * u + dv * v)
            corner = face + size * (du * u + dv * v)
            for edge in (face + size * du * u, face + size * dv * v):
                for apex in (middle, small):
                    points = np.stack([apex, face, edge, corner], axis=1)
                    sides = points[:, 1:] - points[:, :1]
                    flip = np.einsum("ij,ij->i", sides[:, 0], np.cross(sides[:, 1], sides[:, 2])) < 0
                    points[flip] = points[flip][:, [0, 1, 3, 2]]
                    parts.append(_point_numbers(lattice, points))
    return parts


def _point_numbers(lattice: Lattice, points: Indices) -> Indices:
    """Returns the numbers in the lattice of points in half cells, (m, 4, 3), as (m, 4)."""
    half = points // 2
    corner = np.ravel_multi_index(tuple(np.moveaxis(half, 2, 0)), lattice.corner_counts)
    is_middle = points[:, :, 0] % 2 == 1
    cell = np.where(is_middle[:, :, None], half, 0)
    middle = lattice.corner_count + np.ravel_multi_index(tuple(np.moveaxis(cell, 2, 0)), lattice.cell_counts)
    return np.where(is_middle, middle, corner).astype(np.int32)


def _blocks(cells: Bools, step: int) -> Bools:
    """Returns a view of cells by blocks of 2^step per side: (x, 2^step, y, 2^step, z, 2^step)."""
    size = 2**step
    x, y, z = (count // size for count in cells.shape)
    return cells.reshape(x, size, y, size, z, size)
