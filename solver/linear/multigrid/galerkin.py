# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of all levels for one matrix: Galerkin's coarse matrices Pᵀ A P, and what the smoothers read.

Level by level in one pass, whose parts the threads of a `Crew` share out: the rows of a level are narrowed for its
smoother, and those of the next made, (Pᵀ A) P, each by one thread, term by term in the order that its `Product` has.
What a row of Pᵀ A takes stays in the caches of who makes it.
"""

from __future__ import annotations

import numpy as np

from ...geometry.crew import TASK, is_over, post, take, tell, wait
from ...jit import kernel
from ..block_row import AHEAD
from ..threes import add, add_products, load, load_four, nothing, prefetch, store, store_four, total
from .cycle import do_part, lead_cycle
from .fixed_point import BLOCKS, MOST, store_block

# rows that a thread takes at a time: those of coarse matrices have many more terms
FINE_ROWS, COARSE_ROWS = 256, 32
# a block that is as good as singular has no inverse
LEAST_DET = 1.0e-14


@kernel(bare=True)
def refresh_levels(leads, crew, between, row, cycle, numbers):
    """Writes the numbers of all levels but the coarsest, whose matrix is left in 64 bits, then does the cycle's passes.

    Args:
        leads: Whether this thread leads the `crew`; others of it only share in the passes.
        crew: A `Crew`.
        between, row: Work space of this thread for rows of Pᵀ A and (Pᵀ A) P, (widest, 12) each.
        cycle: What `run_passes` takes; its quads, unit, inverse, hang_weight and back_weight are written.
        numbers: What `do_rows` takes behind it.
    """
    if not leads:
        while not is_over(crew):
            tell(crew, share(leads, crew, between, row, cycle, numbers))
        return
    level_start = cycle[2]
    for level in range(len(level_start) - 2):
        crew[TASK] = -1 - level
        above = parts_of(level_start[level + 2] - level_start[level + 1], COARSE_ROWS)
        post(crew, fine_parts(level, level_start) + above)
        wait(crew, share(leads, crew, between, row, cycle, numbers))
    lead_cycle(0, len(cycle[0]), crew, *cycle)


@kernel(inside=True, bare=True)
def parts_of(rows, at_once):
    """Returns into how many parts so many rows go."""
    return (rows + at_once - 1) // at_once


@kernel(inside=True, bare=True)
def fine_parts(level, level_start):
    """Returns how many parts of a pass are those of the level itself."""
    return parts_of(level_start[level + 1] - level_start[level], FINE_ROWS)


@kernel(inside=True, bare=True)
def share(leads, crew, between, row, cycle, numbers):
    """Takes part in a pass until none of it is left; returns how many parts were done."""
    part, done = take(crew, leads), 0
    while part >= 0:
        task = crew[TASK]
        if task >= 0:
            do_part(task, part, *cycle)
        else:
            do_rows(-1 - task, part, between, row, *cycle[2:13], *numbers)
        done += 1
        part = take(crew, leads)
    return done


@kernel(inside=True, bare=True)
def do_rows(
    level, part, between, row, level_start, quad_start, quads, unit, inverse, hang_start, hang_node, singles_weight,
    back_start, back_row, back_weight, back_entry, row_start, diagonal, slot, weight, left_start, left_column,
    left_slot_start, left_slot, right_slot_start, right_slot, kept, row_island, scale, values, above,
):  # fmt: skip
    """Does a part of a level: rows of its own, or behind these rows of the next.

    Args:
        level, part, between, row: What, and work space.
        level_start, …, back_weight: Of the cycle, of all levels; quads, unit, inverse and both weights are written.
        back_entry: Which weight of all is that of each entry of the transposes, (W,).
        row_start, diagonal: Rows and blocks on the diagonal of all matrices, counted through.
        slot: Where in its row's quads each block goes.
        weight: Weights of all prolongations in 64 bits, (W,).
        left_start, left_column: Rows and columns of all products Pᵀ A, (N − n + 1,).
        left_slot_start, left_slot: Their `Terms`, (N − n + 1,) and (t,).
        right_slot_start, right_slot: Those of all products (Pᵀ A) P, (N − n + 1,) and (u,).
        kept: Which rows are solved for, (N,).
        row_island, scale: Island of every row, (N,), and the power of two that it is multiplied by, (k,).
        values: Blocks of the finest matrix, (b, 9).
        above: Blocks of all coarse matrices, (B − b, 9), out.
    """
    second = level_start[1]  # where coarse rows begin, and with its blocks what is in `above`
    lowest = np.int64(row_start[second])
    before = np.int64(0) if level == 0 else lowest
    blocks = values if level == 0 else above
    behind = fine_parts(level, level_start)
    if part < behind:
        first = level_start[level] + part * FINE_ROWS
        narrow_rows(
            first, min(first + FINE_ROWS, level_start[level + 1]), before, row_start, diagonal, blocks, kept,
            row_island, scale, quad_start, slot, quads, unit, inverse, hang_start, weight, singles_weight,
        )  # fmt: skip
    else:
        first = level_start[level + 1] + (part - behind) * COARSE_ROWS
        coarsen_rows(
            first, min(first + COARSE_ROWS, level_start[level + 2]), second, before, lowest, row_start, blocks,
            back_start, back_row, back_weight, back_entry, hang_start, weight, kept, left_start, left_column,
            left_slot_start, left_slot, right_slot_start, right_slot, between, row, above,
        )  # fmt: skip


@kernel(inside=True, bare=True)
def narrow_rows(
    first, last, before, row_start, diagonal, blocks, kept, row_island, scale, quad_start, slot, quads, unit,
    inverse, hang_start, weight, singles_weight,
):  # fmt: skip
    """Writes blocks in 16 bits and their unit, times the scale of their island, inverses of the diagonal and weights.

    `blocks` begin with block `before` of all.
    """
    for i in range(first, last):
        w = scale[row_island[i]]
        to = BLOCKS * np.int64(quad_start[i])
        unit[i] = w * narrow_row(row_start[i], row_start[i + 1], before, blocks, slot, to, quads)
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
def narrow_row(first, last, before, blocks, slot, to, quads):
    """Writes the blocks from `first` to `last`, a row's, to the slots of its quads, and returns the unit of the row.

    What rounding has taken from their sum comes to the diagonal: so what moves as a whole has the forces that it had.
    `blocks` begin with block `before` of all, the quads with slot `to`.
    """
    squares = nothing()
    for k in range(np.int64(first), np.int64(last)):
        p, q, r = block(9 * (k - before), blocks)
        squares = add_products(add_products(add_products(squares, p, p), q, q), r, r)
    unit = np.sqrt(total(squares)) / MOST  # no number is larger than the length of them all
    w = 1.0 / unit if unit > 0.0 else 0.0
    f, g, h = nothing(), nothing(), nothing()
    for k in range(np.int64(first), np.int64(last)):
        p, q, r = block(9 * (k - before), blocks)
        p, q, r = store_block(
            quads, to + np.int64(slot[k]), add(nothing(), w, p), add(nothing(), w, q), add(nothing(), w, r)
        )  # fmt: skip
        f, g, h = add(f, 1.0, p), add(g, 1.0, q), add(h, 1.0, r)
    store_block(quads, to, f, g, h)
    return unit


@kernel(contract=True, inside=True, bare=True)
def coarsen_rows(
    first, last, second, before, lowest, row_start, blocks, back_start, back_row, back_weight, back_entry, hang_start,
    weight, kept, left_start, left_column, left_slot_start, left_slot, right_slot_start, right_slot, between, row,
    above,
):  # fmt: skip
    """Writes the rows from `first` to `last` of (Pᵀ A) P for blocks of A and scalars of P.

    Rows of P that are not kept are none, nor are those of A read. `blocks` begin with block `before` of all, `above`
    with block `lowest`; what there is for coarse rows alone begins with row `second`.
    """
    for i in range(first, last):
        entry, end = np.int64(left_start[i - second]), np.int64(left_start[i - second + 1])
        clear(end - entry, between)
        term = np.int64(left_slot_start[i - second])
        for a in range(back_start[i], back_start[i + 1]):
            j = back_row[a]
            begin, behind = np.int64(row_start[j]), np.int64(row_start[j + 1])
            w = weight[back_entry[a]] if kept[j] else 0.0
            back_weight[a] = w
            if kept[j]:
                for b in range(begin, behind):
                    p, q, r = block(9 * (b - before), blocks)
                    add_block(w, p, q, r, 12 * np.int64(left_slot[term + (b - begin)]), between)
            term += behind - begin
        clear(row_start[i + 1] - row_start[i], row)
        term = np.int64(right_slot_start[i - second])
        for a in range(entry, end):
            j, at = left_column[a], 12 * (a - entry)
            begin, behind = np.int64(hang_start[j]), np.int64(hang_start[j + 1])
            if kept[j]:
                p, q, r = load_four(between, at), load_four(between, at + 4), load_four(between, at + 8)
                for b in range(begin, behind):
                    add_block(weight[b], p, q, r, 12 * np.int64(right_slot[term + (b - begin)]), row)
            term += behind - begin
        copy_row(row_start[i] - lowest, row_start[i + 1] - lowest, row, above)


@kernel(inline=True, inside=True, bare=True)
def block(at, blocks):
    """Returns the rows of the block that begins with number `at`.

    By two loads of four numbers: of lines that only loads of three ask for, some processors get none ahead of their
    use, and wait for each.
    """
    prefetch(blocks, at + 9 * AHEAD)
    return load_four(blocks, at), load_four(blocks, at + 3), load(blocks, at + 6)


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
