# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths along fibres from both ends of a muscle, and the share of tendon that follows from tendon lengths.

With the unit direction f of ∇t, the length L along a fibre from where t = 0 solves the transport equation

    f · ∇L = 1,   L = 0 where t = 0.

From each node a fibre is followed down through one tet to its opposite face, at y = Σ w x_j, so that

    L = Σ w L_j + f · (x − y),

which is exact where L is linear. At a surface that a fibre would leave, w < 0 counts as 0. In the order of t, the
matrix of these equations is nearly triangular.

Source: Yezzi and Prince 2003, for tissues between two surfaces, on grids; the scheme on tets is of own derivation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ....linalg.mesh_laplacian import shape_gradients
from ....mesh.tet_averages import TetSamples
from ....runtime.arrays import Bools, Floats, Indices, floats
from ....runtime.errors import SolveFailed
from .muscle_region import MuscleRegion

OTHERS = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]], dtype=np.int64)  # the corners of a tet beside each
TINY = np.finfo(float).tiny
LEAST_LEADING_WEIGHT = 0.01  # of a node at the foot of a descent; one that leaves a circle by less is nearly singular


@dataclass(frozen=True, eq=False)
class FibreLengths:
    """Lengths along the fibres through the nodes of a muscle.

    Attributes:
        from_origin, from_insertion: [m], (n,).
    """

    from_origin: Floats
    from_insertion: Floats


def fibre_lengths(region: MuscleRegion, t: Floats) -> FibreLengths:
    """Returns the lengths along the gradient lines of the harmonic coordinate t at the nodes, (n,).

    Raises:
        SolveFailed: The equations are singular, as with flat tets.
    """
    return FibreLengths(
        _lengths_down(region, t, region.is_origin, region.end_depths[0]),
        _lengths_down(region, 1.0 - t, region.is_insertion, region.end_depths[1]),
    )


def tendon_shares(
    lengths: FibreLengths, tets: Indices, at_origin: float, at_insertion: float, samples: TetSamples | None = None
) -> Floats:
    """Returns the share of each tet that lies within tendon lengths [m] from the ends of its fibres, (k,).

    Args:
        lengths: Along the fibres at the nodes.
        tets: (k, 4).
        at_origin, at_insertion: The tendon lengths; 0: none.
        samples: Of the same tets: where a surface cuts one, its part inside counts; None: all tets count whole.
    """
    share = np.zeros(len(tets))
    cut = np.flatnonzero(~samples.is_whole) if samples is not None else np.zeros(0, np.int64)
    is_tendon = np.zeros((len(cut), 0 if samples is None else len(samples.barycentric)), np.bool_)
    for values, level in ((lengths.from_origin, at_origin), (lengths.from_insertion, at_insertion)):
        if level > 0.0:
            share += fractions_below(values[tets], level)
            if samples is not None:
                is_tendon |= np.einsum("qa,ka->kq", samples.barycentric, values[tets[cut]]) < level
    if samples is not None and len(cut):
        share[cut] = samples.average(is_tendon.astype(np.float64), cut)
    return np.minimum(share, 1.0)


def fractions_below(values: Floats, level: float) -> Floats:
    """Returns the part of each tet's volume in which a linear function is below a level, (k,).

    Where one corner is below, that part is a tet; where three are, all but a tet; where two are, three tets.

    Args:
        values: Of the function at the corners, (k, 4).
        level: The level.
    """
    v = np.sort(values, axis=1)
    below = (v < level).sum(axis=1)
    out = np.where(below == 4, 1.0, 0.0)
    one, two, three = below == 1, below == 2, below == 3
    out[one] = np.prod([_cut(v[one], 0, j, level) for j in (1, 2, 3)], axis=0, dtype=np.float64)
    out[three] = 1.0 - np.prod([1.0 - _cut(v[three], j, 3, level) for j in (0, 1, 2)], axis=0, dtype=np.float64)
    a02, a03, a12, a13 = (_cut(v[two], i, j, level) for i in (0, 1) for j in (2, 3))
    out[two] = a12 * a13 + a02 * a03 * (1.0 - a13) + a02 * (1.0 - a12) * a13
    return out


def _cut(v: Floats, i: int, j: int, level: float) -> Floats:
    """Returns how far from corner i to corner j the level is met, of v_i < level ≤ v_j, (k,)."""
    return (level - v[:, i]) / (v[:, j] - v[:, i])


class _Descents(NamedTuple):
    """Where fibres lead down from nodes: r equations L = Σ w L_j + rise.

    Attributes:
        node: Whose equation it is, (r,).
        other: The corners of the opposite face, (r, 3).
        weights: w, (r, 3).
        rise: f · (x − y) [m], (r,).
    """

    node: Indices
    other: Indices
    weights: Floats
    rise: Floats


def _lengths_down(region: MuscleRegion, t: Floats, is_end: Bools, depths: Floats) -> Floats:
    """Returns L at the nodes [m], (n,): at an end, which has the least t, the depths there, (n,), or zero."""
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu

    count = len(t)
    steepest = _steepest_descents(region, t, is_end)
    leads_down = _are_led_to(is_end, steepest)
    steepest = _Descents(*(each[leads_down[steepest.node]] for each in steepest))
    around = _means_of_neighbours(region, ~leads_down)
    order = np.argsort(t, kind="stable")
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count, dtype=np.int64)
    diagonal = np.arange(count, dtype=np.int64)
    rows = np.concatenate([diagonal, *(rank[np.repeat(part.node, 3)] for part in (steepest, around))])
    columns = np.concatenate([diagonal, *(rank[part.other.ravel()] for part in (steepest, around))])
    values = np.concatenate([np.ones(count), *(-part.weights.ravel() for part in (steepest, around))])
    rise = np.where(is_end, depths, 0.0) if len(depths) else np.zeros(count)
    rise[steepest.node] = steepest.rise
    matrix = csc_matrix((values, (rows, columns)), shape=(count, count))
    try:
        return floats(splu(matrix, permc_spec="NATURAL", diag_pivot_thresh=0.0).solve(rise[order])[rank])
    except RuntimeError as singular:
        raise SolveFailed("fibres-unconverged", name=region.name) from singular


def _steepest_descents(region: MuscleRegion, t: Floats, is_end: Bools) -> _Descents:
    """Returns the equation of each node but those of the end by the tet into which the fibre leads furthest inside."""
    tets, x = region.tets, region.nodes
    g = shape_gradients(x, tets)[0]
    gradient = np.einsum("kai,ka->ki", g, t[tets])
    f = gradient / np.maximum(np.linalg.norm(gradient, axis=1), TINY)[:, None]
    # of the barycentric coordinates of the three others, corner by corner, per metre down the fibre
    rates = -np.einsum("kai,ki->ka", g, f)[:, OTHERS].reshape(-1, 3)
    node, other = tets.ravel(), tets[:, OTHERS].reshape(-1, 3)
    w = np.maximum(rates, 0.0)
    w /= np.maximum(w.sum(axis=1, keepdims=True), TINY)
    rise = np.einsum("ci,ci->c", np.repeat(f, 4, axis=0), x[node] - np.einsum("cj,cji->ci", w, x[other]))
    inside = rates.min(axis=1) / np.maximum(np.abs(rates).sum(axis=1), TINY)
    candidates = np.flatnonzero((rise > 0.0) & w.any(axis=1) & ~is_end[node])
    ordered = candidates[np.lexsort((-inside[candidates], node[candidates]))]
    best = ordered[np.unique(node[ordered], return_index=True)[1]]
    return _Descents(node[best], other[best], w[best], rise[best])


def _are_led_to(is_end: Bools, descents: _Descents) -> Bools:
    """Returns the nodes of an end and those whose descents, one after the other, lead to one, (n,).

    The others have no tet below them, or descend in circles: their equations would be singular.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order

    source, ends, counts = len(is_end), np.flatnonzero(is_end), descents.weights >= LEAST_LEADING_WEIGHT
    below, above = descents.other[counts], np.repeat(descents.node, 3)[counts.ravel()]
    starts, goals = np.concatenate([below, np.full(len(ends), source, np.int64)]), np.concatenate([above, ends])
    graph = csr_matrix((np.ones(len(starts), np.int8), (starts, goals)), shape=(source + 1, source + 1))
    is_led = np.zeros(source + 1, bool)
    is_led[breadth_first_order(graph, source, return_predecessors=False)] = True
    return is_led[:-1]


def _means_of_neighbours(region: MuscleRegion, is_lost: Bools) -> _Descents:
    """Returns equations of nodes from which no descent leads to the end: obtuse tets break the maximum principle.

    Each is spread over all corners at a node, whose weights sum to one.
    """
    node, other = region.tets.ravel(), region.tets[:, OTHERS].reshape(-1, 3)
    around = np.flatnonzero(is_lost[node])
    corners = np.bincount(node[around], minlength=len(is_lost))[node[around]]
    weights = np.repeat(1.0 / (3.0 * corners)[:, None], 3, axis=1)
    return _Descents(node[around], other[around], weights, np.zeros(len(around)))
