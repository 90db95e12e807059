# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of all levels for one matrix: Galerkin's coarse matrices Pᵀ A P, and what the smoothers read.

Each level is one pass, whose parts the threads of a `WorkerTeam` share out: the rows of the level are rounded for its
smoother, and those of the next level made, (Pᵀ A) P, each by one thread, term by term in the order of the
`SparseProduct`. So a row of Pᵀ A stays in the caches of its thread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from ...runtime.simd.block_row_product import PREFETCH_BLOCKS
from ...runtime.simd.int16_block_layout import BLOCKS_PER_QUAD
from ...runtime.simd.int16_block_rows import MAX_ROUNDABLE, store_block
from ...runtime.simd.vec3 import (
    block3_load,
    vec3_axpy,
    vec3_fma,
    vec3_store,
    vec3_sum,
    vec3_zero,
    vec4_load,
    vec4_store,
)
from ...runtime.threads.worker_team import TASK, await_wakeup, claim, is_finished, join, publish, report_done
from ..block_pattern import UInt32s
from .lattice_coarsening import Int64s
from .v_cycle import lead_cycle, run_part

# rows that a thread takes at a time: those of coarse matrices have many more terms
FINE_ROWS_PER_CHUNK, COARSE_ROWS_PER_CHUNK = 256, 32
# a block that is as good as singular has no inverse
MIN_RELATIVE_DETERMINANT = 1.0e-14


class LevelMatrices(NamedTuple):
    """The matrices of all levels, rows and blocks counted through.

    Attributes:
        start, diagonal: First block of each row, and that on its diagonal, (N + 1,), (N,).
        slot: Where in its row's quads each block goes.
        kept: Which rows are solved for, (N,).
        island, scale: Island of every row, (N,), and the power of two that it is multiplied by, (k,).
        finest: Blocks of the finest matrix, (b, 9).
        above: Those of all coarse ones, (B − b, 9), out.
    """

    start: UInt32s
    diagonal: UInt32s
    slot: UInt32s
    kept: Bools
    island: Int64s
    scale: Floats
    finest: Floats
    above: Floats


class LeftProducts(NamedTuple):
    """Rows and columns of all products Pᵀ A, and their `ProductTerms`, (N − n + 1,), (c,), (N − n + 1,), (t,)."""

    start: UInt32s
    column: UInt32s
    slot_start: UInt32s
    slot: UInt32s


class RightProducts(NamedTuple):
    """The `ProductTerms` of all products (Pᵀ A) P, (N − n + 1,) and (u,)."""

    slot_start: UInt32s
    slot: UInt32s


class GalerkinProducts(NamedTuple):
    """How the coarse matrices come about; n of the N rows are those of the finest.

    Attributes:
        weight: Entries of all P in 64 bits, (W,).
        restriction_entry: Which of them each of the transposes has, (W,).
        left, right: Where the terms of Pᵀ A and (Pᵀ A) P go.
    """

    weight: Floats
    restriction_entry: UInt32s
    left: LeftProducts
    right: RightProducts


@kernel(no_refcount=True)
def setup_levels(leads, team, between, row, cycle, matrices, products):
    """Writes the numbers of all levels but the coarsest, whose matrix is left in 64 bits, then does the cycle's passes.

    Args:
        leads: Whether this thread leads the `team`; others of it only share in the passes.
        team: Words of a `WorkerTeam`.
        between, row: Work space of this thread for rows of Pᵀ A and (Pᵀ A) P, (widest, 12) each.
        cycle: A `VCycle`, whose quads, unit, inverse and both weights are written.
        matrices, products: `LevelMatrices` and `GalerkinProducts`.
    """
    if not leads:
        while not is_finished(team):
            report_done(team, work_on_pass(leads, team, between, row, cycle, matrices, products))
        await_wakeup(team)
        return
    level_start = cycle.level_start
    for level in range(len(level_start) - 2):
        team[TASK] = -1 - level
        above = chunk_count(level_start[level + 2] - level_start[level + 1], COARSE_ROWS_PER_CHUNK)
        publish(team, fine_chunk_count(level, level_start) + above)
        join(team, work_on_pass(leads, team, between, row, cycle, matrices, products))
    lead_cycle(0, len(cycle.tasks), team, cycle)


@kernel(device_only=True, no_refcount=True)
def chunk_count(rows, at_once):
    """Returns into how many parts so many rows go."""
    return (rows + at_once - 1) // at_once


@kernel(device_only=True, no_refcount=True)
def fine_chunk_count(level, level_start):
    """Returns how many parts of a pass are those of the level itself."""
    return chunk_count(level_start[level + 1] - level_start[level], FINE_ROWS_PER_CHUNK)


@kernel(device_only=True, no_refcount=True)
def work_on_pass(leads, team, between, row, cycle, matrices, products):
    """Takes part in a pass until none of it is left; returns how many parts were done."""
    part, done = claim(team, leads), 0
    while part >= 0:
        task = team[TASK]
        if task >= 0:
            run_part(task, part, cycle)
        else:
            setup_rows(-1 - task, part, between, row, cycle, matrices, products)
        done += 1
        part = claim(team, leads)
    return done


@kernel(inline=True, device_only=True, no_refcount=True)
def setup_rows(level, part, between, row, cycle, matrices, products):
    """Does a part of a level: rows of its own, or behind these rows of the next."""
    level_start, blocks, weight = cycle.level_start, matrices.above, products.weight
    second = level_start[1]  # where coarse rows begin, and with its blocks what is in `above`
    before = np.int64(matrices.start[second])
    if level == 0:
        before, blocks = np.int64(0), matrices.finest
    behind = fine_chunk_count(level, level_start)
    if part < behind:
        first = level_start[level] + part * FINE_ROWS_PER_CHUNK
        end = min(first + FINE_ROWS_PER_CHUNK, level_start[level + 1])
        quantize_rows(first, end, before, blocks, matrices, weight, cycle.prolongation, cycle.quads)
    else:
        first = level_start[level + 1] + (part - behind) * COARSE_ROWS_PER_CHUNK
        end = min(first + COARSE_ROWS_PER_CHUNK, level_start[level + 2])
        galerkin_rows(
            first, end, second, before, blocks, matrices, products, cycle.prolongation, cycle.restriction, between, row
        )


@kernel(device_only=True, no_refcount=True)
def quantize_rows(first, last, before, blocks, matrices, weight, prolongation, out):
    """Writes `QuadMatrices`, times the scale of each island, and weights in 32 bits.

    `blocks` begin with block `before` of all.
    """
    start, diagonal, slot, kept, island, scale, _, _ = matrices
    prolongation_start, _, prolongation_weight = prolongation
    quad_start, quads, unit, inverse = out
    for i in range(first, last):
        w = scale[island[i]]
        to = BLOCKS_PER_QUAD * np.int64(quad_start[i])
        unit[i] = w * quantize_row(start[i], start[i + 1], before, blocks, slot, to, quads)
        A, M = blocks[diagonal[i] - before], inverse[i]
        a, b, c, d, e, f = w * A[0], w * A[4], w * A[8], w * A[1], w * A[5], w * A[2]
        p, q, r = b * c - e * e, e * f - d * c, d * e - b * f
        det = a * p + d * q + f * r
        over = 1.0 / det if kept[i] and det > MIN_RELATIVE_DETERMINANT * a * b * c else 0.0
        M[0], M[1], M[2] = over * p, over * (a * c - f * f), over * (a * b - d * d)
        M[3], M[4], M[5] = over * q, over * (f * d - a * e), over * r
        for k in range(prolongation_start[i], prolongation_start[i + 1]):
            prolongation_weight[k] = weight[k] if kept[i] else 0.0


@kernel(allow_fma=True, device_only=True, no_refcount=True)
def quantize_row(first, last, before, blocks, slot, to, quads):
    """Writes the blocks from `first` to `last`, a row's, to the slots of its quads, and returns the unit of the row.

    What rounding has taken from their sum comes to the diagonal: so what moves as a whole has the forces that it had.
    `blocks` begin with block `before` of all, the quads with slot `to`.
    """
    squares = vec3_zero()
    for k in range(np.int64(first), np.int64(last)):
        p, q, r = block3_load(blocks, k - before, PREFETCH_BLOCKS)
        squares = vec3_fma(vec3_fma(vec3_fma(squares, p, p), q, q), r, r)
    unit = np.sqrt(vec3_sum(squares)) / MAX_ROUNDABLE  # no number is larger than the length of them all
    w = 1.0 / unit if unit > 0.0 else 0.0
    f, g, h = vec3_zero(), vec3_zero(), vec3_zero()
    for k in range(np.int64(first), np.int64(last)):
        p, q, r = block3_load(blocks, k - before, PREFETCH_BLOCKS)
        p, q, r = store_block(
            quads,
            to + np.int64(slot[k]),
            vec3_axpy(vec3_zero(), w, p),
            vec3_axpy(vec3_zero(), w, q),
            vec3_axpy(vec3_zero(), w, r),
        )
        f, g, h = vec3_axpy(f, 1.0, p), vec3_axpy(g, 1.0, q), vec3_axpy(h, 1.0, r)
    store_block(quads, to, f, g, h)
    return unit


@kernel(allow_fma=True, device_only=True, no_refcount=True)
def galerkin_rows(first, last, second, before, blocks, matrices, products, prolongation, restriction, between, row):
    """Writes the rows from `first` to `last` of (Pᵀ A) P for blocks of A and scalars of P.

    Rows of P that are not kept are none, nor are those of A read. `blocks` begin with block `before` of all; what there
    is for coarse rows alone begins with row `second`.
    """
    start, kept, above = matrices.start, matrices.kept, matrices.above
    weight, restriction_entry, left, right = products
    left_start, left_column, left_slot_start, left_slot = left
    right_slot_start, right_slot = right
    prolongation_start, (restriction_start, restriction_row, restriction_weight) = prolongation.start, restriction
    lowest = np.int64(start[second])
    for i in range(first, last):
        entry, end = np.int64(left_start[i - second]), np.int64(left_start[i - second + 1])
        clear_blocks(end - entry, between)
        term = np.int64(left_slot_start[i - second])
        for a in range(restriction_start[i], restriction_start[i + 1]):
            j = restriction_row[a]
            begin, behind = np.int64(start[j]), np.int64(start[j + 1])
            w = weight[restriction_entry[a]] if kept[j] else 0.0
            restriction_weight[a] = w
            if kept[j]:
                for b in range(begin, behind):
                    p, q, r = block3_load(blocks, b - before, PREFETCH_BLOCKS)
                    add_scaled_block(w, p, q, r, 12 * np.int64(left_slot[term + (b - begin)]), between)
            term += behind - begin
        clear_blocks(np.int64(start[i + 1] - start[i]), row)
        term = np.int64(right_slot_start[i - second])
        for a in range(entry, end):
            j, at = left_column[a], 12 * (a - entry)
            begin, behind = np.int64(prolongation_start[j]), np.int64(prolongation_start[j + 1])
            if kept[j]:
                p, q, r = vec4_load(between, at), vec4_load(between, at + 4), vec4_load(between, at + 8)
                for b in range(begin, behind):
                    add_scaled_block(weight[b], p, q, r, 12 * np.int64(right_slot[term + (b - begin)]), row)
            term += behind - begin
        copy_row(start[i] - lowest, start[i + 1] - lowest, row, above)


@kernel(inline=True, device_only=True, no_refcount=True)
def clear_blocks(count, row):
    """Makes the first blocks of a row zero."""
    for c in range(0, 12 * count, 4):
        vec4_store(row, c, vec3_zero())


@kernel(allow_fma=True, inline=True, device_only=True, no_refcount=True)
def add_scaled_block(w, p, q, r, place, row):
    """Adds w times a block of rows p, q, r."""
    vec4_store(row, place, vec3_axpy(vec4_load(row, place), w, p))
    vec4_store(row, place + 4, vec3_axpy(vec4_load(row, place + 4), w, q))
    vec4_store(row, place + 8, vec3_axpy(vec4_load(row, place + 8), w, r))


@kernel(inline=True, device_only=True, no_refcount=True)
def copy_row(first, last, row, out):
    """Writes a row to the blocks from `first` to `last` of a matrix, (c, 9)."""
    place = 0
    for c in range(9 * first, 9 * last, 3):
        vec3_store(out, c, vec4_load(row, place))
        place += 4
