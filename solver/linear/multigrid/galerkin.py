# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of all levels for one matrix: Galerkin's coarse matrices Pᵀ A P, and what the smoothers read in 32 bits.

Level by level in two passes, whose parts the threads of a `Crew` share out: DOWN over the rows of a level, its blocks
in 32 bits and A P, then ACROSS over those of the next, Pᵀ (A P). Each row is written by one thread, term by term in the
order that its `Product` has.
"""

from __future__ import annotations

import numpy as np

from ...geometry.crew import TASK, is_over, post, take, tell, wait
from ...jit import kernel
from ..threes import add, load, load_four, nothing, store, store_four
from .cycle import do_part, lead_cycle

DOWN, ACROSS = range(2)
# rows that a thread takes at a time: those of coarse matrices have many more terms
FINE_ROWS, COARSE_ROWS = 256, 32
# a block that is as good as singular has no inverse
LEAST_DET = 1.0e-14


@kernel(bare=True)
def refresh_levels(leads, crew, row, cycle, numbers):
    """Writes the numbers of all levels but the coarsest, whose matrix is left in 64 bits, then does the cycle's passes.

    Args:
        leads: Whether this thread leads the `crew`; others of it only share in the passes.
        crew: A `Crew`.
        row: Work space of this thread for a row of a product, (widest, 12).
        cycle: What `run_passes` takes; its values, inverse and hang_weight are written.
        numbers: What `do_rows` takes behind it.
    """
    if not leads:
        while not is_over(crew):
            tell(crew, share(leads, crew, row, cycle, numbers))
        return
    level_start = cycle[2]
    for level in range(len(level_start) - 2):
        for kind in range(2):
            rows = level_start[level + kind + 1] - level_start[level + kind]
            at_once = FINE_ROWS if kind == DOWN else COARSE_ROWS
            crew[TASK] = -1 - (2 * level + kind)
            post(crew, (rows + at_once - 1) // at_once)
            wait(crew, share(leads, crew, row, cycle, numbers))
    lead_cycle(0, len(cycle[0]), crew, *cycle)


@kernel(inside=True, bare=True)
def share(leads, crew, row, cycle, numbers):
    """Takes part in a pass until none of it is left; returns how many parts were done."""
    part, done = take(crew, leads), 0
    while part >= 0:
        task = crew[TASK]
        if task >= 0:
            do_part(task, part, *cycle)
        else:
            do_rows((-1 - task) // 2, (-1 - task) % 2, part, row, *cycle[2:13], *numbers)
        done += 1
        part = take(crew, leads)
    return done


@kernel(inside=True, bare=True)
def do_rows(
    level, kind, part, row, level_start, row_start, column, singles, inverse, hang_start, hang_node, singles_weight,
    back_start, back_row, back_entry, diagonal, weight, right_start, right_slot_start, right_slot, left_slot_start,
    left_slot, kept, row_island, scale, values, between, above,
):  # fmt: skip
    """Does a part of DOWN or ACROSS at a level.

    Args:
        level, kind, part, row: What, and work space for a row.
        level_start, …, back_entry: Of the cycle, of all levels; singles, inverse and singles_weight are written.
        diagonal: Blocks on the diagonal, counted through, (N,).
        weight: Weights of all prolongations in 64 bits, (W,).
        right_start, right_slot_start, right_slot: `Terms` of all products A P, (N − c + 1,) twice for c rows of the
            coarsest level, and (t,).
        left_slot_start, left_slot: Those of all products Pᵀ (A P), (N − n + 1,) and (u,).
        kept: Which rows are solved for, (N,).
        row_island, scale: Island of every row, (N,), and the power of two that it is multiplied by in 32 bits, (k,).
        values: Blocks of the finest matrix, (b, 9).
        between: Work space for the blocks of A P of one level, (w, 9).
        above: Blocks of all coarse matrices, (B − b, 9), out.
    """
    second = level_start[1]  # where coarse rows begin, and with its blocks what is in `above`
    before = np.int64(0) if level == 0 else np.int64(row_start[second])
    blocks = values if level == 0 else above
    to = level_start[level]
    if kind == DOWN:
        first = to + part * FINE_ROWS
        last = min(first + FINE_ROWS, level_start[level + 1])
        narrow_rows(
            first, last, before, row_start, diagonal, blocks, kept, row_island, scale, singles, inverse, hang_start,
            weight, singles_weight,
        )  # fmt: skip
        multiply_right(
            first, last, before, row_start, column, blocks, kept, hang_start, weight,
            right_start, np.int64(right_start[to]), right_slot_start, right_slot, row, between,
        )  # fmt: skip
    else:
        first = level_start[level + 1] + part * COARSE_ROWS
        last = min(first + COARSE_ROWS, level_start[level + 2])
        multiply_left(
            first, last, back_start, back_row, back_entry, kept, weight, right_start, np.int64(right_start[to]),
            between, row_start, np.int64(row_start[second]), second, left_slot_start, left_slot, row, above,
        )  # fmt: skip


@kernel(inside=True, bare=True)
def narrow_rows(
    first, last, before, row_start, diagonal, blocks, kept, row_island, scale, singles, inverse, hang_start, weight,
    singles_weight,
):  # fmt: skip
    """Writes blocks times the scale of their row in 32 bits, the inverses of their diagonal, and weights.

    `blocks` begin with block `before` of all.
    """
    for i in range(first, last):
        w = scale[row_island[i]]
        for k in range(row_start[i], row_start[i + 1]):
            for m in range(9):
                singles[k, m] = w * blocks[k - before, m]
        A, out = blocks[diagonal[i] - before], inverse[i]
        a, b, c, d, e, f = w * A[0], w * A[4], w * A[8], w * A[1], w * A[5], w * A[2]
        p, q, r = b * c - e * e, e * f - d * c, d * e - b * f
        det = a * p + d * q + f * r
        over = 1.0 / det if kept[i] and det > LEAST_DET * a * b * c else 0.0
        out[0], out[1], out[2] = over * p, over * (a * c - f * f), over * (a * b - d * d)
        out[3], out[4], out[5] = over * q, over * (f * d - a * e), over * r
        for k in range(hang_start[i], hang_start[i + 1]):
            singles_weight[k] = weight[k] if kept[i] else 0.0


@kernel(contract=True, inside=True, bare=True)
def multiply_right(
    first, last, before, a_start, a_column, blocks, kept, b_start, weight, start, to, slot_start, slot, row, out
):  # fmt: skip
    """Writes rows `first` to `last` of C = A P for blocks of A and scalars of P; rows of P that are not kept are none.

    `blocks` begin with block `before` of all, C with its entry `to`, (c, 9); `row` is work space for a row of it.
    """
    for i in range(first, last):
        if not kept[i]:
            continue  # nor is it read
        clear(start[i + 1] - start[i], row)
        term = np.int64(slot_start[i])
        for a in range(a_start[i], a_start[i + 1]):
            j, at = a_column[a], 9 * (a - before)
            begin, behind = np.int64(b_start[j]), np.int64(b_start[j + 1])
            if kept[j]:
                p, q, r = load(blocks, at), load(blocks, at + 3), load(blocks, at + 6)
                for b in range(begin, behind):
                    add_block(weight[b], p, q, r, 12 * np.int64(slot[term + (b - begin)]), row)
            term += behind - begin
        copy_row(start[i] - to, start[i + 1] - to, row, out)


@kernel(contract=True, inside=True, bare=True)
def multiply_left(
    first, last, back_start, back_row, back_entry, kept, weight, b_start, before, blocks, start, to, second, slot_start,
    slot, row, out,
):  # fmt: skip
    """Writes rows `first` to `last` of C = Pᵀ B for scalars of P and blocks of B; rows of P that are not kept are none.

    `blocks` begin with entry `before` of all products A P, C with block `to` of all matrices and its terms with row
    `second`; `row` is work space for a row of C.
    """
    for i in range(first, last):
        clear(start[i + 1] - start[i], row)
        term = np.int64(slot_start[i - second])
        for a in range(back_start[i], back_start[i + 1]):
            j = back_row[a]
            begin, behind = np.int64(b_start[j]), np.int64(b_start[j + 1])
            if kept[j]:
                w = weight[back_entry[a]]
                for b in range(begin, behind):
                    at = 9 * (b - before)
                    p, q, r = load(blocks, at), load(blocks, at + 3), load(blocks, at + 6)
                    add_block(w, p, q, r, 12 * np.int64(slot[term + (b - begin)]), row)
            term += behind - begin
        copy_row(start[i] - to, start[i + 1] - to, row, out)


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
