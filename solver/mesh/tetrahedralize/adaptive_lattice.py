# SPDX-License-Identifier: GPL-3.0-or-later
"""Red refinement of single tets of the body-centred lattice: all are as those of the lattice, smaller by powers of two.

A tet becomes eight along the shortest of the three diagonals in its middle, and these are tets of the lattice with half
the cells. Refinement is not graded: neighbours may differ by any number of levels. Where they do, nodes of the smaller
ones are T-junctions.

Points are known by one number, which is linear in their place: the middle of two points has the mean of their numbers.

Source: S07, section 6.2.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats
from ..local_tet_numbering import EDGE_ENDS, EDGE_STARTS, FACES_OPPOSITE_NODES
from ..red_refinement import CHILD_NODES
from ..t_junctions import TJunctions
from ..tet_levels import Keys
from .bcc_lattice import Lattice, lattice_tets

# `CHILD_NODES` cut between the middles of the edges 0–2 and 1–3: where these are the long ones, along the shortest
# diagonal, and the children have their long edges there, too
LONG_EDGES_APART = (0, 2, 1, 3)
FACES = np.array(FACES_OPPOSITE_NODES, np.int64)


@dataclass(frozen=True)
class PointNumbering:
    """The points of a lattice and of what it is refined to `levels` times, as numbers.

    Attributes:
        lattice: With the largest cells.
        levels: How often a tet may be refined.
    """

    lattice: Lattice
    levels: int

    @property
    def counts(self) -> tuple[int, int, int]:
        """Places along x, y and z, half a cell of the finest lattice apart."""
        x, y, z = (2 * count * 2**self.levels + 1 for count in self.lattice.cell_counts)
        return x, y, z

    def coarse_tets(self) -> Keys:
        """Returns the tets of the lattice that is not refined, long edges at 0–2 and 1–3, (m, 4)."""
        lattice = self.lattice
        tets = lattice_tets(lattice, np.ones(lattice.point_count, np.bool_))
        places = lattice.coordinates().astype(np.int64) * 2**self.levels
        return np.ravel_multi_index(tuple(places.T), self.counts)[tets[:, LONG_EDGES_APART]]

    def positions(self, points: Keys) -> Floats:
        """Returns where points are [m], (…, 3)."""
        places = np.stack(np.unravel_index(points, self.counts), axis=-1)
        return self.lattice.origin + (0.5 * self.lattice.cell / 2**self.levels) * places

    def size(self, level: int) -> float:
        """Returns the long edge of the tets of a level [m]."""
        return self.lattice.cell / 2**level


def refine(tets: Keys) -> Keys:
    """Returns the eight children of each tet one after the other, (8 m, 4), long edges at 0–2 and 1–3."""
    middles = (tets[:, EDGE_STARTS] + tets[:, EDGE_ENDS]) // 2
    return np.concatenate([tets, middles], axis=1)[:, CHILD_NODES].reshape(-1, 4)


def find_t_junctions(levels: list[Keys], points: Keys) -> tuple[Keys, Keys]:
    """Returns the points at T-junctions, (b,), and the two each is in the middle of, (b, 2), which may be some, too.

    They are where edges and faces of tets are halved by others, and the halves again.

    Args:
        levels: The tets of each level, the largest first, (m, 4) each.
        points: All points that refinement made, rising, also those of tets that were left out, (p,).
    """
    edges, faces = np.zeros((0, 2), np.int64), np.zeros((0, 3), np.int64)
    found, ends = [np.zeros(0, np.int64)], [np.zeros((0, 2), np.int64)]
    for tets in levels[:-1]:
        own = np.stack([tets[:, EDGE_STARTS], tets[:, EDGE_ENDS]], axis=2).reshape(-1, 2)
        edges = _distinct(np.concatenate([edges, own]))
        faces = _distinct(np.concatenate([faces, tets[:, FACES].reshape(-1, 3)]))
        middle = edges.sum(axis=1) // 2
        is_halved = _is_among(middle, points)
        edges, middle = edges[is_halved], middle[is_halved]
        found.append(middle)
        ends.append(edges)
        halves = np.stack([edges[:, 0], middle, middle, edges[:, 1]], axis=1).reshape(-1, 2)
        corners, middles = faces, (faces + np.roll(faces, -1, axis=1)) // 2
        is_cut = _is_among(middles, points).all(axis=1)
        (a, b, c), (ab, bc, ca) = corners[is_cut].T, middles[is_cut].T
        edges = np.concatenate([halves, *(np.stack(pair, axis=1) for pair in ((ab, bc), (bc, ca), (ca, ab)))])
        quarters = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        faces = np.concatenate([np.stack(quarter, axis=1) for quarter in quarters])
    return np.concatenate(found), np.concatenate(ends)


def multiply_out(points: Keys, ends: Keys, used: Keys, levels: int) -> TJunctions:
    """Returns the weights by which T-junctions among used points, rising, (n,), hang on points that are none.

    Args:
        points, ends: What `find_t_junctions` returns, (b,) and (b, 2).
        used: Points that are nodes, whose places here are their numbers.
        levels: How long chains are at most.
    """
    from scipy.sparse import csr_matrix

    known = np.unique(np.concatenate([used, points, ends.ravel()]))
    place, end = np.searchsorted(known, points), np.searchsorted(known, ends)
    is_free = np.ones(len(known), np.bool_)
    is_free[place] = False
    free = np.flatnonzero(is_free)
    row, column = np.concatenate([free, np.repeat(place, 2)]), np.concatenate([free, end.ravel()])
    weight = np.concatenate([np.ones(len(free)), np.full(2 * len(place), 0.5, np.float64)])
    chain = csr_matrix((weight, (row, column)), shape=(len(known), len(known)))
    for _ in range(max(levels - 1, 0).bit_length()):  # a square doubles the length
        chain = chain @ chain
    node = np.flatnonzero(~is_free[np.searchsorted(known, used)])
    rows = chain[np.searchsorted(known, used[node])].tocsr()
    rows.sort_indices()
    parents = np.searchsorted(used, known[rows.indices])
    return TJunctions(node.astype(np.int32), rows.indptr.astype(np.int32), parents.astype(np.int32), rows.data)


def _is_among(keys: Keys, known: Keys) -> npt.NDArray[np.bool_]:
    """Returns which keys are among known ones, which rise."""
    if not len(known):
        return np.zeros(keys.shape, np.bool_)
    return known[np.minimum(np.searchsorted(known, keys), len(known) - 1)] == keys


def _distinct(rows: Keys) -> Keys:
    """Returns distinct rows, (k, n), the numbers in each rising."""
    rows = np.sort(rows, axis=1)
    rows = rows[np.lexsort(rows.T[::-1])]
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return rows[is_first]
