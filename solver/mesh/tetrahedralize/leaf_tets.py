# SPDX-License-Identifier: GPL-3.0-or-later
"""The tets that an adaptive body has at a moment, out of all that it can have, and what is bound to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, floats, indices
from ..embedding import Binding
from ..local_tet_numbering import EDGE_ENDS, EDGE_STARTS
from ..t_junctions import TJunctions
from ..tet_levels import Keys, TetLevels
from ..tet_mesh import FilledTets
from .adaptive_lattice import find_t_junctions, multiply_out
from .tet_components import number_by_component

POINTS_AT_A_TIME = 65_536  # of a binding, each with a matrix of four by four weights


@dataclass(frozen=True, eq=False)
class LeafTets:
    """The m tets and n nodes that a body has at a moment.

    Attributes:
        filling: Nodes [m], tets, filled shares and T-junctions.
        cell: Which of the tets of all levels each is, (m,).
        points: The number of the point that each node is, (n,).
    """

    filling: FilledTets
    cell: npt.NDArray[np.int64]
    points: Keys

    def number_of_cells(self, cell_count: int) -> npt.NDArray[np.int64]:
        """Returns the number here of each of the tets of all levels, −1 for those that are not here, (c,)."""
        number = np.full(cell_count, -1, np.int64)
        number[self.cell] = np.arange(len(self.cell), dtype=np.int64)
        return number


def leaf_tets(levels: TetLevels, is_split: Bools) -> LeafTets:
    """Returns the tets of a body in the order of their places, as are their nodes, if these are split, (c,)."""
    cell = np.flatnonzero(levels.is_leaf(is_split))
    cell = cell[np.argsort(levels.corners[cell].sum(axis=1), kind="stable")]
    corners = levels.corners[cell]
    points = np.unique(corners)
    tets = indices(np.searchsorted(points, corners), -1, 4)
    junctions = _t_junctions(levels, is_split, points)
    filling = number_by_component(FilledTets(floats(levels.positions(points)), tets, levels.fill[cell], junctions))
    ordered = np.empty_like(points)
    ordered[filling.tets] = corners  # components come one after the other
    return LeafTets(filling, cell, ordered)


def _t_junctions(levels: TetLevels, is_split: Bools, used: Keys) -> TJunctions:
    """Returns the T-junctions among points that are nodes, rising, (n,)."""
    is_reached = levels.is_reached(is_split)
    cut = levels.corners[is_reached & is_split]
    middles = (cut[:, EDGE_STARTS] + cut[:, EDGE_ENDS]) // 2
    refined = np.unique(np.concatenate([cut, middles], axis=1))
    ranges = zip(levels.level_start[:-1], levels.level_start[1:], strict=True)
    leaves = [levels.corners[first:end][(is_reached & ~is_split)[first:end]] for first, end in ranges]
    return multiply_out(*find_t_junctions(leaves, refined), used, levels.level_count)


def binding_in_leaves(
    levels: TetLevels, binding: Binding, cell: npt.NDArray[np.int64], now: LeafTets, is_split: Bools
) -> Binding:
    """Returns points bound to leaves that are no smaller than the tets in which they are bound.

    Args:
        levels: All tets that the body can have.
        binding: Points in tets.
        cell: Which of the tets of all levels each of these tets is.
        now: The leaves.
        is_split: Which tets are split, so that these are the leaves, (c,).
    """
    own = cell[binding.tet]
    leaf = levels.leaf_above(is_split)[own]
    weights = binding.weights.copy()
    changed = np.flatnonzero(leaf != own)
    for start in range(0, len(changed), POINTS_AT_A_TIME):
        some = changed[start : start + POINTS_AT_A_TIME]
        weights[some] = np.einsum("kj,kji->ki", binding.weights[some], _corner_weights(levels, leaf[some], own[some]))
    return Binding(indices(now.number_of_cells(len(levels.parent))[leaf]), floats(weights, -1, 4))


def _corner_weights(levels: TetLevels, leaf: npt.NDArray[np.int64], cell: npt.NDArray[np.int64]) -> Floats:
    """Returns the weights in leaves of the corners of tets in these, (k, 4, 4): by corner of the tet, then the leaf."""
    return levels.weights_in(np.repeat(leaf, 4), levels.corners[cell].ravel()).reshape(-1, 4, 4)
