# SPDX-License-Identifier: GPL-3.0-or-later
"""Cholesky's factors of single islands, as the preconditioner of conjugate gradients where small bodies touch.

Block Jacobi has to carry every push through the body, layer by layer of nodes, and a stiff one takes a hundred
iterations. With M = diag(A_1, A_2, …) of the islands' own blocks A_i, contacts included, only what bodies do to each
other is left to the iterations, and the rigid motions of all at once are solved for exactly (`coupled_rigid_modes.py`).
It is a Schwarz method without overlap (Smith, Bjørstad and Gropp 1996, Domain Decomposition, chapter 1).

The rows of an island are permuted to have their numbers near the diagonal, and kept from the first to the diagonal.

Source: George and Liu (1981), Computer Solution of Large Sparse Positive Definite Systems, chapter 4.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..runtime.arrays import Bools, Floats, Indices, floats
from ..runtime.jit import kernel
from ..runtime.simd.vec3 import (
    block3_load,
    vec3,
    vec3_axpy,
    vec3_fma,
    vec3_load,
    vec3_store,
    vec3_sum,
    vec3_unpack,
    vec3_zero,
)
from .coupled_islands import Int64s
from .reverse_cuthill_mckee import order_by_degree

if TYPE_CHECKING:
    from .block_pattern import BlockPattern, UInt32s
    from .block_system import PcgWorkspace

MIN_RELATIVE_PIVOT = 1.0e-12  # of a number on the diagonal; with less left of it an island has block Jacobi
# An island is stiff for its Δt if its diagonal blocks are so many times its mass: block Jacobi then takes some hundred
# iterations where it touches others. Its factor costs as much as three products with each of its blocks for every
# product of two blocks that it takes.
MIN_STIFFNESS_RATIO, MAX_WORK_PER_BLOCK = 100.0, 64.0
AHEAD = 16  # blocks that memory is asked for before their use


@dataclass(frozen=True, eq=False)
class IslandEnvelopes:
    """Where the numbers of the factors of all islands are, n rows of nodes.

    Attributes:
        node: In this order the rows of each island are factored; those of an island stay together, (n,).
        place: Of each node in that order, (n,).
        start: Where the blocks of each row begin, (n + 1,).
        first: Column of its first block, in the order of `node`, (n,).
        work: Products of blocks that the factor of each island takes, (k,).
    """

    node: Int64s
    place: Int64s
    start: Int64s
    first: Int64s
    work: Floats


class IslandFactorArrays(NamedTuple):
    """`IslandEnvelopes` for kernels, with room for the factors of k islands.

    Attributes:
        node, place, start, first: As there.
        may_factor: Which islands are factored, (k,).
        is_factored: Which of them could be, out, (k,).
        values: Blocks of the factors, (b, 9); those on the diagonal are inverted.
        room: Work space for a vector, (n, 3).
    """

    node: Int64s
    place: Int64s
    start: Int64s
    first: Int64s
    may_factor: Bools
    is_factored: Bools
    values: Floats
    room: Floats


@dataclass(frozen=True, eq=False)
class IslandLayout:
    """Which blocks the islands of a pattern have, for `envelopes`, which are found where a solve asks for them.

    It holds arrays and not the pattern, so that this can be dropped.

    Attributes:
        row_start, column: Of the pattern, without blocks between islands.
        island_of_row: Island of each row, (n,).
        further_rows, further_columns: Of further blocks within islands, (e,).
    """

    row_start: UInt32s
    column: UInt32s
    island_of_row: UInt32s
    further_rows: Indices
    further_columns: Indices

    @functools.cached_property
    def envelopes(self) -> IslandEnvelopes:
        """Where the factors of all islands have their numbers."""
        return island_envelopes(self)


def island_envelopes(layout: IslandLayout) -> IslandEnvelopes:
    """Returns an order of the rows of every island by which they are short."""
    # takes a tenth of the time in which a bake loads, and only bodies that touch each other need it
    from scipy.sparse import coo_matrix

    count = len(layout.island_of_row)
    own = np.repeat(np.arange(count, dtype=np.int32), np.diff(layout.row_start.astype(np.int64)))
    row = np.concatenate([own, layout.further_rows])
    column = np.concatenate([layout.column.astype(np.int32), layout.further_columns])
    graph = coo_matrix((np.ones(len(row), np.int32), (row, column)), (count, count)).tocsr()
    start, neighbour = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
    order, rank = np.empty((2, count), np.int64)
    order_by_degree(start, neighbour, np.argsort(np.diff(start), kind="stable"), order)
    rank[order[::-1]] = np.arange(count, dtype=np.int64)
    node = np.lexsort((rank, layout.island_of_row)).astype(np.int64)
    place = np.empty(count, np.int64)
    place[node] = np.arange(count, dtype=np.int64)
    first = np.minimum.reduceat(place[neighbour], start[:-1])[node]
    lengths = np.arange(count, dtype=np.int64) - first + 1
    work = floats(np.bincount(layout.island_of_row, 0.5 * lengths.astype(np.float64) ** 2))
    row_start = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return IslandEnvelopes(node, place, row_start, first, work)


def worthwhile_factors(pattern: BlockPattern, values: Floats, mass: Floats, is_free: Bools) -> Bools | None:
    """Returns which islands conjugate gradients factor, (k,): stiff ones with short rows that touch others; None: none.

    Args:
        pattern, values: The matrix M + Δt² K of bodies some of which touch, (b, 9).
        mass: Of its nodes [kg], (n,).
        is_free: Which nodes are solved for, (n,); an island without such a node is not factored.
    """
    layout = pattern.island_layout
    if layout is None or pattern.coupling is None:
        return None
    first = pattern.island_start[:-1].astype(np.int64)
    resistance = np.add.reduceat(values.reshape(-1)[pattern.on_diagonal].sum(axis=0), first)
    chosen = resistance > 3.0 * MIN_STIFFNESS_RATIO * np.add.reduceat(mass, first)
    chosen &= np.logical_or.reduceat(is_free, first)
    chosen &= pattern.coupling.is_coupled()  # others are solved as they would be if nothing touched
    if chosen.any():
        blocks = np.add.reduceat(np.diff(pattern.row_start.astype(np.int64)), first)
        chosen &= layout.envelopes.work <= MAX_WORK_PER_BLOCK * blocks
    return chosen if chosen.any() else None


def chunks_of_factors(pattern: BlockPattern, is_factored: Bools) -> tuple[UInt32s, UInt32s]:
    """Returns `chunk_start` and `chunk_island` of a pattern in which islands that are factored, (k,), are one chunk."""
    is_first = np.diff(pattern.chunk_island.astype(np.int64), prepend=-1) > 0
    stays = is_first | ~is_factored[pattern.chunk_island]
    return np.append(pattern.chunk_start[:-1][stays], pattern.chunk_start[-1:]), pattern.chunk_island[stays]


def island_factor_arrays(pattern: BlockPattern, is_chosen: Bools | None, workspace: PcgWorkspace) -> IslandFactorArrays:
    """Returns room for the factors of some islands of a pattern, (k,); None: of none."""
    layout, none, count = pattern.island_layout, np.zeros(0, np.int64), pattern.island_count
    if layout is None or is_chosen is None:
        may = np.zeros(count, bool)
        return IslandFactorArrays(none, none, none, none, may, may.copy(), np.zeros((0, 9)), np.zeros((0, 3)))
    envelopes = layout.envelopes
    return IslandFactorArrays(
        envelopes.node,
        envelopes.place,
        envelopes.start,
        envelopes.first,
        is_chosen,
        np.zeros(count, bool),
        workspace.array("island_factors", int(envelopes.start[-1]), 9),
        workspace.array("island_room", len(envelopes.first), 3),
    )


@kernel(allow_fma=True, device_only=True, no_refcount=True)
def factor_island(begin, end, matrix, factors):
    """Writes the factor of the island with the rows from `begin` to `end`; returns whether it is positive definite.

    Held nodes are left as they are: their rows are those of the unit matrix. Blocks outside the envelope are left out.
    """
    is_any_free = False
    for i in range(begin, end):
        is_any_free = is_any_free or matrix.is_free[i]
    if not is_any_free:
        return False
    _gather_blocks(begin, end, matrix, factors)
    start, first, values = factors.start, factors.first, factors.values
    for i in range(begin, end):
        lowest, own = first[i], start[i] - first[i]
        for j in range(lowest, i):
            other = start[j] - first[j]
            at = own + j
            s, t, u = _subtract_products(values, at, own, other, max(lowest, first[j]), j)
            # times the transpose of the inverse of the factor's block on the diagonal
            p, q, r = block3_load(values, other + j, 0)
            _store_products(values, 9 * at, s, p, q, r)
            _store_products(values, 9 * at + 3, t, p, q, r)
            _store_products(values, 9 * at + 6, u, p, q, r)
        s, t, u = _subtract_products(values, own + i, own, own, lowest, i)
        if not _invert_factor(s, t, u, values[own + i]):
            return False
    return True


@kernel(allow_fma=True, inline=True, device_only=True, no_refcount=True)
def _subtract_products(values, at, own, other, begin, end):
    """Returns the rows of block `at` less L_ik L_jkᵀ for all columns k, of two rows that begin at `own` and `other`."""
    a, b, c = vec3_zero(), vec3_zero(), vec3_zero()
    d, e, f = vec3_zero(), vec3_zero(), vec3_zero()
    g, h, o = vec3_zero(), vec3_zero(), vec3_zero()
    for k in range(begin, end):
        s, t, u = block3_load(values, own + k, 0)
        p, q, r = block3_load(values, other + k, 0)
        a, b, c = vec3_fma(a, s, p), vec3_fma(b, s, q), vec3_fma(c, s, r)
        d, e, f = vec3_fma(d, t, p), vec3_fma(e, t, q), vec3_fma(f, t, r)
        g, h, o = vec3_fma(g, u, p), vec3_fma(h, u, q), vec3_fma(o, u, r)
    s, t, u = block3_load(values, at, 0)
    return (
        vec3_axpy(s, -1.0, vec3(vec3_sum(a), vec3_sum(b), vec3_sum(c))),
        vec3_axpy(t, -1.0, vec3(vec3_sum(d), vec3_sum(e), vec3_sum(f))),
        vec3_axpy(u, -1.0, vec3(vec3_sum(g), vec3_sum(h), vec3_sum(o))),
    )


@kernel(allow_fma=True, inline=True, device_only=True, no_refcount=True)
def _store_products(values, place, row, p, q, r):
    """Writes the products of a row with p, q and r to the numbers from a place on."""
    a, b = vec3_sum(vec3_fma(vec3_zero(), row, p)), vec3_sum(vec3_fma(vec3_zero(), row, q))
    vec3_store(values, place, vec3(a, b, vec3_sum(vec3_fma(vec3_zero(), row, r))))


@kernel(device_only=True, no_refcount=True)
def _invert_factor(s, t, u, out):
    """Writes the inverse of the lower factor of a block with the rows s, t, u, (9,); returns whether it is definite."""
    a, _, _ = vec3_unpack(s)
    d, b, _ = vec3_unpack(t)
    f, e, c = vec3_unpack(u)
    least = MIN_RELATIVE_PIVOT
    if not (out[0] * least < a < np.inf):
        return False
    a = 1.0 / math.sqrt(a)
    d, f = d * a, f * a
    b -= d * d
    if not (out[4] * least < b < np.inf):
        return False
    b = 1.0 / math.sqrt(b)
    e = (e - d * f) * b
    c -= f * f + e * e
    if not (out[8] * least < c < np.inf):
        return False
    c = 1.0 / math.sqrt(c)
    out[0], out[1], out[2] = a, 0.0, 0.0
    out[3], out[4], out[5] = -d * a * b, b, 0.0
    out[6], out[7], out[8] = (d * e * b - f) * a * c, -e * b * c, c
    return True


@kernel(device_only=True, no_refcount=True)
def _gather_blocks(begin, end, matrix, factors):
    """Copies the lower half of an island's own blocks into its envelope."""
    start, first, values, is_free = factors.start, factors.first, factors.values, matrix.is_free
    for at in range(start[begin], start[end]):
        for m in range(9):
            values[at, m] = 0.0
    for i in range(begin, end):
        own = factors.place[i]
        to = start[own] - first[own]
        if not is_free[i]:
            for m in range(3):
                values[to + own, 4 * m] = 1.0
            continue
        for k in range(matrix.row_start[i], matrix.row_start[i + 1]):
            j = np.int64(matrix.column[k])
            if j < begin or j >= end or not is_free[j]:
                continue
            other = factors.place[j]
            if first[own] <= other <= own:
                for m in range(9):
                    values[to + other, m] = matrix.values[k, m]


@kernel(allow_fma=True, device_only=True, no_refcount=True)
def solve_island(begin, end, work, r, z, factors):
    """Writes A_i⁻¹ r of an island to z, which begin at the numbers r and z of `work`."""
    start, first, values, y, node = factors.start, factors.first, factors.values, factors.room, factors.node
    for i in range(begin, end):
        own, lowest = start[i] - first[i], first[i]
        a, b, c = vec3_zero(), vec3_zero(), vec3_zero()
        for k in range(lowest, i):
            s, t, u = block3_load(values, own + k, AHEAD)
            found = vec3_load(y, 3 * k)
            a, b, c = vec3_fma(a, s, found), vec3_fma(b, t, found), vec3_fma(c, u, found)
        left = vec3_axpy(vec3_load(work, r + 3 * node[i]), -1.0, vec3(vec3_sum(a), vec3_sum(b), vec3_sum(c)))
        s, t, u = block3_load(values, own + i, AHEAD)
        a, b, c = vec3_fma(vec3_zero(), s, left), vec3_fma(vec3_zero(), t, left), vec3_fma(vec3_zero(), u, left)
        vec3_store(y, 3 * i, vec3(vec3_sum(a), vec3_sum(b), vec3_sum(c)))
    for i in range(end - 1, begin - 1, -1):
        own = start[i] - first[i]
        s, t, u = block3_load(values, own + i, 0)
        a, b, c = vec3_unpack(vec3_load(y, 3 * i))
        found = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), a, s), b, t), c, u)
        vec3_store(work, z + 3 * node[i], found)
        a, b, c = vec3_unpack(found)
        for k in range(first[i], i):
            s, t, u = block3_load(values, own + k, 0)
            left = vec3_axpy(vec3_axpy(vec3_axpy(vec3_load(y, 3 * k), -a, s), -b, t), -c, u)
            vec3_store(y, 3 * k, left)
