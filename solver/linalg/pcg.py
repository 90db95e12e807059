# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients, preconditioned per node, with some nodes fixed.

Islands of rows that no block joins, such as the bodies of a scene, are solved side by side, each with its own
coefficients and its own stopping test: a light body is solved as accurately beside a heavy one as alone, to the same
bits. Coupled islands share their coefficients.

Fixed nodes are filtered: their rows are not solved, and their values enter the other rows through the residual. Sums
are taken per chunk of rows and then over the chunks in order, so the number of threads changes no bit. Source: Baraff
and Witkin 1998, section 5.2, for given unknowns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from ..runtime.arrays import Bools, Floats
from ..runtime.threads.thread_count import thread_count
from ..runtime.threads.worker_team import worker_team
from .block_jacobi import invert_diagonal
from .block_pattern import BlockPattern
from .block_system import BlockSystem, MatrixArrays, PcgWorkspace, StoppingCriteria
from .convergence_rate import RateCheck
from .coupled_aggregates import coupled_aggregates
from .direct_small_islands import MAX_SMALL_ISLAND_NODES, solve_small_islands
from .element_by_element import ElementProducts
from .island_cholesky import chunks_of_factors, island_factor_arrays
from .pcg_loop import conjugate_gradients
from .pcg_row_passes import (
    BB,
    ISLAND_COLUMNS,
    SUMS_PER_CHUNK,
    VECTOR_COUNT,
    IslandArrays,
    ModeArrays,
    PcgLimits,
    PcgVectors,
)
from .rigid_modes import RigidModes, coarse_correction, make_orthogonal
from .symmetric_spmv import NO_UPPER_HALF, upper_half

# systems of fewer blocks are solved on one thread: a pass over them ends before other threads have begun
MIN_BLOCKS_PER_THREAD = 8000
NO_DIRECTION = np.zeros((0, 3))
NO_MODES = RigidModes(np.zeros((0, 3)), np.zeros((0, 18)), np.zeros((0, 6, 6)))


@dataclass(frozen=True)
class SolveResult:
    """How a linear solve went.

    Attributes:
        iterations: Iterations of the island that took most.
        residual: ‖b − A x‖ / ‖b‖ over the free nodes of an island, the largest of all islands, computed anew at
            the end. The products with fixed nodes on the right-hand side count as part of b.
        converged: Whether the residual is within the tolerance.
        used_multigrid: Whether block Jacobi alone did not converge.
        work: Cost in iterations of block Jacobi, roughly.
    """

    iterations: int
    residual: float
    converged: bool
    used_multigrid: bool = False
    work: float = 0.0

    @staticmethod
    def merge(*parts: SolveResult) -> SolveResult:
        """Returns the result of solves of different islands; the residual is NaN where one of them is."""
        return SolveResult(
            max((part.iterations for part in parts), default=0),
            float(np.max([part.residual for part in parts], initial=0.0)),
            all(part.converged for part in parts),
            any(part.used_multigrid for part in parts),
            sum(part.work for part in parts),
        )


class PreconditionedSolve(NamedTuple):
    """What a preconditioner has done.

    Attributes:
        iterations: How many it took.
        residual: The largest relative residual of an island.
        work: Cost in iterations of block Jacobi.
        successor: What continues where block Jacobi, whose turn it then is, does not arrive either; None: nothing.
    """

    iterations: int
    residual: float
    work: float
    successor: Preconditioner | None = None


class Preconditioner(Protocol):
    """A solver that continues where block Jacobi would take long, such as `LatticeMultigrid`."""

    def iteration_limit(self, pattern: BlockPattern, is_free: Bools, tolerance: float) -> tuple[int, int]:
        """Returns how many iterations of block Jacobi come first, over all rows, and where only some are left."""

    def rate_check(self, stopping: StoppingCriteria) -> RateCheck:
        """Returns what makes block Jacobi so fast that it goes on after these iterations."""

    def solve(
        self,
        system: BlockSystem,
        x: Floats,
        stopping: StoppingCriteria,
        modes: RigidModes | None,
        workspace: PcgWorkspace,
        jacobi_rate: float | None,
    ) -> PreconditionedSolve:
        """Solves as `solve` does, from what `x` holds, after block Jacobi with this rate (`RateCheck.rate`)."""


def solve(
    system: BlockSystem,
    x: Floats,
    stopping: StoppingCriteria,
    initial_direction: Floats | None = None,
    modes: RigidModes | None = None,
    preconditioner: Preconditioner | None = None,
    element_terms: ElementProducts | None = None,
    workspace: PcgWorkspace | None = None,
) -> SolveResult:
    """Solves A x = b for the free nodes, from what `x` holds.

    Args:
        system: A, symmetric positive definite over the free nodes, and b.
        x: First guess, and the given values of the fixed nodes; overwritten with the solution, (n, 3).
        stopping: When it stops.
        initial_direction: A direction along which x is first moved as far as is best, (n, 3). None: there is none.
        modes: Motions of the islands as a whole, which are solved for exactly; None: they are not.
        preconditioner: Continues after its limit of iterations of block Jacobi; None: block Jacobi alone.
        element_terms: Tets whose stiffness belongs to A but is not in its blocks, in islands that are not coupled;
            block Jacobi alone takes them.
        workspace: Work arrays, which no other solve uses meanwhile; None: new ones.
    """
    pattern, values, b, is_free = system.pattern, system.values, system.b, system.is_free
    tolerance, max_iterations = stopping.tolerance, stopping.max_iterations
    if x.shape != b.shape or x.shape != (pattern.node_count, 3) or values.shape != (pattern.block_count, 9):
        raise ValueError(f"x {x.shape}, b {b.shape}, values {values.shape} do not fit {pattern.node_count} nodes")
    workspace = workspace or PcgWorkspace()
    if pattern.smallest_island <= MAX_SMALL_ISLAND_NODES and element_terms is None:
        is_coupled = pattern.coupling.is_coupled() if pattern.coupling else np.zeros(0, bool)
        solve_small_islands(pattern.island_start, is_coupled, pattern.row_start, pattern.column, values, is_free, b, x)
    if modes is not None:
        coarse_correction(modes, pattern, b, x)
    whole = limit = max_iterations
    rate_check = RateCheck.of_block_jacobi()
    if preconditioner is not None:
        whole, limit = preconditioner.iteration_limit(pattern, is_free, tolerance)
        rate_check = preconditioner.rate_check(stopping)
    iterations, residual = 0, np.inf  # a preconditioner that begins at once computes the residual itself
    if limit > 0 or max_iterations == 0:
        block_jacobi = BlockJacobiSolve(modes, initial_direction, element_terms, workspace)
        limits = PcgLimits(float(tolerance), int(max_iterations), limit, whole * pattern.node_count, rate_check)
        iterations, residual = block_jacobi.run(system, x, limits, stopping.norm_floor)
    work = float(iterations)
    is_hard = preconditioner is not None and residual > tolerance and iterations < max_iterations
    if preconditioner is not None and is_hard:
        previous = x.copy()
        remaining = replace(stopping, max_iterations=max_iterations - iterations)
        found = preconditioner.solve(system, x, remaining, modes, workspace, rate_check.rate)
        iterations, work = iterations + found.iterations, work + found.work
        if found.residual < residual:
            residual = found.residual
        else:
            x[:] = previous
        if residual > tolerance and iterations < max_iterations:
            # slow, or diverged in a matrix that is not quite positive, or by round-off: block Jacobi tolerates more
            remaining = replace(stopping, max_iterations=max_iterations - iterations)
            rest = solve(system, x, remaining, modes=modes, preconditioner=found.successor, workspace=workspace)
            return SolveResult(iterations + rest.iterations, rest.residual, rest.converged, True, work + rest.work)
    return SolveResult(iterations, float(residual), bool(residual <= tolerance), is_hard, work)


@dataclass(frozen=True)
class BlockJacobiSolve:
    """Conjugate gradients with block Jacobi, with neither small islands nor another preconditioner.

    Attributes:
        modes, initial_direction, element_terms, workspace: As for `solve`.
    """

    modes: RigidModes | None
    initial_direction: Floats | None
    element_terms: ElementProducts | None
    workspace: PcgWorkspace

    def run(self, system: BlockSystem, x: Floats, limits: PcgLimits, norm_floor: Floats | None) -> tuple[int, float]:
        """Solves from an `x` that the modes have corrected.

        Args:
            system, x: As for `solve`.
            limits: When it ends.
            norm_floor: As in `StoppingCriteria`.

        Returns:
            The iterations, and the largest relative residual of an island.
        """
        pattern = system.pattern
        # small systems on one thread, and then every island in one chunk, whose sums are taken in one go
        is_small = (pattern.first_count or pattern.block_count) < MIN_BLOCKS_PER_THREAD
        chunk_start, chunk_island = pattern.chunk_start, pattern.chunk_island
        if is_small:
            chunk_start, chunk_island = pattern.island_start, np.arange(pattern.island_count, dtype=np.uint32)
        chosen = system.factored_islands
        if chosen is not None and not is_small:
            chunk_start, chunk_island = chunks_of_factors(pattern, chosen)
        half = None if is_small or chosen is not None else upper_half(pattern)
        scalars = np.zeros((pattern.island_count, ISLAND_COLUMNS))
        if norm_floor is not None:
            scalars[:, BB] = np.square(norm_floor)
        modes, terms = self.modes or NO_MODES, self.element_terms
        matrix = MatrixArrays(
            chunk_start,
            chunk_island,
            pattern.row_start,
            pattern.column,
            pattern.diagonal,
            system.values,
            system.is_free,
        )
        given = (
            limits,
            matrix,
            half.with_workspace(self.workspace) if half else NO_UPPER_HALF,
            self._vectors(system, x),
            ModeArrays(modes.lever_arms, modes.product, modes.inverse),
            modes.coupled and modes.coupled.arrays,
            modes.coupled and island_factor_arrays(pattern, chosen, self.workspace),
            modes.coupled and coupled_aggregates(pattern, system.values, system.is_free, chosen),
            terms and terms.arrays(pattern, half.island if half else chunk_island),
            IslandArrays(*pattern.clusters, scalars, np.zeros((len(chunk_island), SUMS_PER_CHUNK))),
        )
        threads = 1 if is_small else thread_count()
        with worker_team(threads, lambda team, is_leader: conjugate_gradients(is_leader, team, *given)) as team:
            iterations, residual = conjugate_gradients(True, team, *given)
        return int(iterations), float(residual)

    def _vectors(self, system: BlockSystem, x: Floats) -> PcgVectors:
        count, work = system.pattern.node_count, self.workspace
        direction, inverse = self.initial_direction, work.array("inverse_diagonal", count, 9)
        if self.element_terms is not None:
            blocks = system.values[system.pattern.diagonal] + self.element_terms.diagonal(count)
            invert_diagonal(np.arange(count, dtype=np.uint32), system.is_free, blocks, inverse)
        if direction is None:
            direction = NO_DIRECTION
        elif self.modes is not None:
            direction = direction * system.is_free[:, None]
            make_orthogonal(self.modes, system.pattern, direction)
        return PcgVectors(
            b=system.b,
            x=x,
            p=work.array("direction", count + 1, 3),
            work=work.array("pcg_vectors", VECTOR_COUNT * count, 3),
            initial_direction=direction,
            inverse=inverse,
        )
