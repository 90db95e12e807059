# SPDX-License-Identifier: GPL-3.0-or-later
"""One step with dynamic flesh: Newton's method, Newmark's substeps and changes of contacts share one loop of solves.

Bodies that move by implicit Euler, flesh or not, are one system (`solver/integrators/newton/newton.py`); for it the
nodes of bodies that move by Newmark's scheme (`solver/integrators/newmark/newmark.py`) are held where that leads. A
step whose residual does not come within the tolerance says so.

Bodies that are linearised once leave a residual in every step. They are unstable where a step is too long, and nothing
in the linear system tells: so a step that leaves more than all that its equation is made of has not converged.

Where bodies of the two kinds may touch, neither can go first: each would be pushed as if the other could not give way.
There all move by implicit Euler at first, to find what they push each other with at the end of the step. Bodies that
move by Newmark's scheme then feel that all through the step, in substeps. So both sides get the same, and momentum
stays; what lags is that these forces do not change within the step, and that the others have met the bodies as implicit
Euler moves them.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np

from ..constraints.external_forces import ExternalForces
from ..mechanics.elements.inverted_tets import count_inverted
from ..mechanics.model import Model
from ..mechanics.state import State
from ..runtime.arrays import Floats
from ..scene.scene import Settings
from .newmark.newmark import NewmarkStep
from .newmark.substep_contacts import inter_group_forces
from .newton.dynamic_flesh import DynamicFlesh
from .newton.newton import NewtonStep
from .step_report import StepReport
from .system.core_rotation import end_step_with_cores
from .system.lagged_rotations import NODE_ROTATION, TET_ROTATION, advance_rotation_age, rotations_due
from .system.step_constants import MAX_LINEARISATION_RESIDUAL, VELOCITY_CHANGE

MAX_SOLVES = 40  # solves of a step; bodies that come out of a tangle need some twenty, others two or three

ContactResponse = Callable[[Floats, Floats], ExternalForces | None]
OnIteration = Callable[[int, float], None]


def flesh_step(
    model: Model,
    state: State,
    outside: ExternalForces,
    dt: float,
    settings: Settings,
    flesh: DynamicFlesh,
    *,
    respond: ContactResponse | None,
    max_solves: int,
    on_iteration: OnIteration,
    lively: Callable[[], ExternalForces] | None = None,
    about: Floats | None = None,
) -> StepReport:
    """Moves `state` on by Δt = `dt` [s]. The arguments are those of `implicit_euler.step`, and `about` of `Start`.

    Raises:
        SolveFailed: Velocities are no longer numbers, or too many substeps are needed; `state` is as it was.
    """
    started, was_due = clock.perf_counter(), rotations_due(model, state)
    newmark = NewmarkStep(flesh.newmark, model, state, outside, dt, settings) if flesh.newmark else None
    newton = None
    has_others = (
        flesh.euler is not None
        or flesh.once is not None
        or len(flesh.levels) + len(flesh.corotational_bodies(model)) > 0
    )
    later = newmark if has_others and (lively is not None or len(outside.pairs)) else None
    if later:
        newmark, flesh = None, flesh.by_euler()
    if newmark:
        newmark.run(outside)
    if has_others:
        newton = NewtonStep(model, state, _hold_newmark_nodes(newmark, state, outside, dt), dt, settings, flesh, about)
    solves = _StepSolver(newmark, newton, state, outside, dt)
    begun = clock.perf_counter()
    solves.run(settings.tolerance, respond, max_solves, on_iteration)
    if later and newton:
        solves.newmark = later
        push = inter_group_forces(model, later.nodes, later.tets, solves.outside.pairs, dt, newton.v)
        acting = lively() if lively else solves.outside
        later.run(replace(acting, node_force=push if acting.node_force is None else push + acting.node_force))
        if respond:
            respond(*solves.end())  # which remembers where it ended
    ended = clock.perf_counter()

    x, v = solves.end()
    state.fields[VELOCITY_CHANGE] = v - state.v
    if newton and newton.system.lagged_rotations is not None:
        state.fields[TET_ROTATION] = newton.system.lagged_rotations
    if newton and newton.system.node_rotations is not None:
        state.fields[NODE_ROTATION] = newton.system.node_rotations
    advance_rotation_age(model, state, was_due)
    state.x, state.v, state.time = x, v, state.time + dt
    times = {"assembly": 1e3 * (begun - started), "solve": 1e3 * (ended - begun)}
    if newton and newton.system.levels:
        times |= {name: 1e3 * seconds for name, seconds in newton.system.levels.seconds.items()}
    return solves.report(settings.tolerance, int(count_inverted(x, model.tets)), times)


@dataclass
class _StepSolver:
    """The solves of a step, repeated while contacts change or Newton's method goes on.

    Attributes:
        newmark, newton: The bodies by each scheme, or None.
        state, dt: At the start of the step; Δt [s].
        outside: What acted in the last solve.
        settled: Whether contacts want nothing else.
        changes: How often they wanted something else and got it.
        iterations: Of the solves by Newmark's scheme that were done again.
    """

    newmark: NewmarkStep | None
    newton: NewtonStep | None
    state: State
    outside: ExternalForces
    dt: float
    settled: bool = True
    changes: int = 0
    iterations: int = 0

    def run(
        self, tolerance: float, respond: ContactResponse | None, max_solves: int, on_iteration: OnIteration
    ) -> None:
        """Solves until the residual is within the tolerance and contacts are content, or for long enough."""
        newton, has_way, is_new = self.newton, True, True
        while is_new or (newton and has_way and newton.residual > tolerance and newton.solves < MAX_SOLVES):
            if newton:
                on_iteration(newton.solves, newton.residual)
                has_way = newton.solve()
            is_new = False
            changed = self._contact_response(respond) if respond else None
            self.settled = changed is None if respond else self.settled
            if changed is not None and self.changes + 1 < max_solves:
                has_way, is_new = True, newton is None
                self._go_on(changed)
            elif changed is not None:  # what they want now is not solved for
                respond = None

    def _contact_response(self, respond: ContactResponse) -> ExternalForces | None:
        """Returns what acts instead according to `respond`, or None."""
        changed = respond(*self.end())
        if changed is None or self.newton is not None:
            return changed
        # contacts do not pull in substeps, so those that open need not be looked for
        is_content = self.changes > 0 and _contact_count(changed) <= _contact_count(self.outside)
        return None if is_content or _is_same_contacts(changed, self.outside) else changed

    def _go_on(self, changed: ExternalForces) -> None:
        self.changes, self.outside = self.changes + 1, changed
        if self.newmark:
            self.iterations += self.newmark.iterations
            self.newmark.run(changed)
        if self.newton:
            self.newton.update(_hold_newmark_nodes(self.newmark, self.state, changed, self.dt))

    def end(self) -> tuple[Floats, Floats]:
        """Returns where the step has led by now, x [m] and v [m/s], (n, 3) each."""
        state, outside = self.state, self.outside
        if self.newton:
            x, v = self.newton.x, self.newton.v
        else:  # all others are held
            x = state.x + self.dt * state.v if outside.fixed_target is None else outside.fixed_target.copy()
            v = (x - state.x) / self.dt
        if self.newmark:
            x, v = x.copy(), v.copy()
            x[self.newmark.nodes], v[self.newmark.nodes] = self.newmark.x, self.newmark.v
        if self.newton and self.newton.model.cores:
            return end_step_with_cores(self.newton.model, state, self.outside, x, v, self.dt)
        return x, v

    def report(self, tolerance: float, inverted_tets: int, milliseconds: dict[str, float]) -> StepReport:
        """Returns what is told of the step."""
        parts = [part for part in (self.newmark, self.newton) if part]
        residual = max((part.residual for part in parts), default=0.0)
        left = self.newton.linearisation_residual() if self.newton else 0.0
        if left > MAX_LINEARISATION_RESIDUAL:
            residual = max(residual, left)
        return StepReport(
            iterations=self.iterations + sum(part.iterations for part in parts),
            residual=residual,
            converged=residual <= tolerance,
            settled=self.settled,
            solves=self.newton.solves if self.newton else self.changes + 1,
            contacts=_contact_count(self.outside),
            inverted_tets=inverted_tets,
            newton_iterations=self.newton.solves if self.newton else 0,
            substeps=self.newmark.substeps if self.newmark else 0,
            milliseconds=milliseconds,
        )


def _hold_newmark_nodes(
    newmark: NewmarkStep | None, state: State, outside: ExternalForces, dt: float
) -> ExternalForces:
    """Returns what acts from outside on all others, to whom the nodes of Newmark's scheme are held."""
    if newmark is None:
        return outside
    is_fixed = np.zeros(len(state.x), bool) if outside.is_fixed is None else outside.is_fixed.copy()
    target = state.x + dt * state.v if outside.fixed_target is None else outside.fixed_target.copy()
    is_fixed[newmark.nodes], target[newmark.nodes] = True, newmark.x
    return replace(outside, is_fixed=is_fixed, fixed_target=target)


def _contact_count(outside: ExternalForces) -> int:
    """Returns how many contacts there are."""
    return outside.contact_count + len(outside.pairs)


def _is_same_contacts(one: ExternalForces, other: ExternalForces) -> bool:
    """Returns whether the same springs and contacts act."""
    groups = ((one.points, other.points), (one.pairs, other.pairs))
    return all(np.array_equal(getattr(a, field.name), getattr(b, field.name)) for a, b in groups for field in fields(a))
