# SPDX-License-Identifier: GPL-3.0-or-later
"""The equation of a step with dynamic flesh at an iterate: residual r and matrix A = −∂r/∂v.

    r(v) = M v0 + Δt (f_elastic(x) + f_outside(x, v)) − (M + Δt C) v,    x = x0 + Δt v

The forces of flesh are those at x; what else there is stays as it is from iterate to iterate (`steady.py`): corotated
bodies are linear in v as in `implicit_euler.py`, damping has the shapes at the start of the step. What is linearised is
so about x_a, which is x0 but for bodies by BDF2 (`bdf2.py`). Nodes that are held, and bodies that move by another
scheme or stand still, have rows without meaning.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Bools, Floats, floats
from ..linear.pattern import BlockPattern
from ..linear.pcg import Solved
from ..linear.points import add_points
from ..model import Model
from ..part_model import PartModel
from ..rigid_core import as_felt, of_cores, of_hinged
from ..scene import Settings
from ..state import State
from ..vertex_warp import ghost_impulse, is_any_warped, is_unsymmetric
from .conventions import LEAST
from .flesh import DynamicFlesh, FleshGroup, Look
from .looks import Looks
from .outside import Outside
from .paired import lost_by, with_pairs
from .right_side import push_by_gravity
from .rows import add_blocks, over
from .steady import Steady
from .system import solve_system
from .wide_tangent import WideTangent, product, runs
from .workspace import workspace

ENOUGH = 0.5  # share of the tolerance to which linear solves go, so that the residual is within it afterwards


class FleshSystem:
    """The arrays of one step; residual and matrix in them are those of the last `look`.

    Attributes:
        r: The residual, zero at held nodes [N s], (n, 3).
        linear: The same without Δt f of flesh.
        pattern, matrix: A, but for what `is_apart`: flesh that averages at its nodes, where no pairs act.
        scale: What ‖r‖ is compared with, per island [N s], (k,).
        steady: What stays as it is during the step.
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
        """Begins the step; `about` is x_a [m], (n, 3), None: x0."""
        self.model, self.dt, self.settings, self.x0 = model, dt, settings, floats(state.x)
        self.group: FleshGroup | None = flesh.euler
        self.looked = Look(flesh.euler, model) if flesh.euler else None
        self.wide = WideTangent(flesh.euler, model) if flesh.euler and flesh.euler.law.left is not None else None
        self.steady = Steady(model, state, dt, flesh, self.looked, about)
        self.held, self.turned, self.levels = self.steady.held, self.steady.turned, self.steady.levels
        self.once = flesh.once
        pattern = model.pattern
        self.values = workspace(pattern).values
        self.pattern, self.matrix, self.is_apart = pattern, self.values, self.wide is not None
        self.momentum = model.mass[:, None] * floats(state.v)
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
        np.copyto(self.values, self.steady.values)
        pull = dt * self.steady.force
        if self.looked and self.group:
            for whole, own in runs(self.group, self.model):
                over(add_blocks, self.looked.tangent[own[1]], dt * dt, self.values[whole[1]])
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
        r = self.momentum + pull + push - drawn - product(self.model.pattern, self.steady.values, v)
        if is_any_warped(model):
            r -= ghost_impulse(model, self.x0, v, is_free & ~of_hinged(model) if model.cores else is_free)
        r[~is_free] = 0.0
        if model.cores:
            r = as_felt(model, self.x0, r, is_free)
        self.r, self.linear = r, r - is_free[:, None] * (pull - dt * self.steady.force)
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
        if not self.once:
            return 0.0
        nodes, r = self.once.part.nodes, self.r.copy()
        r[nodes] += self.dt * self.steady.left_out(x)
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
        return d, Solved.together(found, rest)

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
        return Solved.together(found, rest)

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
