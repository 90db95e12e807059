# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients, preconditioned per node, with some nodes held.

Islands of rows that no block joins, such as the bodies of a scene, are solved side by side, each with its own
coefficients and its own end: a light body is solved as well beside a heavy one as alone, to the same bits. Those that
are coupled search together.

Held nodes are filtered: their rows are not solved, and what they do to the others enters through the
residual. Sums are taken per chunk of rows and then over the chunks in order, so the number of threads
changes no bit. Source: Baraff and Witkin 1998, section 5.2, for unknowns that are given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..runtime.arrays import Bools, Floats
from ..runtime.jit import thread_count
from ..runtime.threads.worker_team import worker_team
from .block_jacobi import invert_diagonal
from .block_pattern import BlockPattern
from .direct_small_islands import MAX_SMALL_ISLAND_NODES, solve_small_islands
from .element_by_element import ElementProducts
from .pcg_loop import conjugate_gradients
from .pcg_row_passes import BB, ISLAND_COLUMNS, SUMS_PER_CHUNK, VECTOR_COUNT
from .rigid_modes import RigidModes, coarse_correction, make_orthogonal
from .symmetric_spmv import NO_UPPER_HALF, cached_upper_half

# systems of fewer blocks are solved on one thread: a pass over them is over before the others have begun
MIN_BLOCKS_PER_THREAD = 8000
NO_DIRECTION = np.zeros((0, 3))
NO_MODES = RigidModes(np.zeros((0, 3)), np.zeros((0, 18)), np.zeros((0, 6, 6)))


@dataclass(frozen=True)
class SolveResult:
    """How a linear solve went.

    Attributes:
        iterations: Of the island that took most.
        residual: ‖b − A x‖ / ‖b‖ over the free nodes of an island, the largest of all islands, computed anew at
            the end. What held nodes add to the right-hand side counts as b.
        converged: Whether it is within the tolerance.
        taken_over: Whether block Jacobi alone did not do.
        work: What it took, in iterations of block Jacobi, roughly.
    """

    iterations: int
    residual: float
    converged: bool
    used_multigrid: bool = False
    work: float = 0.0

    @staticmethod
    def merge(*parts: SolveResult) -> SolveResult:
        """Returns how solves went that had some islands each; the residual is no number where that of one is none."""
        return SolveResult(
            max((part.iterations for part in parts), default=0),
            float(np.max([part.residual for part in parts], initial=0.0)),
            all(part.converged for part in parts),
            any(part.used_multigrid for part in parts),
            sum(part.work for part in parts),
        )


class Preconditioner(Protocol):
    """What takes over where block Jacobi would take long, such as `multigrid.EmbeddedLattices`."""

    def iteration_limit(self, pattern: BlockPattern, is_free: Bools, tolerance: float) -> tuple[int, int]:
        """Returns how many iterations of block Jacobi come first, over all rows, and where only some are left."""

    def solve(
        self,
        pattern: BlockPattern,
        values: Floats,
        b: Floats,
        is_free: Bools,
        x: Floats,
        tolerance: float,
        max_iterations: int,
        least: Floats | None,
        modes: RigidModes | None,
    ) -> tuple[int, float, float]:
        """Solves as `solve` does, from what `x` holds.

        Returns:
            The iterations, the largest relative residual, and what it took in iterations of block Jacobi.
        """


def solve(
    pattern: BlockPattern,
    values: Floats,
    b: Floats,
    is_free: Bools,
    x: Floats,
    tolerance: float,
    max_iterations: int,
    least: Floats | None = None,
    likely: Floats | None = None,
    modes: RigidModes | None = None,
    preconditioner: Preconditioner | None = None,
    besides: ElementProducts | None = None,
) -> SolveResult:
    """Solves A x = b for the free nodes, from what `x` holds.

    Args:
        pattern: Sparsity of A.
        values: Blocks of A, symmetric positive definite over the free nodes, (b, 9).
        b: Right-hand side, (n, 3).
        is_free: Which nodes are solved for, (n,).
        x: First guess, and the given values of the held nodes; overwritten with the solution, (n, 3).
        tolerance: Relative residual to reach.
        max_iterations: Products with A to spend at most, not counting those for residuals.
        least: What ‖b‖ counts for at least, per island, (k,); None: nothing.
        likely: A direction in which the solution is likely to lie from `x`, (n, 3): first x is moved along it as
            far as is best. None: there is none.
        modes: Motions of the islands as a whole, which are solved for exactly; None: they are not told apart.
        preconditioner: What goes on when its patience with block Jacobi is over; None: block Jacobi alone.
        besides: Tets whose stiffness belongs to A but is not in its blocks, in islands that are not coupled; block
            Jacobi alone knows of them.
    """
    if x.shape != b.shape or x.shape != (pattern.node_count, 3) or values.shape != (pattern.block_count, 9):
        raise ValueError(f"x {x.shape}, b {b.shape}, values {values.shape} do not fit {pattern.node_count} nodes")
    if pattern.smallest_island <= MAX_SMALL_ISLAND_NODES and besides is None:
        is_coupled = pattern.coupling.is_coupled() if pattern.coupling else np.zeros(0, bool)
        solve_small_islands(
            pattern.island_start, is_coupled, pattern.row_start, pattern.column, values, is_free, b, x
        )  # fmt: skip
    if modes is not None:
        coarse_correction(modes, pattern, b, x)
    whole = most = max_iterations
    if preconditioner is not None:
        whole, most = preconditioner.iteration_limit(pattern, is_free, tolerance)
        most = min(most, max_iterations)
    iterations, residual = 0, np.inf  # what takes over at once looks for itself
    if most > 0 or max_iterations == 0:
        iterations, residual = _solve_with_block_jacobi(
            pattern, values, b, is_free, x, tolerance, most, whole, least, likely, modes, besides
        )  # fmt: skip
    work = float(iterations)
    is_hard = preconditioner is not None and residual > tolerance and iterations < max_iterations
    if preconditioner is not None and is_hard:
        so_far = x.copy()
        more, found, effort = preconditioner.solve(
            pattern, values, b, is_free, x, tolerance, max_iterations - iterations, least, modes
        )
        iterations, work = iterations + more, work + effort
        left = max_iterations - iterations
        if found < residual:
            residual = found
        else:
            x[:] = so_far
        if residual > tolerance and left > 0:
            # lost in a matrix that is not quite positive, or in round-off: block Jacobi bears more of both
            rest = solve(pattern, values, b, is_free, x, tolerance, left, least, None, modes)
            return SolveResult(iterations + rest.iterations, rest.residual, rest.converged, True, work + rest.work)
    return SolveResult(iterations, float(residual), bool(residual <= tolerance), is_hard, work)


def _solve_with_block_jacobi(
    pattern: BlockPattern, values: Floats, b: Floats, is_free: Bools, x: Floats, tolerance: float, max_iterations: int,
    whole: int, least: Floats | None, likely: Floats | None, modes: RigidModes | None, besides: ElementProducts | None,
) -> tuple[int, float]:  # fmt: skip
    """Solves as `solve` does with neither small islands nor another preconditioner, from a balanced `x`.

    It ends after `max_iterations`, or as soon as it has gone through as many rows as `whole` iterations over all.

    Returns:
        The iterations, and the largest relative residual of an island.
    """
    inverse = np.empty((pattern.node_count, 9))
    if besides is not None:
        blocks = values[pattern.diagonal] + besides.diagonal(pattern.node_count)
        invert_diagonal(np.arange(pattern.node_count, dtype=np.uint32), is_free, blocks, inverse)
    p, vectors = np.empty((len(b) + 1, 3)), np.empty((VECTOR_COUNT * len(b), 3))
    if likely is None:
        likely = NO_DIRECTION
    elif modes is not None:
        likely = likely * is_free[:, None]
        make_orthogonal(modes, pattern, likely)
    # small systems on one thread, and then every island in one chunk, whose sums go through
    alone = (pattern.first_count or pattern.block_count) < MIN_BLOCKS_PER_THREAD
    chunk_start, chunk_island = pattern.chunk_start, pattern.chunk_island
    if alone:
        chunk_start, chunk_island = pattern.island_start, np.arange(pattern.island_count, dtype=np.uint32)
    half = None if alone else cached_upper_half(pattern)
    if half is not None:
        half.ring[:] = 0.0  # the first residual reads them, also where no product comes before it
    known = np.zeros((pattern.island_count, ISLAND_COLUMNS))
    if least is not None:
        known[:, BB] = np.square(least)
    z = modes or NO_MODES
    given = (
        chunk_start, chunk_island, *pattern.clusters, pattern.row_start, pattern.column, pattern.diagonal, values,
        *(half or NO_UPPER_HALF).arrays, inverse, is_free, b, float(tolerance), int(max_iterations),
        whole * pattern.node_count, p, vectors, likely,
        z.lever_arms, z.product, z.inverse, z.coupled and z.coupled.arrays,
        besides and besides.arrays(pattern, half.island if half else chunk_island),
        np.zeros((len(chunk_island), SUMS_PER_CHUNK)), known, x,
    )  # fmt: skip
    threads = 1 if alone else thread_count()
    with worker_team(threads, lambda crew, leads: conjugate_gradients(leads, crew, *given)) as crew:
        iterations, residual = conjugate_gradients(True, crew, *given)
    return int(iterations), float(residual)
