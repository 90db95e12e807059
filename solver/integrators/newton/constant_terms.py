# SPDX-License-Identifier: GPL-3.0-or-later
"""What the equation of a step with dynamic flesh has that stays as it is from iterate to iterate.

That is mass and damping of all bodies, and what is linear in the velocities: corotated bodies and those warped vertex
by vertex, the shear of hybrid ones that hold their rotations, and bodies that are linearised once about x_a
(`newton_system.py`), with f(x_a) + K(x_a) (x_a − x0) as their forces at x0.
"""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...mechanics.elements.assembly import assemble
from ...mechanics.elements.fill_element_buffer import needs_records, write_records
from ...mechanics.elements.linear_force import add_linear_forces
from ...mechanics.elements.volume_pressure import add_pressure
from ...mechanics.model import Model
from ...mechanics.state import State
from ...mechanics.vertex_warp import is_warped
from ...runtime.arrays import Floats, floats
from ..system.block_ops import add_blocks, add_to_diagonal, for_all_rows
from ..system.lagged_rotations import add_vertex_warp, lagged_rotations
from ..system.linearised_step import write_mass_rows
from ..system.workspace import element_records, workspace
from .dynamic_flesh import DynamicFlesh, FleshEvaluator, FleshGroup
from .hierarchical_solve import HierarchicalSolver
from .lagged_shear import add_lagged_shear, has_lagged_shear
from .two_ring_tangent import block_matrix_product, body_slices, row_blocks


class ConstantTerms:
    """The constant part of one step.

    Attributes:
        values: Its blocks, (b, 9).
        force: Its elastic forces where the step begins [N], (n, 3).
        held: Rotations of bodies that hold theirs, see `lagged_rotations`.
        turned: Rotations of nodes, see `vertex_warp.add_warped`.
        levels: Hierarchical bodies, whose mass and damping are in it; None where there are none.
    """

    def __init__(
        self,
        model: Model,
        state: State,
        dt: float,
        flesh: DynamicFlesh,
        looked: FleshEvaluator | None,
        about: Floats | None,
    ) -> None:
        """Assembles it for Δt = `dt` [s].

        Args:
            model, state, dt, flesh: The step.
            looked: Flesh that moves by implicit Euler; None: there is none.
            about: x_a [m], (n, 3); None: where the step begins.
        """
        self.model, self.dt, self.x0 = model, dt, floats(state.x)
        self.about = self.x0 if about is None else about
        self.values, self.force = _cached_blocks(model.pattern), workspace(model.pattern).force
        self.force[:] = 0.0
        self.diagonal_mass = model.mass * (1.0 + dt * model.mass_damping)
        self.lagged_rotations = lagged_rotations(model, State(self.about, state.v, state.time, state.fields))
        self.levels = (
            HierarchicalSolver(model, flesh.levels, self.about, self.lagged_rotations, dt) if flesh.levels else None
        )
        self._assemble_corotated(flesh)
        self.node_rotations = add_vertex_warp(model, state, dt, self.values, self.force)
        self._assemble_flesh(flesh, looked)
        if self.levels:
            self.levels.begin(self.x0, self.diagonal_mass, self.values, self.force)
        self.once, self.once_evaluator = flesh.once, FleshEvaluator(flesh.once, model) if flesh.once else None
        if self.once and self.once_evaluator:
            self._assemble_once(self.once, self.once_evaluator)
        self._assemble_held_shear()

    def linearisation_residual(self, x: Floats) -> Floats:
        """Returns by how much the forces of bodies linearised once are others at x [m], (n, 3), than these say [N]."""
        assert self.once and self.once_evaluator
        nodes, looked = self.once.part.nodes, self.once_evaluator
        said = looked.force - block_matrix_product(looked.model.pattern, looked.tangent, x[nodes] - self.about[nodes])
        force = np.empty_like(said)
        looked.force_at(x[nodes], force)
        return force - said

    def _assemble_corotated(self, flesh: DynamicFlesh) -> None:
        """Writes the rows of all bodies that are no flesh."""
        model, p, warped, dt = self.model, self.model.pattern, element_records(self.model), self.dt
        strain = model.initial_strain
        for number in flesh.corotational_bodies(model):
            t, n = model.bodies[number].tets, model.bodies[number].nodes
            if not needs_records(model, number):
                write_mass_rows(p, n, self.diagonal_mass, self.values)
                continue
            write_records(model, number, self.about, warped, self.lagged_rotations)
            if len(model.pressure_modulus):
                add_pressure(
                    self.about, model.tets[t], model.Dm_inverse[t], model.volume[t], model.pressure_modulus[t],
                    model.stiffness_damping[t], strain[t] if len(strain) else strain, warped[t],
                )  # fmt: skip
            for core in model.cores:  # rigid
                warped[core.tets] = 0.0
            if self.about is not self.x0:
                add_linear_forces(1.0, self.about - self.x0, model.tets[t], warped[t])
            stiff = 0.0 if is_warped(model, number) else dt * dt
            assemble(stiff, dt, self.diagonal_mass, p, warped, self.values, self.force, n)

    def _assemble_flesh(self, flesh: DynamicFlesh, looked: FleshEvaluator | None) -> None:
        """Writes mass and damping of flesh; bodies that do not move by implicit Euler have their mass alone."""
        model, pattern = self.model, self.model.pattern
        others = [*flesh.fixed_bodies, *(flesh.newmark.part.bodies if flesh.newmark else ())]
        for number in others:
            self.values[row_blocks(pattern.row_start, model.bodies[number].nodes)] = 0.0
        if looked and flesh.euler:
            self._assemble_damping(flesh.euler, looked)
            others += flesh.euler.part.bodies
        self._add_mass(others)

    def _assemble_once(self, group: FleshGroup, looked: FleshEvaluator) -> None:
        """Writes all of bodies that are linearised once."""
        rows = group.part.nodes
        looked.evaluate(self.about[rows], clamp=False)
        self._assemble_damping(group, looked)
        force = looked.force
        if self.about is not self.x0:
            force = force + block_matrix_product(looked.model.pattern, looked.tangent, self.about[rows] - self.x0[rows])
        for whole, own in body_slices(group, self.model):
            for_all_rows(add_blocks, looked.tangent[own[1]], self.dt * self.dt, self.values[whole[1]])
            self.force[whole[0]] = force[own[0]]
        self._add_mass(group.part.bodies)

    def _assemble_held_shear(self) -> None:
        """Adds what resists shear in hybrid bodies that hold their rotations."""
        for number in range(len(self.model.bodies)):
            if self.lagged_rotations is not None and has_lagged_shear(self.model, number):
                add_lagged_shear(
                    self.model, number, self.lagged_rotations, self.about, self.x0, self.dt, self.values, self.force
                )

    def _assemble_damping(self, group: FleshGroup, looked: FleshEvaluator) -> None:
        """Writes the damping of bodies into their rows."""
        D = np.zeros_like(looked.tangent)
        if self.model.stiffness_damping[group.part.tets].any():
            looked.damping(self.about[group.part.nodes], D)
        for whole, own in body_slices(group, self.model):
            np.multiply(D[own[1]], self.dt, out=self.values[whole[1]])

    def _add_mass(self, numbers: Iterable[int]) -> None:
        """Adds the mass of bodies, and what drags it."""
        for number in numbers:
            nodes = self.model.bodies[number].nodes
            add_to_diagonal(nodes.start, nodes.stop, self.model.pattern.diagonal, self.diagonal_mass, self.values)


_cache: WeakKeyDictionary[BlockPattern, Floats] = WeakKeyDictionary()


def _cached_blocks(pattern: BlockPattern) -> Floats:
    """Returns an array of blocks that is kept from step to step."""
    if pattern not in _cache:
        _cache[pattern] = np.zeros((pattern.block_count, 9))
    return _cache[pattern]
