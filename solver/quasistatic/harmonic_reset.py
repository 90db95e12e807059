# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces whose start says nothing of their shape begin at a harmonic (Laplace) solve between what holds them instead.

Of nodes that are strewn at random every other tet is inside out, of a mirror image all. To undo such a tangle from
where it is keeps something of the disorder, and now and then a limb ends twisted by it. So the start is replaced,
unless `newton.solve` is told to keep it, and all such starts end alike: the free nodes of such a piece go where

    Σ 2 μ V |∇x|² + what the springs on it have

is least, for the held nodes where they are. That is convex, has one answer, and nothing of the start is in it; the rest
shape is only in its weights. Between held nodes the piece becomes a thread, and a free limb shrinks to its root; there
are inverted tets in both, but how a thread is turned fades evenly from its ends, from which tets then lead out.
"""

from __future__ import annotations

import numpy as np

from ..linalg import pcg
from ..linalg.block_system import BlockSystem, StoppingCriteria
from ..linalg.mesh_laplacian import scatter_to_blocks
from ..mechanics.model import Model
from ..mesh.geometry.connected_components import mesh_components
from ..runtime.arrays import Bools, Floats, Indices, floats
from .force_interfaces import CouplingForce
from .newton_iterate import NewtonIterate

MAX_INVERTED_SHARE = 1.0 / 3.0  # share of a piece's tets, inside out or flat, from which its start says nothing
FLAT_STRETCH = 1.0e-6  # stretch below which round-off decides what is inside out
CG_TOLERANCE = 1.0e-8  # of the linear solve: what it leaves is disorder again where a thread is thin
MAX_CG_ITERATIONS = 500
# second extent of a piece, in its first: nodes that are all in a line do not say how it is turned
MIN_EXTENT_RATIO = 1.0e-4


def harmonic_reset(search: NewtonIterate, x: Floats) -> Floats | None:
    """Returns where to begin instead of at x [m], (n, 3), or None where the start of every piece says something.

    A piece that nothing holds, or only in a line, keeps its start.

    Args:
        search: Has felt the forces at x under a law that tells flat tets.
        x: The start, held nodes where they are held [m], (n, 3).
    """
    model, is_free = search.model, search.is_free
    piece = mesh_components(model.tets, model.node_count)
    is_lost = _inverted_shares(model, piece, is_free, search.smallest()) > MAX_INVERTED_SHARE
    if not is_lost.any():
        return None
    x0, force, values = _fixed_centroids(piece, is_free, x), np.zeros_like(x), np.zeros((model.pattern.block_count, 9))
    for each in search.potentials.forces:
        if not isinstance(each, CouplingForce):
            each.add(x0, values, force)
    stiffness = values[model.pattern.diagonal][:, [0, 4, 8]].sum(axis=1)
    is_lost &= np.bincount(piece, stiffness + ~is_free) > 0.0
    moves = is_free & is_lost[piece]
    values += floats(_laplacian(model)[:, None] * np.eye(3).ravel())
    d = np.where(is_free[:, None], 0.0, x - x0)
    lattices = search.lattices
    found = pcg.solve(
        BlockSystem(model.pattern, values, force, moves),
        d,
        StoppingCriteria(CG_TOLERANCE, MAX_CG_ITERATIONS),
        preconditioner=lattices,
    )
    search.system_count, search.cg_iterations = search.system_count + 1, search.cg_iterations + found.iterations
    moves &= ~_is_collinear(piece, x0 + d, is_lost)[piece]
    return np.where(moves[:, None], x0 + d, x) if moves.any() else None


def _inverted_shares(model: Model, piece: Indices, is_free: Bools, smallest: Floats) -> Floats:
    """Returns the share of the tets of each piece, of those with a free node, that are inside out or flat."""
    loose = is_free[model.tets].any(axis=1)
    of_tet, count = piece[model.tets[:, 0]], int(piece.max()) + 1
    tangled = np.bincount(of_tet[loose & ~(smallest > FLAT_STRETCH)], minlength=count)
    return floats(tangled / np.maximum(np.bincount(of_tet[loose], minlength=count), 1))


def _fixed_centroids(piece: Indices, is_free: Bools, x: Floats) -> Floats:
    """Returns the mean position of the held nodes of each node's piece [m], (n, 3), or of all where none is held."""
    count = int(piece.max()) + 1
    fixed_counts = np.bincount(piece[~is_free], minlength=count)
    counts = ~is_free | (fixed_counts == 0)[piece]
    number = np.bincount(piece[counts], minlength=count)
    sums = [np.bincount(piece[counts], x[counts, i], minlength=count) for i in range(3)]
    return floats((np.stack(sums, axis=1) / number[:, None])[piece])


def _laplacian(model: Model) -> Floats:
    """Returns Σ 2 μ V g_a·g_b of the tets of every block [N/m], (b,), with the gradients g of their shape functions."""
    g = np.concatenate([-model.Dm_inverse.sum(axis=1, keepdims=True), model.Dm_inverse], axis=1)
    products = (2.0 * model.mu * model.volume)[:, None, None] * (g @ np.swapaxes(g, 1, 2))
    return scatter_to_blocks(floats(products), model.pattern, np.arange(model.tet_count, dtype=np.int64))


def _is_collinear(piece: Indices, x: Floats, which: Bools) -> Bools:
    """Returns which of some pieces, (p,), have all nodes in a line or a point."""
    is_thin = np.zeros_like(which)
    for number in np.flatnonzero(which):
        own = x[piece == number]
        extents = np.linalg.svd(own - own.mean(axis=0), compute_uv=False)
        is_thin[number] = not (len(extents) > 1 and extents[1] > MIN_EXTENT_RATIO * extents[0])
    return is_thin
