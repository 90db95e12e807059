# SPDX-License-Identifier: GPL-3.0-or-later
"""What the equation of a step with dynamic flesh has that stays as it is from iterate to iterate.

That is mass and damping of all bodies, and what is linear in the velocities: corotated bodies and those warped vertex
by vertex, the shear of hybrid ones that hold their rotations, and bodies that are linearised once about x_a
(`flesh_system.py`), with f(x_a) + K(x_a) (x_a − x0) as their forces at x0.
"""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Floats, floats
from ..elements.assembly import assemble
from ..elements.linear_pull import add_linear_pull
from ..elements.records import needs_records, write_records
from ..elements.volume_pressure import add_pressure
from ..linear.pattern import BlockPattern
from ..model import Model
from ..state import State
from ..vertex_warp import is_warped
from .flesh import DynamicFlesh, FleshGroup, Look
from .held_frames import held_rotations, warp_vertices
from .held_shear import add_held_shear, holds_shear
from .level_look import LevelLook
from .linearised import write_mass
from .rows import add_blocks, add_to_diagonal, over
from .wide_tangent import blocks_of, product, runs
from .workspace import records_of, workspace


class Steady:
    """The constant part of one step.

    Attributes:
        values: Its blocks, (b, 9).
        force: Its elastic forces where the step begins [N], (n, 3).
        held: Rotations of bodies that hold theirs, see `held_rotations`.
        turned: Rotations of nodes, see `vertex_warp.add_warped`.
        levels: Hierarchical bodies, whose mass and damping are in it; None where there are none.
    """

    def __init__(
        self, model: Model, state: State, dt: float, flesh: DynamicFlesh, looked: Look | None, about: Floats | None
    ) -> None:
        """Assembles it for Δt = `dt` [s].

        Args:
            model, state, dt, flesh: The step.
            looked: Flesh that moves by implicit Euler; None: there is none.
            about: x_a [m], (n, 3); None: where the step begins.
        """
        self.model, self.dt, self.x0 = model, dt, floats(state.x)
        self.about = self.x0 if about is None else about
        self.values, self.force = _kept_blocks(model.pattern), workspace(model.pattern).force
        self.force[:] = 0.0
        self.drag = model.mass * (1.0 + dt * model.mass_damping)
        self.held = held_rotations(model, State(self.about, state.v, state.time, state.fields))
        self.levels = LevelLook(model, flesh.levels, self.about, self.held, dt) if flesh.levels else None
        self._assemble_corotated(flesh)
        self.turned = warp_vertices(model, state, dt, self.values, self.force)
        self._assemble_flesh(flesh, looked)
        if self.levels:
            self.levels.begin(self.x0, self.drag, self.values, self.force)
        self.once, self.looked_once = flesh.once, Look(flesh.once, model) if flesh.once else None
        if self.once and self.looked_once:
            self._assemble_once(self.once, self.looked_once)
        self._assemble_held_shear()

    def left_out(self, x: Floats) -> Floats:
        """Returns by how much the forces of bodies linearised once are others at x [m], (n, 3), than these say [N]."""
        assert self.once and self.looked_once
        nodes, looked = self.once.part.nodes, self.looked_once
        said = looked.force - product(looked.model.pattern, looked.tangent, x[nodes] - self.about[nodes])
        force = np.empty_like(said)
        looked.force_at(x[nodes], force)
        return force - said

    def _assemble_corotated(self, flesh: DynamicFlesh) -> None:
        """Writes the rows of all bodies that are no flesh."""
        model, p, warped, dt = self.model, self.model.pattern, records_of(self.model), self.dt
        strain = model.initial_strain
        for number in flesh.others(model):
            t, n = model.bodies[number].tets, model.bodies[number].nodes
            if not needs_records(model, number):
                write_mass(p, n, self.drag, self.values)
                continue
            write_records(model, number, self.about, warped, self.held)
            if len(model.pressure_modulus):
                add_pressure(
                    self.about, model.tets[t], model.Dm_inverse[t], model.volume[t], model.pressure_modulus[t],
                    model.stiffness_damping[t], strain[t] if len(strain) else strain, warped[t],
                )  # fmt: skip
            for core in model.cores:  # rigid
                warped[core.tets] = 0.0
            if self.about is not self.x0:
                add_linear_pull(1.0, self.about - self.x0, model.tets[t], warped[t])
            stiff = 0.0 if is_warped(model, number) else dt * dt
            assemble(stiff, dt, self.drag, p, warped, self.values, self.force, n)

    def _assemble_flesh(self, flesh: DynamicFlesh, looked: Look | None) -> None:
        """Writes mass and damping of flesh; bodies that do not move by implicit Euler have their mass alone."""
        model, pattern = self.model, self.model.pattern
        others = [*flesh.still, *(flesh.newmark.part.bodies if flesh.newmark else ())]
        for number in others:
            self.values[blocks_of(pattern.row_start, model.bodies[number].nodes)] = 0.0
        if looked and flesh.euler:
            self._assemble_damping(flesh.euler, looked)
            others += flesh.euler.part.bodies
        self._add_mass(others)

    def _assemble_once(self, group: FleshGroup, looked: Look) -> None:
        """Writes all of bodies that are linearised once."""
        rows = group.part.nodes
        looked.at(self.about[rows], clamp=False)
        self._assemble_damping(group, looked)
        force = looked.force
        if self.about is not self.x0:
            force = force + product(looked.model.pattern, looked.tangent, self.about[rows] - self.x0[rows])
        for whole, own in runs(group, self.model):
            over(add_blocks, looked.tangent[own[1]], self.dt * self.dt, self.values[whole[1]])
            self.force[whole[0]] = force[own[0]]
        self._add_mass(group.part.bodies)

    def _assemble_held_shear(self) -> None:
        """Adds what resists shear in hybrid bodies that hold their rotations."""
        for number in range(len(self.model.bodies)):
            if self.held is not None and holds_shear(self.model, number):
                add_held_shear(self.model, number, self.held, self.about, self.x0, self.dt, self.values, self.force)

    def _assemble_damping(self, group: FleshGroup, looked: Look) -> None:
        """Writes the damping of bodies into their rows."""
        D = np.zeros_like(looked.tangent)
        if self.model.stiffness_damping[group.part.tets].any():
            looked.damping(self.about[group.part.nodes], D)
        for whole, own in runs(group, self.model):
            np.multiply(D[own[1]], self.dt, out=self.values[whole[1]])

    def _add_mass(self, numbers: Iterable[int]) -> None:
        """Adds the mass of bodies, and what drags it."""
        for number in numbers:
            nodes = self.model.bodies[number].nodes
            add_to_diagonal(nodes.start, nodes.stop, self.model.pattern.diagonal, self.drag, self.values)


_kept: WeakKeyDictionary[BlockPattern, Floats] = WeakKeyDictionary()


def _kept_blocks(pattern: BlockPattern) -> Floats:
    """Returns an array of blocks that is kept from step to step."""
    if pattern not in _kept:
        _kept[pattern] = np.zeros((pattern.block_count, 9))
    return _kept[pattern]
