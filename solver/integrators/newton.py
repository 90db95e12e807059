# SPDX-License-Identifier: GPL-3.0-or-later
"""One step of implicit Euler with dynamic flesh: Newton's method and changes of contacts share one loop of solves.

The first iterate is where the step begins, so that its solve is the linear step of `implicit_euler.py`. Newton goes on
until the residual of the step's own equation (`flesh_system.py`) is within the tolerance, measured as linear residuals
are; a step that does not get there says so.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable

import numpy as np

from ..arrays import Bools, Floats, floats
from ..elements.inversion import count_inverted
from ..errors import SolveFailed
from ..model import Model
from ..scene import Settings
from ..state import State
from .conventions import CHANGE
from .flesh import DynamicFlesh
from .flesh_system import FleshSystem
from .line_search import lengths
from .outside import Outside
from .report import StepReport
from .right_side import move, velocities_to

MOST = 40  # solves of a step; bodies that come out of a tangle need some twenty, others two or three
FIRST = 0.01  # share of the residual that the first solve may leave
LOOSE = 0.1  # and others at most
NOWHERE = np.zeros((0, 3))

Respond = Callable[[Floats, Floats], Outside | None]
OnIteration = Callable[[int, float], None]


def newton_step(
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
    on_iteration: OnIteration = lambda solves, residual: None,
) -> StepReport:
    """Moves `state` on by Δt = `dt` [s]. The arguments are those of `implicit_euler.step`.

    Raises:
        SolveFailed: Velocities are no longer numbers; `state` is as it was.
    """
    started = clock.perf_counter()
    step = NewtonStep(model, state, outside, dt, settings, flesh, element)
    assembled = clock.perf_counter()
    settled, changes, has_way = True, 0, True
    while step.solves == 0 or not (step.residual <= settings.tolerance or step.solves >= MOST or not has_way):
        on_iteration(step.solves, step.residual)
        has_way = step.solve()
        if respond is None:
            continue
        changed = respond(step.x, step.v)
        settled = changed is None
        if changed is not None and changes + 1 < max_solves:
            step.see(changed)
            changes, has_way = changes + 1, True
        elif changed is not None:
            respond = None
    ended = clock.perf_counter()

    state.fields[CHANGE] = step.change
    state.x, state.v, state.time = step.x, step.v, state.time + dt
    return StepReport(
        iterations=step.iterations,
        residual=step.residual,
        converged=step.residual <= settings.tolerance,
        settled=settled,
        solves=step.solves,
        contacts=step.outside.contact_count,
        inverted_tets=int(count_inverted(step.x, model.tets)),
        newton_iterations=step.solves,
        milliseconds={"assembly": 1e3 * (assembled - started), "solve": 1e3 * (ended - assembled)},
    )


class NewtonStep:
    """The iterates of one step: x [m], v [m/s], (n, 3) each, and what acts from outside on them."""

    def __init__(
        self,
        model: Model,
        state: State,
        outside: Outside,
        dt: float,
        settings: Settings,
        flesh: DynamicFlesh,
        element: int,
    ) -> None:
        """Looks at the first iterate."""
        self.model, self.state, self.outside, self.dt, self.settings = model, state, outside, dt, settings
        self.system = FleshSystem(model, state, dt, settings, flesh, element)
        self.is_free: Bools = np.ones(model.node_count, bool) if outside.is_fixed is None else ~outside.is_fixed
        # x = x0 + Δt v, so v is zero where the step begins; the first solve guesses the velocities there
        self.x, self.v = floats(state.x), np.zeros((model.node_count, 3))
        self.target = NOWHERE if outside.fixed_target is None else floats(outside.fixed_target)
        self.guess, self.likely = floats(state.v).copy(), state.fields.get(CHANGE)
        if len(self.target):
            velocities_to(self.target, self.x, self.is_free, dt, self.guess)
        self.change = np.zeros_like(self.v)
        self.solves, self.iterations, self.exactness = 0, 0, FIRST
        self.system.look(self.x, self.v, outside, self.is_free)
        self.residual = self.system.residual()

    def solve(self) -> bool:
        """Makes the next iterate, and looks at it; returns whether there was a way at all.

        Raises:
            SolveFailed: Velocities are no longer numbers.
        """
        system = self.system
        d, solved = system.direction(self.x, self.is_free, self.guess, self.likely, self.exactness)
        self.iterations, self.solves = self.iterations + solved.iterations, self.solves + 1
        begin = (self.x, self.v, system.r, system.linear)
        energy = system.looked.energies_seen() if system.looked else np.zeros(0)
        self._go(self.v + d)
        s = self._lengths(d, begin, energy)
        shortened = s < 1.0
        if shortened.any():
            self._go(begin[1] + self._per_node(s)[:, None] * d)
        self.guess, self.likely, before = np.zeros_like(d), None, self.residual
        self.residual = system.residual()
        self.exactness = min(LOOSE, max(0.9 * (self.residual / before) ** 2, 1.0e-6)) if before > 0.0 else LOOSE
        return not (len(s) and (s <= 0.0).all())

    def see(self, outside: Outside) -> None:
        """Takes other contacts."""
        self.outside = outside
        self.system.see(self.v, outside, self.is_free)
        self.residual = self.system.residual()

    def _go(self, v: Floats) -> None:
        x, change = np.empty_like(v), np.empty_like(v)
        if not move(self.state.x, v, self.state.v, self.dt, self.is_free, self.target, x, change):
            raise SolveFailed("solve-not-finite", time=self.state.time + self.dt)
        self.x, self.v, self.change = x, v, change
        self.system.look(x, v, self.outside, self.is_free)

    def _lengths(self, d: Floats, begin: tuple[Floats, Floats, Floats, Floats], energy: Floats) -> Floats:
        """Returns how far each body of flesh goes along d, from the iterate before to this one, at most."""
        system, group = self.system, self.system.group
        if not system.looked or not group:
            return np.zeros(0)
        nodes, looked = group.part.nodes, system.looked
        at_end = looked.energies_seen()
        along = [self._per_body(values, d) for values in (begin[2], begin[3], system.linear)]
        # where held nodes jump, a rise is no fault of the step
        jumps = self._per_body(d * ~self.is_free[:, None], d) > 0.0
        at_end = np.where(jumps, -np.inf, at_end)
        x, v = self.state.x[nodes], begin[1][nodes]

        def energies(s: Floats) -> Floats:
            return looked.energies(x + self.dt * (v + self._per_node(s)[nodes, None] * d[nodes]))

        return lengths(along[0], along[1], along[2], energy, at_end, energies)

    def _per_body(self, a: Floats, b: Floats) -> Floats:
        """Returns a·b of every body of flesh."""
        group = self.system.group
        assert group is not None
        starts = [body.nodes.start for body in group.part.model.bodies]
        return np.add.reduceat((a * b).sum(axis=1)[group.part.nodes], starts)

    def _per_node(self, s: Floats) -> Floats:
        """Returns the lengths of all nodes: of bodies that are no flesh it is 1."""
        out, group = np.ones(self.model.node_count), self.system.group
        if group:
            for number, length in zip(group.part.bodies, s, strict=True):
                out[self.model.bodies[number].nodes] = length
        return out
