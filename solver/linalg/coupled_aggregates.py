# SPDX-License-Identifier: GPL-3.0-or-later
"""Block Jacobi with blocks of several nodes, across bodies, where these touch.

Contacts are stiff springs between nodes of two bodies. Block Jacobi takes each end of a spring as if the other were
held, so the motions in which both move together cost it many of its iterations. Exact solutions of single bodies do so
too, and so would multigrid body by body: three stacked blocks of 11,000 tets take 98 instead of 115 iterations, beside
the rigid motions of all. Nodes that touch are therefore gathered into aggregates of those that act most strongly on
each other, and the preconditioner solves each aggregate exactly.

Source: block Jacobi by aggregates is a Schwarz method without overlap (Smith, Bjørstad and Gropp 1996, Domain
Decomposition, chapter 1); strength of connections as in Vaněk, Mandel and Brezina (1996), Algebraic multigrid by
smoothed aggregation.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..runtime.arrays import Bools, Floats
from ..runtime.jit import kernel
from .coupled_islands import Int64s
from .pcg_row_passes import ACTIVE, FIRST_SUM, MODE_RESIDUALS, VECTOR_COUNT, R, Z

if TYPE_CHECKING:
    from .block_pattern import BlockPattern

# Three stacked blocks of jelly take 115 iterations without aggregates, 63 with 10 nodes to each, 59 with 20, and 37
# with all 680 nodes that touch in one; what an aggregate costs grows with the square of its nodes
MAX_AGGREGATE_NODES = 10
# Smaller islands are rigid bodies and crumbs, of whose motion the rigid modes leave little
MIN_ISLAND_NODES = 16
# Smaller systems stay in fast memory, where an iteration of block Jacobi takes as little time as the aggregates: three
# stacked blocks of jelly take 0.9 to 1.05 times as long with them at 3,000 and 6,600 nodes, and 0.6 times at 14,700
MIN_NODES = 10000


class AggregateArrays(NamedTuple):
    """Aggregates of nodes, a of them, with m nodes in all.

    Attributes:
        start: Where the nodes of each begin, (a + 1,).
        node: Their nodes, (m,).
        island: Island of each node, (m,).
        inverse_start: Where their inverses begin, (a + 1,).
        inverse: Of the rows and columns of an aggregate, row by row, one aggregate after the other.
        is_definite: Which aggregates have one, (a,); block Jacobi takes the nodes of others one by one.
        room: Work space for the rows of one, (3 MAX_AGGREGATE_NODES,).
    """

    start: Int64s
    node: Int64s
    island: Int64s
    inverse_start: Int64s
    inverse: Floats
    is_definite: Bools
    room: Floats


def coupled_aggregates(
    pattern: BlockPattern, values: Floats, is_free: Bools, factored_islands: Bools | None
) -> AggregateArrays:
    """Returns aggregates of the free nodes that blocks other than zero join to other islands; none of a small system.

    Args:
        pattern, values: The matrix, (b, 9).
        is_free: Which nodes are solved for, (n,).
        factored_islands: Islands that are preconditioned otherwise, (k,); None: there are none.
    """
    sizes = np.diff(pattern.island_start.astype(np.int64))
    takes_part = (sizes >= MIN_ISLAND_NODES) & (pattern.node_count >= MIN_NODES)
    if pattern.coupling is not None:
        takes_part &= pattern.coupling.is_coupled()
    if factored_islands is not None:
        takes_part &= ~factored_islands
    most = int(sizes[takes_part].sum())
    start, inverse_start = np.zeros((2, most + 1), np.int64)
    node = np.empty(most, np.int64)
    rows = (pattern.row_start, pattern.column, values)
    count = gather_aggregates(
        *rows, pattern.diagonal, pattern.island_of_row, takes_part, is_free, start, node, inverse_start
    )
    start, inverse_start, node = start[: count + 1], inverse_start[: count + 1], node[: start[count]]
    inverse, is_definite = np.empty(int(inverse_start[-1])), np.empty(count, bool)
    invert_aggregates(*rows, start, node, inverse_start, inverse, is_definite)
    island = pattern.island_of_row[node].astype(np.int64)
    room = np.empty(3 * MAX_AGGREGATE_NODES)
    return AggregateArrays(start, node, island, inverse_start, inverse, is_definite, room)


@kernel(allow_fma=True)
def gather_aggregates(
    row_start, column, values, diagonal, island_of_row, takes_part, is_free, start, node, inverse_start
):
    """Writes the aggregates, in the arrays of `AggregateArrays`; returns how many there are.

    Each begins with the first node that is left, and takes what is joined most strongly to one of its nodes until it
    is full: the largest ‖A_ij‖² / (‖A_ii‖ ‖A_jj‖) in the Frobenius norm.
    """
    is_left = np.zeros(len(is_free), np.bool_)
    for i in range(len(is_free)):
        own = island_of_row[i]
        if not is_free[i] or not takes_part[own]:
            continue
        for k in range(row_start[i], row_start[i + 1]):
            other = island_of_row[column[k]]
            if other != own and takes_part[other] and squared_norm(values[k]) > 0.0:
                is_left[i] = True
                break
    candidate, strength = np.empty(len(is_free), np.int64), np.zeros(len(is_free))
    aggregates, nodes = 0, 0
    for first in range(len(is_free)):
        if not is_left[first]:
            continue
        begin, candidates, newest = nodes, 0, first
        while True:
            is_left[newest] = False
            node[nodes] = newest
            nodes += 1
            if nodes - begin == MAX_AGGREGATE_NODES:
                break
            own = math.sqrt(squared_norm(values[diagonal[newest]]))
            for k in range(row_start[newest], row_start[newest + 1]):
                j = column[k]
                square = squared_norm(values[k])
                if not is_left[j] or square == 0.0:
                    continue
                if strength[j] == 0.0:
                    candidate[candidates] = j
                    candidates += 1
                scale = own * math.sqrt(squared_norm(values[diagonal[j]]))
                strength[j] = max(strength[j], square / scale if scale > 0.0 else 0.0)
            newest, most = -1, 0.0
            for k in range(candidates):
                j = candidate[k]
                if is_left[j] and (strength[j] > most or (strength[j] == most and j < newest)):
                    newest, most = j, strength[j]
            if newest < 0:
                break
        for k in range(candidates):
            strength[candidate[k]] = 0.0
        aggregates += 1
        start[aggregates] = nodes
        inverse_start[aggregates] = inverse_start[aggregates - 1] + 9 * (nodes - begin) ** 2
    return aggregates


@kernel(allow_fma=True, inline=True, device_only=True)
def squared_norm(block):
    """Returns the sum of the squares of the nine numbers of a block."""
    total = 0.0
    for k in range(9):
        total += block[k] * block[k]
    return total


@kernel(allow_fma=True)
def invert_aggregates(row_start, column, values, start, node, inverse_start, inverse, is_definite):
    """Writes the inverse of A over the nodes of each aggregate, and whether A is positive definite there."""
    place = np.full(len(row_start) - 1, -1, np.int64)
    for aggregate in range(len(start) - 1):
        begin, end = start[aggregate], start[aggregate + 1]
        size = 3 * (end - begin)
        A = inverse[inverse_start[aggregate] : inverse_start[aggregate + 1]].reshape(size, size)
        A[:, :] = 0.0
        for k in range(begin, end):
            place[node[k]] = 3 * (k - begin)
        for k in range(begin, end):
            i = node[k]
            for block in range(row_start[i], row_start[i + 1]):
                at = place[column[block]]
                if at < 0:
                    continue
                for m in range(3):
                    for n in range(3):
                        A[place[i] + m, at + n] = values[block, 3 * m + n]
        for k in range(begin, end):
            place[node[k]] = -1
        is_definite[aggregate] = invert_in_place(A)


@kernel(allow_fma=True, device_only=True)
def invert_in_place(A):
    """Writes the inverse of a symmetric matrix over it by Gauss-Jordan; returns whether A is positive definite."""
    size = len(A)
    for k in range(size):
        pivot = A[k, k]
        if not pivot > 0.0:
            return False
        A[k, k] = 1.0
        for n in range(size):
            A[k, n] /= pivot
        for m in range(size):
            if m == k:
                continue
            share = A[m, k]
            A[m, k] = 0.0
            for n in range(size):
                A[m, n] -= share * A[k, n]
    return True


@kernel(allow_fma=True, device_only=True, no_refcount=True)
def solve_aggregates(aggregates, work, product, scalars):
    """Writes z = M⁻¹ r of all aggregates of islands that are being solved, and mends the sums of these islands.

    Args:
        aggregates: `AggregateArrays`.
        work: r and z among the vectors of conjugate gradients, (4 n, 3); z is that of block Jacobi.
        product: A Z of the rigid modes, (n, 18).
        scalars: Of all islands, with r·z and (AZ)ᵀz − Zᵀr of that z.
    """
    count = len(work) // VECTOR_COUNT
    start, node, inverse, first = aggregates.start, aggregates.node, aggregates.inverse, aggregates.inverse_start
    z = aggregates.room
    for aggregate in range(len(start) - 1):
        begin, end = start[aggregate], start[aggregate + 1]
        if scalars[aggregates.island[begin], ACTIVE] == 0.0 or not aggregates.is_definite[aggregate]:
            continue
        size, at = 3 * (end - begin), first[aggregate]
        for k in range(size):
            z[k] = 0.0
        for k in range(begin, end):
            for m in range(3):
                # the inverse is symmetric: its rows are its columns, which vectors of several numbers take at once
                row, share = at + (3 * (k - begin) + m) * size, work[R * count + node[k], m]
                for n in range(size):
                    z[n] += inverse[row + n] * share
        for k in range(begin, end):
            i, own = node[k], scalars[aggregates.island[k]]
            for m in range(3):
                found = z[3 * (k - begin) + m]
                change = found - work[Z * count + i, m]
                work[Z * count + i, m] = found
                own[FIRST_SUM] += work[R * count + i, m] * change
                for mode in range(6):
                    own[MODE_RESIDUALS + mode] += product[i, 6 * m + mode] * change
