# SPDX-License-Identifier: GPL-3.0-or-later
"""Multigrid preconditioner over lattices, and how many iterations of block Jacobi come before it.

Their number depends on the size of the system and on the tolerance, never on a clock. Multigrid itself (`solve.py`) is
loaded when it takes over: most bakes never need it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...runtime.arrays import Bools, Floats
from ..block_pattern import BlockPattern
from ..block_system import BlockSystem, PcgWorkspace, StoppingCriteria
from ..convergence_rate import RateCheck
from ..rigid_modes import RigidModes
from .hierarchy_reuse import MultigridWorkspace, ReusedHierarchy
from .preconditioner_rates import MeasuredRates

if TYPE_CHECKING:  # it loads kernels
    from ..pcg import PreconditionedSolve

# A relative residual as small as this is asked for, of a stiffness without masses: multigrid from the start. Where less
# is asked for, block Jacobi may be done before multigrid is set up
IMMEDIATE_TOLERANCE = 5.0e-3
# Else where block Jacobi has not arrived after so many iterations: to set up multigrid takes about as long
JACOBI_ITERATIONS = 50
# The same where a matrix like this one was too hard for block Jacobi; without these few, which take away what is rough,
# two of four tangles of 50,000 tets ended twisted
JACOBI_ITERATIONS_IF_HARD = 10
# Where no island has so many, and where only small islands are left, after more: block Jacobi costs next to nothing
# there
MIN_ISLAND_NODES = 300
JACOBI_ITERATIONS_IF_SMALL = 300


@dataclass(frozen=True, eq=False)
class LatticeMultigrid:
    """Multigrid for a mesh of tets, by lattices in which its nodes are embedded.

    Attributes:
        X: Nodes at rest [m], (n, 3).
        starts_immediately: Whether a tolerance of `immediate_tolerance` or less is reason enough to begin at once;
            False where masses make most systems easy: then a system is hard only if block Jacobi has not solved it in
            some iterations.
        mesh: The pattern whose blocks are the edges of the mesh, where matrices have more; None: the matrix's own.
        has_couplings: Whether blocks of the pattern belong to couplings of more nodes than a tet has, such as contacts.
        keeps_zero_blocks: Whether blocks outside the mesh may be zeros that earlier contacts have left.
        is_hard: Whether block Jacobi alone did not converge for a matrix like this one, or will not.
        is_same: Whether the matrix is the one that multigrid was last set up for in its workspace.
        kept: What earlier solves have set up, and where this one stores its own; None: nothing is kept.
        max_jacobi_iterations: Iterations of block Jacobi that come first for a matrix not known to be hard.
        rates: What decides whether block Jacobi goes on after these, and whether multigrid hands back to it; None: they
            never do.
        immediate_tolerance: Relative residual; see `starts_immediately`.
        max_jacobi_iterations_left: With `rates`: block Jacobi also goes on where so many more would do.
        workspace: Arrays of its levels; with `kept`, those of that are used instead.
    """

    X: Floats
    starts_immediately: bool = True
    mesh: BlockPattern | None = None
    has_couplings: bool = False
    keeps_zero_blocks: bool = True
    is_hard: bool = False
    is_same: bool = False
    kept: ReusedHierarchy | None = None
    max_jacobi_iterations: int = JACOBI_ITERATIONS
    rates: MeasuredRates | None = None
    immediate_tolerance: float = IMMEDIATE_TOLERANCE
    max_jacobi_iterations_left: int = 0
    workspace: MultigridWorkspace = field(default_factory=MultigridWorkspace)

    def iteration_limit(self, pattern: BlockPattern, is_free: Bools, tolerance: float) -> tuple[int, int]:
        """Returns how many iterations of block Jacobi come first, over all rows, and where only some are left."""
        if pattern.largest_island < MIN_ISLAND_NODES:
            return JACOBI_ITERATIONS_IF_SMALL, JACOBI_ITERATIONS_IF_SMALL
        if self.rates and self.rates.multigrid is not None:
            return self.max_jacobi_iterations, JACOBI_ITERATIONS_IF_SMALL
        is_there = self.is_same or (self.kept and self.kept.is_available(pattern, is_free))
        if is_there or (self.starts_immediately and tolerance <= self.immediate_tolerance):
            return 0, 0
        return JACOBI_ITERATIONS_IF_HARD if self.is_hard else self.max_jacobi_iterations, JACOBI_ITERATIONS_IF_SMALL

    def rate_check(self, stopping: StoppingCriteria) -> RateCheck:
        """Returns what makes block Jacobi so fast that it goes on after these iterations."""
        if self.rates is None:
            return RateCheck.of_block_jacobi()
        return self.rates.jacobi_rate_check(stopping, self.max_jacobi_iterations_left)

    def multigrid_rate_check(self) -> RateCheck:
        """Returns what makes multigrid so slow that it hands back to block Jacobi."""
        return RateCheck.of_multigrid() if self.rates is None else self.rates.multigrid_rate_check()

    def solve(
        self,
        system: BlockSystem,
        x: Floats,
        stopping: StoppingCriteria,
        modes: RigidModes | None,
        workspace: PcgWorkspace,
        jacobi_rate: float | None,
    ) -> PreconditionedSolve:
        """Solves A x = b for the free nodes from what `x` holds; see `linalg.pcg.Preconditioner`."""
        from .solve import solve_with_multigrid

        if self.rates is not None:
            self.rates.jacobi = jacobi_rate if jacobi_rate is not None else self.rates.jacobi
        return solve_with_multigrid(self, system, x, stopping, modes, workspace)
