# SPDX-License-Identifier: GPL-3.0-or-later
"""The terms of a step with dynamic flesh that stay constant from iterate to iterate.

These are mass and damping of all bodies, and what is linear in the velocities: corotated bodies and those warped vertex
by vertex, the shear of hybrid bodies with lagged rotations, and bodies that are linearised once about x_a
(`newton_system.py`), with f(x_a) + K(x_a) (x_a − x0) as their forces at x0.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...mechanics.elements.added_volume_penalty import add_pressure
from ...mechanics.elements.edge_assembly import assemble
from ...mechanics.elements.element_records import needs_records, write_records
from ...mechanics.elements.linearised_forces import add_linear_forces
from ...mechanics.state import State
from ...mechanics.vertex_warp import is_warped
from ...runtime.arrays import Floats, floats
from ..dynamic_flesh_forces import DynamicFlesh, FleshEvaluator, FleshGroup
from ..step_input import StepInput
from ..system.block_ops import add_blocks, add_to_diagonal, block_matrix_product, for_all_rows, row_blocks
from ..system.rotation_reuse import add_vertex_warp, begin_rotations
from ..system.step_matrix import diagonal_mass, write_mass_rows
from .hierarchical_solver import HierarchicalSolver
from .lagged_hybrid_shear import has_lagged_shear, write_shear_records
from .two_ring_tangent import body_slices


class ConstantTerms:
    """The constant part of one step.

    Attributes:
        values: Blocks, (b, 9).
        force: Elastic forces at the start of the step [N], (n, 3).
        rotations: Lagged rotations of the step.
        levels: Hierarchical bodies, whose mass and damping are in it; None: there are none.
    """

    def __init__(self, start: StepInput, flesh: DynamicFlesh, evaluator: FleshEvaluator | None) -> None:
        """Assembles the terms.

        Args:
            start: The step, linearised about x_a.
            flesh: Its flesh.
            evaluator: Of the flesh that moves by implicit Euler; None: there is none.
        """
        model, state, dt = start.model, start.state, start.dt
        self.model, self.dt, self.x0, self.workspace = model, dt, floats(state.x), start.workspace
        self.linearisation_point = self.x0 if start.linearisation_point is None else start.linearisation_point
        self.values, self.force = self.workspace.constant_values(), self.workspace.force
        self.records = self.workspace.element_records(model)
        self.force[:] = 0.0
        self.diagonal_mass = diagonal_mass(model, dt)
        self.rotations = begin_rotations(model, State(self.linearisation_point, state.v, state.time, state.fields))
        self.levels = (
            HierarchicalSolver(model, flesh.levels, self.linearisation_point, self.rotations.of_tets, dt)
            if flesh.levels
            else None
        )
        self._assemble_corotated(flesh)
        self.rotations.of_nodes = add_vertex_warp(model, state, dt, self.values, self.force, self.workspace.warped)
        self._assemble_flesh(flesh, evaluator)
        if self.levels:
            self.levels.begin(self.x0, self.diagonal_mass, self.records, self.values, self.force)
        self.once = flesh.once
        self.once_evaluator = FleshEvaluator(flesh.once, model, self.workspace) if flesh.once else None
        if self.once and self.once_evaluator:
            self._assemble_once(self.once, self.once_evaluator)
        self._assemble_lagged_shear()

    def linearisation_residual(self, x: Floats) -> Floats:
        """Returns the error of the linearised forces of bodies that are linearised once, at x [m], (n, 3): [N]."""
        assert self.once and self.once_evaluator
        nodes, evaluator = self.once.part.nodes, self.once_evaluator
        linear = evaluator.force - block_matrix_product(
            evaluator.model.pattern, evaluator.tangent, x[nodes] - self.linearisation_point[nodes]
        )
        force = np.empty_like(linear)
        evaluator.force_at(x[nodes], force)
        return force - linear

    def _assemble_corotated(self, flesh: DynamicFlesh) -> None:
        """Writes the rows of all bodies that are not flesh."""
        model, p, records, dt = self.model, self.model.pattern, self.records, self.dt
        for number in flesh.corotational_bodies(model):
            t, n = model.bodies[number].tets, model.bodies[number].nodes
            if not needs_records(model, number):
                write_mass_rows(p, n, self.diagonal_mass, self.values)
                continue
            write_records(model, number, self.linearisation_point, records, self.rotations.of_tets)
            if len(model.pressure_modulus):
                add_pressure(model, self.linearisation_point, t, records)
            for core in model.cores:  # rigid
                records[core.tets] = 0.0
            if self.linearisation_point is not self.x0:
                add_linear_forces(1.0, self.linearisation_point - self.x0, model.tets[t], records[t])
            stiffness_factor = 0.0 if is_warped(model, number) else dt * dt
            assemble(stiffness_factor, dt, self.diagonal_mass, p, records, self.values, self.force, n)

    def _assemble_flesh(self, flesh: DynamicFlesh, evaluator: FleshEvaluator | None) -> None:
        """Writes mass and damping of flesh; bodies that do not move by implicit Euler have their mass alone."""
        model, pattern = self.model, self.model.pattern
        others = [*flesh.fixed_bodies, *(flesh.newmark.part.bodies if flesh.newmark else ())]
        for number in others:
            self.values[row_blocks(pattern.row_start, model.bodies[number].nodes)] = 0.0
        if evaluator and flesh.euler:
            self._assemble_damping(flesh.euler, evaluator)
            others += flesh.euler.part.bodies
        self._add_mass(others)

    def _assemble_once(self, group: FleshGroup, evaluator: FleshEvaluator) -> None:
        """Writes the rows and forces of bodies that are linearised once."""
        rows = group.part.nodes
        evaluator.evaluate(self.linearisation_point[rows], clamp=False)
        self._assemble_damping(group, evaluator)
        force = evaluator.force
        if self.linearisation_point is not self.x0:
            force = force + block_matrix_product(
                evaluator.model.pattern, evaluator.tangent, self.linearisation_point[rows] - self.x0[rows]
            )
        for whole, own in body_slices(group, self.model):
            for_all_rows(add_blocks, evaluator.tangent[own[1]], self.dt * self.dt, self.values[whole[1]])
            self.force[whole[0]] = force[own[0]]
        self._add_mass(group.part.bodies)

    def _assemble_lagged_shear(self) -> None:
        """Adds the shear of hybrid bodies with lagged rotations."""
        if self.rotations.of_tets is None:
            return
        for number in range(len(self.model.bodies)):
            if has_lagged_shear(self.model, number):
                self._add_lagged_shear(number, self.rotations.of_tets)

    def _add_lagged_shear(self, number: int, rotations: Floats) -> None:
        """Adds the shear of a body, given the rotations of all tets, (m, 3, 3)."""
        model, pattern, nodes = self.model, self.model.pattern, self.model.bodies[number].nodes
        write_shear_records(model, number, rotations, self.linearisation_point, self.x0, self.records)
        rows, values, force = row_blocks(pattern.row_start, nodes), self.workspace.values, np.empty_like(self.force)
        no_mass = np.zeros(pattern.node_count)
        assemble(self.dt * self.dt, 0.0, no_mass, pattern, self.records, values, force, nodes)
        self.values[rows] += values[rows]
        self.force[nodes] += force[nodes]

    def _assemble_damping(self, group: FleshGroup, evaluator: FleshEvaluator) -> None:
        """Writes the damping of bodies into their rows."""
        D = np.zeros_like(evaluator.tangent)
        if self.model.stiffness_damping[group.part.tets].any():
            evaluator.damping(self.linearisation_point[group.part.nodes], D)
        for whole, own in body_slices(group, self.model):
            np.multiply(D[own[1]], self.dt, out=self.values[whole[1]])

    def _add_mass(self, numbers: Iterable[int]) -> None:
        """Adds the mass of bodies, and its damping."""
        for number in numbers:
            nodes = self.model.bodies[number].nodes
            add_to_diagonal(nodes.start, nodes.stop, self.model.pattern.diagonal, self.diagonal_mass, self.values)
