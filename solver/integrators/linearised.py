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
What is stiff and turns by more than `FAR` in a solve is taken in shorter steps at once.

Forces that belong to the end of a step make a torque about its start, x: it would take a share θ² from what spins in
every step. Bodies cannot turn themselves, so they get that angular momentum back as a spin.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Bools, Floats, floats
from ..elements.assembly import assemble
from ..elements.corotational import warp_tets
from ..elements.force_change import keep_forces, sum_changes
from ..elements.linear_pull import add_linear_pull
from ..elements.record import STRETCHED, WITH_DAMPING
from ..elements.records import method_of, needs_records, write_records
from ..elements.stored_energy import stored_energy
from ..elements.twist import sum_twists
from ..elements.volume_pressure import add_pressure
from ..linear.pattern import BlockPattern
from ..method import LINEAR
from ..model import Model
from ..spin import spun, turn_energy, turned, with_turns
from ..state import State
from ..vertex_warp import is_warped
from .constant_rows import keep, recall
from .core_end import end_with_cores
from .matrix_free import bodies_without_matrix, drag_of, leave_out
from .outside import Outside
from .rows import add_to_diagonal
from .workspace import records_of, workspace

WRONG = 1.0e-3  # energy of wrong forces over that of a body, elastic and of motion, from which it is solved again
FAR = 0.6  # [rad]: turn in a solve from which what is stiff is not where the linear system would have it
STAYS = 3  # solves of a step before rotations follow: until then contacts find out which of them push


def warp(model: Model, x: Floats, held: Floats | None = None) -> None:
    """Writes the records of all tets at node positions x [m], (n, 3), of every body by the method that it asks for.

    `held` are the rotations of bodies that hold theirs (`held_frames.py`); None: they have those of x.
    """
    warped = records_of(model)
    if model.methods:
        for number in range(len(model.bodies)):
            write_records(model, number, x, warped, held)
    else:
        warp_tets(
            x, model.tets, model.Dm_inverse, model.volume, model.mu, model.lam_by_strain,
            model.stiffness_damping, model.initial_strain, warped,
        )  # fmt: skip
    if len(model.pressure_modulus):
        add_pressure(
            x, model.tets, model.Dm_inverse, model.volume, model.pressure_modulus, model.stiffness_damping,
            model.initial_strain, warped,
        )  # fmt: skip
    for core in model.cores:  # rigid
        warped[core.tets] = 0.0


def join(model: Model, dt: float) -> None:
    """Writes the matrix of a step of Δt = `dt` [s] and the elastic forces out of the records of tets.

    Bodies whose stiffness is warped vertex by vertex get mass and damping alone, see `vertex_warp.add_warped`.
    """
    work, drag = workspace(model.pattern), drag_of(model, dt)
    if not model.methods:
        assemble(dt * dt, dt, drag, model.pattern, work.warped, work.values, work.force)
        return
    without = bodies_without_matrix(model)
    for number, body in enumerate(model.bodies):
        if number in without or recall(model, number, dt):
            continue
        if not needs_records(model, number):
            write_mass(model.pattern, body.nodes, drag, work.values)
            continue
        stiff = 0.0 if is_warped(model, number) else dt * dt
        assemble(stiff, dt, drag, model.pattern, work.warped, work.values, work.force, body.nodes)
        keep(model, number, dt)
    leave_out(model, without, dt)


def write_mass(pattern: BlockPattern, nodes: slice, drag: Floats, values: Floats) -> None:
    """Writes the rows of some nodes that have nothing but mass [kg], (n,), and what drags it."""
    values[slice(*pattern.row_start[[nodes.start, nodes.stop]])] = 0.0
    add_to_diagonal(nodes.start, nodes.stop, pattern.diagonal, drag, values)


class Turning:
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
        """Begins it at a state and Δt = `dt` [s]: tets are warped to `about` [m], (n, 3), see `warp`.

        Islands that are straight, (k,), None for none, keep the end of their solve as it is. `leads` is whether turns
        of solves are made as rotations.
        """
        self.leads = leads
        self.model, self.state, self.start, self.dt, self.held = model, state, floats(state.x), dt, held
        self.about = floats(about)
        self.has_core = np.zeros(model.pattern.island_count, bool)  # these are turned with it
        self.has_core[[int(model.pattern.island_of_row[core.nodes[0]]) for core in model.cores]] = True
        self.is_sought = np.ones(model.pattern.island_count, bool)  # in the present solve
        self.solves = 0
        self.twist = np.zeros((model.pattern.island_count, 3))
        self.is_first = np.ones(model.pattern.island_count, bool)  # islands solved with the rotations of the start
        self.may_turn = np.ones(model.pattern.island_count, bool) if is_straight is None else ~is_straight

    def end(self, outside: Outside, x: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Takes the end of a solve, x [m] and v [m/s], (n, 3) each, and returns it with what flies freely turned."""
        bound = _bound(self.model, outside)
        self.is_free = self.is_first & self.may_turn & ~bound & ~self.has_core
        start: np.ndarray = np.asarray(self.model.pattern.island_start, np.int64)
        self.x, turned_v = turned(start, self.model.mass, self.start, x, v, self.is_free, self.dt)
        self.x, angle = with_turns(start, self.model.mass, self.about, self.x, self._find_led(outside))
        self.turns_far = self._turns_far(angle)
        if self.model.cores:
            self.x, turned_v = end_with_cores(self.model, self.state, outside, self.x, turned_v, self.dt)
        turned_v = self.led(turned_v)
        twist = np.empty((self.model.pattern.island_count, 3))
        self.is_wrong = self._warp_to_end(v, twist) & ~self.is_free & ~self.has_core
        is_held = np.zeros(len(v), bool) if outside.is_fixed is None else outside.is_fixed
        stays = self.is_free | ~self.may_turn | (self.has_core & ~bound)
        twist[stays | np.logical_or.reduceat(is_held, start[:-1])] = 0.0
        twist[_hinged(self.model)] = 0.0
        self.twist[self.is_sought] = twist[self.is_sought]
        return self.x, spun(start, self.model.mass, self.x, turned_v, -self.dt * self.twist, self.dt)

    def straight(self, x: Floats) -> Floats:
        """Returns where the last solve would lead along straight ways, from its end x [m], (n, 3), but for free flight.

        That is where the system has contacts, and what they press with is told by it.
        """
        if not self.is_led.any():
            return self.x
        return np.where(self.is_led[self.model.pattern.island_of_row][:, None], x, self.x)

    def led(self, v: Floats) -> Floats:
        """Returns the velocities that lead to the end of the last solve [m/s], from those that it gave, (n, 3)."""
        if not self.is_led.any():
            return v
        return np.where(self.is_led[self.model.pattern.island_of_row][:, None], (self.x - self.start) / self.dt, v)

    def _find_led(self, outside: Outside) -> Bools:
        """Returns the islands whose turn from where they are linearised is made as a rotation, (k,)."""
        self.is_led = ~self.is_free & self.may_turn & ~self.has_core & self.leads
        if outside.is_fixed is not None:
            self.is_led[self.model.pattern.island_of_row[outside.is_fixed]] = False
        for number, body in enumerate(self.model.bodies if self.model.methods else ()):
            if method_of(self.model, number).name == LINEAR:  # turned, it would be strained
                self.is_led[self.model.pattern.island_of_row[body.nodes]] = False
        return self.is_led

    def _turns_far(self, angle: Floats) -> bool:
        """Whether what turned by angles [rad], (k,), did so too far for how stiff it is."""
        if not angle.max(initial=0.0) > FAR:
            return False
        moving = motion_energy(self.model, self.state.v)
        return bool(((angle > FAR) & (turn_energy(self.model, angle, self.dt) > moving)).any())

    def go_on(self, outside: Outside) -> None:
        """Linearises about the end of the last solve what is not done in the next one.

        Not before some solves where contacts change: with other rotations each solve asks them another question.
        """
        self.is_sought[:] = True
        if outside.is_done is not None:
            self.is_sought = ~outside.is_done[self.model.pattern.island_start[:-1]]
        self.solves += 1
        renewed = self.is_sought if self.solves >= STAYS else np.zeros_like(self.is_sought)
        if outside.turns is not None:
            renewed = renewed | (self.is_sought & outside.turns)
        renewed = renewed & ~self.has_core
        if renewed.any():
            self.about = np.where(renewed[self.model.pattern.island_of_row][:, None], self.x, self.about)
        self._linearise()
        if renewed.any():
            join(self.model, self.dt)
        self.is_first &= ~renewed

    def _linearise(self) -> None:
        """Writes the records of all tets about where their islands are linearised.

        Keeping those of the last solve would take no less time, and as much memory as all the rest of a step.
        """
        warped, damping = workspace(self.model.pattern).warped, None
        if self.leads and warped.shape[1] >= WITH_DAMPING:
            # by the chord of a turn, Green's strain changes as about its middle: not at all
            warp(self.model, 0.5 * (self.start + self.about), self.held)
            damping = warped[:, STRETCHED:WITH_DAMPING].copy()
        warp(self.model, self.about, self.held)
        if damping is not None:
            warped[:, STRETCHED:WITH_DAMPING] = damping
        pull = (self.about - self.start) / self.dt
        if pull.any():
            add_linear_pull(self.dt, pull, self.model.tets, warped)

    def _warp_to_end(self, v: Floats, twist: Floats) -> Bools:
        """Warps tets to the end of a solve of v [m/s], (n, 3); returns whose linear forces were wrong, (k,).

        `twist` gets the torque that these made [N m], (k, 3).
        """
        model, pattern, warped = self.model, self.model.pattern, workspace(self.model.pattern).warped
        add_linear_pull(-self.dt, v, model.tets, warped)
        forces, (wrong, stored) = np.empty((len(warped), 9)), np.empty((2, pattern.island_count))
        keep_forces(warped, forces)
        sum_twists(self.start, v, pattern.island_of_row, model.tets, warped, twist)
        warp(model, self.x, self.held)
        sum_changes(forces, pattern.island_of_row, model.tets, warped, wrong, stored)
        moving = motion_energy(model, v)
        return wrong > WRONG * (stored + moving)


def motion_energy(model: Model, v: Floats) -> Floats:
    """Returns ½ Σ m v² of every island [J], (k,), for velocities v [m/s], (n, 3)."""
    first: np.ndarray = np.asarray(model.pattern.island_start, np.int64)[:-1]
    return floats(0.5 * np.add.reduceat(model.mass * np.einsum("ni,ni->n", v, v), first))


def energy_stored(model: Model, x: Floats) -> Floats:
    """Returns what every island stores at node positions x [m], (n, 3): [J], (k,); not for rotations that are held."""
    warp(model, x)
    return stored_energy(model, x, workspace(model.pattern).warped)


def _hinged(model: Model) -> list[int]:
    """Returns the islands whose core turns about an axis."""
    return [int(model.pattern.island_of_row[core.nodes[0]]) for core in model.cores if core.hinge is not None]


def _bound(model: Model, outside: Outside) -> Bools:
    """Returns which islands are held somewhere, or touch something, (k,)."""
    island_of_row, tets = model.pattern.island_of_row, model.tets
    bound = np.zeros(model.pattern.island_count, bool)
    if outside.is_fixed is not None:
        bound[island_of_row[outside.is_fixed]] = True
    for tet in (outside.points.tet, outside.pairs.tet, outside.pairs.other):
        bound[island_of_row[tets[tet, 0]]] = True
    return bound
