# SPDX-License-Identifier: GPL-3.0-or-later
"""Cholesky's factors L Lᵀ of the systems of rigid bodies, block by block, in an order with little fill.

A body is eliminated once its column of blocks has been divided by its block on the diagonal; then the bodies that it
was coupled with are coupled with each other. The order is that of minimum degree: next comes a body with the fewest
couplings that are left. A heap of boxes is hardly more than a forest, and so are its factors. Where a body would have
more couplings than `MAX_DEGREE`, factors would cost more than iterations do, and there is no elimination.

Source: George and Liu (1989), The evolution of the minimum degree ordering algorithm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Floats, Indices
from ..runtime.jit import kernel

SIZE = 6  # unknowns of a body
MIN_PIVOT_RATIO = 1.0e-14  # pivot over the number on the diagonal below which a motion is left out
MAX_DEGREE = 24  # couplings of a body when it is eliminated


class BlockElimination(NamedTuple):
    """The order in which n bodies are eliminated, and the blocks of L below its diagonal, c of them.

    Attributes:
        order: Bodies, (n,); none where they would have too many couplings.
        start: The blocks in the column of order[p] are start[p] to start[p + 1], (n + 1,).
        body: Row of each block, (c,).
        edge: The coupling that it comes from, those beyond all pairs are fill, (c,).
        is_below: Whether its body is the second of that coupling, (c,).
        fill_start: The couplings that its product with the earlier blocks of its column change begin here, (c + 1,).
        fill: Those couplings, (f,).
        first: First body of each coupling, those of the pairs come first, (e,).
    """

    order: Indices
    start: Indices
    body: Indices
    edge: Indices
    is_below: np.ndarray
    fill_start: Indices
    fill: Indices
    first: Indices


class BlockFactors(NamedTuple):
    """L of `BlockElimination`.

    Attributes:
        diagonal: Its blocks on the diagonal, with inverted pivots, (n, 6, 6).
        below: Those below, (c, 6, 6).
    """

    diagonal: Floats
    below: Floats


@kernel()
def order_elimination(count, first, second):
    """Returns the `BlockElimination` of bodies, a `count`, between which there are pairs, (p,) each."""
    degree, near = np.zeros(count, np.int32), np.empty((count, MAX_DEGREE), np.int32)
    via, is_left = np.empty((count, MAX_DEGREE), np.int32), np.ones(count, np.bool_)
    order, start, room = np.empty(count, np.int32), np.zeros(count + 1, np.int32), count * MAX_DEGREE
    body, edge, is_below = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.bool_)
    fill_start = np.zeros(room + 1, np.int32)
    fill, firsts = [np.int32(0) for _ in range(0)], [np.int32(one) for one in first]
    done, blocks, fits = 0, 0, True
    for pair in range(len(first)):
        fits = fits and _couple(first[pair], second[pair], pair, degree, near, via)
    while fits and done < count:
        least = count
        for own in range(count):
            if is_left[own]:
                least = min(least, degree[own])
        for own in range(count):
            if not fits or not is_left[own] or degree[own] > least:
                continue
            is_left[own], order[done] = False, own
            for i in range(degree[own]):
                other = near[own, i]
                body[blocks], edge[blocks] = other, via[own, i]
                is_below[blocks] = firsts[via[own, i]] == own
                _uncouple(other, own, degree, near, via)
                for j in range(i):
                    pair = _find_coupling(other, near[own, j], degree, near, via)
                    if pair < 0:
                        pair = len(firsts)
                        firsts.append(np.int32(other))
                        fits = fits and _couple(other, near[own, j], pair, degree, near, via)
                    fill.append(np.int32(pair))
                blocks += 1
                fill_start[blocks] = len(fill)
            done += 1
            start[done] = blocks
    return BlockElimination(
        order[: done if fits else 0],
        start,
        body[:blocks].copy(),
        edge[:blocks].copy(),
        is_below[:blocks].copy(),
        fill_start[: blocks + 1].copy(),
        np.array(fill, np.int32),
        np.array(firsts, np.int32),
    )


@kernel(device_only=True)
def _couple(one, other, edge, degree, near, via):
    """Adds a coupling to both bodies; returns whether there is room."""
    if max(degree[one], degree[other]) >= MAX_DEGREE:
        return False
    near[one, degree[one]], near[other, degree[other]] = other, one
    via[one, degree[one]], via[other, degree[other]] = edge, edge
    degree[one] += 1
    degree[other] += 1
    return True


@kernel(device_only=True)
def _uncouple(own, other, degree, near, via):
    """Takes a coupling from a body."""
    for i in range(degree[own]):
        if near[own, i] == other:
            degree[own] -= 1
            near[own, i], via[own, i] = near[own, degree[own]], via[own, degree[own]]
            return


@kernel(device_only=True)
def _find_coupling(own, other, degree, near, via):
    """Returns the coupling of two bodies, −1 if there is none."""
    for i in range(degree[own]):
        if near[own, i] == other:
            return via[own, i]
    return -1


@kernel(device_only=True)
def factor_blocks(elimination, blocks, is_solved, edges, factors):
    """Writes the `BlockFactors` of solved bodies, (n,); `edges` are room for all couplings, (e, 6, 6)."""
    pairs = min(len(edges), len(blocks.coupling))  # none if only the diagonal is eliminated
    D, below = factors
    for p in range(len(elimination.order)):
        own = elimination.order[p]
        if not is_solved[own]:
            continue
        D[own] = blocks.diagonal[own]
        for c in range(elimination.start[p], elimination.start[p + 1]):
            edge = elimination.edge[c]
            for i in range(SIZE):
                for j in range(SIZE):
                    edges[edge, i, j] = blocks.coupling[edge, i, j] if edge < pairs else 0.0
    for p in range(len(elimination.order)):
        own = elimination.order[p]
        if not is_solved[own]:
            continue
        factor_block(blocks.diagonal[own], D[own])
        begin = elimination.start[p]
        for c in range(begin, elimination.start[p + 1]):
            body = elimination.body[c]
            if not is_solved[body]:
                continue
            _divide_block(edges[elimination.edge[c]], elimination.is_below[c], D[own], below[c])
            _subtract_product(below[c], below[c], D[body])
            for number in range(c - begin):
                other = begin + number
                if not is_solved[elimination.body[other]]:
                    continue
                edge = elimination.fill[elimination.fill_start[c] + number]
                if elimination.first[edge] == body:
                    _subtract_product(below[c], below[other], edges[edge])
                else:
                    _subtract_product(below[other], below[c], edges[edge])


@kernel(device_only=True)
def factor_block(own, L):
    """Replaces the lower half of a block by Cholesky's factor with inverted pivots; `own` is the block at first."""
    for i in range(SIZE):
        for j in range(i + 1):
            total = L[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i == j:
                L[i, i] = 1.0 / np.sqrt(total) if total > MIN_PIVOT_RATIO * own[i, i] else 0.0
            else:
                L[i, j] = total * L[j, j]


@kernel(device_only=True)
def _divide_block(coupling, is_below, L, out):
    """Writes B L⁻ᵀ for a coupling B, or its transpose unless it `is_below`."""
    for i in range(SIZE):
        for j in range(SIZE):
            total = coupling[j, i] if is_below else coupling[i, j]
            for k in range(j):
                total -= out[i, k] * L[j, k]
            out[i, j] = total * L[j, j]


@kernel(device_only=True)
def _subtract_product(one, other, out):
    """Subtracts A Bᵀ from a block."""
    for i in range(SIZE):
        for j in range(SIZE):
            total = 0.0
            for k in range(SIZE):
                total += one[i, k] * other[j, k]
            out[i, j] -= total


@kernel(device_only=True)
def solve_factored(elimination, factors, is_solved, b, x):
    """Writes (L Lᵀ)⁻¹ b of solved bodies into x, (n, 6) each."""
    D, below = factors
    x[:] = b
    for p in range(len(elimination.order)):
        own = elimination.order[p]
        if not is_solved[own]:
            continue
        L, y = D[own], x[own]
        for i in range(SIZE):
            for k in range(i):
                y[i] -= L[i, k] * y[k]
            y[i] *= L[i, i]
        for c in range(elimination.start[p], elimination.start[p + 1]):
            if is_solved[elimination.body[c]]:
                other = x[elimination.body[c]]
                for i in range(SIZE):
                    for k in range(SIZE):
                        other[i] -= below[c, i, k] * y[k]
    for p in range(len(elimination.order) - 1, -1, -1):
        own = elimination.order[p]
        if not is_solved[own]:
            continue
        L, y = D[own], x[own]
        for c in range(elimination.start[p], elimination.start[p + 1]):
            if is_solved[elimination.body[c]]:
                other = x[elimination.body[c]]
                for i in range(SIZE):
                    for k in range(SIZE):
                        y[k] -= below[c, i, k] * other[i]
        for i in range(SIZE - 1, -1, -1):
            for k in range(i + 1, SIZE):
                y[i] -= L[k, i] * y[k]
            y[i] *= L[i, i]
