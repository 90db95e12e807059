# SPDX-License-Identifier: GPL-3.0-or-later
"""Hierarchical bodies as a step sees them: linear on the fine level, Green's strain on the coarse one.

While the frames are held, the forces of the fine tets are linear in the positions: they and their blocks are summed
once per step, as those of corotated bodies are. What Green's strain makes of the mean gradients beyond that, in forces,
energy and tangent, follows the iterates, and is kept per coarse tet.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence

import numpy as np

from ...mechanics.elements.assembly import assemble
from ...mechanics.elements.linear_force import add_linear_forces
from ...mechanics.hierarchical.hierarchical_body import HierarchicalBody, hierarchical_body
from ...mechanics.hierarchical.mean_gradients import add_stress
from ...mechanics.model import Model
from ...runtime.arrays import Floats, floats
from ..system.workspace import element_records
from .dynamic_flesh import ROUND_OFF


class HierarchicalForces:
    """The hierarchical bodies of a model in one step.

    Attributes:
        bodies, frames: One by one, with the rotations of their coarse tets, (M, 3, 3), held.
        known: V (P_Green − P_linear) of coarse tets where the step is linearised [J], (M, 3, 3) each.
        force: What the last look found beyond the linear forces [N], of all nodes of the model, (n, 3).
        energy: What belongs to that, per body [J], (k,).
        seconds: Time spent on the coarse level and on the fine one.
    """

    def __init__(self, model: Model, numbers: Sequence[int], about: Floats, held: Floats | None, dt: float) -> None:
        """Begins a step of Δt = `dt` [s], linearised about a position [m], (n, 3).

        `held` are the rotations of tets that hold theirs, (m, 3, 3).
        """
        self.model, self.numbers, self.about, self.dt = model, tuple(numbers), about, dt
        self.bodies = [hierarchical_body(model, number) for number in numbers]
        self.frames = [self._frames(number, body, held) for number, body in zip(numbers, self.bodies, strict=True)]
        self.linearised_excess: list[Floats] = []
        self.force = np.zeros((model.node_count, 3))
        self.energy = np.zeros(len(self.bodies))
        self.seconds = {"coarse": 0.0, "fine": 0.0}

    def _frames(self, number: int, body: HierarchicalBody, held: Floats | None) -> Floats:
        if held is not None and self.model.methods[number].rotations_every > 1:
            return floats(held[body.tets][:: body.levels.children_per_coarse_tet])
        return body.rotations(floats(self.about[body.nodes]))

    @property
    def rows(self) -> list[slice]:
        """Nodes of the bodies."""
        return [body.nodes for body in self.bodies]

    def begin(self, x0: Floats, drag: Floats, values: Floats, force: Floats) -> None:
        """Writes mass, damping and stiffness into the rows of these bodies, (b, 9), and their forces [N], (n, 3).

        Forces are those at `about`, less what K makes of the way there from where the step begins, x0 [m], (n, 3).
        """
        begun = clock.perf_counter()
        pattern, warped = self.model.pattern, element_records(self.model)
        for body, R in zip(self.bodies, self.frames, strict=True):
            own = floats(self.about[body.nodes])
            body.write(own, R, warped[body.tets])
            if self.about is not x0:
                add_linear_forces(1.0, self.about - x0, self.model.tets[body.tets], warped[body.tets])
            assemble(self.dt**2, self.dt, drag, pattern, warped, values, force, body.nodes)
            self.linearised_excess.append(body.excess_stress(body.mean_gradients(own), R))
        self.seconds["fine"] += clock.perf_counter() - begun

    def evaluate(self, x: Floats, clamp: bool = True) -> None:
        """Looks at x [m], (n, 3); `clamp` as for `hyperelastic.element`."""
        begun = clock.perf_counter()
        self.x, self.clamp = x, clamp
        self._excess_tangents: dict[tuple[int, bool], Floats] = {}
        self.force[:] = 0.0
        for body, R, known in zip(self.bodies, self.frames, self.linearised_excess, strict=True):
            more = body.excess_stress(body.mean_gradients(floats(x[body.nodes])), R) - known
            add_stress(
                -1.0, more, body.gradient_operator.nodes, body.gradient_operator.gradients, self.force[body.nodes]
            )
        self.energy = self.energies(x)
        self.seconds["coarse"] += clock.perf_counter() - begun

    def excess_tangent(self, k: int, clamp: bool) -> Floats:
        """Returns what the tangent of a body is beyond its blocks at the last look [J], (M, 9, 9), clamped or not."""
        if (k, clamp) not in self._excess_tangents:
            body = self.bodies[k]
            self._excess_tangents[k, clamp] = body.excess_tangent(floats(self.x[body.nodes]), self.frames[k], clamp)
        return self._excess_tangents[k, clamp]

    def energies(self, x: Floats) -> Floats:
        """Returns the energy that `force` belongs to at x [m], (n, 3), of each body [J]."""
        found = []
        for body, R, known in zip(self.bodies, self.frames, self.linearised_excess, strict=True):
            F = body.mean_gradients(floats(x[body.nodes]))
            found.append(body.excess_energy(F, R).sum() - np.sum(known * F))
        return np.array(found)

    def round_off(self, x: Floats) -> tuple[float, Floats]:
        """Returns what round-off alone leaves: of the sum of forces [N], and of the bodies' energies [J], (k,)."""
        square, of_energy = 0.0, []
        for body in self.bodies:
            g = np.sum(body.Dm_inverse**2, axis=(1, 2)) + np.sum(body.Dm_inverse.sum(axis=1) ** 2, axis=1)
            stiff = body.volume * (2.0 * body.mu + body.lam)
            square += float(np.sum((stiff * g) ** 2))
            of_energy.append(ROUND_OFF * stiff.sum())
        return ROUND_OFF * float(np.abs(x).max(initial=0.0)) * float(np.sqrt(square)), np.array(of_energy)

    def add_excess_tangent(self, v: Floats, out: Floats) -> None:
        """Adds Δt² times what the tangent is beyond its blocks, times v, (n, 3), to `out`."""
        for k, body in enumerate(self.bodies):
            body.add_excess_tangent(
                self.dt**2, self.excess_tangent(k, self.clamp), floats(v[body.nodes]), out[body.nodes]
            )
