# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of the multigrid preconditioner for one matrix: coarse matrices, smoothers, factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ...arrays import Bools, Floats
from ...chance import draw
from ...geometry.chunks import run_ranges
from ...jit import kernel
from ..pattern import BlockPattern
from .cycle import DENSE, GATHER, POWER, SPREAD, START, STEP, run_passes
from .dense import factor
from .hierarchy import Hierarchy
from .product import FINE_ROWS, blocks_times_weights, weights_times_blocks

Singles = npt.NDArray[np.float32]

# Chebyshev's iteration works on eigenvalues of D⁻¹ A from the largest down to it over REACH
REACH = 12.0
# One step is enough on the finest level, where most of the time goes: over fewer eigenvalues
REACH_OF_ONE = 8.0
# A sum of semi-definite matrices of four nodes each has no larger one
MOST_OF_TETS = 4.0
# On coarse levels, and of other matrices, the power method finds it in so many steps, an even number, from below
POWER_STEPS = 10
SAFETY = 1.15


@dataclass(frozen=True, eq=False)
class Multigrid:
    """A preconditioner M ≈ A⁻¹ for one matrix; valid until the next `refresh` of its hierarchy.

    Attributes:
        hierarchy: Its levels.
        scale: Powers of two, by which the matrix of each island is multiplied to be of the order of one, (k,).
        values, inverse: Blocks of all levels and inverses of their diagonals in 32 bits, (B, 9), (N, 6).
        weight: Weights of all prolongations, zero at held nodes, (W,).
        factors: Of the coarsest matrices.
        largest: What the largest eigenvalue of D⁻¹ A is at most, per level but the coarsest, (l − 1,).
        tasks, numbers: The passes of a V-cycle, for `run_passes`.
        r, x, d: Right-hand side and result in their first n rows, and work space, (N, 3), (N, 3), (2, N, 3).
    """

    hierarchy: Hierarchy
    scale: Floats
    values: Singles
    inverse: Singles
    weight: Singles
    factors: Floats
    largest: Floats
    tasks: npt.NDArray[np.int64]
    numbers: Singles
    r: Singles
    x: Singles
    d: Singles


@dataclass(frozen=True)
class Work:
    """Arrays that every `refresh` of a hierarchy writes anew; see `Multigrid`.

    Attributes:
        scale, largest: As there; ones until the first `refresh`.
        blocks: Blocks of the coarse matrices in 64 bits, one array per level from 1 on.
        between: Blocks of A P of any level.
    """

    scale: Floats
    largest: Floats
    values: Singles
    inverse: Singles
    weight: Singles
    factors: Floats
    r: Singles
    x: Singles
    d: Singles
    blocks: list[Floats]
    between: Floats


_kept: WeakKeyDictionary[Hierarchy, Work] = WeakKeyDictionary()


def refresh(hierarchy: Hierarchy, pattern: BlockPattern, values: Floats, is_free: Bools) -> Multigrid:
    """Returns the preconditioner for a matrix.

    Args:
        hierarchy: Of the mesh.
        pattern: Sparsity of the matrix.
        values: Its blocks, symmetric positive definite over the free nodes, (b, 9).
        is_free: Which nodes are solved for, (n,).
    """
    work = _work(hierarchy)
    work.scale[:] = _scale(pattern, values, is_free)
    row_scale = work.scale[hierarchy.row_island]
    row_start, column, diagonal, blocks = pattern.row_start, pattern.column, pattern.diagonal, values
    kept, place, weights = is_free, 0, 0
    for level, coarsening in enumerate(hierarchy.coarsenings):
        hang, count = coarsening.hang, len(row_start) - 1
        first = int(hierarchy.level_start[level])
        weight = hang.weight
        if level == 0:
            weight = weight * np.repeat(is_free, np.diff(hang.start.astype(np.int64)))
        narrow(
            row_start, diagonal, blocks, kept, row_scale[first : first + count],
            work.values[place : place + len(blocks)], work.inverse[first : first + count],
        )  # fmt: skip
        work.weight[weights : weights + len(weight)] = weight
        between, above = work.between[: len(coarsening.right.column)], work.blocks[level]
        blocks_times_weights(coarsening.right, row_start, column, blocks, hang.start, weight, between)
        weights_times_blocks(
            coarsening.left, coarsening.back_start, weight[coarsening.back_entry], coarsening.back_row,
            coarsening.right.start, between, above,
        )  # fmt: skip
        place, weights = place + len(blocks), weights + len(weight)
        row_start, column, diagonal = coarsening.left.start, coarsening.left.column, coarsening.diagonal
        blocks, kept = above, np.ones(coarsening.coarse_count, bool)
    part_scale = row_scale[hierarchy.level_start[-2] + hierarchy.part_start[:-1]]
    factor(hierarchy.part_start, row_start, column, diagonal, blocks, part_scale, hierarchy.factors_start, work.factors)
    work.largest[:] = _largest(last_of(hierarchy))
    return last_of(hierarchy)


def last_of(hierarchy: Hierarchy) -> Multigrid:
    """Returns what the last `refresh` of a hierarchy has made, for other searches with the same matrix."""
    work = _work(hierarchy)
    work.r[:] = 0.0  # what an earlier search has left at held nodes may be no numbers
    return Multigrid(
        hierarchy, work.scale, work.values, work.inverse, work.weight, work.factors, work.largest,
        *v_cycle(work.largest), work.r, work.x, work.d,
    )  # fmt: skip


def v_cycle(largest: Floats) -> tuple[npt.NDArray[np.int64], Singles]:
    """Returns the passes of a V-cycle for the largest eigenvalues of D⁻¹ A per level, (l − 1,)."""
    down, up = [], []
    for level, high in enumerate(largest):
        if level == 0:
            one = one_step(high)
            down += [((START, 0, 1), (0.0, one)), ((STEP, 0, 0), (0.0, 0.0))]
            up.append([((SPREAD, 0, 1), (0.0, 1.0)), ((STEP, 0, 0), (0.0, one))])
            continue
        one, a, b = chebyshev(high)
        down += [((GATHER, level, 1), (0.0, one)), ((STEP, level, 0), (a, b)), ((STEP, level, 1), (0.0, 0.0))]
        up.append([((SPREAD, level, 1), (0.0, 1.0)), ((STEP, level, 0), (0.0, one)), ((STEP, level, 1), (a, b))])
    last = len(largest)
    bottom = [((GATHER, last, 1), (0.0, 0.0)), ((DENSE, last, 0), (0.0, 0.0))]
    passes = [*down, *bottom, *(p for level in reversed(up) for p in level)]
    tasks, numbers = zip(*passes, strict=True)
    return np.array(tasks, np.int64), np.array(numbers, np.float32)


def one_step(largest: float) -> float:
    """Returns the factor c of a single step d = c D⁻¹ r, best between `largest` / `REACH_OF_ONE` and `largest`."""
    return 2.0 / (largest + largest / REACH_OF_ONE)


def chebyshev(largest: float) -> tuple[float, float, float]:
    """Returns the factors of two steps, d = c D⁻¹ r and then d = a d + b D⁻¹ r, as (c, a, b).

    They are those whose error is smallest at worst between `largest` / `REACH` and `largest`.
    Source: Saad (2003), Iterative methods for sparse linear systems, algorithm 12.1.
    """
    high, low = largest, largest / REACH
    middle, half = 0.5 * (high + low), 0.5 * (high - low)
    sigma = middle / half
    rho = 1.0 / (2.0 * sigma - 1.0 / sigma)
    return 1.0 / middle, rho / sigma, 2.0 * rho / half


@kernel()
def narrow_rows(first, last, row_start, diagonal, blocks, is_free, scale, values, inverse):
    """Writes blocks times the scale of their row in 32 bits, (b, 9), and the inverses of their diagonal, (n, 6)."""
    for i in range(first, last):
        for k in range(row_start[i], row_start[i + 1]):
            for m in range(9):
                values[k, m] = scale[i] * blocks[k, m]
        A, out, w = blocks[diagonal[i]], inverse[i], scale[i]
        a, b, c, d, e, f = w * A[0], w * A[4], w * A[8], w * A[1], w * A[5], w * A[2]
        p, q, r = b * c - e * e, e * f - d * c, d * e - b * f
        det = a * p + d * q + f * r
        over = 1.0 / det if is_free[i] and det > 1.0e-14 * a * b * c else 0.0
        out[0], out[1], out[2] = over * p, over * (a * c - f * f), over * (a * b - d * d)
        out[3], out[4], out[5] = over * q, over * (f * d - a * e), over * r


def narrow(
    row_start: npt.NDArray, diagonal: npt.NDArray, blocks: Floats, is_free: Bools, scale: Floats, values: Singles,
    inverse: Singles,
) -> None:  # fmt: skip
    """Does `narrow_rows` for all rows."""

    def work(first: int, last: int) -> None:
        narrow_rows(first, last, row_start, diagonal, blocks, is_free, scale, values, inverse)

    run_ranges(0, len(diagonal), FINE_ROWS, work)


def _scale(pattern: BlockPattern, values: Floats, is_free: Bools) -> Floats:
    """Returns powers of two that bring the largest number on the diagonal of each island near one, (k,)."""
    blocks = values[pattern.diagonal]
    on_diagonal = np.maximum(np.maximum(blocks[:, 0], blocks[:, 4]), blocks[:, 8])
    largest = np.maximum.reduceat(on_diagonal * is_free, pattern.island_start[:-1].astype(np.int64))
    is_usable = (largest > 0.0) & np.isfinite(largest)
    return np.exp2(-np.round(np.log2(np.where(is_usable, largest, 1.0))))


def _largest(multigrid: Multigrid) -> Floats:
    """Returns what the largest eigenvalue of D⁻¹ A is at most, per level but the coarsest, a little too large."""
    starts, levels = multigrid.hierarchy.level_start, len(multigrid.hierarchy.coarsenings)
    known = 1 if multigrid.hierarchy.is_of_tets else 0
    d = multigrid.d
    first, last = starts[known], starts[levels]
    d[0, first:last] = draw(np.arange(3 * (last - first))).reshape(-1, 3) - 0.5
    tasks = [(POWER, level, step % 2) for step in range(POWER_STEPS) for level in range(known, levels)]
    if tasks:
        _run(multigrid, np.array(tasks), np.full((len(tasks), 2), [0.0, 1.0], np.float32))
    largest = [MOST_OF_TETS] * known
    for level in range(known, levels):
        before, after = (float(np.sum(np.square(d[side, starts[level] : starts[level + 1]]))) for side in (1, 0))
        largest.append(SAFETY * float(np.sqrt(after / before)) if before > 0.0 else 1.0)
    return np.array(largest)


def cycle_of(m: Multigrid) -> tuple[Any, ...]:
    """Returns what `run_passes` takes to write x = M r, r being overwritten.

    Both are in the first n rows of the arrays of the preconditioner, and scaled.
    """
    return _passes(m, m.tasks, m.numbers)


def _run(m: Multigrid, tasks: npt.NDArray[np.int64], numbers: Singles) -> None:
    run_passes(*_passes(m, tasks, numbers))


def _passes(m: Multigrid, tasks: npt.NDArray[np.int64], numbers: Singles) -> tuple[Any, ...]:
    h = m.hierarchy
    y = np.empty(3 * int(np.diff(h.part_start).max(initial=0)))
    return (
        tasks, numbers, h.level_start, h.all_start, h.all_column, m.values, m.inverse, h.hang_start, h.hang_node,
        m.weight, h.back_start, h.back_row, h.back_entry, h.part_start, h.factors_start, m.factors, y, m.r, m.x, m.d,
    )  # fmt: skip


def _work(hierarchy: Hierarchy) -> Work:
    if hierarchy not in _kept:
        rows = hierarchy.row_count
        _kept[hierarchy] = Work(
            scale=np.ones(int(hierarchy.row_island.max(initial=-1)) + 1),
            largest=np.ones(len(hierarchy.coarsenings)),
            values=np.zeros((len(hierarchy.all_column), 9), np.float32),
            inverse=np.zeros((rows, 6), np.float32),
            weight=np.zeros(len(hierarchy.hang_node), np.float32),
            factors=np.zeros(int(hierarchy.factors_start[-1])),
            r=np.zeros((rows, 3), np.float32),
            x=np.zeros((rows, 3), np.float32),
            d=np.zeros((2, rows, 3), np.float32),
            blocks=[np.empty((len(c.left.column), 9)) for c in hierarchy.coarsenings],
            between=np.empty((max(len(c.right.column) for c in hierarchy.coarsenings), 9)),
        )
    return _kept[hierarchy]
