# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves for hierarchical bodies: their coarse problems by Newton's method, and the linear system of all levels."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...linalg.block_system import BlockSystem, StoppingCriteria
from ...linalg.pcg import SolveResult
from ...mechanics.hierarchical.basis_transform import gather_forces, to_nodal
from ...mechanics.hierarchical.coarse_linear_solve import conjugate_gradient_solver, lu_solver
from ...mechanics.hierarchical.coarse_newton import CoarseProblem, multiply_coarse
from ...mechanics.hierarchical.green_strain import subtract_linear_moduli
from ...mechanics.hierarchical.hierarchical_body import HierarchicalBody
from ...mechanics.hierarchical.hierarchical_pcg import solve_pcg
from ...mechanics.hierarchical.level_matrices import assemble_coarse_tets, blocks_between, level_maps
from ...mechanics.hierarchical.level_preconditioner import LevelBlocks, LevelPreconditioner
from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, floats
from ...scene.formulation import LU
from .hierarchical_forces import HierarchicalForces
from .two_ring_tangent import block_matrix_product

MIN_BLOCKS_PER_THREAD = 60000  # a product of fewer is over before another thread has begun


class HierarchicalSolver(HierarchicalForces):
    """What is solved with in one step.

    Attributes:
        solvers: How the coarse matrices of the bodies are solved with.
        maps, blocks: How blocks sum up to those of all levels, and these as they are at present.
        coarse_iterations: Newton iterations of the coarse problems.
    """

    def __init__(self, model: Model, numbers: Sequence[int], about: Floats, held: Floats | None, dt: float) -> None:
        """Begins a step; see `HierarchicalForces`."""
        super().__init__(model, numbers, about, held, dt)
        self.solvers = [model.methods[number].coarse_solver for number in numbers]
        self.maps = [level_maps(body.levels, model.pattern, body.nodes) for body in self.bodies]
        self.outside: object = None
        self.blocks: list[LevelBlocks] = []
        self.linear = [self._linear_stiffness(k) for k in range(len(self.bodies))]
        self.coarse_iterations = 0

    def solve(
        self, outside: object, pattern: BlockPattern, values: Floats, b: Floats, is_free: Bools, x: Floats,
        tolerance: float, max_iterations: int, least: Floats, likely: Floats | None,
    ) -> SolveResult:  # fmt: skip
        """Solves A x = b for the free nodes, from what `x` holds; see `mechanics/hierarchical/hierarchical_pcg.py`.

        `outside` is what acts from outside: while it is the same object, so are the blocks of A.
        """
        begun = clock.perf_counter()
        self._update_blocks(outside, pattern, values)
        ready = []
        for k, (body, solver) in enumerate(zip(self.bodies, self.solvers, strict=True)):
            more = self.dt**2 * assemble_coarse_tets(
                self.maps[k], body.gradient_operator.coarse, self.excess_tangent(k, True)
            )
            ready.append((body.nodes, LevelPreconditioner(self.blocks[k], more, solver)))

        def times(v: Floats) -> Floats:
            is_small = pattern.block_count < MIN_BLOCKS_PER_THREAD
            out = multiply_coarse(pattern, values, v) if is_small else block_matrix_product(pattern, values, v)
            self.add_excess_tangent(v, out)
            return out

        system, stopping = BlockSystem(pattern, values, b, is_free), StoppingCriteria(tolerance, max_iterations, least)
        found = solve_pcg(system, x, stopping, times, ready, self.x, likely)
        coarse = sum(own.coarse_seconds for _, own in ready)
        self.seconds["coarse"] += coarse
        self.seconds["fine"] += clock.perf_counter() - begun - coarse
        return found

    def coarse_motion(
        self, outside: object, pattern: BlockPattern, values: Floats, r: Floats, is_free: Bools
    ) -> Floats:
        """Returns velocities [m/s], (n, 3), by which the coarse problem of every body is solved.

        Args:
            outside: As for `solve`.
            pattern, values: A at the last look, but for what is beyond its blocks.
            r: The residual there [N s], (n, 3).
            is_free: Which nodes are solved for.
        """
        begun, found = clock.perf_counter(), np.zeros_like(r)
        self._update_blocks(outside, pattern, values)
        for k, body in enumerate(self.bodies):
            levels, maps = body.levels, self.maps[k]
            A = self.blocks[k].coarse - self.linear[k]
            gathered, moves = r[body.nodes].copy(), _is_coarse_free(body, is_free)
            gather_forces(levels.starts[1], levels.parents, gathered)
            first = levels.starts[1]
            problem = CoarseProblem(
                body,
                maps,
                self.dt,
                A,
                gathered[:first] * moves[:, None],
                body.mean_gradients(floats(self.x[body.nodes])),
                moves,
                lu_solver if self.solvers[k] == LU else conjugate_gradient_solver,
            )
            y, count = problem.solve()
            self.coarse_iterations += count
            whole = np.concatenate([y, np.zeros((len(levels.parents), 3))])
            to_nodal(first, levels.parents, whole)
            found[body.nodes] = whole
        self.seconds["coarse"] += clock.perf_counter() - begun
        return found

    def _own_blocks(self, k: int, pattern: BlockPattern, values: Floats) -> Floats:
        """Returns the blocks among a body's nodes that its tets make, of a matrix that may have more."""
        if pattern is self.model.pattern:
            start, nodes = pattern.row_start, self.bodies[k].nodes
            return values[int(start[nodes.start]) : int(start[nodes.stop])]
        rows, columns, blocks = blocks_between(pattern, self.bodies[k].nodes)
        keys = rows * self.bodies[k].levels.starts[-1] + columns
        return values[blocks[np.searchsorted(keys, self.maps[k].keys)]]

    def _update_blocks(self, outside: object, pattern: BlockPattern, values: Floats) -> None:
        """Sums the blocks of A up to all levels, where they are others than before."""
        if outside is not self.outside or not self.blocks:
            self.outside = outside
            own = [self._own_blocks(k, pattern, values) for k in range(len(self.bodies))]
            parts = zip(self.bodies, self.maps, own, strict=True)
            self.blocks = [LevelBlocks(body.levels, maps, blocks) for body, maps, blocks in parts]

    def _linear_stiffness(self, k: int) -> Floats:
        """Returns Δt² times the coarse stiffness of corotated linear strain [kg], (b0, 9)."""
        body = self.bodies[k]
        moduli = np.zeros((len(body.levels.coarse_tets), 9, 9))
        subtract_linear_moduli(self.frames[k], body.coarse_mu, body.coarse_lam, body.gradient_operator.volume, moduli)
        return -(self.dt**2) * assemble_coarse_tets(self.maps[k], body.gradient_operator.coarse, moduli)


def _is_coarse_free(body: HierarchicalBody, is_free: Bools) -> Bools:
    """Returns which coarse nodes may move alone: those whose motion takes along no node that is held, (n0,)."""
    levels, first = body.levels, body.levels.starts[1]
    held = np.zeros((levels.starts[-1], 3))
    held[:, 0] = ~is_free[body.nodes]
    gather_forces(first, levels.parents, held)
    return np.asarray(held[:first, 0] == 0.0)
