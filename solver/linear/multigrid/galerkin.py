# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of all levels for one matrix: Galerkin's coarse matrices Pᵀ A P, and what the smoothers read.

Level by level in one pass, whose parts the threads of a `Crew` share out: the rows of a level are narrowed for its
smoother, and those of the next made, (Pᵀ A) P, each by one thread, term by term in the order that its `Product` has.
What a row of Pᵀ A takes stays in the caches of who makes it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Bools, Floats
from ...geometry.crew import TASK, await_bell, is_over, post, take, tell, wait
from ...jit import kernel
from ..block_row import AHEAD
from ..pattern import Unsigned
from ..threes import add, add_products, load_block, load_four, nothing, store, store_four, total
from .cycle import do_part, lead_cycle
from .fixed_point import BLOCKS, MOST, store_block
from .lattice import Whole

# rows that a thread takes at a time: those of coarse matrices have many more terms
FINE_ROWS, COARSE_ROWS = 256, 32
# a block that is as good as singular has no inverse
LEAST_DET = 1.0e-14


class Matrices(NamedTuple):
    """The matrices of all levels, rows and blocks counted through.

    Attributes:
        start, diagonal: First block of each row, and that on its diagonal, (N + 1,), (N,).
        slot: Where in its row's quads each block goes.
        kept: Which rows are solved for, (N,).
        island, scale: Island of every row, (N,), and the power of two that it is multiplied by, (k,).
        finest: Blocks of the finest matrix, (b, 9).
        above: Those of all coarse ones, (B − b, 9), out.
    """

    start: Unsigned
    diagonal: Unsigned
    slot: Unsigned
    kept: Bools
    island: Whole
    scale: Floats
    finest: Floats
    above: Floats


class Left(NamedTuple):
    """Rows and columns of all products Pᵀ A, and their `Terms`, (N − n + 1,), (c,), (N − n + 1,), (t,)."""

    start: Unsigned
    column: Unsigned
    slot_start: Unsigned
    slot: Unsigned


class Right(NamedTuple):
    """The `Terms` of all products (Pᵀ A) P, (N − n + 1,) and (u,)."""

    slot_start: Unsigned
    slot: Unsigned


class Products(NamedTuple):
    """How the coarse matrices come about; n of the N rows are those of the finest.

    Attributes:
        weight: Entries of all P in 64 bits, (W,).
        back_entry: Which of them each of the transposes has, (W,).
        left, right: Where the terms of Pᵀ A and (Pᵀ A) P go.
    """

    weight: Floats
    back_entry: Unsigned
    left: Left
    right: Right


@kernel(bare=True)
def refresh_levels(leads, crew, between, row, cycle, matrices, products):
    """Writes the numbers of all levels but the coarsest, whose matrix is left in 64 bits, then does the cycle's passes.

    Args:
        leads: Whether this thread leads the `crew`; others of it only share in the passes.
        crew: A `Crew`.
        between, row: Work space of this thread for rows of Pᵀ A and (Pᵀ A) P, (widest, 12) each.
        cycle: A `Cycle`, whose quads, unit, inverse and both weights are written.
        matrices, products: `Matrices` and `Products`.
    """
    if not leads:
        while not is_over(crew):
            tell(crew, share(leads, crew, between, row, cycle, matrices, products))
        await_bell(crew)
        return
    level_start = cycle.level_start
    for level in range(len(level_start) - 2):
        crew[TASK] = -1 - level
        above = parts_of(level_start[level + 2] - level_start[level + 1], COARSE_ROWS)
        post(crew, fine_parts(level, level_start) + above)
        wait(crew, share(leads, crew, between, row, cycle, matrices, products))
    lead_cycle(0, len(cycle.tasks), crew, cycle)


@kernel(inside=True, bare=True)
def parts_of(rows, at_once):
    """Returns into how many parts so many rows go."""
    return (rows + at_once - 1) // at_once


@kernel(inside=True, bare=True)
def fine_parts(level, level_start):
    """Returns how many parts of a pass are those of the level itself."""
    return parts_of(level_start[level + 1] - level_start[level], FINE_ROWS)


@kernel(inside=True, bare=True)
def share(leads, crew, between, row, cycle, matrices, products):
    """Takes part in a pass until none of it is left; returns how many parts were done."""
    part, done = take(crew, leads), 0
    while part >= 0:
        task = crew[TASK]
        if task >= 0:
            do_part(task, part, cycle)
        else:
            do_rows(-1 - task, part, between, row, cycle, matrices, products)
        done += 1
        part = take(crew, leads)
    return done


@kernel(inline=True, inside=True, bare=True)
def do_rows(level, part, between, row, cycle, matrices, products):
    """Does a part of a level: rows of its own, or behind these rows of the next."""
    level_start, blocks, weight = cycle.level_start, matrices.above, products.weight
    second = level_start[1]  # where coarse rows begin, and with its blocks what is in `above`
    before = np.int64(matrices.start[second])
    if level == 0:
        before, blocks = np.int64(0), matrices.finest
    behind = fine_parts(level, level_start)
    if part < behind:
        first = level_start[level] + part * FINE_ROWS
        end = min(first + FINE_ROWS, level_start[level + 1])
        narrow_rows(first, end, before, blocks, matrices, weight, cycle.hang, cycle.quads)
    else:
        first = level_start[level + 1] + (part - behind) * COARSE_ROWS
        end = min(first + COARSE_ROWS, level_start[level + 2])
        coarsen_rows(first, end, second, before, blocks, matrices, products, cycle.hang, cycle.back, between, row)


@kernel(inside=True, bare=True)
def narrow_rows(first, last, before, blocks, matrices, weight, hang, out):
    """Writes `Quads`, times the scale of each island, and weights in 32 bits.

    `blocks` begin with block `before` of all.
    """
    start, diagonal, slot, kept, island, scale, _, _ = matrices
    hang_start, _, hang_weight = hang
    quad_start, quads, unit, inverse = out
    for i in range(first, last):
        w = scale[island[i]]
        to = BLOCKS * np.int64(quad_start[i])
        unit[i] = w * narrow_row(start[i], start[i + 1], before, blocks, slot, to, quads)
        A, M = blocks[diagonal[i] - before], inverse[i]
        a, b, c, d, e, f = w * A[0], w * A[4], w * A[8], w * A[1], w * A[5], w * A[2]
        p, q, r = b * c - e * e, e * f - d * c, d * e - b * f
        det = a * p + d * q + f * r
        over = 1.0 / det if kept[i] and det > LEAST_DET * a * b * c else 0.0
        M[0], M[1], M[2] = over * p, over * (a * c - f * f), over * (a * b - d * d)
        M[3], M[4], M[5] = over * q, over * (f * d - a * e), over * r
        for k in range(hang_start[i], hang_start[i + 1]):
            hang_weight[k] = weight[k] if kept[i] else 0.0


@kernel(contract=True, inside=True, bare=True)
def narrow_row(first, last, before, blocks, slot, to, quads):
    """Writes the blocks from `first` to `last`, a row's, to the slots of its quads, and returns the unit of the row.

    What rounding has taken from their sum comes to the diagonal: so what moves as a whole has the forces that it had.
    `blocks` begin with block `before` of all, the quads with slot `to`.
    """
    squares = nothing()
    for k in range(np.int64(first), np.int64(last)):
        p, q, r = load_block(blocks, k - before, AHEAD)
        squares = add_products(add_products(add_products(squares, p, p), q, q), r, r)
    unit = np.sqrt(total(squares)) / MOST  # no number is larger than the length of them all
    w = 1.0 / unit if unit > 0.0 else 0.0
    f, g, h = nothing(), nothing(), nothing()
    for k in range(np.int64(first), np.int64(last)):
        p, q, r = load_block(blocks, k - before, AHEAD)
        p, q, r = store_block(
            quads, to + np.int64(slot[k]), add(nothing(), w, p), add(nothing(), w, q), add(nothing(), w, r)
        )  # fmt: skip
        f, g, h = add(f, 1.0, p), add(g, 1.0, q), add(h, 1.0, r)
    store_block(quads, to, f, g, h)
    return unit


@kernel(contract=True, inside=True, bare=True)
def coarsen_rows(first, last, second, before, blocks, matrices, products, hang, back, between, row):
    """Writes the rows from `first` to `last` of (Pᵀ A) P for blocks of A and scalars of P.

    Rows of P that are not kept are none, nor are those of A read. `blocks` begin with block `before` of all; what there
    is for coarse rows alone begins with row `second`.
    """
    start, kept, above = matrices.start, matrices.kept, matrices.above
    weight, back_entry, left, right = products
    left_start, left_column, left_slot_start, left_slot = left
    right_slot_start, right_slot = right
    hang_start, (back_start, back_row, back_weight) = hang.start, back
    lowest = np.int64(start[second])
    for i in range(first, last):
        entry, end = np.int64(left_start[i - second]), np.int64(left_start[i - second + 1])
        clear(end - entry, between)
        term = np.int64(left_slot_start[i - second])
        for a in range(back_start[i], back_start[i + 1]):
            j = back_row[a]
            begin, behind = np.int64(start[j]), np.int64(start[j + 1])
            w = weight[back_entry[a]] if kept[j] else 0.0
            back_weight[a] = w
            if kept[j]:
                for b in range(begin, behind):
                    p, q, r = load_block(blocks, b - before, AHEAD)
                    add_block(w, p, q, r, 12 * np.int64(left_slot[term + (b - begin)]), between)
            term += behind - begin
        clear(np.int64(start[i + 1] - start[i]), row)
        term = np.int64(right_slot_start[i - second])
        for a in range(entry, end):
            j, at = left_column[a], 12 * (a - entry)
            begin, behind = np.int64(hang_start[j]), np.int64(hang_start[j + 1])
            if kept[j]:
                p, q, r = load_four(between, at), load_four(between, at + 4), load_four(between, at + 8)
                for b in range(begin, behind):
                    add_block(weight[b], p, q, r, 12 * np.int64(right_slot[term + (b - begin)]), row)
            term += behind - begin
        copy_row(start[i] - lowest, start[i + 1] - lowest, row, above)


@kernel(inline=True, inside=True, bare=True)
def clear(count, row):
    """Makes the first blocks of a row zero."""
    for c in range(0, 12 * count, 4):
        store_four(row, c, nothing())


@kernel(contract=True, inline=True, inside=True, bare=True)
def add_block(w, p, q, r, place, row):
    """Adds w times a block of rows p, q, r."""
    store_four(row, place, add(load_four(row, place), w, p))
    store_four(row, place + 4, add(load_four(row, place + 4), w, q))
    store_four(row, place + 8, add(load_four(row, place + 8), w, r))


@kernel(inline=True, inside=True, bare=True)
def copy_row(first, last, row, out):
    """Writes a row to the blocks from `first` to `last` of a matrix, (c, 9)."""
    place = 0
    for c in range(9 * first, 9 * last, 3):
        store(out, c, load_four(row, place))
        place += 4
