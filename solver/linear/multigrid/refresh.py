# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of the multigrid preconditioner for one matrix: coarse matrices, smoothers, factors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ...arrays import Bools, Floats, Indices
from ...chance import draw
from ...geometry.crew import Crew, crew_of
from ...jit import thread_count
from ..pattern import BlockPattern
from .cycle import POWER
from .dense import factor
from .galerkin import refresh_levels
from .hierarchy import Hierarchy
from .passes import MOST_OF_TETS, passes_of, table

Singles = npt.NDArray[np.float32]

# The power method finds the largest eigenvalue of D⁻¹ A from below in so many steps, an even number
STEPS, SAFETY = 10, 1.15
# On the finest level, where they are dear, in fewer; there it counts how much the rows of any WINDOW grow in the last
# one, since a single flat tet may have one twice as large as all the others. That was 0.82 to 1.08 times the true one
# for ten meshes, with flat tets and without; a step of smoothing bears REACH / (REACH + 1) = 0.92 of it, and where what
# is found times its factor of safety is less, a search finds out. With 1.15 flesh of an elbow bent to 150° did not come
# to rest in 300 Newton iterations; with 1.3 it does in 63
FEW_STEPS, SAFETY_OF_FEW, WINDOW = 4, 1.3, 8
LEAST_GROWN = 1.0e-3  # of the mean: windows whose squares are less say nothing


@dataclass(frozen=True)
class Work:
    """Arrays that every `refresh` of a hierarchy writes anew, but for the last five.

    Attributes:
        refreshed: How often it was done, (1,).
        scale: Powers of two, by which the matrix of each island is multiplied to be of the order of one, (k,).
        largest: What the largest eigenvalue of D⁻¹ A is at most, per level but the coarsest, (l − 1,); ones at first.
        values, inverse: Blocks of all levels and inverses of their diagonals in 32 bits, (B, 9), (N, 6).
        weight: Weights of all prolongations, zero at held nodes, (W,).
        factors, y: Of the coarsest matrices, and space for a part of them.
        r, x, d: Right-hand side and result in their first n rows, and work space, (N, 3), (N, 3), (2, N, 3).
        kept: Which rows are solved for, (N,); all coarse ones are.
        above: Blocks of the coarse matrices in 64 bits.
        between: Blocks of A P of any level.
        numbers: Factors a and b of the passes of a V-cycle, (p, 2).
        tasks, rows: These passes, and the row of `passes.table` that each takes its factors from.
        power_start, power_tasks, power_numbers: Where the power method begins, and its passes.
    """

    refreshed: npt.NDArray[np.int64]
    scale: Floats
    largest: Floats
    values: Singles
    inverse: Singles
    weight: Singles
    factors: Floats
    y: Floats
    r: Singles
    x: Singles
    d: Singles
    kept: Bools
    above: Floats
    between: Floats
    numbers: Singles
    tasks: npt.NDArray[np.int64]
    rows: Indices
    power_start: Singles
    power_tasks: npt.NDArray[np.int64]
    power_numbers: Singles


@dataclass(frozen=True, eq=False)
class Multigrid:
    """A preconditioner M ≈ A⁻¹ for one matrix; valid until the next `refresh` of its hierarchy.

    Attributes:
        hierarchy: Its levels.
        work: Their numbers.
        number: Of the `refresh` that has made it.
    """

    hierarchy: Hierarchy
    work: Work
    number: int

    def is_valid(self) -> bool:
        """Whether no other matrix has been taken up since."""
        return self.number == self.work.refreshed[0]


_kept: WeakKeyDictionary[Hierarchy, Work] = WeakKeyDictionary()


def refresh(hierarchy: Hierarchy, pattern: BlockPattern, values: Floats, is_free: Bools) -> Multigrid:
    """Returns the preconditioner for a matrix.

    Args:
        hierarchy: Of the mesh.
        pattern: Sparsity of the matrix.
        values: Its blocks, symmetric positive definite over the free nodes, (b, 9).
        is_free: Which nodes are solved for, (n,).
    """
    h, work = hierarchy, _work(hierarchy)
    work.scale[:] = _scale(pattern, values, is_free)
    work.kept[: pattern.node_count] = is_free
    work.d[0, : len(work.power_start)] = work.power_start
    cycle = _passes(h, work, work.power_tasks, work.power_numbers)
    numbers = (
        h.all_diagonal, h.hang_weight, h.right.start, h.right.slot_start, h.right.slot, h.left.slot_start, h.left.slot,
        work.kept, h.row_island, work.scale, values, work.between, work.above,
    )  # fmt: skip

    def share_out(crew: Crew, leads: bool) -> None:
        refresh_levels(leads, crew, np.empty((max(h.right.widest, h.left.widest), 12)), cycle, numbers)

    with crew_of(thread_count(), share_out) as crew:
        share_out(crew, True)
    last = h.level_start[-2]
    factor(
        h.part_start, last, len(values), h.all_start, h.all_column, h.all_diagonal, work.above,
        work.scale[h.row_island[last + h.part_start[:-1]]], h.factors_start, work.factors,
    )  # fmt: skip
    work.largest[:] = _largest(h, work)
    work.numbers[:] = table(work.largest)[work.rows]
    work.refreshed[0] += 1
    return last_of(h)


def last_of(hierarchy: Hierarchy) -> Multigrid:
    """Returns what the last `refresh` of a hierarchy has made, for other searches with this matrix or one like it."""
    work = _work(hierarchy)
    work.r[:] = 0.0  # what an earlier search has left at held nodes may be no numbers
    return Multigrid(hierarchy, work, int(work.refreshed[0]))


def _scale(pattern: BlockPattern, values: Floats, is_free: Bools) -> Floats:
    """Returns powers of two that bring the largest number on the diagonal of each island near one, (k,)."""
    on_diagonal = values.reshape(-1).take(pattern.on_diagonal).max(axis=0)
    largest = np.maximum.reduceat(on_diagonal * is_free, pattern.island_start[:-1].astype(np.int64))
    is_usable = (largest > 0.0) & np.isfinite(largest)
    return np.exp2(-np.round(np.log2(np.where(is_usable, largest, 1.0))))


def _largest(hierarchy: Hierarchy, work: Work) -> Floats:
    """Returns what the largest eigenvalue of D⁻¹ A is at most, per level but the coarsest, a little too large."""
    largest = np.ones(hierarchy.coarsest)
    for level in range(hierarchy.coarsest):
        d = work.d[:, hierarchy.level_start[level] : hierarchy.level_start[level + 1]]
        largest[level] = SAFETY * _growth(d, d.shape[1]) if level else SAFETY_OF_FEW * _growth(d, WINDOW)
    if hierarchy.is_of_tets:
        largest[0] = min(largest[0], MOST_OF_TETS)
    return largest


def _growth(d: Singles, window: int) -> float:
    """Returns how much longer d[0] is than d[1], (n, 3) each, in those of every `window` rows where it is most."""
    after, before = np.add.reduceat(np.einsum("skx,skx->sk", d, d), np.arange(0, d.shape[1], window), axis=1)
    told = before > LEAST_GROWN * before.mean()
    return math.sqrt(float(np.max(after[told] / before[told]))) if told.any() else 1.0


def cycle_of(m: Multigrid) -> tuple[Any, ...]:
    """Returns what `run_passes` takes to write x = M r, r being overwritten.

    Both are in the first n rows of the arrays of the preconditioner, and scaled.
    """
    return _passes(m.hierarchy, m.work, m.work.tasks, m.work.numbers)


def _passes(h: Hierarchy, work: Work, tasks: npt.NDArray[np.int64], numbers: Singles) -> tuple[Any, ...]:
    return (
        tasks, numbers, h.level_start, h.all_start, h.all_column, work.values, work.inverse, h.hang_start, h.hang_node,
        work.weight, h.back_start, h.back_row, h.back_entry, h.part_start, h.factors_start, work.factors, work.y,
        work.r, work.x, work.d,
    )  # fmt: skip


def _work(hierarchy: Hierarchy) -> Work:
    if hierarchy not in _kept:
        _kept[hierarchy] = _make_work(hierarchy)
    return _kept[hierarchy]


def _make_work(h: Hierarchy) -> Work:
    rows, coarsest = h.row_count, int(h.level_start[-2])
    tasks = [
        (POWER, level, step % 2) for step in range(STEPS) for level in range(h.coarsest) if level or step < FEW_STEPS
    ]
    begins = h.right.start[h.level_start[:-1]].astype(np.int64)
    passes = passes_of(h.coarsest)
    return Work(
        refreshed=np.zeros(1, np.int64),
        scale=np.ones(int(h.row_island.max(initial=-1)) + 1),
        largest=np.ones(h.coarsest),
        values=np.zeros((len(h.all_column), 9), np.float32),
        inverse=np.zeros((rows, 6), np.float32),
        weight=np.zeros(len(h.hang_node), np.float32),
        factors=np.zeros(int(h.factors_start[-1])),
        y=np.empty(3 * int(np.diff(h.part_start).max(initial=0))),
        r=np.zeros((rows, 3), np.float32),
        x=np.zeros((rows, 3), np.float32),
        d=np.zeros((2, rows, 3), np.float32),
        kept=np.ones(rows, bool),
        above=np.empty((len(h.all_column) - int(h.all_start[h.level_start[1]]), 9)),
        between=np.empty((int(np.diff(begins).max()), 9)),
        numbers=np.zeros((len(passes.tasks), 2), np.float32),
        tasks=passes.tasks,
        rows=passes.row,
        power_start=(draw(np.arange(3 * coarsest)).reshape(-1, 3) - 0.5).astype(np.float32),
        power_tasks=np.array(tasks, np.int64).reshape(-1, 3),
        power_numbers=np.full((len(tasks), 2), [0.0, 1.0], np.float32),
    )
