# SPDX-License-Identifier: GPL-3.0-or-later
"""One step with nonlinear forces: Newton's method, Newmark's substeps and changes of contacts share one loop of solves.

Nonlinear are dynamic flesh, and bodies with Green's strain, hybrid strain or a hierarchical basis. Bodies that move by
implicit Euler, nonlinear or not, are one system (`solver/integrators/newton/newton.py`). For it, the nodes of bodies
that move by Newmark's scheme (`solver/integrators/newmark/newmark.py`) are fixed where that scheme ends. A step whose
residual stays above the tolerance is reported as not converged.

Bodies that are linearised once leave a residual in every step. They are unstable in long steps, and the linear system
does not show it: so a step that leaves more than all terms of its equation has not converged.

Where bodies of the two kinds may touch, neither can go first: each would be pushed as if the other could not give way.
So all move by implicit Euler first, to find the contact forces between them at the end of the step. Bodies of Newmark's
scheme then get these forces all through the step, in substeps. Both sides get the same forces, so momentum is
conserved. The price is a lag: these forces do not change within the step, and they belong to the motion by implicit
Euler.
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, fields, replace

import numpy as np

from ..constraints.external_forces import ExternalForces
from ..mechanics.elements.inverted_tet_count import count_inverted
from ..mechanics.state import State
from ..mechanics.state_fields import VELOCITY_CHANGE
from ..runtime.arrays import Floats
from .dynamic_flesh_forces import DynamicFlesh
from .newmark.newmark import NewmarkStep
from .newmark.substep_contacts import inter_group_forces
from .newton.newton import NewtonStep
from .step_input import ContactCallbacks, StepInput
from .step_report import MAX_LINEARISATION_RESIDUAL, StepReport
from .system.core_rotation import end_step_with_cores
from .system.rotation_reuse import StepRotations, rotations_due

MAX_SOLVES = 40  # solves of a step; bodies that come out of a tangle need some twenty, others two or three
MAX_SHEET_SOLVES = 100  # the same with sheets: where cloth hits something, it buckles while contacts still change


def flesh_step(start: StepInput, flesh: DynamicFlesh) -> StepReport:
    """Moves the state on by a step with flesh.

    Args:
        start: The step.
        flesh: Its flesh, and other bodies that need Newton's method.

    Raises:
        SolveFailed: Velocities are not finite, or too many substeps are needed; the state is unchanged.
    """
    model, state, dt = start.model, start.state, start.dt
    external_forces, contacts = start.external_forces, start.contacts
    started = clock.perf_counter()
    newmark = NewmarkStep(flesh.newmark, start) if flesh.newmark else None
    newton = None
    has_others = (
        flesh.euler is not None
        or flesh.once is not None
        or len(flesh.levels) + len(flesh.corotational_bodies(model)) > 0
    )
    later = newmark if has_others and (contacts.substep_forces is not None or len(external_forces.pairs)) else None
    if later:
        newmark, flesh = None, flesh.by_euler()
    if newmark:
        newmark.run(external_forces)
    if has_others:
        newton = NewtonStep(start, _with_fixed_newmark_nodes(newmark, state, external_forces, dt), flesh)
    solves = _SolveLoop(newmark, newton, state, external_forces, dt)
    begun = clock.perf_counter()
    solves.run(start)
    if later and newton:
        solves.newmark = later
        push = inter_group_forces(model, later.nodes, later.tets, solves.external_forces.pairs, dt, newton.v)
        acting = contacts.substep_forces() if contacts.substep_forces else solves.external_forces
        later.run(replace(acting, node_force=push if acting.node_force is None else push + acting.node_force))
        if contacts.update:
            contacts.update(*solves.end())  # it remembers the end
    ended = clock.perf_counter()

    x, v = solves.end()
    if solves.newmark and solves.newmark.particles:
        solves.newmark.particles.store()
    state.fields[VELOCITY_CHANGE] = v - state.v
    rotations = newton.system.constant_terms.rotations if newton else StepRotations(rotations_due(model, state), None)
    rotations.store(model, state)
    state.x, state.v, state.time = x, v, state.time + dt
    times = {"assembly": 1e3 * (begun - started), "solve": 1e3 * (ended - begun)}
    if newton and newton.system.levels:
        times |= {name: 1e3 * seconds for name, seconds in newton.system.levels.seconds.items()}
    return solves.report(start.settings.tolerance, int(count_inverted(x, model.solid_tets)), times)


@dataclass
class _SolveLoop:
    """The solves of a step, repeated while contacts change or Newton's method goes on.

    Attributes:
        newmark, newton: The bodies by each scheme, or None.
        state, dt: At the start of the step; Δt [s].
        external_forces: What acted in the last solve.
        is_settled: Whether contacts agree with it.
        changes: How often contacts have changed.
        iterations: Of the solves by Newmark's scheme that were done again.
    """

    newmark: NewmarkStep | None
    newton: NewtonStep | None
    state: State
    external_forces: ExternalForces
    dt: float
    is_settled: bool = True
    changes: int = 0
    iterations: int = 0

    def run(self, start: StepInput) -> None:
        """Solves until the residual is within the tolerance and contacts agree, or for long enough."""
        newton, update, has_moved, is_new = self.newton, start.contacts.update, True, True
        tolerance, on_iteration = start.settings.tolerance, start.options.on_iteration
        most = MAX_SOLVES if start.model.sheets is None else MAX_SHEET_SOLVES
        while is_new or (newton and has_moved and newton.residual > tolerance and newton.solves < most):
            if newton:
                on_iteration(newton.solves, newton.residual)
                has_moved = newton.solve()
            is_new = False
            changed = self._changed_forces(start.contacts) if update else None
            self.is_settled = changed is None or changed.relinearises_only if update else self.is_settled
            if changed is not None and (changed.relinearises_only or self.changes + 1 < start.options.max_solves):
                has_moved, is_new = True, newton is None
                self._restart_with(changed)
            elif changed is not None:  # no solve is left for these contacts
                update = None

    def _changed_forces(self, contacts: ContactCallbacks) -> ExternalForces | None:
        """Returns the external forces of the next solve, or None where contacts agree with the last one."""
        x, v = self.end()
        if contacts.take_motion:
            contacts.take_motion(self.newton.v if self.newton else v, x)
        assert contacts.update is not None
        changed = contacts.update(x, v)
        if changed is None or self.newton is not None:
            return changed
        # contacts do not pull in substeps, so those that open do not matter
        is_settled = self.changes > 0 and changed.all_contacts <= self.external_forces.all_contacts
        return None if is_settled or _is_same_contacts(changed, self.external_forces) else changed

    def _restart_with(self, changed: ExternalForces) -> None:
        # forces that are only linearised again are part of Newton's method: the residual says how well they agree
        self.changes, self.external_forces = self.changes + (not changed.relinearises_only), changed
        if self.newmark:
            self.iterations += self.newmark.iterations
            self.newmark.run(changed)
        if self.newton:
            self.newton.update(_with_fixed_newmark_nodes(self.newmark, self.state, changed, self.dt))

    def end(self) -> tuple[Floats, Floats]:
        """Returns the end of the step after the last solve, x [m] and v [m/s], (n, 3) each."""
        state, external_forces = self.state, self.external_forces
        if self.newton:
            x, v = self.newton.x, self.newton.v
        else:  # all others are fixed
            x = (
                state.x + self.dt * state.v
                if external_forces.fixed_target is None
                else external_forces.fixed_target.copy()
            )
            v = (x - state.x) / self.dt
        if self.newmark:
            x, v = x.copy(), v.copy()
            x[self.newmark.nodes], v[self.newmark.nodes] = self.newmark.x, self.newmark.v
        if self.newton and self.newton.model.cores:
            return end_step_with_cores(self.newton.model, state, self.external_forces, x, v, self.dt)
        return x, v

    def report(self, tolerance: float, inverted_tets: int, milliseconds: dict[str, float]) -> StepReport:
        """Returns how the step went."""
        parts = [part for part in (self.newmark, self.newton) if part]
        residual = max((part.residual for part in parts), default=0.0)
        left = self.newton.linearisation_residual() if self.newton else 0.0
        if left > MAX_LINEARISATION_RESIDUAL:
            residual = max(residual, left)
        return StepReport(
            iterations=self.iterations + sum(part.iterations for part in parts),
            residual=residual,
            converged=residual <= tolerance,
            settled=self.is_settled,
            solves=self.newton.solves if self.newton else self.changes + 1,
            contacts=self.external_forces.all_contacts,
            inverted_tets=inverted_tets,
            newton_iterations=self.newton.solves if self.newton else 0,
            substeps=self.newmark.substeps if self.newmark else 0,
            milliseconds=milliseconds,
        )


def _with_fixed_newmark_nodes(
    newmark: NewmarkStep | None, state: State, external_forces: ExternalForces, dt: float
) -> ExternalForces:
    """Returns the external forces on all other bodies, with the nodes of Newmark's scheme fixed at its end."""
    if newmark is None:
        return external_forces
    is_fixed = np.zeros(len(state.x), bool) if external_forces.is_fixed is None else external_forces.is_fixed.copy()
    target = state.x + dt * state.v if external_forces.fixed_target is None else external_forces.fixed_target.copy()
    is_fixed[newmark.nodes], target[newmark.nodes] = True, newmark.x
    return replace(external_forces, is_fixed=is_fixed, fixed_target=target)


def _is_same_contacts(one: ExternalForces, other: ExternalForces) -> bool:
    """Returns whether the same springs and contacts act."""
    groups = ((one.points, other.points), (one.pairs, other.pairs))
    return all(np.array_equal(getattr(a, field.name), getattr(b, field.name)) for a, b in groups for field in fields(a))
