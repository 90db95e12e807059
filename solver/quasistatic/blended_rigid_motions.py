# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a solve begins after fixed nodes have moved: at a blend of the rigid motions of groups of them.

Fixed nodes that edges join, such as those on one bone, are a group. Its motion R_c x + t_c is fitted to its nodes, and

    x ← Σ_c w_c (R_c x + t_c) + d

with weights w_c that are harmonic over the rest shape, 1 in group c and 0 in all others, and d, harmonic as well, what
is left of the motion of groups that are not rigid. So flesh near a bone turns with it. Fixed nodes that jump alone
invert the tets next to them. A linear prediction by the tangent stretches what turns, and where a body is slack, as
muscles are, it overshoots: their next equilibrium took twice as many iterations from there. Own derivation, after
linear blend skinning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..linalg.harmonic_extension import HarmonicExtension, make_harmonic_extension
from ..mechanics.model import Model
from ..mesh.geometry.connected_components import connected_components, mesh_components
from ..mesh.local_tet_numbering import TET_EDGES
from ..mesh.rigid_alignment import align_rigidly
from ..runtime.arrays import Bools, Floats, Indices
from ..runtime.frozen_memo import derived_from
from .fixed_nodes import FixedNodes

MIN_FIXED_MOTION = 1.0e-12  # of the size of the mesh: what round-off alone moves fixed nodes by
MIN_MOTION_LEFT = (
    1.0e-6  # of the size of the mesh, of fixed nodes beside the motion of their group, from which d counts
)
MAX_GROUPS = 48  # of a piece: more are no bones, and count as one
LINEAR_TOLERANCE = 1.0e-3  # of the weights and of d


@dataclass(frozen=True, eq=False)
class _FixedGroups:
    """Groups of fixed nodes.

    Attributes:
        group: Number of each fixed node's group, counted in its piece, (k,).
        piece: Number of each node's piece of the mesh, (n,).
        weights: w of each node for the groups of its piece, of sum 1, (n, g); 0 in pieces without any.
        extension: Extends values of fixed nodes to the others; None where all nodes are fixed.
    """

    group: Indices
    piece: Indices
    weights: Floats
    extension: HarmonicExtension | None


def blend_rigid_motions(model: Model, x: Floats, fixed: FixedNodes) -> Floats:
    """Returns nodes at x [m], (n, 3), moved along with the fixed ones, which are where they are fixed."""
    size, moved = float(np.ptp(model.X, axis=0).max()), x.copy()
    motion = np.abs(fixed.positions - x[fixed.nodes]).max(axis=1, initial=0.0)
    if motion.max(initial=0.0) > MIN_FIXED_MOTION * size:
        groups = derived_from(
            model.pattern, "fixed_groups", lambda: _fixed_groups(model, fixed.nodes), values=(fixed.nodes,)
        )
        moved = _blend(groups, x, fixed)
        left = np.zeros_like(x)
        left[fixed.nodes] = fixed.positions - moved[fixed.nodes]
        if groups.extension is not None and np.abs(left).max() > MIN_MOTION_LEFT * size:
            groups.extension.extend(left)
            moved += left
    moved[fixed.nodes] = fixed.positions
    return moved


def _blend(groups: _FixedGroups, x: Floats, fixed: FixedNodes) -> Floats:
    """Returns Σ w_c (R_c x + t_c) of all nodes [m], (n, 3); of pieces without groups x itself."""
    moved, piece_of_fixed = x.copy(), groups.piece[fixed.nodes]
    for piece in np.unique(piece_of_fixed):
        own, nodes = piece_of_fixed == piece, np.flatnonzero(groups.piece == piece)
        here = x[nodes]
        for group in np.unique(groups.group[own]):
            which = own & (groups.group == group)
            there = align_rigidly(here, x[fixed.nodes[which]], fixed.positions[which])
            moved[nodes] += groups.weights[nodes, group, None] * (there - here)
    return moved


def _fixed_groups(model: Model, fixed: Indices) -> _FixedGroups:
    piece = mesh_components(model.tets, model.node_count)
    is_fixed = np.zeros(model.node_count, bool)
    is_fixed[fixed] = True
    group = _number_groups(model.tets, piece, is_fixed)
    has_fixed = np.zeros(int(piece.max(initial=0)) + 1, bool)
    has_fixed[piece[fixed]] = True
    extension = make_harmonic_extension(model.X, model.tets, ~is_fixed & has_fixed[piece], LINEAR_TOLERANCE)
    weights = _harmonic_weights(group, is_fixed, extension)
    return _FixedGroups(group[fixed], piece, weights, extension)


def _number_groups(tets: Indices, piece: Indices, is_fixed: Bools) -> Indices:
    """Returns the number of each fixed node's group in its piece, −1 of other nodes, (n,)."""
    edges = tets[:, np.array(TET_EDGES, np.int64)].reshape(-1, 2)
    edges = edges[is_fixed[edges].all(axis=1)]
    component = connected_components(edges[:, 0], edges[:, 1], len(is_fixed))
    nodes = np.flatnonzero(is_fixed)
    _, first, number = np.unique(component[nodes], return_index=True, return_inverse=True)
    piece_of_group = piece[nodes[first]]
    order = np.argsort(piece_of_group, kind="stable")
    begin = np.searchsorted(piece_of_group[order], piece_of_group[order], side="left")
    in_piece = np.empty(len(order), np.int32)
    in_piece[order] = np.arange(len(order), dtype=np.int64) - begin
    counts = np.bincount(piece_of_group, minlength=int(piece.max(initial=0)) + 1)
    group = np.full(len(is_fixed), -1, np.int32)
    group[nodes] = np.where(counts[piece[nodes]] <= MAX_GROUPS, in_piece[number], 0)
    return group


def _harmonic_weights(group: Indices, is_fixed: Bools, extension: HarmonicExtension | None) -> Floats:
    count = int(group.max(initial=-1)) + 1
    weights = np.zeros((len(group), count))
    weights[is_fixed, group[is_fixed]] = 1.0
    for first in range(0, count, 3):  # three at a time, as the extension takes them
        values = np.zeros((len(group), 3))
        some = weights[:, first : first + 3]
        values[:, : some.shape[1]] = some
        if extension is not None:
            extension.extend(values)
        weights[:, first : first + 3] = values[:, : some.shape[1]]
    sums = weights.sum(axis=1, keepdims=True)  # 1 but for the tolerance, which a body that walks off must not feel
    return np.divide(weights, sums, out=weights, where=sums > 0.0)
