# SPDX-License-Identifier: GPL-3.0-or-later
"""The equation of a step with dynamic flesh at an iterate: residual r and matrix A = −∂r/∂v.

    r(v) = M v0 + Δt (f_elastic(x) + f_outside(x, v)) − (M + Δt C) v,    x = x0 + Δt v

The forces of flesh are those at x, everything else is linear in v: corotated bodies as in `implicit_euler.py`, damping
with the shapes at the start of the step. Bodies linearised once have f(x_a) + K(x_a) (x_a − x), where x_a is x0 but for
bodies by BDF2 (`bdf2.py`), and so have corotated ones. Nodes that are held, and
bodies that move by another scheme or stand still, have rows without meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Bools, Floats, floats
from ..elements.assembly import assemble
from ..elements.linear_pull import add_linear_pull
from ..elements.records import needs_records, write_records
from ..elements.volume_pressure import add_pressure
from ..geometry.chunks import run_parts
from ..hyperelastic.element import parts_of
from ..linear.pattern import BlockPattern
from ..linear.pcg import Solved
from ..linear.points import add_points
from ..model import Model
from ..part_model import PartModel
from ..rigid_core import as_felt, of_cores, of_hinged
from ..scene import Settings
from ..state import State
from ..vertex_warp import ghost_impulse, is_any_warped, is_unsymmetric, is_warped
from .conventions import LEAST
from .flesh import DynamicFlesh, FleshGroup, Look
from .held_frames import held_rotations, warp_vertices
from .held_shear import add_held_shear, holds_shear
from .level_look import LevelLook
from .linearised import write_mass
from .looks import Looks
from .outside import Outside
from .paired import lost_by, with_pairs
from .right_side import push_by_gravity
from .rows import add_blocks, add_to_diagonal
from .system import solve_system
from .wide_tangent import WideTangent, blocks_of, product, runs
from .workspace import workspace

ENOUGH = 0.5  # share of the tolerance to which linear solves go, so that the residual is within it afterwards


class FleshSystem:
    """The arrays of one step; residual and matrix in them are those of the last `look`.

    Attributes:
        r: The residual, zero at held nodes [N s], (n, 3).
        linear: The same without Δt f of flesh.
        pattern, matrix: A, but for what `is_apart`: flesh that averages at its nodes, where no pairs act.
        scale: What ‖r‖ is compared with, per island [N s], (k,).
        looked: Forces and tangent of flesh; None where no body moves by implicit Euler.
        held: Rotations of bodies that hold theirs, see `held_rotations`.
        turned: Rotations of nodes, see `vertex_warp.add_warped`.
        levels: Hierarchical bodies; None where there are none.
        seen, part: All whose energy is looked up between iterates, and where they are in the whole; None: none.
    """

    def __init__(
        self,
        model: Model,
        state: State,
        dt: float,
        settings: Settings,
        flesh: DynamicFlesh,
        about: Floats | None = None,
    ) -> None:
        """Assembles what is constant during the step; `about` is x_a [m], (n, 3), None: x0."""
        self.model, self.state, self.dt, self.settings = model, state, dt, settings
        self.x0, self.v0 = floats(state.x), floats(state.v)
        self.about = self.x0 if about is None else about
        self.group: FleshGroup | None = flesh.euler
        self.once = flesh.once
        self.looked_once = Look(flesh.once, model) if flesh.once else None
        self.looked = Look(flesh.euler, model) if flesh.euler else None
        self.wide = WideTangent(flesh.euler, model) if flesh.euler and flesh.euler.law.left is not None else None
        pattern, work = model.pattern, workspace(model.pattern)
        self.values, self.base, self.base_force = work.values, _base(pattern), work.force
        self.pattern, self.matrix, self.is_apart = pattern, self.values, self.wide is not None
        self.base_force[:] = 0.0
        self.drag = model.mass * (1.0 + dt * model.mass_damping)
        self.held = held_rotations(model, State(self.about, state.v, state.time, state.fields))
        self.levels = LevelLook(model, flesh.levels, self.about, self.held, dt) if flesh.levels else None
        self._assemble_corotated(flesh)
        self._assemble_flesh(flesh)
        if self.levels:
            self.levels.begin(self.x0, self.drag, self.base, self.base_force)
        if self.once and self.looked_once:
            self._assemble_once(self.once, self.looked_once)
        self._assemble_held_shear()
        self.momentum = model.mass[:, None] * self.v0
        self.island_start = pattern.island_start[:-1].astype(np.int64)
        self.r, self.linear = np.zeros((2, model.node_count, 3))
        self.scale, self.noise = np.zeros((2, pattern.island_count))
        if self.looked and self.group:
            of_force, self.energy_noise = self.looked.noise(self.x0[self.group.part.nodes])
            self.noise += dt * of_force
        self.seen: Look | Looks | None = self.looked
        self.part: PartModel | None = self.group.part if self.group else None
        if self.levels:
            of_force, of_levels = self.levels.noise(self.x0)
            self.noise += dt * of_force
            self.seen = Looks(model, self.group, self.looked, self.levels)
            self.part = self.seen.part
            self.energy_noise = self.seen.ordered(self.energy_noise if self.looked else np.zeros(0), of_levels)

    def look(self, x: Floats, v: Floats, outside: Outside, is_free: Bools, clamp: bool = True) -> None:
        """Computes residual and matrix at an iterate x [m], v [m/s], (n, 3) each; `clamp` as for the tangent."""
        if self.looked and self.group:
            self.looked.at(x[self.group.part.nodes], clamp)
        if self.levels:
            self.levels.at(x, clamp)
        self.see(v, outside, is_free)

    def see(self, v: Floats, outside: Outside, is_free: Bools) -> None:
        """Computes residual and matrix with the forces and the tangent of flesh as they were at the last look."""
        model, dt = self.model, self.dt
        self.outside = outside
        np.copyto(self.values, self.base)
        pull = dt * self.base_force
        if self.looked and self.group:
            for whole, own in runs(self.group, self.model):
                _over(add_blocks, self.looked.tangent[own[1]], dt * dt, self.values[whole[1]])
                pull[whole[0]] += dt * self.looked.force[own[0]]
        if self.levels:
            for nodes in self.levels.rows:
                pull[nodes] += dt * self.levels.force[nodes]
        push = np.empty_like(self.r)
        push_by_gravity(model.mass, model.gravity_scale, floats(outside.gravity), dt, push)
        if outside.node_force is not None:
            push += dt * outside.node_force
        drawn = self._add_points(v, outside, push) + lost_by(model, outside.pairs, dt, v)
        self.pattern, self.matrix, self.is_apart = model.pattern, self.values, self.wide is not None
        if self.wide and self.looked:
            self.wide.see(self.looked, self.values, dt)
            if len(outside.pairs):
                self.pattern, self.matrix = self.wide.joined(self.values)
                self.is_apart = False
        self.pattern, self.matrix = with_pairs(model, self.pattern, outside.pairs, dt, self.matrix, push)
        r = self.momentum + pull + push - drawn - product(self.model.pattern, self.base, v)
        if is_any_warped(model):
            r -= ghost_impulse(model, self.x0, v, is_free & ~of_hinged(model) if model.cores else is_free)
        r[~is_free] = 0.0
        if model.cores:
            r = as_felt(model, self.x0, r, is_free)
        self.r, self.linear = r, r - is_free[:, None] * (pull - dt * self.base_force)
        self.scale = self._scale(v, is_free, pull, push)

    def residual(self) -> float:
        """Returns ‖r‖ over `scale`, of the island where it is largest; infinite where it is no number."""
        return self._largest(self.sizes())

    def _largest(self, size: Floats) -> float:
        """Returns the largest of sizes over `scale`, of islands, (k,); infinite where it is no number."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(size > 0.0, size / self.scale, 0.0)
        return float(np.max(found, initial=0.0)) if np.isfinite(found).all() else float("inf")

    def sizes(self) -> Floats:
        """Returns ‖r‖ of the islands [N s], (k,)."""
        return self._norms(self.r)

    def left_out(self, x: Floats, is_free: Bools) -> float:
        """Returns how large a residual bodies that are linearised once leave, as `residual` counts it; 0 without them.

        Args:
            x: Where the step has led [m], (n, 3). The last look has to be at it.
            is_free: Which nodes are solved for.
        """
        group, looked = self.once, self.looked_once
        if not group or not looked:
            return 0.0
        moved, force = x[group.part.nodes] - self.about[group.part.nodes], np.empty_like(looked.force)
        wrong = looked.force - product(looked.model.pattern, looked.tangent, moved)
        looked.force_at(x[group.part.nodes], force)
        r = self.r.copy()
        r[group.part.nodes] += self.dt * (force - wrong)
        r[~is_free] = 0.0
        return self._largest(self._norms(r))

    def asked(self, d: Floats, is_free: Bools) -> Floats:
        """Returns ‖r‖ as it would be if only the held nodes went along d [m/s], (n, 3), and all was linear, (k,)."""
        held = ~is_free[:, None]
        if not (d * held).any():
            return self.sizes()
        return self._norms(~held * (self.r - self._times(d * held)))

    def direction(
        self, x: Floats, is_free: Bools, guess: Floats, likely: Floats | None, exactness: float
    ) -> tuple[Floats, Solved]:
        """Returns δ [m/s], (n, 3), with A δ = r, solved to a share of r, and how that went.

        Args:
            x: The iterate [m], (n, 3).
            is_free: Which nodes are solved for.
            guess: A first guess, and δ of the held nodes, (n, 3).
            likely: From there, a direction in which δ is likely to lie, (n, 3).
            exactness: Share of ‖r‖ that may be left; no more than the tolerance asks for is solved.
        """
        d = guess.copy()
        least = ENOUGH * self.settings.tolerance / exactness * self.scale
        if self.wide is None or not self.is_apart:
            return d, self._solve(self.pattern, self.matrix, self.r, is_free, d, x, exactness, least, likely)
        own, wide = self.wide.nodes, self.wide
        of_own = None if likely is None else floats(likely[own])
        part = floats(d[own])
        found = self._solve(
            wide.pattern, wide.values, floats(self.r[own]), is_free[own], part, floats(x[own]), exactness,
            least[wide.islands], of_own,
        )  # fmt: skip
        d[own] = part
        others = is_free & ~wide.is_own
        if not others.any():
            return d, found
        r = self.r * others[:, None]
        rest = self._solve(self.model.pattern, self.values, r, others, d, x, exactness, least, likely)
        return d, Solved(
            found.iterations + rest.iterations, max(found.residual, rest.residual), found.converged and rest.converged
        )

    def coarse_motion(self, is_free: Bools) -> Floats:
        """Returns the velocities [m/s], (n, 3), that solve the coarse problems of hierarchical bodies."""
        assert self.levels
        return self.levels.coarse_motion(self.outside, self.pattern, self.matrix, self.r, is_free)

    def _solve(
        self, pattern: BlockPattern, values: Floats, b: Floats, is_free: Bools, d: Floats, x: Floats, exactness: float,
        least: Floats, likely: Floats | None,
    ) -> Solved:  # fmt: skip
        """Solves A δ = b from what `d` holds, for the nodes of a pattern."""
        if self.levels and not (self.wide and pattern is self.wide.pattern):
            return self._solve_levels(pattern, values, b, is_free, d, x, exactness, least, likely)
        X, so_far = self.model.X[self.wide.nodes] if self.wide and pattern is self.wide.pattern else None, None
        if X is None and self.model.cores:  # whose velocities are those of rigid bodies from where they began
            x, so_far = self.x0, (x - self.x0) / self.dt
        return solve_system(
            self.model, pattern, values, b, is_free, d, x, self.settings, tolerance=exactness, least=least,
            likely=likely, X=X, so_far=so_far,
        )  # fmt: skip

    def _solve_levels(
        self, pattern: BlockPattern, values: Floats, b: Floats, is_free: Bools, d: Floats, x: Floats, exactness: float,
        least: Floats, likely: Floats | None,
    ) -> Solved:  # fmt: skip
        """Does it where there are hierarchical bodies.

        In those that touch bodies which are warped or have a rigid core K is of fine tets alone.
        """
        levels, settings, so_far = self.levels, self.settings, None
        assert levels
        odd = np.zeros_like(is_free)
        if is_any_warped(self.model):
            odd = is_free & is_unsymmetric(self.model, pattern)
        if self.model.cores:
            odd |= is_free & of_cores(self.model, pattern)
            x, so_far = self.x0, (x - self.x0) / self.dt
        most = settings.max_iterations
        found = levels.solve(self.outside, pattern, values, b, is_free & ~odd, d, exactness, most, least, likely)
        if not odd.any():
            return found
        rest = solve_system(
            self.model, pattern, values, b, odd, d, x, settings, tolerance=exactness, least=least, likely=likely,
            so_far=so_far,
        )  # fmt: skip
        return Solved(
            found.iterations + rest.iterations, max(found.residual, rest.residual), found.converged and rest.converged
        )

    def _times(self, v: Floats, whole: bool = True) -> Floats:
        """Returns A v, (n, 3); without what is beyond its blocks where it is not to be `whole`."""
        out = product(self.pattern, self.matrix, v)
        if self.wide and self.is_apart:
            self.wide.multiply(v, out)
        if self.levels and whole:
            self.levels.add_beyond(v, out)
        return out

    def _scale(self, v: Floats, is_free: Bools, pull: Floats, push: Floats) -> Floats:
        """Returns ‖b‖ of the linear system at the iterate, as `linear/pcg.py` counts it."""
        free = is_free[:, None]
        b = self.r + free * self._times(v * free, whole=False)
        least = sum(self._norms(part * free) for part in (self.momentum, pull, push))
        return np.maximum(np.maximum(self._norms(b), LEAST * least), self.noise / self.settings.tolerance)

    def _norms(self, values: Floats) -> Floats:
        return np.sqrt(np.add.reduceat((values * values).sum(axis=1), self.island_start))

    def _add_points(self, v: Floats, outside: Outside, push: Floats) -> Floats:
        """Adds springs and contacts to the matrix and to `push`; returns Δt times what they lose by v, (n, 3)."""
        model, points, dt = self.model, outside.points, self.dt
        drawn = np.zeros_like(push)
        if not len(points):
            return drawn
        lost = np.einsum("kij,kj->ki", dt * points.stiffness + points.damping, points.positions(v, model.tets))
        none, tets, blocks = np.zeros_like(points.stiffness), model.tets, model.pattern.corner_block
        add_points(
            dt, points.tet, points.weights, points.stiffness, points.damping, points.force, tets, blocks, self.values,
            push,
        )  # fmt: skip
        add_points(dt, points.tet, points.weights, none, none, floats(lost), tets, blocks, self.values, drawn)
        return drawn

    def _assemble_flesh(self, flesh: DynamicFlesh) -> None:
        """Writes mass and damping of flesh; bodies that do not move by implicit Euler have their mass alone."""
        model, pattern = self.model, self.model.pattern
        others = [*flesh.still, *(flesh.newmark.part.bodies if flesh.newmark else ())]
        for number in others:
            self.base[blocks_of(pattern.row_start, model.bodies[number].nodes)] = 0.0
        numbers = list(others)
        if self.looked and self.group:
            numbers += self.group.part.bodies
            self._assemble_damping(self.group, self.looked)
        for number in numbers:
            nodes = model.bodies[number].nodes
            add_to_diagonal(nodes.start, nodes.stop, pattern.diagonal, self.drag, self.base)

    def _assemble_once(self, group: FleshGroup, looked: Look) -> None:
        """Writes all of bodies that are linearised once."""
        rows = group.part.nodes
        looked.at(self.about[rows], clamp=False)
        self._assemble_damping(group, looked)
        force = looked.force
        if self.about is not self.x0:
            force = force + product(looked.model.pattern, looked.tangent, self.about[rows] - self.x0[rows])
        for whole, own in runs(group, self.model):
            _over(add_blocks, looked.tangent[own[1]], self.dt * self.dt, self.base[whole[1]])
            self.base_force[whole[0]] = force[own[0]]
        for number in group.part.bodies:
            nodes = self.model.bodies[number].nodes
            add_to_diagonal(nodes.start, nodes.stop, self.model.pattern.diagonal, self.drag, self.base)

    def _assemble_held_shear(self) -> None:
        """Adds what resists shear in hybrid bodies that hold their rotations."""
        for number in range(len(self.model.bodies)):
            if self.held is not None and holds_shear(self.model, number):
                add_held_shear(
                    self.model, number, self.held, self.about, self.x0, self.dt, self.base, self.base_force
                )  # fmt: skip

    def _assemble_damping(self, group: FleshGroup, looked: Look) -> None:
        """Writes the damping of bodies into their rows."""
        D = np.zeros_like(looked.tangent)
        if self.model.stiffness_damping[group.part.tets].any():
            looked.damping(self.about[group.part.nodes], D)
        for whole, own in runs(group, self.model):
            np.multiply(D[own[1]], self.dt, out=self.base[whole[1]])

    def _assemble_corotated(self, flesh: DynamicFlesh) -> None:
        """Writes the rows of all bodies that are no flesh."""
        model, p, work, dt = self.model, self.model.pattern, workspace(self.model.pattern), self.dt
        strain = model.initial_strain
        for number in flesh.others(model):
            t, n = model.bodies[number].tets, model.bodies[number].nodes
            write_records(model, number, self.about, work.warped, self.held)
            if len(model.pressure_modulus):
                add_pressure(
                    self.about, model.tets[t], model.Dm_inverse[t], model.volume[t], model.pressure_modulus[t],
                    model.stiffness_damping[t], strain[t] if len(strain) else strain, work.warped[t],
                )  # fmt: skip
            for core in model.cores:  # rigid
                work.warped[core.tets] = 0.0
            if not needs_records(model, number):
                write_mass(p, n, self.drag, self.base)
                continue
            if self.about is not self.x0:
                add_linear_pull(1.0, self.about - self.x0, model.tets[t], work.warped[t])
            stiff = 0.0 if is_warped(model, number) else dt * dt
            assemble(stiff, dt, self.drag, p, work.warped, self.base, self.base_force, n)
        self.turned = warp_vertices(model, self.state, dt, self.base, self.base_force)


_bases: WeakKeyDictionary[BlockPattern, Floats] = WeakKeyDictionary()


def _base(pattern: BlockPattern) -> Floats:
    """Returns an array of blocks that is kept from step to step."""
    if pattern not in _bases:
        _bases[pattern] = np.zeros((pattern.block_count, 9))
    return _bases[pattern]


def _over(work: Callable[..., None], rows: Floats, *more: Any) -> None:
    """Calls a kernel for all rows, part by part."""
    parts = parts_of(len(rows))
    run_parts(len(parts), lambda k: work(*parts[k], rows, *more))
