# SPDX-License-Identifier: GPL-3.0-or-later
"""One step with dynamic flesh: Newton's method, Newmark's substeps and changes of contacts share one loop of solves.

Bodies that move by implicit Euler, flesh or not, are one system (`newton.py`); for it the nodes of bodies that move by
Newmark's scheme (`newmark.py`) are held where that leads. A step whose residual does not come within the tolerance says
so.

Where bodies of the two kinds may touch, neither can go first: each would be pushed as if the other could not give way.
There all move by implicit Euler at first, to find what they push each other with at the end of the step. Bodies that
move by Newmark's scheme then feel that all through the step, in substeps. So both sides get the same, and momentum
stays; what lags is that these forces do not change within the step, and that the others have met the bodies as implicit
Euler moves them.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np

from ..arrays import Floats
from ..elements.inversion import count_inverted
from ..model import Model
from ..scene import Settings
from ..state import State
from .conventions import CHANGE
from .flesh import DynamicFlesh
from .newmark import NewmarkStep
from .newmark_contacts import forces_across
from .newton import NewtonStep
from .outside import Outside
from .report import StepReport

MOST = 40  # solves of a step; bodies that come out of a tangle need some twenty, others two or three

Respond = Callable[[Floats, Floats], Outside | None]
OnIteration = Callable[[int, float], None]


def flesh_step(
    model: Model,
    state: State,
    outside: Outside,
    dt: float,
    settings: Settings,
    flesh: DynamicFlesh,
    *,
    respond: Respond | None,
    max_solves: int,
    element: int,
    on_iteration: OnIteration,
    lively: Callable[[], Outside] | None = None,
) -> StepReport:
    """Moves `state` on by Δt = `dt` [s]. The arguments are those of `implicit_euler.step`.

    Raises:
        SolveFailed: Velocities are no longer numbers, or too many substeps are needed; `state` is as it was.
    """
    started = clock.perf_counter()
    newmark = NewmarkStep(flesh.newmark, model, state, outside, dt, settings) if flesh.newmark else None
    newton, told = None, respond
    has_others = flesh.euler is not None or len(flesh.others(model)) > 0
    later = newmark if has_others and (lively is not None or len(outside.pairs)) else None
    if later:
        newmark, flesh = None, flesh.by_euler()
    if newmark:
        newmark.run(outside)
    if has_others:
        newton = NewtonStep(model, state, _with(newmark, state, outside, dt), dt, settings, flesh, element)
    begun = clock.perf_counter()
    settled, changes, iterations = True, 0, 0
    has_way, is_new = True, True
    while is_new or (newton and has_way and newton.residual > settings.tolerance and newton.solves < MOST):
        if newton:
            on_iteration(newton.solves, newton.residual)
            has_way = newton.solve()
        is_new = False
        changed = respond(*_end(newmark, newton, state, outside, dt)) if respond else None
        # contacts do not pull in substeps, so those that open need not be looked for
        if (
            changed is not None
            and newton is None
            and (changes > 0 and _count(changed) <= _count(outside) or _is_same(changed, outside))
        ):
            changed = None
        settled = changed is None if respond else settled
        if changed is not None and changes + 1 < max_solves:
            changes, has_way, outside, is_new = changes + 1, True, changed, newton is None
            if newmark:
                iterations += newmark.iterations
                newmark.run(changed)
            if newton:
                newton.see(_with(newmark, state, changed, dt))
        elif changed is not None:  # what they want now is not solved for
            respond = None
    if later and newton:
        newmark = later
        push = forces_across(model, newmark.nodes, newmark.tets, outside.pairs, dt, newton.v)
        acting = lively() if lively else outside
        newmark.run(replace(acting, node_force=push if acting.node_force is None else push + acting.node_force))
        if told:
            told(*_end(newmark, newton, state, outside, dt))  # which remembers where it ended
    ended = clock.perf_counter()

    x, v = _end(newmark, newton, state, outside, dt)
    residuals = [part.residual for part in (newmark, newton) if part]
    iterations += sum(part.iterations for part in (newmark, newton) if part)
    state.fields[CHANGE] = v - state.v
    state.x, state.v, state.time = x, v, state.time + dt
    return StepReport(
        iterations=iterations,
        residual=max(residuals, default=0.0),
        converged=max(residuals, default=0.0) <= settings.tolerance,
        settled=settled,
        solves=newton.solves if newton else changes + 1,
        contacts=_count(outside),
        inverted_tets=int(count_inverted(x, model.tets)),
        newton_iterations=newton.solves if newton else 0,
        substeps=newmark.substeps if newmark else 0,
        milliseconds={"assembly": 1e3 * (begun - started), "solve": 1e3 * (ended - begun)},
    )


def _with(newmark: NewmarkStep | None, state: State, outside: Outside, dt: float) -> Outside:
    """Returns what acts from outside on all others, to whom the nodes of Newmark's scheme are held."""
    if newmark is None:
        return outside
    is_fixed = np.zeros(len(state.x), bool) if outside.is_fixed is None else outside.is_fixed.copy()
    target = state.x + dt * state.v if outside.fixed_target is None else outside.fixed_target.copy()
    is_fixed[newmark.nodes], target[newmark.nodes] = True, newmark.x
    return replace(outside, is_fixed=is_fixed, fixed_target=target)


def _count(outside: Outside) -> int:
    """Returns how many contacts there are."""
    return outside.contact_count + len(outside.pairs)


def _is_same(one: Outside, other: Outside) -> bool:
    """Returns whether the same springs and contacts act."""
    groups = ((one.points, other.points), (one.pairs, other.pairs))
    return all(np.array_equal(getattr(a, field.name), getattr(b, field.name)) for a, b in groups for field in fields(a))


def _end(
    newmark: NewmarkStep | None, newton: NewtonStep | None, state: State, outside: Outside, dt: float
) -> tuple[Floats, Floats]:
    """Returns where the step has led by now, x [m] and v [m/s], (n, 3) each."""
    if newton:
        x, v = newton.x, newton.v
    else:  # all others are held
        x = state.x + dt * state.v if outside.fixed_target is None else outside.fixed_target.copy()
        v = (x - state.x) / dt
    if newmark:
        x, v = x.copy(), v.copy()
        x[newmark.nodes], v[newmark.nodes] = newmark.x, newmark.v
    return x, v
