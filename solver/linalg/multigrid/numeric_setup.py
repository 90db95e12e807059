# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of the multigrid preconditioner for one matrix: coarse matrices, smoothers, factors."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.counter_rng import uniform
from ...runtime.threads.thread_count import thread_count
from ...runtime.threads.worker_team import WorkerTeam, worker_team
from ..block_pattern import BlockPattern, UInt32s
from ..coupled_islands import Int64s
from .coarse_solve import factor_coarsest
from .cycle_schedule import MAX_TET_EIGENVALUE, cycle_schedule, smoother_factors
from .galerkin_products import GalerkinProducts, LeftProducts, LevelMatrices, RightProducts, setup_levels
from .hierarchy import Hierarchy
from .hierarchy_reuse import MultigridWorkspace
from .int16_block_placement import empty_quads
from .spectral_radius import island_scales, power_growth
from .v_cycle import POWER_ITERATION, Coarsest, Float32s, QuadMatrices, TransferWeights, VCycle

# The power method finds the largest eigenvalue of D⁻¹ A from below in so many steps, an even number
POWER_ITERATIONS, POWER_SAFETY_FACTOR = 10, 1.15
# Fewer on the finest level, where they are expensive. There the estimate is the largest growth of any
# GROWTH_WINDOW_ROWS rows in the last step, since a single flat tet may have an eigenvalue twice as large as all others.
# That was 0.82 to 1.08 times the true one for ten meshes, with flat tets and without. A smoothing step bears
# ρ / (ρ + 1) = 0.92 of it, ρ = CHEBYSHEV_EIGENVALUE_RATIO; where the estimate times its safety factor is less, the
# search notices. With 1.15 flesh of an elbow bent to 150° did not come to rest in 300 Newton iterations; with 1.3 it
# does in 63
QUICK_POWER_ITERATIONS, QUICK_POWER_SAFETY_FACTOR, GROWTH_WINDOW_ROWS = 4, 1.3, 8


@dataclass(frozen=True)
class MultigridArrays:
    """Arrays that every `numeric_setup` of a hierarchy writes anew, but for the last five; a workspace owns them.

    Attributes:
        refreshed: How often it was done, (1,).
        scale: Powers of two, by which the matrix of each island is multiplied to be of the order of one, (k,).
        largest: What the largest eigenvalue of D⁻¹ A is at most, per level but the coarsest, (l − 1,); ones at first.
        quads, unit: Blocks of all levels but the coarsest in fixed point, (q, 22), and the units of their rows, (N,).
        inverse: The inverses of their diagonals in 32 bits, (N, 6).
        weight, restriction_weight: Weights of all prolongations and of their transposes, zero at held nodes, (W,) each.
        factors, y: Of the coarsest matrices, and space for a part of them.
        r, x, d: Right-hand side and result in their first n rows, and work space, (N, 3), (N + 1, 3), (2, N, 3).
        kept: Which rows are solved for, (N,); all coarse ones are.
        above: Blocks of the coarse matrices in 64 bits.
        numbers: Factors a and b of the passes of a V-cycle, (p, 2).
        tasks, rows: These passes, and the row of `smoother_factors` with the factors of each.
        power_start, power_tasks, power_numbers: Where the power method begins, and its passes.
    """

    refreshed: npt.NDArray[np.int64]
    scale: Floats
    largest: Floats
    quads: UInt32s
    unit: Float32s
    inverse: Float32s
    weight: Float32s
    restriction_weight: Float32s
    factors: Floats
    y: Floats
    r: Float32s
    x: Float32s
    d: Float32s
    kept: Bools
    above: Floats
    numbers: Float32s
    tasks: npt.NDArray[np.int64]
    rows: Indices
    power_start: Float32s
    power_tasks: npt.NDArray[np.int64]
    power_numbers: Float32s


@dataclass(frozen=True, eq=False)
class Multigrid:
    """A preconditioner M ≈ A⁻¹ for one matrix; valid until the next `numeric_setup` of its hierarchy.

    Attributes:
        hierarchy: Its levels.
        work: Their numbers.
        number: Of the `numeric_setup` that has made it.
    """

    hierarchy: Hierarchy
    work: MultigridArrays
    number: int

    def is_valid(self) -> bool:
        """Whether no other matrix has been taken up since."""
        return self.number == self.work.refreshed[0]


def numeric_setup(
    hierarchy: Hierarchy, pattern: BlockPattern, values: Floats, is_free: Bools, workspace: MultigridWorkspace
) -> Multigrid:
    """Returns the preconditioner for a matrix.

    Args:
        hierarchy: Of the mesh.
        pattern: Sparsity of the matrix.
        values: Its blocks, symmetric positive definite over the free nodes, (b, 9).
        is_free: Which nodes are solved for, (n,).
        workspace: Whose arrays are written.
    """
    h, work = hierarchy, _arrays(hierarchy, workspace)
    island_scales(values, pattern.diagonal, is_free, pattern.island_start, work.scale)
    if pattern.coupling is not None:
        _share_scales(work.scale, *pattern.clusters)
    work.kept[: pattern.node_count] = is_free
    work.d[0, : len(work.power_start)] = work.power_start
    cycle = _make_cycle(h, work, work.power_tasks, work.power_numbers)
    matrices = LevelMatrices(
        h.all_start, h.all_diagonal, h.slot, work.kept, h.row_island, work.scale, values, work.above
    )
    products = GalerkinProducts(
        h.prolongation_weight,
        h.restriction_entry,
        LeftProducts(h.left.start, h.left_column, h.left.slot_start, h.left.slot),
        RightProducts(h.right.slot_start, h.right.slot),
    )

    def share_out(team: WorkerTeam, leads: bool) -> None:
        between, row = np.empty((h.left.max_row_length, 12)), np.empty((h.right.max_row_length, 12))
        setup_levels(leads, team, between, row, cycle, matrices, products)

    with worker_team(thread_count(), share_out) as team:
        share_out(team, True)
    last = h.level_start[-2]
    factor_coarsest(
        h.part_start,
        last,
        len(values),
        h.all_start,
        h.all_column,
        h.all_diagonal,
        work.above,
        work.scale[h.row_island[last + h.part_start[:-1]]],
        h.factors_start,
        work.factors,
    )
    work.largest[:] = _largest_eigenvalues(h, work)
    work.numbers[:] = smoother_factors(work.largest)[work.rows]
    work.refreshed[0] += 1
    return last_multigrid(h, workspace)


def _share_scales(scale: Floats, cluster_start: Int64s, members: Int64s) -> None:
    """Gives all islands of a cluster the scale of that with the largest numbers, (k,): the matrix stays symmetric."""
    least = np.minimum.reduceat(scale[members], cluster_start[:-1])
    scale[members] = np.repeat(least, np.diff(cluster_start))


def last_multigrid(hierarchy: Hierarchy, workspace: MultigridWorkspace) -> Multigrid:
    """Returns what the last `numeric_setup` of a hierarchy in a workspace has made.

    It serves other solves with this matrix or one like it.
    """
    work = _arrays(hierarchy, workspace)
    work.r[:] = 0.0  # what an earlier solve has left at held nodes may be no numbers
    return Multigrid(hierarchy, work, int(work.refreshed[0]))


def _largest_eigenvalues(hierarchy: Hierarchy, work: MultigridArrays) -> Floats:
    """Returns what the largest eigenvalue of D⁻¹ A is at most, per level but the coarsest, a little too large."""
    largest = np.ones(hierarchy.coarsest)
    for level, (first, end) in enumerate(itertools.pairwise(hierarchy.level_start[:-1].tolist())):
        window, safety = (
            (end - first, POWER_SAFETY_FACTOR) if level else (GROWTH_WINDOW_ROWS, QUICK_POWER_SAFETY_FACTOR)
        )
        largest[level] = safety * power_growth(first, end, window, *work.d)
    if hierarchy.is_tet_mesh:
        largest[0] = min(largest[0], MAX_TET_EIGENVALUE)
    return largest


def v_cycle(m: Multigrid) -> VCycle:
    """Returns the cycle that writes x = M r, r being overwritten.

    Both are in the first n rows of the arrays of the preconditioner, and scaled.
    """
    return _make_cycle(m.hierarchy, m.work, m.work.tasks, m.work.numbers)


def _make_cycle(h: Hierarchy, work: MultigridArrays, tasks: npt.NDArray[np.int64], steps: Float32s) -> VCycle:
    return VCycle(
        tasks,
        steps,
        h.level_start,
        QuadMatrices(h.quad_start, work.quads, work.unit, work.inverse),
        TransferWeights(h.prolongation_start, h.prolongation_node, work.weight),
        TransferWeights(h.restriction_start, h.restriction_row, work.restriction_weight),
        Coarsest(h.part_start, h.factors_start, work.factors, work.y),
        work.r,
        work.x,
        work.d,
    )


def _arrays(hierarchy: Hierarchy, workspace: MultigridWorkspace) -> MultigridArrays:
    if hierarchy not in workspace.arrays:
        workspace.arrays[hierarchy] = _make_arrays(hierarchy)
    return workspace.arrays[hierarchy]


def _make_arrays(h: Hierarchy) -> MultigridArrays:
    rows, coarsest = h.row_count, int(h.level_start[-2])
    tasks = [
        (POWER_ITERATION, level, step % 2)
        for step in range(POWER_ITERATIONS)
        for level in range(h.coarsest)
        if level or step < QUICK_POWER_ITERATIONS
    ]
    passes = cycle_schedule(h.coarsest)
    return MultigridArrays(
        refreshed=np.zeros(1, np.int64),
        scale=np.ones(int(h.row_island.max(initial=-1)) + 1),
        largest=np.ones(h.coarsest),
        quads=empty_quads(h.quad_start[: coarsest + 1], h.slot, h.all_start[: coarsest + 1], h.all_column),
        unit=np.zeros(rows, np.float32),
        inverse=np.zeros((rows, 6), np.float32),
        weight=np.zeros(len(h.prolongation_node), np.float32),
        restriction_weight=np.zeros(len(h.prolongation_node), np.float32),
        factors=np.zeros(int(h.factors_start[-1])),
        y=np.empty(3 * int(np.diff(h.part_start).max(initial=0))),
        r=np.zeros((rows, 3), np.float32),
        x=np.zeros((rows + 1, 3), np.float32),
        d=np.zeros((2, rows, 3), np.float32),
        kept=np.ones(rows, bool),
        above=np.empty((len(h.all_column) - int(h.all_start[h.level_start[1]]), 9)),
        numbers=np.zeros((len(passes.tasks), 2), np.float32),
        tasks=passes.tasks,
        rows=passes.row,
        power_start=(uniform(np.arange(3 * coarsest, dtype=np.int64)).reshape(-1, 3) - 0.5).astype(np.float32),
        power_tasks=np.array(tasks, np.int64).reshape(-1, 3),
        power_numbers=np.full((len(tasks), 2), [0.0, 1.0], np.float32),
    )
