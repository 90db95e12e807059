# SPDX-License-Identifier: GPL-3.0-or-later
"""The body-centred cubic lattice: cubic cells of side a, their corners and their middles.

Its tets join the middles of two neighbouring cells with two neighbouring corners of the face between them: 12 tets
per cell. Each has two long edges of length a that do not touch, and four short ones of length a √3/2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices


@dataclass(frozen=True)
class Lattice:
    """A block of cells. Points are numbered corners first, then middles, z fastest.

    Attributes:
        cell_counts: Cells along x, y and z.
        origin: The corner with the least coordinates [m], (3,).
        cell: Side a of a cell [m].
    """

    cell_counts: tuple[int, int, int]
    origin: Floats
    cell: float

    @property
    def corner_counts(self) -> tuple[int, int, int]:
        """Corners along x, y and z."""
        x, y, z = self.cell_counts
        return x + 1, y + 1, z + 1

    @property
    def corner_count(self) -> int:
        """Number of points that are corners of cells."""
        return math.prod(self.corner_counts)

    @property
    def point_count(self) -> int:
        """Number of points: corners and middles."""
        return self.corner_count + math.prod(self.cell_counts)

    def coordinates(self) -> Indices:
        """Returns all points in half cells from the origin: even for corners, odd for middles, (n, 3)."""
        corners = np.indices(self.corner_counts, dtype=np.int32).reshape(3, -1)
        middles = np.indices(self.cell_counts, dtype=np.int32).reshape(3, -1)
        return np.ascontiguousarray(np.concatenate([2 * corners, 2 * middles + 1], axis=1).T)

    def positions(self, coordinates: npt.NDArray) -> Floats:
        """Returns the positions of points given in half cells [m], (n, 3)."""
        return self.origin + 0.5 * self.cell * coordinates


def lattice_around(lower: Floats, upper: Floats, cell: float, multiple: int = 1) -> Lattice:
    """Returns the lattice whose middle is that of a box and that reaches a cell or more beyond it on each side.

    Args:
        lower, upper: The box [m], (3,).
        cell: Side a of a cell [m].
        multiple: The numbers of cells are multiples of this.
    """
    counts = [max(int(np.ceil(length / cell - 1e-9)), 1) + 2 for length in upper - lower]
    counts = [-(-count // multiple) * multiple for count in counts]
    origin = (lower + upper) / 2 - 0.5 * cell * np.array(counts)
    return Lattice((counts[0], counts[1], counts[2]), origin, cell)


def lattice_tets(lattice: Lattice, wanted: Bools, is_cell: Bools | None = None) -> Indices:
    """Returns the tets that have a wanted point: nodes 0, 1 are middles, 2, 3 corners, positively oriented, (m, 4).

    Args:
        lattice: The lattice.
        wanted: Which points, (n,).
        is_cell: Which cells there are, (x, y, z); None: all.
    """
    found = []
    for axis, _, (below, above, first, second) in tet_families(lattice):
        keep = wanted[below] | wanted[above] | wanted[first] | wanted[second]
        if is_cell is not None:
            is_below, is_above = _pairs(is_cell, axis)
            keep &= is_below & is_above
        found.append(np.stack([below[keep], above[keep], first[keep], second[keep]], axis=1))
    return np.concatenate(found)


def tet_families(lattice: Lattice) -> Iterator[tuple[int, int, tuple[Indices, Indices, Indices, Indices]]]:
    """Yields the twelve families of tets: axis, i, and the points of one tet on the upper side of each cell.

    The points are two middles and the corners i and i + 1 of the face between them, arrays of (x, y, z) cells with
    one cell less along the axis.
    """
    corners = np.arange(lattice.corner_count, dtype=np.int32).reshape(lattice.corner_counts)
    middles = np.arange(lattice.corner_count, lattice.point_count, dtype=np.int32).reshape(lattice.cell_counts)
    for axis in range(3):
        below, above = _pairs(middles, axis)
        ring = _face_corners(corners, axis)
        for i in range(4):
            yield axis, i, (below, above, ring[i], ring[(i + 1) % 4])


def _pairs(cells: npt.NDArray, axis: int) -> tuple[npt.NDArray, npt.NDArray]:
    """Returns what belongs to the cells below and above each face between two cells."""
    last = cells.shape[axis]
    return np.take(cells, range(last - 1), axis), np.take(cells, range(1, last), axis)


def _face_corners(corners: Indices, axis: int) -> list[Indices]:
    """Returns the four corners of each face between two cells, counterclockwise seen from above."""
    inner = np.take(corners, range(1, corners.shape[axis] - 1), axis)
    u, v = (axis + 1) % 3, (axis + 2) % 3
    return [
        np.take(np.take(inner, range(du, inner.shape[u] - 1 + du), u), range(dv, inner.shape[v] - 1 + dv), v)
        for du, dv in ((0, 0), (1, 0), (1, 1), (0, 1))
    ]
