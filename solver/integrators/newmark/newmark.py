# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh by the modified Newmark scheme: elasticity explicit, damping, springs and contacts implicit, in substeps.

    1. v½ = v + h/2 a(x, v½)               one linear solve with M + h/2 C
    2. x⁺ = x + h v½
    4. v̂ = v + h/2 a(x½, v̂)               another, with x½ = (x + x⁺) / 2
    5. v⁺ = 2 v̂ − v

Springs and contacts are linear in positions, too, and are taken at x½ = x + h/2 v½ in the first solve (6.8), so they
set no limit to the step. That of elasticity is found at the start of the step (`stable_time_step.py`). A contact pushes
only where and while its point is in it, is damped, so that points do not rattle, and does not pull. Damping
(`mechanics/hyperelastic/rayleigh_damping.py`) is that of x½, and of the x½ before in the first solve: the order stays
two.

Source: S07, section 6.3.3, with its steps numbered as there.
"""

from __future__ import annotations

import numpy as np

from ...constraints.external_forces import ExternalForces, PointForces
from ...linalg.block_system import BlockSystem, StoppingCriteria
from ...linalg.pcg import solve
from ...linalg.point_terms import add_point_terms
from ...linalg.rigid_modes import rigid_modes
from ...mechanics.hyperelastic.hyperelastic_element import partition
from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Bools, Floats, floats
from ...runtime.errors import SolveFailed
from ...runtime.threads.thread_pool import run_parts
from ...scene.scene import Settings
from ..newton.dynamic_flesh import FleshEvaluator, FleshGroup
from ..system.block_ops import add_blocks, add_to_diagonal
from ..system.pair_system import add_pair_blocks
from ..system.right_hand_side import write_gravity_impulse
from ..system.workspace import workspace
from .stable_time_step import highest_frequencies
from .substep_contacts import GroupContacts, active_pairs, active_points, group_contacts

STABLE_STEP_SHARE = 0.9  # of the longest step
MAX_SUBSTEPS = 200  # in a step; beyond, implicit Euler is the better scheme
LINEAR_TOLERANCE_SHARE = 0.1  # share of the settings' tolerance to which the linear solves go


class NewmarkStep:
    """The bodies of a group over one step.

    Attributes:
        nodes, tets: Of the group, in the whole.
        substeps: Into how many the step is cut.
        x, v: At the end of the last `run` [m], [m/s], (n, 3) each, of the group's nodes.
        iterations, residual: Of the linear solves of the last `run`: all of them, and the worst.
    """

    def __init__(
        self, group: FleshGroup, model: Model, state: State, outside: ExternalForces, dt: float, settings: Settings
    ) -> None:
        """Finds the number of substeps.

        Raises:
            SolveFailed: There would be too many.
        """
        self.group, self.dt, self.settings, self.time = group, dt, settings, state.time
        self.evaluator = FleshEvaluator(group, model)
        self.model, self.nodes, self.tets = self.evaluator.model, group.part.nodes, group.part.tets
        self.x0, self.v0 = floats(state.x[self.nodes]), floats(state.v[self.nodes])
        n = self.model.node_count
        self.is_free: Bools = np.ones(n, bool) if outside.is_fixed is None else ~outside.is_fixed[self.nodes]
        self.target = self.x0 + dt * self.v0
        if outside.fixed_target is not None:
            self.target[~self.is_free] = outside.fixed_target[self.nodes][~self.is_free]
        self.base, self.values, self.damping = np.zeros((3, self.model.pattern.block_count, 9))
        self.is_damped = bool(self.model.stiffness_damping.any())
        self.substeps = self._substeps(PointForces())
        self.x, self.v, self.iterations, self.residual = self.x0, self.v0, 0, 0.0

    def run(self, outside: ExternalForces) -> None:
        """Goes through the step from its start, with what acts from outside, but for pairs with other bodies."""
        free = self.is_free[:, None]
        held = (self.target - self.x0) / self.dt
        self.x, self.v = self.x0.copy(), np.where(free, self.v0, held)
        self.iterations, self.residual = 0, 0.0
        touching = group_contacts(outside, self.tets)
        if outside.contact_count or len(outside.pairs):
            self.substeps = self._substeps(touching.contacts())
        h = self.dt / self.substeps
        if self.is_damped:
            self.evaluator.damping(self.x0, self.damping)
        force = np.empty_like(self.x)
        for number in range(1, self.substeps + 1):
            self.evaluator.force_at(self.x, force)
            middle = self._solve(force, self.x, touching, outside, 0.5 * h, self.v, is_first=True)
            x_half = self.x + 0.5 * h * middle
            self.evaluator.force_at(x_half, force)
            if self.is_damped:
                self.evaluator.damping(x_half, self.damping)
            half = self._solve(force, x_half, touching, outside, 0.5 * h, middle, is_first=False)
            x_end = self.x + h * middle
            share = number / self.substeps
            self.x = np.where(free, x_end, self.x0 + share * (self.target - self.x0))
            self.v = np.where(free, 2.0 * half - self.v, held)
        if not (np.isfinite(self.x).all() and np.isfinite(self.v).all()):
            raise SolveFailed("solve-not-finite", time=self.time + self.dt)

    def _substeps(self, contacts: PointForces) -> int:
        """Returns into how many parts the step is cut: contacts come and go, so these have to be resolved as well."""
        model, values = self.model, self.values
        self.evaluator.evaluate(self.x0)
        np.copyto(values, self.evaluator.tangent)
        add_point_terms(
            1.0, contacts.tet, contacts.weights, contacts.stiffness, np.zeros_like(contacts.stiffness), contacts.force,
            model.tets, model.pattern.corner_block, values, np.zeros_like(self.x0),
        )  # fmt: skip
        starts = [body.nodes.start for body in model.bodies]
        pattern, values = self.evaluator.whole_tangent(values)
        frequencies = highest_frequencies(pattern, values, model.mass, self.is_free, starts)
        with np.errstate(invalid="ignore"):
            needed = np.ceil(self.dt * frequencies / (2.0 * STABLE_STEP_SHARE))
        worst = int(np.argmax(needed))
        if not needed[worst] <= MAX_SUBSTEPS:
            raise SolveFailed(
                "newmark-substeps", name=self.group.names[worst], time=self.time, needed=f"{needed[worst]:.0f}",
                most=MAX_SUBSTEPS,
            )  # fmt: skip
        return max(1, int(needed[worst]))

    def _solve(
        self,
        force: Floats,
        x: Floats,
        touching: GroupContacts,
        outside: ExternalForces,
        h: float,
        guess: Floats,
        *,
        is_first: bool,
    ) -> Floats:
        """Returns v with (M + h C) v = M v_n + h f for the forces of flesh at x and all others there, (n, 3)."""
        model, pattern = self.model, self.model.pattern
        push = np.empty_like(x)
        write_gravity_impulse(model.mass, model.gravity_scale, floats(outside.gravity), h, push)
        if outside.node_force is not None:
            push += h * outside.node_force[self.nodes]
        b = model.mass[:, None] * self.v + h * force + push
        moved, substep = x - self.x0, self.dt / self.substeps
        acting = active_points(touching, model.tets, moved, self.v, h, substep, is_first)
        pairs = active_pairs(touching, model.tets, moved, self.v, h, substep, is_first)
        drag = model.mass * (1.0 + h * model.mass_damping)
        if not len(acting) and not len(pairs) and not self.is_damped:
            return np.where(self.is_free[:, None], b / drag[:, None], self.v)
        self.values[:] = 0.0
        if self.is_damped:
            parts = partition(len(self.values))
            run_parts(len(parts), lambda k: add_blocks(*parts[k], self.damping, h, self.values))
        add_to_diagonal(0, len(drag), pattern.diagonal, drag, self.values)
        add_point_terms(
            h, acting.tet, acting.weights, acting.stiffness, acting.damping, acting.force, model.tets,
            pattern.corner_block, self.values, b,
        )  # fmt: skip
        pattern, values = add_pair_blocks(model, pattern, pairs, h, self.values, b)
        v = guess.copy()
        solved = solve(
            BlockSystem(pattern, values, b, self.is_free),
            v,
            StoppingCriteria(LINEAR_TOLERANCE_SHARE * self.settings.tolerance, self.settings.max_iterations),
            modes=rigid_modes(pattern, values, x, self.is_free),
            workspace=workspace(self.model.pattern).pcg,
        )
        self.iterations, self.residual = self.iterations + solved.iterations, max(self.residual, solved.residual)
        return v
