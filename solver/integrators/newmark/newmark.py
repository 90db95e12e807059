# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh by the modified Newmark scheme: elasticity explicit, damping, springs and contacts implicit, in substeps.

    1. v½ = v + h/2 a(x, v½)               one linear solve with M + h/2 C
    2. x⁺ = x + h v½
    4. v̂ = v + h/2 a(x½, v̂)               another, with x½ = (x + x⁺) / 2
    5. v⁺ = 2 v̂ − v

Springs and contacts are linear in positions, too, and are taken at x½ = x + h/2 v½ in the first solve (6.8), so they do
not limit the step. The limit of elasticity is computed at the start of the step (`stable_time_step.py`). A contact only
pushes, while its point is inside it, and is damped so that points do not rattle. Damping
(`mechanics/hyperelastic/rayleigh_damping.py`) is that of x½, and of the previous x½ in the first solve: the order stays
two.

Source: S07, section 6.3.3, with its steps numbered as there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...constraints.external_forces import ExternalForces
from ...constraints.linear_forces import LinearForces
from ...constraints.pair_forces import PairForces
from ...constraints.point_forces import PointForces
from ...linalg.block_system import BlockSystem, StoppingCriteria
from ...linalg.bound_nodes import BoundNodes
from ...linalg.pcg import solve
from ...linalg.rigid_modes import rigid_modes
from ...mechanics.hyperelastic.hyperelastic_bodies import partition
from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, Indices, floats
from ...runtime.errors import SolveFailed
from ...runtime.row_dot_products import row_dot_products
from ...runtime.threads.thread_pool import run_parts
from ..dynamic_flesh_forces import FleshEvaluator, FleshGroup
from ..step_input import StepInput
from ..system.block_ops import add_blocks, add_to_diagonal
from ..system.external_blocks import add_pair_blocks, add_point_blocks
from ..system.right_hand_side import write_gravity_impulse
from ..system.step_matrix import diagonal_mass
from .soft_particle_substeps import SubstepParticles
from .stable_time_step import highest_frequencies
from .substep_contacts import GroupContacts, SubstepSolve, active_pairs, active_points, group_contacts

STABLE_STEP_SHARE = 0.9  # of the longest step
MAX_SUBSTEPS = 200  # in a step; beyond, implicit Euler is the better scheme
LINEAR_TOLERANCE_SHARE = 0.1  # share of the settings' tolerance to which the linear solves go


class _SubstepForces(NamedTuple):
    """External forces on all bodies, and springs and contacts of the group in its own numbers."""

    external_forces: ExternalForces
    contacts: GroupContacts


class NewmarkStep:
    """The bodies of a group over one step.

    Attributes:
        nodes, tets: Of the group, in the whole.
        substeps: Their number in the step.
        x, v: At the end of the last `run` [m], [m/s], (n, 3) each, of the group's nodes.
        particles: Soft-bound ones of the group, at the end of the last `run`; None: there are none.
        iterations, residual: Of the linear solves of the last `run`: all of them, and the worst.
    """

    def __init__(self, group: FleshGroup, start: StepInput) -> None:
        """Finds the number of substeps.

        Raises:
            SolveFailed: There would be too many.
        """
        state, external_forces, dt = start.state, start.external_forces, start.dt
        self.group, self.dt, self.settings, self.time = group, dt, start.settings, state.time
        self.workspace, self.state = start.workspace, start.state
        self.particles: SubstepParticles | None = None
        self.evaluator = FleshEvaluator(group, start.model, start.workspace)
        self.model, self.nodes, self.tets = self.evaluator.model, group.part.nodes, group.part.tets
        self.x0, self.v0 = floats(state.x[self.nodes]), floats(state.v[self.nodes])
        n = self.model.node_count
        self.is_free: Bools = (
            np.ones(n, bool) if external_forces.is_fixed is None else ~external_forces.is_fixed[self.nodes]
        )
        self.bound = _bound_nodes(start.model, self.nodes)
        self.target = self.x0 + dt * self.v0
        if external_forces.fixed_target is not None:
            self.target[~self.is_free] = external_forces.fixed_target[self.nodes][~self.is_free]
        self.base, self.values, self.damping = np.zeros((3, self.model.pattern.block_count, 9))
        self.is_damped = bool(self.model.stiffness_damping.any())
        self.substeps = self._substeps(PointForces())
        self.x, self.v, self.iterations, self.residual = self.x0, self.v0, 0, 0.0
        self.linear_tolerance = LINEAR_TOLERANCE_SHARE * start.settings.tolerance

    def run(self, external_forces: ExternalForces) -> None:
        """Takes the step from its start with external forces, without pairs that join other bodies."""
        free = self.is_free[:, None]
        fixed_velocity = (self.target - self.x0) / self.dt
        self.x, self.v = self.x0.copy(), np.where(free, self.v0, fixed_velocity)
        self.iterations, self.residual = 0, 0.0
        contacts = group_contacts(external_forces, self.tets)
        external = _SubstepForces(external_forces, contacts)
        self.particles = SubstepParticles.of_group(external_forces, self.model, self.tets, self.state)
        linked = [potential.forces_at(self.x0).as_points() for potential in external_forces.substep_potentials]
        if external_forces.contact_count or len(external_forces.pairs) or linked:
            self.substeps = self._substeps(PointForces.concatenate(contacts.contacts_as_points(), *linked))
        h = self.dt / self.substeps
        if self.is_damped:
            self.evaluator.damping(self.x0, self.damping)
        force = np.empty_like(self.x)
        for number in range(1, self.substeps + 1):
            self.evaluator.force_at(self.x, force)
            middle = self._solve(force, self.x, external, 0.5 * h, self.v, is_first=True)
            x_half = self.x + 0.5 * h * middle
            if self.particles:
                self.particles.move_to_middle(0.5 * h)
            self.evaluator.force_at(x_half, force)
            if self.is_damped:
                self.evaluator.damping(x_half, self.damping)
            half = self._solve(force, x_half, external, 0.5 * h, middle, is_first=False)
            x_end = self.x + h * middle
            if self.particles:
                self.particles.end_substep(h)
            share = number / self.substeps
            self.x = np.where(free, x_end, self.x0 + share * (self.target - self.x0))
            self.v = np.where(free, 2.0 * half - self.v, fixed_velocity)
        if not (np.isfinite(self.x).all() and np.isfinite(self.v).all()):
            raise SolveFailed("solve-not-finite", time=self.time + self.dt)

    def _substeps(self, contacts: PointForces) -> int:
        """Returns the number of substeps. They also have to resolve contacts, which come and go."""
        model, values = self.model, self.values
        self.evaluator.evaluate(self.x0)
        np.copyto(values, self.evaluator.tangent)
        springs = replace(contacts, damping=np.zeros_like(contacts.stiffness))
        add_point_blocks(model, springs, 1.0, values, np.zeros_like(self.x0))
        starts = [body.nodes.start for body in model.bodies]
        pattern, values = self.evaluator.whole_tangent(values)
        is_free = self.is_free
        if self.bound is not None:
            eliminated = self.workspace.eliminated_patterns.of(pattern, self.bound)
            pattern, values = eliminated.pattern, eliminated.reduce(values)
            is_free = is_free & ~self.bound.is_bound(model.node_count)
        frequencies = highest_frequencies(pattern, values, model.mass, is_free, starts)
        with np.errstate(invalid="ignore"):
            needed = np.ceil(self.dt * frequencies / (2.0 * STABLE_STEP_SHARE))
        worst = int(np.argmax(needed))
        if not needed[worst] <= MAX_SUBSTEPS:
            raise SolveFailed(
                "newmark-substeps",
                name=self.group.names[worst],
                time=self.time,
                needed=f"{needed[worst]:.0f}",
                most=MAX_SUBSTEPS,
            )
        return max(1, int(needed[worst]))

    def _solve(
        self, force: Floats, x: Floats, external: _SubstepForces, h: float, guess: Floats, *, is_first: bool
    ) -> Floats:
        """Returns v with (M + h C) v = M v_n + h f for the forces of flesh at x and all others there, (n, 3)."""
        external_forces, contacts = external
        model = self.model
        impulse = np.empty_like(x)
        write_gravity_impulse(model.mass, model.gravity_scale, floats(external_forces.gravity), h, impulse)
        if external_forces.node_force is not None:
            impulse += h * external_forces.node_force[self.nodes]
        b = model.mass[:, None] * self.v + h * force + impulse
        solve_input = SubstepSolve(model.tets, x - self.x0, self.v, h, self.dt / self.substeps, is_first)
        acting, pairs = active_points(contacts, solve_input), active_pairs(contacts, solve_input)
        if self.particles:
            acting = PointForces.concatenate(acting, self.particles.points(x, h, is_first=is_first))
        floor = None
        if external_forces.substep_potentials:
            linked = LinearForces.concatenate(*(each.forces_at(x) for each in external_forces.substep_potentials))
            floor = h * self._island_norms(linked.link_round_off(x, model.tets)) / self.linear_tolerance
            if not is_first:  # explicit: x is the middle of the substep already
                linked = linked.without_stiffness()
            acting = PointForces.concatenate(acting, linked.points)
            pairs = PairForces.concatenate(pairs, linked.pairs)
        mass = diagonal_mass(model, h)
        if not len(acting) and not len(pairs) and not self.is_damped:
            return self._explicit(b, mass)
        v = self._implicit(acting, pairs, b, (mass, h, floor), guess, x)
        if self.particles:
            self.particles.take(v)
        return v

    def _implicit(
        self,
        acting: PointForces,
        pairs: PairForces,
        b: Floats,
        equation: tuple[Floats, float, Floats | None],
        guess: Floats,
        x: Floats,
    ) -> Floats:
        """Returns the solution with damping, springs and contacts [m/s], (n, 3).

        Args:
            acting, pairs: Springs and contacts.
            b: M v_n + h f without these [N s], (n, 3), changed.
            equation: Masses with their damping [kg], (n,), h [s], and the floor of the norm of b; None: zero.
            guess: A first guess [m/s], (n, 3).
            x: Where nodes are [m], (n, 3).
        """
        model, pattern, (mass, h, floor) = self.model, self.model.pattern, equation
        self.values[:] = 0.0
        if self.is_damped:
            parts = partition(len(self.values))
            run_parts(len(parts), lambda k: add_blocks(*parts[k], self.damping, h, self.values))
        add_to_diagonal(0, len(mass), pattern.diagonal, mass, self.values)
        add_point_blocks(model, acting, h, self.values, b)
        pattern, values = add_pair_blocks(model, (pattern, self.values), pairs, h, b, self.workspace.pair_patterns)
        v = guess.copy()
        if self.bound is not None:
            eliminated = self.workspace.eliminated_patterns.of(pattern, self.bound)
            pattern, values = eliminated.pattern, eliminated.reduce(values)
            self.bound.hand_down(b)
            v[self.bound.nodes] = 0.0
            norms = self._island_norms(b)
            floor = eliminated.joint_norms(norms if floor is None else np.maximum(norms, floor))
        solved = solve(
            BlockSystem(pattern, values, b, self.is_free),
            v,
            StoppingCriteria(self.linear_tolerance, self.settings.max_iterations, floor),
            modes=rigid_modes(pattern, values, x, self.is_free),
            workspace=self.workspace.pcg,
        )
        self.iterations, self.residual = self.iterations + solved.iterations, max(self.residual, solved.residual)
        if self.bound is not None:
            self.bound.interpolate(v)
        return v

    def _explicit(self, b: Floats, mass: Floats) -> Floats:
        """Returns b / m, (n, 3), where nothing is implicit."""
        if self.bound is None:
            return np.where(self.is_free[:, None], b / mass[:, None], self.v)
        self.bound.hand_down(b)
        with np.errstate(invalid="ignore"):  # bound nodes have neither
            v = np.where(self.is_free[:, None], b / mass[:, None], self.v)
        self.bound.interpolate(v)
        return v

    def _island_norms(self, values: Floats) -> Floats:
        """Returns the norms of values of nodes, (n, 3), in every island, (k,)."""
        starts = np.asarray(self.model.pattern.island_start, np.int64)[:-1]
        return np.sqrt(np.add.reduceat(row_dot_products(values, values), starts))


def _bound_nodes(whole: Model, nodes: Indices) -> BoundNodes | None:
    """Returns the bound nodes of a group in its numbers, for its nodes in the whole, rising, (n,)."""
    if whole.bound is None:
        return None
    number_of = np.full(whole.node_count, -1, np.int32)
    number_of[nodes] = np.arange(len(nodes), dtype=np.int32)
    return whole.bound.renumbered(number_of)
