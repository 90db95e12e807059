# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method for one step of implicit Euler with dynamic flesh.

The first iterate is where the step begins, so that its solve is the linear step of `implicit_euler.py`. The residual is
that of the step's own equation (`flesh_system.py`), measured as linear residuals are.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Bools, Floats, floats
from ..errors import SolveFailed
from ..model import Model
from ..scene import Settings
from ..state import State
from .alike import Alike
from .conventions import CHANGE
from .flesh import DynamicFlesh
from .flesh_system import ENOUGH, FleshSystem
from .line_search import lengths
from .outside import Outside
from .right_side import move

FIRST = 0.01  # share of the residual that the first solve may leave
LOOSE = 0.1  # and others at most
SLOW = 0.2  # share of the residual that a solve by the clamped tangent may leave
STRAIGHT = 0.01  # residual up to which the coarse problem of hierarchical bodies is as linear as the fine one
NEAR = 0.1  # residual from which the true one is tried instead


class NewtonStep:
    """The iterates of one step.

    Attributes:
        x, v: The present one [m], [m/s], (n, 3) each.
        change: v less the velocities at the start of the step [m/s], (n, 3).
        residual: Of the step's equation, there.
        solves, iterations: Newton iterations so far, and those of their linear solves.
    """

    def __init__(
        self,
        model: Model,
        state: State,
        outside: Outside,
        dt: float,
        settings: Settings,
        flesh: DynamicFlesh,
        about: Floats | None = None,
    ) -> None:
        """Looks at the first iterate; what is linearised is so about `about` [m], (n, 3), None: where it begins."""
        self.model, self.state, self.outside, self.dt = model, state, outside, dt
        self.system = FleshSystem(model, state, dt, settings, flesh, about)
        self.alike = Alike(model, self.system.part, outside.pairs)
        self.is_free: Bools = np.ones(model.node_count, bool) if outside.is_fixed is None else ~outside.is_fixed
        # x = x0 + Δt v, so v is zero where the step begins; the first solve guesses the velocities there
        self.x, self.v = floats(state.x), np.zeros((model.node_count, 3))
        self.guess, self.likely = floats(state.v), state.fields.get(CHANGE)
        self.target = self._target(outside)
        self.change = np.zeros_like(self.v)
        self.solves, self.iterations, self.exactness = 0, 0, FIRST
        if self.system.once and not self.system.seen:
            self.exactness = ENOUGH * settings.tolerance
        self.clamp, self.is_definite = True, True
        self.system.look(self.x, self.v, outside, self.is_free)
        self.residual = self.system.residual()

    def solve(self) -> bool:
        """Makes the next iterate, and looks at it; returns whether there was a way at all.

        Raises:
            SolveFailed: Velocities are no longer numbers.
        """
        system = self.system
        if system.levels and self.residual > STRAIGHT:
            self._solve_coarse()
        guess = np.where(self.is_free[:, None], self.guess, (self.target - self.x) / self.dt)
        d = self._direction(guess)
        self.solves += 1
        begin = (self.x, self.v, system.r, system.linear)
        asked = system.asked(d, self.is_free)
        energy = system.seen.energies_seen() if system.seen else np.zeros(0)
        self._go(self.v + d)
        # where held nodes jump, a rise of the potential is no fault of the step, so what is left of r decides
        jumps = self.alike.products(d * ~self.is_free[:, None], d) > 0.0
        is_wild = jumps & bool((system.sizes() > asked).any())
        s = self._lengths(d, begin, energy, jumps)
        if is_wild.any():  # the held nodes alone
            alone = np.where(self.alike.of_nodes(is_wild)[:, None] == 1.0, guess - d, 0.0)
            self._go(begin[1] + self.alike.of_nodes(s)[:, None] * d + alone)
        elif (s < 1.0).any():
            self._go(begin[1] + self.alike.of_nodes(s)[:, None] * d)
        self.guess, self.likely, before = np.zeros_like(d), None, self.residual
        self.residual = system.residual()
        is_slow = self.solves > 1 and SLOW * before < self.residual <= NEAR
        if is_slow and self.is_definite and self.residual > system.settings.tolerance:
            self.clamp = False
            system.look(self.x, self.v, self.outside, self.is_free, clamp=False)
        self.exactness = min(LOOSE, max(0.9 * (self.residual / before) ** 2, 1.0e-6)) if before > 0.0 else LOOSE
        if system.once and not system.seen:  # all is linear: what is left is what its solve could not do
            return self.residual < 0.5 * before
        return not (len(s) and (s <= 0.0).all())

    def left_out(self) -> float:
        """Returns how large a residual bodies that are linearised once leave."""
        return self.system.left_out(self.x, self.is_free)

    def _solve_coarse(self) -> None:
        """Moves the coarse nodes of hierarchical bodies to where all is best while their details stay."""
        d = self.system.coarse_motion(self.is_free)
        self._go(self.v + d)
        self.guess = self.guess - d
        self.residual = self.system.residual()

    def _direction(self, guess: Floats) -> Floats:
        """Returns δ [m/s], (n, 3), by the true tangent where that is looked at and definite, else by the clamped one.

        Where tets are pressed, the clamped tangent is too stiff, and a step leaves half of the residual.
        """
        system = self.system
        d, solved = system.direction(self.x, self.is_free, guess, self.likely, self.exactness)
        self.iterations += solved.iterations
        if self.clamp or (solved.converged and (self.alike.products(d, system.r) >= 0.0).all()):
            return d
        self.clamp, self.is_definite = True, False
        system.look(self.x, self.v, self.outside, self.is_free)
        d, solved = system.direction(self.x, self.is_free, guess, self.likely, self.exactness)
        self.iterations += solved.iterations
        return d

    def see(self, outside: Outside) -> None:
        """Takes other contacts, and other targets."""
        self.outside, self.target = outside, self._target(outside)
        self.alike = Alike(self.model, self.system.part, outside.pairs)
        self.system.see(self.v, outside, self.is_free)
        self.residual = self.system.residual()

    def _target(self, outside: Outside) -> Floats:
        """Returns where held nodes are at the end of the step [m], (n, 3); without a target they go on as they did."""
        return floats(self.state.x + self.dt * self.state.v if outside.fixed_target is None else outside.fixed_target)

    def _go(self, v: Floats) -> None:
        x, change = np.empty_like(v), np.empty_like(v)
        if not move(self.state.x, v, self.state.v, self.dt, self.is_free, self.target, x, change):
            raise SolveFailed("solve-not-finite", time=self.state.time + self.dt)
        self.x, self.v, self.change = x, v, change
        self.system.look(x, v, self.outside, self.is_free, self.clamp)

    def _lengths(self, d: Floats, begin: tuple[Floats, Floats, Floats, Floats], energy: Floats, jumps: Bools) -> Floats:
        """Returns how far what goes alike goes along d, from the iterate before to this one, at most."""
        system, part, seen = self.system, self.system.part, self.system.seen
        if not seen or not part:
            return np.zeros(0)
        nodes, alike = part.nodes, self.alike
        along = [alike.products(values, d) for values in (begin[2], begin[3], system.linear)]
        at_end = np.where(jumps, -np.inf, alike.sums(seen.energies_seen()))
        x, v = self.state.x[nodes], begin[1][nodes]

        def energies(s: Floats) -> Floats:
            return alike.sums(seen.energies(x + self.dt * (v + alike.of_nodes(s)[nodes, None] * d[nodes])))

        noise = alike.sums(system.energy_noise)
        return lengths(along[0], along[1], along[2], alike.sums(energy), at_end, energies, noise)
