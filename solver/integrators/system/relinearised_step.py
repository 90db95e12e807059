# SPDX-License-Identifier: GPL-3.0-or-later
"""A step whose linear system is assembled again about the end of its last solve.

With the rotations of its start a step is solved once. What spins by θ in it ends stretched by θ²/2, an energy of about
μ V θ⁴ out of nothing: little for a soft body, but more than a stiff body had that is struck. So steps in which bodies
may touch are linearised again about the last end x_k = x + Δt v_k when they are solved again for their contacts:

    f(x⁺) ≈ f(x_k) + Δt K_k v_k − Δt K_k v⁺,

Newton's method without the derivative of the rotations. Islands whose forces were too wrong are solved again.

A solve moves nodes along straight lines. The rigid rotation in that motion is replaced by a true rotation, and the
next solve is linearised about the result; when the solves converge, no rotation is left. Damping is that of the motion
from the start of the step, about its middle (Green's strain changes by exactly sym(Fᵀ ΔF) with the F there). A step is
taken in shorter parts where something stiff rotates by more than `MAX_ROTATION_ANGLE` in one solve.

Forces at the end of a step have a torque about its start, x, that would take a share θ² of a spin in every step.
Elastic forces cannot change the angular momentum of a body, so it gets that share back as a spin.
"""

from __future__ import annotations

import numpy as np

from ...constraints.external_forces import ExternalForces
from ...mechanics.elements.element_records import method_of
from ...mechanics.elements.element_torque import sum_torques
from ...mechanics.elements.linearisation_error import copy_forces, sum_linearisation_errors
from ...mechanics.elements.linearised_forces import add_linear_forces
from ...mechanics.elements.record_layout import DAMPED_LENGTH, DEFORMED_GRADIENTS
from ...mechanics.elements.strain_energy import stored_energy
from ...mechanics.finite_rotation_correction import (
    chord_stretch_energy,
    rotated_motion,
    with_finite_rotations,
    with_spin,
)
from ...mechanics.kinetic_energy import kinetic_energies
from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, floats
from ...scene.formulation import LINEAR
from ..solver_context import StepWorkspace
from ..step_input import StepInput
from .core_rotation import end_step_with_cores
from .step_matrix import AssembledSystem, assemble_system, compute_element_records

# Energy of the linearisation error over the elastic and kinetic energy of an island, above which it is solved again
MAX_ENERGY_ERROR = 1.0e-3
# Rotation in one solve [rad] above which the linear system no longer says where something stiff is
MAX_ROTATION_ANGLE = 0.6
# Solves of a step before rotations are updated: until then contacts find out which of them push
SOLVES_BEFORE_RELINEARISING = 3


class RelinearisedStep:
    """The system of a step of bodies that may touch, from solve to solve.

    An island that touches nothing is solved once, with the rotations of the start of the step, and then rotated
    rigidly: that is exact and keeps its spin. All others are linearised again about the end of the last solve.

    Attributes:
        rotates_far: Whether something stiff rotated so far in the last solve that the step has to be shorter.
        is_inaccurate: Islands whose linear forces were wrong in the last solve, (k,).
    """

    def __init__(self, start: StepInput, linearisation_point: Floats, rotations: Floats | None) -> None:
        """Begins a step whose first solve is linearised about a position.

        Args:
            start: The step.
            linearisation_point: That position [m], (n, 3).
            rotations: Of bodies that keep theirs, (m, 3, 3), see `compute_element_records`; None: none do.
        """
        self.makes_rotations = start.options.makes_rotations
        self.model, self.state, self.dt, self.workspace = start.model, start.state, start.dt, start.workspace
        self.start, self.lagged_rotations = floats(start.state.x), rotations
        self.linearisation_point = floats(linearisation_point)
        pattern, count = start.model.pattern, start.model.pattern.island_count
        self.has_core = np.zeros(count, bool)  # these rotate with their core
        self.has_core[[int(pattern.island_of_row[core.nodes[0]]) for core in start.model.cores]] = True
        self.is_active = np.ones(count, bool)  # in the present solve
        self.solves = 0
        self.torque = np.zeros((count, 3))
        self.is_first = np.ones(count, bool)  # islands solved with the rotations of the start
        straight = start.straight_islands
        self.may_rotate = np.ones(count, bool) if straight is None else ~straight

    def end(
        self, system: AssembledSystem, external_forces: ExternalForces, x: Floats, v: Floats
    ) -> tuple[Floats, Floats]:
        """Takes the end of a solve and returns it with islands rotated that fly freely.

        Args:
            system: What was solved; its records then are those of the end.
            external_forces: What acted in the solve.
            x, v: Positions [m] and velocities [m/s] that it gave, (n, 3) each.
        """
        bound = _is_constrained(self.model, external_forces)
        self.is_free = self.is_first & self.may_rotate & ~bound & ~self.has_core
        start: np.ndarray = np.asarray(self.model.pattern.island_start, np.int64)
        self.x, turned_v = rotated_motion(start, self.model.mass, self.start, x, v, self.is_free, self.dt)
        self.x, angle = with_finite_rotations(
            start, self.model.mass, self.linearisation_point, self.x, self._rigidly_rotated_islands(external_forces)
        )
        self.rotates_far = self._rotates_far(angle)
        if self.model.cores:
            self.x, turned_v = end_step_with_cores(self.model, self.state, external_forces, self.x, turned_v, self.dt)
        turned_v = self.constrained_velocities(turned_v)
        twist = np.empty((self.model.pattern.island_count, 3))
        self.is_inaccurate = self._compute_records_at_end(system.records, v, twist) & ~self.is_free & ~self.has_core
        is_fixed = np.zeros(len(v), bool) if external_forces.is_fixed is None else external_forces.is_fixed
        stays = self.is_free | ~self.may_rotate | (self.has_core & ~bound)
        twist[stays | np.logical_or.reduceat(is_fixed, start[:-1])] = 0.0
        twist[_is_hinged(self.model)] = 0.0
        self.torque[self.is_active] = twist[self.is_active]
        return self.x, with_spin(start, self.model.mass, self.x, turned_v, -self.dt * self.torque, self.dt)

    def straight_end(self, x: Floats) -> Floats:
        """Returns the end of the last solve along straight lines, from its end x [m], (n, 3), except for free flight.

        The system has its contacts there, and their forces follow from it.
        """
        if not self.is_rigidly_rotated.any():
            return self.x
        return np.where(self.is_rigidly_rotated[self.model.pattern.island_of_row][:, None], x, self.x)

    def constrained_velocities(self, v: Floats) -> Floats:
        """Returns the velocities to the end of the last solve [m/s], from those that the solve gave, (n, 3)."""
        if not self.is_rigidly_rotated.any():
            return v
        return np.where(
            self.is_rigidly_rotated[self.model.pattern.island_of_row][:, None], (self.x - self.start) / self.dt, v
        )

    def _rigidly_rotated_islands(self, external_forces: ExternalForces) -> Bools:
        """Returns the islands that are rotated rigidly from where they were linearised, (k,)."""
        self.is_rigidly_rotated = ~self.is_free & self.may_rotate & ~self.has_core & self.makes_rotations
        if external_forces.is_fixed is not None:
            self.is_rigidly_rotated[self.model.pattern.island_of_row[external_forces.is_fixed]] = False
        for number, body in enumerate(self.model.bodies if self.model.methods else ()):
            if method_of(self.model, number).name == LINEAR:  # a rotation would strain it
                self.is_rigidly_rotated[self.model.pattern.island_of_row[body.nodes]] = False
        return self.is_rigidly_rotated

    def _rotates_far(self, angle: Floats) -> bool:
        """Whether an island rotated by its angle [rad], (k,), too far for how stiff it is."""
        if not angle.max(initial=0.0) > MAX_ROTATION_ANGLE:
            return False
        moving = kinetic_energies(self.model, self.state.v)
        return bool(((angle > MAX_ROTATION_ANGLE) & (chord_stretch_energy(self.model, angle, self.dt) > moving)).any())

    def relinearise(self, system: AssembledSystem, external_forces: ExternalForces) -> AssembledSystem:
        """Returns the system of the next solve, with active islands linearised about the end of the last one.

        The first solves leave the rotations as they are: with other rotations each solve would give contacts another
        problem.
        """
        self.is_active[:] = True
        if external_forces.is_frozen is not None:
            self.is_active = ~external_forces.is_frozen[self.model.pattern.island_start[:-1]]
        self.solves += 1
        renewed = self.is_active if self.solves >= SOLVES_BEFORE_RELINEARISING else np.zeros_like(self.is_active)
        if external_forces.turns is not None:
            renewed = renewed | (self.is_active & external_forces.turns)
        renewed = renewed & ~self.has_core
        if renewed.any():
            self.linearisation_point = np.where(
                renewed[self.model.pattern.island_of_row][:, None], self.x, self.linearisation_point
            )
        self._linearise(system.records)
        self.is_first &= ~renewed
        return assemble_system(self.model, system.records, self.dt, self.workspace) if renewed.any() else system

    def _linearise(self, records: Floats) -> None:
        """Writes the records of all tets, (m, …), about the points where their islands are linearised.

        Keeping those of the last solve would take no less time, and as much memory as the rest of a step.
        """
        damping = None
        if self.makes_rotations and records.shape[1] >= DAMPED_LENGTH:
            # by the chord of a turn, Green's strain changes as about its middle: not at all
            middle = 0.5 * (self.start + self.linearisation_point)
            compute_element_records(self.model, middle, self.lagged_rotations, records)
            damping = records[:, DEFORMED_GRADIENTS:DAMPED_LENGTH].copy()
        compute_element_records(self.model, self.linearisation_point, self.lagged_rotations, records)
        if damping is not None:
            records[:, DEFORMED_GRADIENTS:DAMPED_LENGTH] = damping
        pull = (self.linearisation_point - self.start) / self.dt
        if pull.any():
            add_linear_forces(self.dt, pull, self.model.tets, records)

    def _compute_records_at_end(self, records: Floats, v: Floats, twist: Floats) -> Bools:
        """Writes the records of tets at the end of a solve; returns the islands whose linear forces were wrong, (k,).

        Args:
            records: Records of the solve, (m, …), in and out.
            v: Velocities that it gave [m/s], (n, 3).
            twist: Torque of the linear forces [N m], (k, 3), out.
        """
        model, pattern = self.model, self.model.pattern
        add_linear_forces(-self.dt, v, model.tets, records)
        forces, (wrong, stored) = np.empty((len(records), 9)), np.empty((2, pattern.island_count))
        copy_forces(records, forces)
        sum_torques(self.start, v, pattern.island_of_row, model.tets, records, twist)
        compute_element_records(model, self.x, self.lagged_rotations, records)
        sum_linearisation_errors(forces, pattern.island_of_row, model.tets, records, wrong, stored)
        moving = kinetic_energies(model, v)
        return wrong > MAX_ENERGY_ERROR * (stored + moving)


def elastic_energies(model: Model, x: Floats, workspace: StepWorkspace) -> Floats:
    """Returns the elastic energy of every island at node positions x [m], (n, 3): [J], (k,).

    Bodies that keep their rotations for some steps count with those of x.
    """
    return stored_energy(model, x, compute_element_records(model, x, out=workspace.element_records(model)))


def _is_hinged(model: Model) -> list[int]:
    """Returns the islands whose core rotates about an axis."""
    return [int(model.pattern.island_of_row[core.nodes[0]]) for core in model.cores if core.hinge is not None]


def _is_constrained(model: Model, external_forces: ExternalForces) -> Bools:
    """Returns which islands have fixed nodes, springs or contacts, (k,)."""
    island_of_row, tets = model.pattern.island_of_row, model.tets
    bound = np.zeros(model.pattern.island_count, bool)
    if external_forces.is_fixed is not None:
        bound[island_of_row[external_forces.is_fixed]] = True
    for tet in (external_forces.points.tet, external_forces.pairs.tet, external_forces.pairs.other):
        bound[island_of_row[tets[tet, 0]]] = True
    return bound
