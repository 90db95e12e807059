# SPDX-License-Identifier: GPL-3.0-or-later
"""Hierarchical bodies in one step: linear on the fine level, Green's strain on the coarse one, and their solves.

While the frames are constant, the forces of the fine tets are linear in the positions: they and their blocks are summed
once per step, as those of corotated bodies. The excess of Green's strain of the mean gradients over linear strain, in
forces, energy and tangent, is computed at every iterate and stored per coarse tet. The coarse problems are solved by
Newton's method, the linear system on all levels.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence

import numpy as np

from ...constraints.rigid_core import LinearSystem
from ...linalg.block_pattern import BlockPattern
from ...linalg.block_system import BlockSystem, StoppingCriteria
from ...linalg.pcg import SolveResult
from ...mechanics.elements.edge_assembly import assemble
from ...mechanics.elements.linearised_forces import add_linear_forces
from ...mechanics.hierarchical.basis_transform import gather_forces, to_nodal
from ...mechanics.hierarchical.coarse_green_law import subtract_linear_moduli
from ...mechanics.hierarchical.coarse_linear_solve import conjugate_gradient_solver, lu_solver
from ...mechanics.hierarchical.coarse_newton import CoarseProblem, multiply_coarse
from ...mechanics.hierarchical.hierarchical_body import HierarchicalBody, hierarchical_body
from ...mechanics.hierarchical.hierarchical_pcg import solve_pcg
from ...mechanics.hierarchical.level_matrices import assemble_coarse_tets, blocks_between, level_maps
from ...mechanics.hierarchical.level_preconditioner import LevelBlocks, LevelPreconditioner
from ...mechanics.hierarchical.mean_gradients import add_stress
from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, floats
from ...scene.formulation import LU
from ..dynamic_flesh_forces import ROUND_OFF
from ..system.block_ops import block_matrix_product

MIN_BLOCKS_PER_THREAD = 60000  # a product of fewer is over before another thread has begun


class HierarchicalSolver:
    """The hierarchical bodies of a model in one step.

    Attributes:
        bodies, frames: One by one, with the rotations of their coarse tets, (M, 3, 3), constant in the step.
        linearised_excess: V (P_Green − P_linear) of coarse tets where the step is linearised [J], (M, 3, 3) each.
        force: Forces beyond the linear ones at the last evaluation [N], of all nodes of the model, (n, 3).
        energy: The energy of these forces, per body [J], (k,).
        seconds: Time spent on the coarse level and on the fine one.
        solvers: How the coarse matrices of the bodies are solved.
        maps, blocks: How blocks sum up to those of all levels, and these sums.
        coarse_iterations: Newton iterations of the coarse problems.
    """

    def __init__(
        self, model: Model, numbers: Sequence[int], linearisation_point: Floats, rotations: Floats | None, dt: float
    ) -> None:
        """Begins a step.

        Args:
            model: All bodies.
            numbers: Of the hierarchical ones.
            linearisation_point: Where the step is linearised [m], (n, 3).
            rotations: Lagged rotations of tets, (m, 3, 3); None: none lag.
            dt: Δt [s].
        """
        self.model, self.numbers, self.linearisation_point, self.dt = model, tuple(numbers), linearisation_point, dt
        self.bodies = [hierarchical_body(model, number) for number in numbers]
        self.frames = [self._frames(number, body, rotations) for number, body in zip(numbers, self.bodies, strict=True)]
        self.linearised_excess: list[Floats] = []
        self.force = np.zeros((model.node_count, 3))
        self.energy = np.zeros(len(self.bodies))
        self.seconds = {"coarse": 0.0, "fine": 0.0}
        self.solvers = [model.methods[number].coarse_solver for number in numbers]
        self.maps = [level_maps(body.levels, model.pattern, body.nodes) for body in self.bodies]
        self.external_forces: object = None
        self.blocks: list[LevelBlocks] = []
        self.linear = [self._linear_stiffness(k) for k in range(len(self.bodies))]
        self.coarse_iterations = 0

    def _frames(self, number: int, body: HierarchicalBody, rotations: Floats | None) -> Floats:
        if rotations is not None and self.model.methods[number].rotations_every > 1:
            return floats(rotations[body.tets][:: body.levels.children_per_coarse_tet])
        return body.rotations(floats(self.linearisation_point[body.nodes]))

    @property
    def rows(self) -> list[slice]:
        """Nodes of the bodies."""
        return [body.nodes for body in self.bodies]

    def begin(self, x0: Floats, mass: Floats, records: Floats, values: Floats, force: Floats) -> None:
        """Writes mass, damping, stiffness and forces of these bodies.

        Args:
            x0: Start of the step, where the linearised system has its forces [m], (n, 3).
            mass: Mass and its damping on the diagonal [kg], (n,).
            records: Of all tets, (m, …), out.
            values: Blocks of the system, (b, 9), out.
            force: Elastic forces [N], (n, 3), out.
        """
        begun, pattern = clock.perf_counter(), self.model.pattern
        for body, R in zip(self.bodies, self.frames, strict=True):
            own = floats(self.linearisation_point[body.nodes])
            body.write(own, R, records[body.tets])
            if self.linearisation_point is not x0:
                add_linear_forces(1.0, self.linearisation_point - x0, self.model.tets[body.tets], records[body.tets])
            assemble(self.dt**2, self.dt, mass, pattern, records, values, force, body.nodes)
            self.linearised_excess.append(body.excess_stress(body.mean_gradients(own), R))
        self.seconds["fine"] += clock.perf_counter() - begun

    def evaluate(self, x: Floats, clamp: bool = True) -> None:
        """Computes forces and energy at x [m], (n, 3); `clamp` as for the tangent of `hyperelastic_bodies`."""
        begun = clock.perf_counter()
        self.x, self.clamp = x, clamp
        self._excess_tangents: dict[tuple[int, bool], Floats] = {}
        self.force[:] = 0.0
        for body, R, linearised in zip(self.bodies, self.frames, self.linearised_excess, strict=True):
            more = body.excess_stress(body.mean_gradients(floats(x[body.nodes])), R) - linearised
            add_stress(
                -1.0, more, body.gradient_operator.nodes, body.gradient_operator.gradients, self.force[body.nodes]
            )
        self.energy = self.energies(x)
        self.seconds["coarse"] += clock.perf_counter() - begun

    def excess_tangent(self, k: int, clamp: bool) -> Floats:
        """Returns the excess tangent of a body at the last evaluation [J], (M, 9, 9), clamped or not."""
        if (k, clamp) not in self._excess_tangents:
            body = self.bodies[k]
            self._excess_tangents[k, clamp] = body.excess_tangent(floats(self.x[body.nodes]), self.frames[k], clamp)
        return self._excess_tangents[k, clamp]

    def energies(self, x: Floats) -> Floats:
        """Returns the energy that `force` belongs to at x [m], (n, 3), of each body [J]."""
        found = []
        for body, R, linearised in zip(self.bodies, self.frames, self.linearised_excess, strict=True):
            F = body.mean_gradients(floats(x[body.nodes]))
            found.append(body.excess_energy(F, R).sum() - np.sum(linearised * F))
        return np.array(found)

    def round_off(self, x: Floats) -> tuple[float, Floats]:
        """Returns the round-off in the norm of all forces [N], and in the energies of the bodies [J], (k,)."""
        square, of_energy = 0.0, []
        for body in self.bodies:
            g = np.sum(body.Dm_inverse**2, axis=(1, 2)) + np.sum(body.Dm_inverse.sum(axis=1) ** 2, axis=1)
            stiff = body.volume * (2.0 * body.mu + body.lam)
            square += float(np.sum((stiff * g) ** 2))
            of_energy.append(ROUND_OFF * stiff.sum())
        return ROUND_OFF * float(np.abs(x).max(initial=0.0)) * float(np.sqrt(square)), np.array(of_energy)

    def add_excess_tangent(self, v: Floats, out: Floats) -> None:
        """Adds Δt² times the excess tangent times v, (n, 3), to `out`."""
        for k, body in enumerate(self.bodies):
            body.add_excess_tangent(
                self.dt**2, self.excess_tangent(k, self.clamp), floats(v[body.nodes]), out[body.nodes]
            )

    def solve(self, external_forces: object, system: LinearSystem, max_iterations: int) -> SolveResult:
        """Solves a system for the free nodes, see `mechanics/hierarchical/hierarchical_pcg.py`.

        Args:
            external_forces: While it is the same object, the blocks of the system are the same.
            system: A without the excess of the tangent; v is the first guess and becomes the solution.
            max_iterations: Of conjugate gradients.
        """
        begun, pattern, values = clock.perf_counter(), system.pattern, system.values
        self._update_blocks(external_forces, pattern, values)
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

        equations = BlockSystem(pattern, values, system.b, system.is_free)
        stopping = StoppingCriteria(system.tolerance, max_iterations, system.norm_floor)
        found = solve_pcg(equations, system.v, stopping, times, ready, self.x, system.initial_direction)
        coarse = sum(own.coarse_seconds for _, own in ready)
        self.seconds["coarse"] += coarse
        self.seconds["fine"] += clock.perf_counter() - begun - coarse
        return found

    def coarse_motion(
        self, external_forces: object, pattern: BlockPattern, values: Floats, r: Floats, is_free: Bools
    ) -> Floats:
        """Returns velocities [m/s], (n, 3), by which the coarse problem of every body is solved.

        Args:
            external_forces: As for `solve`.
            pattern, values: A at the last evaluation, without the excess of the tangent.
            r: The residual there [N s], (n, 3).
            is_free: Which nodes are solved for.
        """
        begun, found = clock.perf_counter(), np.zeros_like(r)
        self._update_blocks(external_forces, pattern, values)
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

    def _update_blocks(self, external_forces: object, pattern: BlockPattern, values: Floats) -> None:
        """Sums the blocks of A up to all levels, where they have changed."""
        if external_forces is not self.external_forces or not self.blocks:
            self.external_forces = external_forces
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
    """Returns which coarse nodes may move: those whose motion moves no fixed node, (n0,)."""
    levels, first = body.levels, body.levels.starts[1]
    is_fixed = np.zeros((levels.starts[-1], 3))
    is_fixed[:, 0] = ~is_free[body.nodes]
    gather_forces(first, levels.parents, is_fixed)
    return np.asarray(is_fixed[:first, 0] == 0.0)
