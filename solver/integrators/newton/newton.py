# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method for one step of implicit Euler of all bodies with nonlinear forces.

These are dynamic flesh, and bodies with Green's strain, hybrid strain or a hierarchical basis. The first
iterate is the start of the step, so that its solve is the linear step of `solver/integrators/implicit_euler.py`. The
residual is that of the equation of the step (`newton_system.py`), relative as linear residuals are.
"""

from __future__ import annotations

import numpy as np

from ...constraints.external_forces import ExternalForces
from ...mechanics.state_fields import VELOCITY_CHANGE
from ...runtime.arrays import Bools, Floats, floats
from ...runtime.errors import SolveFailed
from ..dynamic_flesh_forces import DynamicFlesh
from ..step_input import StepInput
from ..system.right_hand_side import advance_positions
from .line_search import step_lengths
from .line_search_groups import CoupledGroups
from .newton_system import LINEAR_TOLERANCE_SHARE, NewtonSystem

FIRST_FORCING_TERM = 0.01  # share of the residual that the first solve may leave
RESTING_RESIDUAL = 0.1  # of sheets and what they touch, up to which they hardly move in a step
RESTING_FORCING_TERM = 0.002  # share that the first solve may leave then, so that none has to follow
MAX_FORCING_TERM = 0.1  # and others at most
CLAMPED_FORCING_TERM = 0.2  # share of the residual that a solve by the clamped tangent may leave
LINEAR_COARSE_RESIDUAL = 0.01  # residual up to which the coarse problem of hierarchical bodies needs no own iterations
TRUE_TANGENT_RESIDUAL = 0.1  # residual below which the true tangent is tried instead


class NewtonStep:
    """The iterates of one step.

    Attributes:
        x, v: The present one [m], [m/s], (n, 3) each.
        change: v less the velocities at the start of the step [m/s], (n, 3).
        residual: Of the step's equation, there.
        solves, iterations: Newton iterations so far, and those of their linear solves.
    """

    def __init__(self, start: StepInput, external_forces: ExternalForces, flesh: DynamicFlesh) -> None:
        """Evaluates the first iterate.

        Args:
            start: The step.
            external_forces: What acts, with the nodes of other schemes fixed.
            flesh: The flesh of the step.
        """
        model, state, dt, settings = start.model, start.state, start.dt, start.settings
        self.model, self.state, self.external_forces, self.dt = model, state, external_forces, dt
        self.system = NewtonSystem(start, flesh)
        self.coupled_groups = CoupledGroups(model, self.system.part, external_forces.pairs)
        self.is_free: Bools = (
            np.ones(model.node_count, bool) if external_forces.is_fixed is None else ~external_forces.is_fixed
        )
        # x = x0 + Δt v, so v is zero where the step begins; the first solve guesses the velocities there
        self.x, self.v = floats(state.x), np.zeros((model.node_count, 3))
        self.guess, self.initial_direction = floats(state.v), state.fields.get(VELOCITY_CHANGE)
        self.target = self._target(external_forces)
        self.change = np.zeros_like(self.v)
        self.solves, self.iterations = 0, 0
        self.forcing_term = FIRST_FORCING_TERM
        if self.system.once and not self.system.energy_evaluator:
            self.forcing_term = LINEAR_TOLERANCE_SHARE * settings.tolerance
        self.clamp, self.is_definite = True, True
        self.system.evaluate(self.x, self.v, external_forces, self.is_free)
        self.residual = self.system.residual()
        if model.sheets is not None:
            of_sheets = self.system.residual_of(self.coupled_groups.nodes_with_sheets())
            if of_sheets <= RESTING_RESIDUAL:
                self.forcing_term = RESTING_FORCING_TERM

    def solve(self) -> bool:
        """Computes the next iterate; returns whether any body moved.

        Raises:
            SolveFailed: Velocities are not finite.
        """
        system = self.system
        if system.levels and self.residual > LINEAR_COARSE_RESIDUAL:
            self._solve_coarse()
        guess = np.where(self.is_free[:, None], self.guess, (self.target - self.x) / self.dt)
        d = self._direction(guess)
        self.solves += 1
        begin = (self.x, self.v, system.r, system.linear)
        predicted = system.predicted_residual(d, self.is_free)
        energy = system.energy_evaluator.last_energies() if system.energy_evaluator else np.zeros(0)
        self._move_to(self.v + d)
        # where fixed nodes jump, the potential may rise in a good step, so the residual decides
        jumps = self.coupled_groups.products(d * ~self.is_free[:, None], d) > 0.0
        is_wild = jumps & bool((system.sizes() > predicted).any())
        s = self._step_lengths(d, begin, energy, jumps)
        if is_wild.any():  # the fixed nodes alone
            alone = np.where(self.coupled_groups.to_nodes(is_wild)[:, None] == 1.0, guess - d, 0.0)
            self._move_to(begin[1] + self.coupled_groups.to_nodes(s)[:, None] * d + alone)
        elif (s < 1.0).any():
            self._move_to(begin[1] + self.coupled_groups.to_nodes(s)[:, None] * d)
        self.guess, self.initial_direction, before = np.zeros_like(d), None, self.residual
        self.residual = system.residual()
        is_slow = self.solves > 1 and CLAMPED_FORCING_TERM * before < self.residual <= TRUE_TANGENT_RESIDUAL
        if is_slow and self.is_definite and self.residual > system.settings.tolerance:
            self.clamp = False
            system.evaluate(self.x, self.v, self.external_forces, self.is_free, clamp=False)
        self.forcing_term = (
            min(MAX_FORCING_TERM, max(0.9 * (self.residual / before) ** 2, 1.0e-6))
            if before > 0.0
            else MAX_FORCING_TERM
        )
        if system.once and not system.energy_evaluator:  # all is linear: only the error of the linear solve is left
            return self.residual < 0.5 * before
        return not (len(s) and (s <= 0.0).all())

    def linearisation_residual(self) -> float:
        """Returns the relative residual that bodies that are linearised once leave."""
        return self.system.linearisation_residual(self.x, self.is_free)

    def _solve_coarse(self) -> None:
        """Solves the coarse problems of hierarchical bodies while their details stay."""
        d = self.system.coarse_motion(self.is_free)
        # fixed nodes go where they are fixed with the first motion, whichever that is
        d[~self.is_free] = ((self.target - self.x) / self.dt)[~self.is_free]
        self._move_to(self.v + d)
        self.guess = self.guess - d
        self.residual = self.system.residual()

    def _direction(self, guess: Floats) -> Floats:
        """Returns δ [m/s], (n, 3), by the true tangent where that is in use and definite, else by the clamped one.

        Where tets are compressed, the clamped tangent is too stiff, and an iteration leaves half of the residual.
        """
        system = self.system
        asked = self.x, self.is_free, guess, self.initial_direction, self.forcing_term, self.coupled_groups
        d, solved = system.direction(*asked)
        self.iterations += solved.iterations
        if self.clamp or (solved.converged and (self.coupled_groups.products(d, system.r) >= 0.0).all()):
            return d
        self.clamp, self.is_definite = True, False
        system.evaluate(self.x, self.v, self.external_forces, self.is_free)
        d, solved = system.direction(*asked)
        self.iterations += solved.iterations
        return d

    def update(self, external_forces: ExternalForces) -> None:
        """Takes other contacts, and other targets."""
        self.external_forces, self.target = external_forces, self._target(external_forces)
        self.coupled_groups = CoupledGroups(self.model, self.system.part, external_forces.pairs)
        self.system.update(self.v, external_forces, self.is_free)
        self.residual = self.system.residual()

    def _target(self, external_forces: ExternalForces) -> Floats:
        """Returns where fixed nodes end [m], (n, 3); without a target they keep their velocity."""
        return floats(
            self.state.x + self.dt * self.state.v
            if external_forces.fixed_target is None
            else external_forces.fixed_target
        )

    def _move_to(self, v: Floats) -> None:
        x, change = np.empty_like(v), np.empty_like(v)
        if not advance_positions(self.state.x, v, self.state.v, self.dt, self.is_free, self.target, x, change):
            raise SolveFailed("solve-not-finite", time=self.state.time + self.dt)
        self.x, self.v, self.change = x, v, change
        self.system.evaluate(x, v, self.external_forces, self.is_free, self.clamp)

    def _step_lengths(
        self, d: Floats, begin: tuple[Floats, Floats, Floats, Floats], energy: Floats, jumps: Bools
    ) -> Floats:
        """Returns the step length of every coupled group along d, from the iterate before."""
        system, part, evaluator = self.system, self.system.part, self.system.energy_evaluator
        if not evaluator or not part:
            return np.zeros(0)
        nodes, groups = part.nodes, self.coupled_groups
        along = [groups.products(values, d) for values in (begin[2], begin[3], system.linear)]
        at_end = np.where(jumps, -np.inf, groups.sums(evaluator.last_energies()))
        x, v = self.state.x[nodes], begin[1][nodes]

        def energies(s: Floats) -> Floats:
            return groups.sums(evaluator.energies(x + self.dt * (v + groups.to_nodes(s)[nodes, None] * d[nodes])))

        noise = groups.sums(system.energy_round_off)
        return step_lengths(along[0], along[1], along[2], groups.sums(energy), at_end, energies, noise)
