# SPDX-License-Identifier: GPL-3.0-or-later
"""Red refinement: every tet becomes eight by the middles of its edges, level by level, nested in each other.

The four children at the corners are like their parent; the middle that is left is cut along the same one of its three
diagonals everywhere, by the order of the corners. Carried on with Bey's order of the children's corners that gives no
more than three shapes per tet, however often it is done. Source: Bey 1995, Tetrahedral grid refinement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..runtime.arrays import Floats, Indices, floats, indices
from ..scene.formulation import CHILDREN_PER_TET
from .local_tet_numbering import TET_EDGES

# corners 0 … 3, then the middles of `TET_EDGES`
CHILD_NODES = np.array(
    [
        (0, 4, 5, 6), (4, 1, 7, 8), (5, 7, 2, 9), (6, 8, 9, 3),
        (4, 5, 6, 8), (4, 5, 7, 8), (5, 6, 8, 9), (5, 7, 8, 9),
    ],
    np.int64,
)  # fmt: skip
# which of them are inside out, where the parent is not
_IS_CHILD_INVERTED = np.array([False, False, False, False, False, True, False, True])


@dataclass(frozen=True, eq=False)
class RefinementLevels:
    """How the n nodes and m tets of a body came out of coarse ones; all numbers are the body's own.

    Attributes:
        coarse_tets: Nodes of the coarse tets, (M, 4). The children of each follow each other, m / M of them.
        parents: Of each node that is no coarse one, the two nodes that it lies between, on levels below its own,
            (n − n0, 2).
        starts: First node of every level, the coarse one first, and n, (levels + 2,).
    """

    coarse_tets: Indices
    parents: Indices
    starts: tuple[int, ...]

    @property
    def count(self) -> int:
        """How often the coarse tets were refined."""
        return len(self.starts) - 2

    @property
    def children_per_coarse_tet(self) -> int:
        """Number of children per coarse tet."""
        return CHILDREN_PER_TET**self.count


def red_refinement(coarse_tets: Indices, node_count: int, count: int) -> tuple[Indices, RefinementLevels]:
    """Returns the tets after `count` refinements, (8^count M, 4), and how they came about.

    Args:
        coarse_tets: Nodes of the coarse tets, (M, 4), positively oriented.
        node_count: Number of coarse nodes.
        count: How often.
    """
    tets = np.asarray(coarse_tets, np.int64).reshape(-1, 4)
    is_turned = np.zeros(len(tets), bool)
    parents, starts = [np.zeros((0, 2), np.int64)], [0, node_count]
    for _ in range(count):
        corners, middles = _edge_midpoints(tets, starts[-1])
        tets = np.concatenate([tets, middles], axis=1)[:, CHILD_NODES].reshape(-1, 4)
        is_turned = (is_turned[:, None] ^ _IS_CHILD_INVERTED).ravel()
        parents.append(corners)
        starts.append(starts[-1] + len(corners))
    tets = np.where(is_turned[:, None], tets[:, [0, 1, 3, 2]], tets)
    return indices(tets, -1, 4), RefinementLevels(
        indices(coarse_tets, -1, 4), indices(np.concatenate(parents), -1, 2), tuple(starts)
    )


def recover_levels(tets: Indices, count: int) -> RefinementLevels:
    """Returns how tets, (m, 4), came about that `red_refinement` made by `count` refinements.

    Raises:
        ValueError: They were not made so.
    """
    children = np.asarray(tets).reshape(-1, CHILDREN_PER_TET**count, 4)
    # corner k is where child k, its child k, … have it
    steps = (CHILDREN_PER_TET**count - 1) // (CHILDREN_PER_TET - 1)
    coarse = np.stack([children[:, corner * steps, corner] for corner in range(4)], axis=1)
    again, levels = red_refinement(coarse, int(coarse.max(initial=-1)) + 1, count)
    if not np.array_equal(again, tets):
        raise ValueError(f"these {len(tets)} tets were not refined {count} times")
    return levels


def interpolate_from_coarse(levels: RefinementLevels, coarse: Floats) -> Floats:
    """Returns what all nodes have, (n, k), where that is linear between the coarse ones, (n0, k)."""
    found = np.concatenate([coarse, np.empty((len(levels.parents), coarse.shape[1]))])
    first = levels.starts[1]
    for begin, end in zip(levels.starts[1:-1], levels.starts[2:], strict=True):
        found[begin:end] = found[levels.parents[begin - first : end - first]].mean(axis=1)
    return floats(found)


def _edge_midpoints(tets: npt.NDArray[np.int64], first: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns the edges in order, (e, 2), and the nodes in the middle of each tet's six, (m, 6), from `first` on."""
    ends = np.sort(tets[:, TET_EDGES], axis=2)
    keys, number = np.unique(ends[..., 0] * first + ends[..., 1], return_inverse=True)
    return np.stack(np.divmod(keys, max(first, 1)), axis=1), first + number.reshape(-1, 6)
