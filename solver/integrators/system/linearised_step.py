# SPDX-License-Identifier: GPL-3.0-or-later
"""The linear system of a step, and the same again about where its last solve has led.

With the rotations of its start a step is solved once. What spins by θ in it ends stretched by θ²/2, which is an energy
of some μ V θ⁴ out of nothing: little for a soft body, more than it had for a stiff one that is struck. So steps where
bodies may touch, solved again until contacts are content, are linearised about the last end x_k = x + Δt v_k:

    f(x⁺) ≈ f(x_k) + Δt K_k v_k − Δt K_k v⁺,

which is Newton's method but for the derivative of the rotations. Where these forces were too wrong it is solved again.

A solve moves nodes along straight lines from where it was linearised. What it has of a turn as a whole is made as a
rotation, and the next one is linearised about that; where solves become content, there is none left. Damping is that of
the way from the start of the step, about its middle (Green's strain changes by sym(Fᵀ ΔF) with the F there, exactly).
What is stiff and turns by more than `MAX_ROTATION_ANGLE` in a solve is taken in shorter steps at once.

Forces that belong to the end of a step make a torque about its start, x: it would take a share θ² from what spins in
every step. Bodies cannot turn themselves, so they get that angular momentum back as a spin.
"""

from __future__ import annotations

import numpy as np

from ...constraints.external_forces import ExternalForces
from ...linalg.block_pattern import BlockPattern
from ...mechanics.elements.assembly import assemble
from ...mechanics.elements.corotational_element import compute_corotational_records
from ...mechanics.elements.element_buffer import DAMPED_LENGTH, DEFORMED_GRADIENTS, element_arrays
from ...mechanics.elements.element_torque import sum_torques
from ...mechanics.elements.fill_element_buffer import method_of, needs_records, write_records
from ...mechanics.elements.linear_force import add_linear_forces
from ...mechanics.elements.linearisation_error import copy_forces, sum_linearisation_errors
from ...mechanics.elements.strain_energy import stored_energy
from ...mechanics.elements.volume_pressure import add_pressure
from ...mechanics.model import Model
from ...mechanics.rigid_rotation import chord_stretch_energy, rotated_motion, with_finite_rotations, with_spin
from ...mechanics.state import State
from ...mechanics.vertex_warp import is_warped
from ...runtime.arrays import Bools, Floats, floats
from ...scene.formulation import LINEAR
from .block_ops import add_to_diagonal
from .cached_rows import restore_rows, store_rows
from .core_rotation import end_step_with_cores
from .matrix_free import diagonal_mass, leave_out_stiffness, matrix_free_bodies
from .workspace import element_records, workspace

MAX_ENERGY_ERROR = (
    1.0e-3  # energy of wrong forces over that of a body, elastic and of motion, from which it is solved again
)
MAX_ROTATION_ANGLE = 0.6  # [rad]: turn in a solve from which what is stiff is not where the linear system would have it
SOLVES_BEFORE_RELINEARISING = (
    3  # solves of a step before rotations follow: until then contacts find out which of them push
)


def compute_element_records(model: Model, x: Floats, held: Floats | None = None) -> None:
    """Writes the records of all tets at node positions x [m], (n, 3), of every body by the method that it asks for.

    `lagged_rotations` are the rotations of bodies that hold theirs (`lagged_rotations.py`); None: they have those of x.
    """
    warped = element_records(model)
    if model.methods:
        for number in range(len(model.bodies)):
            write_records(model, number, x, warped, held)
    else:
        compute_corotational_records(x, element_arrays(model), warped)
    if len(model.pressure_modulus):
        add_pressure(
            x, model.tets, model.Dm_inverse, model.volume, model.pressure_modulus, model.stiffness_damping,
            model.initial_strain, warped,
        )  # fmt: skip
    for core in model.cores:  # rigid
        warped[core.tets] = 0.0


def assemble_system(model: Model, dt: float) -> None:
    """Writes the matrix of a step of Δt = `dt` [s] and the elastic forces out of the records of tets.

    Bodies whose stiffness is warped vertex by vertex get mass and damping alone, see `vertex_warp.add_warped`.
    """
    work, drag = workspace(model.pattern), diagonal_mass(model, dt)
    if not model.methods:
        assemble(dt * dt, dt, drag, model.pattern, work.element_records, work.values, work.force)
        return
    without = matrix_free_bodies(model)
    for number, body in enumerate(model.bodies):
        if number in without or restore_rows(model, number, dt):
            continue
        if not needs_records(model, number):
            write_mass_rows(model.pattern, body.nodes, drag, work.values)
            continue
        stiff = 0.0 if is_warped(model, number) else dt * dt
        assemble(stiff, dt, drag, model.pattern, work.element_records, work.values, work.force, body.nodes)
        store_rows(model, number, dt)
    leave_out_stiffness(model, without, dt)


def write_mass_rows(pattern: BlockPattern, nodes: slice, drag: Floats, values: Floats) -> None:
    """Writes the rows of some nodes that have nothing but mass [kg], (n,), and what drags it."""
    values[slice(*pattern.row_start[[nodes.start, nodes.stop]])] = 0.0
    add_to_diagonal(nodes.start, nodes.stop, pattern.diagonal, drag, values)


class RelinearisedStep:
    """The system of a step of bodies that may touch, from solve to solve.

    What touches nothing is solved once, with the rotations of the start of the step, and its motion as a whole is made
    as a rotation then: that is exact and keeps its spin. All else is linearised again about where it was led.
    """

    def __init__(
        self,
        model: Model,
        state: State,
        about: Floats,
        dt: float,
        held: Floats | None = None,
        is_straight: Bools | None = None,
        leads: bool = False,
    ) -> None:
        """Begins it at a state and Δt = `dt` [s]: tets are warped to `about` [m], (n, 3), see
        `compute_element_records`.

        Islands that are straight, (k,), None for none, keep the end of their solve as it is. `makes_rotations` is
        whether turns of solves are made as rotations.
        """
        self.makes_rotations = leads
        self.model, self.state, self.start, self.dt, self.lagged_rotations = model, state, floats(state.x), dt, held
        self.about = floats(about)
        self.has_core = np.zeros(model.pattern.island_count, bool)  # these are turned with it
        self.has_core[[int(model.pattern.island_of_row[core.nodes[0]]) for core in model.cores]] = True
        self.is_active = np.ones(model.pattern.island_count, bool)  # in the present solve
        self.solves = 0
        self.torque = np.zeros((model.pattern.island_count, 3))
        self.is_first = np.ones(model.pattern.island_count, bool)  # islands solved with the rotations of the start
        self.may_turn = np.ones(model.pattern.island_count, bool) if is_straight is None else ~is_straight

    def end(self, outside: ExternalForces, x: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Takes the end of a solve, x [m] and v [m/s], (n, 3) each, and returns it with what flies freely turned."""
        bound = _is_constrained(self.model, outside)
        self.is_free = self.is_first & self.may_turn & ~bound & ~self.has_core
        start: np.ndarray = np.asarray(self.model.pattern.island_start, np.int64)
        self.x, turned_v = rotated_motion(start, self.model.mass, self.start, x, v, self.is_free, self.dt)
        self.x, angle = with_finite_rotations(
            start, self.model.mass, self.about, self.x, self._rigidly_rotated_islands(outside)
        )
        self.turns_far = self._turns_far(angle)
        if self.model.cores:
            self.x, turned_v = end_step_with_cores(self.model, self.state, outside, self.x, turned_v, self.dt)
        turned_v = self.constrained_velocities(turned_v)
        twist = np.empty((self.model.pattern.island_count, 3))
        self.is_inaccurate = self._warp_to_end(v, twist) & ~self.is_free & ~self.has_core
        is_held = np.zeros(len(v), bool) if outside.is_fixed is None else outside.is_fixed
        stays = self.is_free | ~self.may_turn | (self.has_core & ~bound)
        twist[stays | np.logical_or.reduceat(is_held, start[:-1])] = 0.0
        twist[_is_hinged(self.model)] = 0.0
        self.torque[self.is_active] = twist[self.is_active]
        return self.x, with_spin(start, self.model.mass, self.x, turned_v, -self.dt * self.torque, self.dt)

    def straight_end(self, x: Floats) -> Floats:
        """Returns where the last solve would lead along straight ways, from its end x [m], (n, 3), but for free flight.

        That is where the system has contacts, and what they press with is told by it.
        """
        if not self.is_rigidly_rotated.any():
            return self.x
        return np.where(self.is_rigidly_rotated[self.model.pattern.island_of_row][:, None], x, self.x)

    def constrained_velocities(self, v: Floats) -> Floats:
        """Returns the velocities that lead to the end of the last solve [m/s], from those that it gave, (n, 3)."""
        if not self.is_rigidly_rotated.any():
            return v
        return np.where(
            self.is_rigidly_rotated[self.model.pattern.island_of_row][:, None], (self.x - self.start) / self.dt, v
        )

    def _rigidly_rotated_islands(self, outside: ExternalForces) -> Bools:
        """Returns the islands whose turn from where they are linearised is made as a rotation, (k,)."""
        self.is_rigidly_rotated = ~self.is_free & self.may_turn & ~self.has_core & self.makes_rotations
        if outside.is_fixed is not None:
            self.is_rigidly_rotated[self.model.pattern.island_of_row[outside.is_fixed]] = False
        for number, body in enumerate(self.model.bodies if self.model.methods else ()):
            if method_of(self.model, number).name == LINEAR:  # turned, it would be strained
                self.is_rigidly_rotated[self.model.pattern.island_of_row[body.nodes]] = False
        return self.is_rigidly_rotated

    def _turns_far(self, angle: Floats) -> bool:
        """Whether what turned by angles [rad], (k,), did so too far for how stiff it is."""
        if not angle.max(initial=0.0) > MAX_ROTATION_ANGLE:
            return False
        moving = kinetic_energies(self.model, self.state.v)
        return bool(((angle > MAX_ROTATION_ANGLE) & (chord_stretch_energy(self.model, angle, self.dt) > moving)).any())

    def relinearise(self, outside: ExternalForces) -> None:
        """Linearises about the end of the last solve what is not done in the next one.

        Not before some solves where contacts change: with other rotations each solve asks them another question.
        """
        self.is_active[:] = True
        if outside.is_frozen is not None:
            self.is_active = ~outside.is_frozen[self.model.pattern.island_start[:-1]]
        self.solves += 1
        renewed = self.is_active if self.solves >= SOLVES_BEFORE_RELINEARISING else np.zeros_like(self.is_active)
        if outside.turns is not None:
            renewed = renewed | (self.is_active & outside.turns)
        renewed = renewed & ~self.has_core
        if renewed.any():
            self.about = np.where(renewed[self.model.pattern.island_of_row][:, None], self.x, self.about)
        self._linearise()
        if renewed.any():
            assemble_system(self.model, self.dt)
        self.is_first &= ~renewed

    def _linearise(self) -> None:
        """Writes the records of all tets about where their islands are linearised.

        Keeping those of the last solve would take no less time, and as much memory as all the rest of a step.
        """
        warped, damping = workspace(self.model.pattern).element_records, None
        if self.makes_rotations and warped.shape[1] >= DAMPED_LENGTH:
            # by the chord of a turn, Green's strain changes as about its middle: not at all
            compute_element_records(self.model, 0.5 * (self.start + self.about), self.lagged_rotations)
            damping = warped[:, DEFORMED_GRADIENTS:DAMPED_LENGTH].copy()
        compute_element_records(self.model, self.about, self.lagged_rotations)
        if damping is not None:
            warped[:, DEFORMED_GRADIENTS:DAMPED_LENGTH] = damping
        pull = (self.about - self.start) / self.dt
        if pull.any():
            add_linear_forces(self.dt, pull, self.model.tets, warped)

    def _warp_to_end(self, v: Floats, twist: Floats) -> Bools:
        """Warps tets to the end of a solve of v [m/s], (n, 3); returns whose linear forces were wrong, (k,).

        `torque` gets the torque that these made [N m], (k, 3).
        """
        model, pattern, warped = self.model, self.model.pattern, workspace(self.model.pattern).element_records
        add_linear_forces(-self.dt, v, model.tets, warped)
        forces, (wrong, stored) = np.empty((len(warped), 9)), np.empty((2, pattern.island_count))
        copy_forces(warped, forces)
        sum_torques(self.start, v, pattern.island_of_row, model.tets, warped, twist)
        compute_element_records(model, self.x, self.lagged_rotations)
        sum_linearisation_errors(forces, pattern.island_of_row, model.tets, warped, wrong, stored)
        moving = kinetic_energies(model, v)
        return wrong > MAX_ENERGY_ERROR * (stored + moving)


def kinetic_energies(model: Model, v: Floats) -> Floats:
    """Returns ½ Σ m v² of every island [J], (k,), for velocities v [m/s], (n, 3)."""
    first: np.ndarray = np.asarray(model.pattern.island_start, np.int64)[:-1]
    return floats(0.5 * np.add.reduceat(model.mass * np.einsum("ni,ni->n", v, v), first))


def elastic_energies(model: Model, x: Floats) -> Floats:
    """Returns what every island stores at node positions x [m], (n, 3): [J], (k,); not for rotations that are held."""
    compute_element_records(model, x)
    return stored_energy(model, x, workspace(model.pattern).element_records)


def _is_hinged(model: Model) -> list[int]:
    """Returns the islands whose core turns about an axis."""
    return [int(model.pattern.island_of_row[core.nodes[0]]) for core in model.cores if core.hinge is not None]


def _is_constrained(model: Model, outside: ExternalForces) -> Bools:
    """Returns which islands are held somewhere, or touch something, (k,)."""
    island_of_row, tets = model.pattern.island_of_row, model.tets
    bound = np.zeros(model.pattern.island_count, bool)
    if outside.is_fixed is not None:
        bound[island_of_row[outside.is_fixed]] = True
    for tet in (outside.points.tet, outside.pairs.tet, outside.pairs.other):
        bound[island_of_row[tets[tet, 0]]] = True
    return bound
