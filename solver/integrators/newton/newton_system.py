# SPDX-License-Identifier: GPL-3.0-or-later
"""The equation of a step with dynamic flesh at an iterate: residual r and matrix A = −∂r/∂v.

    r(v) = M v0 + Δt (f_elastic(x) + f_outside(x, v)) − (M + Δt C) v,    x = x0 + Δt v

The forces of flesh are those at x; what else there is stays as it is from iterate to iterate (`constant_terms.py`):
corotated bodies are linear in v as in `solver/integrators/implicit_euler.py`, damping has the shapes at the start of
the step. What is linearised is so about x_a, which is x0 but for bodies by BDF2 (`solver/integrators/bdf2.py`). Nodes
that are held, and bodies that move by another scheme or stand still, have rows without meaning.
"""

from __future__ import annotations

import numpy as np

from ...constraints.external_forces import ExternalForces
from ...constraints.rigid_core import effective_forces, nodes_with_cores, nodes_with_hinges
from ...linalg.block_pattern import BlockPattern
from ...linalg.pcg import SolveResult
from ...linalg.point_terms import add_point_terms
from ...mechanics.model import Model
from ...mechanics.state import State
from ...mechanics.submodel import Submodel
from ...mechanics.vertex_warp import ghost_impulse, is_any_warped, is_unsymmetric
from ...runtime.arrays import Bools, Floats, floats
from ...scene.scene import Settings
from ..system.block_ops import add_blocks, for_all_rows
from ..system.pair_system import add_pair_blocks, pair_stiffness_impulse
from ..system.right_hand_side import write_gravity_impulse
from ..system.solve_system import solve_system
from ..system.step_constants import NORM_FLOOR_SHARE
from ..system.workspace import workspace
from .constant_terms import ConstantTerms
from .dynamic_flesh import DynamicFlesh, FleshEvaluator, FleshGroup
from .energy_evaluator import EnergyEvaluator
from .two_ring_tangent import WideTangent, block_matrix_product, body_slices

LINEAR_TOLERANCE_SHARE = (
    0.5  # share of the tolerance to which linear solves go, so that the residual is within it afterwards
)


class FleshSystem:
    """The arrays of one step; residual and matrix in them are those of the last `evaluate`.

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
        self.evaluator = FleshEvaluator(flesh.euler, model) if flesh.euler else None
        self.wide_tangent = (
            WideTangent(flesh.euler, model) if flesh.euler and flesh.euler.law.left is not None else None
        )
        self.constant_terms = ConstantTerms(model, state, dt, flesh, self.evaluator, about)
        self.lagged_rotations, self.node_rotations, self.levels = (
            self.constant_terms.lagged_rotations,
            self.constant_terms.node_rotations,
            self.constant_terms.levels,
        )
        self.once = flesh.once
        pattern = model.pattern
        self.values = workspace(pattern).values
        self.pattern, self.matrix, self.is_apart = pattern, self.values, self.wide_tangent is not None
        self.momentum = model.mass[:, None] * floats(state.v)
        self.island_start = pattern.island_start[:-1].astype(np.int64)
        self.r, self.linear = np.zeros((2, model.node_count, 3))
        self.scale, self.round_off = np.zeros((2, pattern.island_count))
        if self.evaluator and self.group:
            of_force, self.energy_round_off = self.evaluator.round_off(self.x0[self.group.part.nodes])
            self.round_off += dt * of_force
        self.energy_evaluator: FleshEvaluator | EnergyEvaluator | None = self.evaluator
        self.part: Submodel | None = self.group.part if self.group else None
        if self.levels:
            of_force, of_levels = self.levels.round_off(self.x0)
            self.round_off += dt * of_force
            self.energy_evaluator = EnergyEvaluator(model, self.group, self.evaluator, self.levels)
            self.part = self.energy_evaluator.part
            self.energy_round_off = self.energy_evaluator.ordered(
                self.energy_round_off if self.evaluator else np.zeros(0), of_levels
            )

    def evaluate(self, x: Floats, v: Floats, outside: ExternalForces, is_free: Bools, clamp: bool = True) -> None:
        """Computes residual and matrix at an iterate x [m], v [m/s], (n, 3) each; `clamp` as for the tangent."""
        if self.evaluator and self.group:
            self.evaluator.evaluate(x[self.group.part.nodes], clamp)
        if self.levels:
            self.levels.evaluate(x, clamp)
        self.update(v, outside, is_free)

    def update(self, v: Floats, outside: ExternalForces, is_free: Bools) -> None:
        """Computes residual and matrix with the forces and the tangent of flesh as they were at the last look."""
        model, dt = self.model, self.dt
        self.outside = outside
        np.copyto(self.values, self.constant_terms.values)
        pull = dt * self.constant_terms.force
        if self.evaluator and self.group:
            for whole, own in body_slices(self.group, self.model):
                for_all_rows(add_blocks, self.evaluator.tangent[own[1]], dt * dt, self.values[whole[1]])
                pull[whole[0]] += dt * self.evaluator.force[own[0]]
        if self.levels:
            for nodes in self.levels.rows:
                pull[nodes] += dt * self.levels.force[nodes]
        push = np.empty_like(self.r)
        write_gravity_impulse(model.mass, model.gravity_scale, floats(outside.gravity), dt, push)
        if outside.node_force is not None:
            push += dt * outside.node_force
        drawn = self._add_points(v, outside, push) + pair_stiffness_impulse(model, outside.pairs, dt, v)
        self.pattern, self.matrix, self.is_apart = model.pattern, self.values, self.wide_tangent is not None
        if self.wide_tangent and self.evaluator:
            self.wide_tangent.update(self.evaluator, self.values, dt)
            if len(outside.pairs):
                self.pattern, self.matrix = self.wide_tangent.merged(self.values)
                self.is_apart = False
        self.pattern, self.matrix = add_pair_blocks(model, self.pattern, outside.pairs, dt, self.matrix, push)
        r = (
            self.momentum
            + pull
            + push
            - drawn
            - block_matrix_product(self.model.pattern, self.constant_terms.values, v)
        )
        if is_any_warped(model):
            is_whole = is_free & ~nodes_with_hinges(model) if model.cores else is_free
            r -= ghost_impulse(model, self.x0, v, is_whole, workspace(model.pattern).warped)
        r[~is_free] = 0.0
        if model.cores:
            r = effective_forces(model, self.x0, r, is_free)
        self.r, self.linear = r, r - is_free[:, None] * (pull - dt * self.constant_terms.force)
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

    def linearisation_residual(self, x: Floats, is_free: Bools) -> float:
        """Returns how large a residual bodies that are linearised once leave, as `residual` counts it; 0 without them.

        Args:
            x: Where the step has led [m], (n, 3). The last look has to be at it.
            is_free: Which nodes are solved for.
        """
        if not self.once:
            return 0.0
        nodes, r = self.once.part.nodes, self.r.copy()
        r[nodes] += self.dt * self.constant_terms.linearisation_residual(x)
        r[~is_free] = 0.0
        return self._largest(self._norms(r))

    def predicted_residual(self, d: Floats, is_free: Bools) -> Floats:
        """Returns ‖r‖ as it would be if only the held nodes went along d [m/s], (n, 3), and all was linear, (k,)."""
        held = ~is_free[:, None]
        if not (d * held).any():
            return self.sizes()
        return self._norms(~held * (self.r - self._times(d * held)))

    def direction(
        self, x: Floats, is_free: Bools, guess: Floats, likely: Floats | None, exactness: float
    ) -> tuple[Floats, SolveResult]:
        """Returns δ [m/s], (n, 3), with A δ = r, solved to a share of r, and how that went.

        Args:
            x: The iterate [m], (n, 3).
            is_free: Which nodes are solved for.
            guess: A first guess, and δ of the held nodes, (n, 3).
            likely: From there, a direction in which δ is likely to lie, (n, 3).
            exactness: Share of ‖r‖ that may be left; no more than the tolerance asks for is solved.
        """
        d = guess.copy()
        least = LINEAR_TOLERANCE_SHARE * self.settings.tolerance / exactness * self.scale
        if self.wide_tangent is None or not self.is_apart:
            return d, self._solve(self.pattern, self.matrix, self.r, is_free, d, x, exactness, least, likely)
        own, wide = self.wide_tangent.nodes, self.wide_tangent
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
        return d, SolveResult.merge(found, rest)

    def coarse_motion(self, is_free: Bools) -> Floats:
        """Returns the velocities [m/s], (n, 3), that solve the coarse problems of hierarchical bodies."""
        assert self.levels
        return self.levels.coarse_motion(self.outside, self.pattern, self.matrix, self.r, is_free)

    def _solve(
        self, pattern: BlockPattern, values: Floats, b: Floats, is_free: Bools, d: Floats, x: Floats, exactness: float,
        least: Floats, likely: Floats | None,
    ) -> SolveResult:  # fmt: skip
        """Solves A δ = b from what `d` holds, for the nodes of a pattern."""
        if self.levels and not (self.wide_tangent and pattern is self.wide_tangent.pattern):
            return self._solve_levels(pattern, values, b, is_free, d, x, exactness, least, likely)
        X, so_far = (
            self.model.X[self.wide_tangent.nodes]
            if self.wide_tangent and pattern is self.wide_tangent.pattern
            else None,
            None,
        )
        if X is None and self.model.cores:  # whose velocities are those of rigid bodies from where they began
            x, so_far = self.x0, (x - self.x0) / self.dt
        return solve_system(
            self.model, pattern, values, b, is_free, d, x, self.settings, tolerance=exactness, least=least,
            likely=likely, X=X, so_far=so_far,
        )  # fmt: skip

    def _solve_levels(
        self, pattern: BlockPattern, values: Floats, b: Floats, is_free: Bools, d: Floats, x: Floats, exactness: float,
        least: Floats, likely: Floats | None,
    ) -> SolveResult:  # fmt: skip
        """Does it where there are hierarchical bodies.

        In those that touch bodies which are warped or have a rigid core K is of fine tets alone.
        """
        levels, settings, so_far = self.levels, self.settings, None
        assert levels
        odd = np.zeros_like(is_free)
        if is_any_warped(self.model):
            odd = is_free & is_unsymmetric(self.model, pattern)
        if self.model.cores:
            odd |= is_free & nodes_with_cores(self.model, pattern)
            x, so_far = self.x0, (x - self.x0) / self.dt
        most = settings.max_iterations
        found = levels.solve(self.outside, pattern, values, b, is_free & ~odd, d, exactness, most, least, likely)
        if not odd.any():
            return found
        rest = solve_system(
            self.model, pattern, values, b, odd, d, x, settings, tolerance=exactness, least=least, likely=likely,
            so_far=so_far,
        )  # fmt: skip
        return SolveResult.merge(found, rest)

    def _times(self, v: Floats, whole: bool = True) -> Floats:
        """Returns A v, (n, 3); without what is beyond its blocks where it is not to be `whole`."""
        out = block_matrix_product(self.pattern, self.matrix, v)
        if self.wide_tangent and self.is_apart:
            self.wide_tangent.multiply(v, out)
        if self.levels and whole:
            self.levels.add_excess_tangent(v, out)
        return out

    def _scale(self, v: Floats, is_free: Bools, pull: Floats, push: Floats) -> Floats:
        """Returns ‖b‖ of the linear system at the iterate, as `linalg/pcg.py` counts it."""
        free = is_free[:, None]
        b = self.r + free * self._times(v * free, whole=False)
        least = sum(self._norms(part * free) for part in (self.momentum, pull, push))
        return np.maximum(
            np.maximum(self._norms(b), NORM_FLOOR_SHARE * least), self.round_off / self.settings.tolerance
        )

    def _norms(self, values: Floats) -> Floats:
        return np.sqrt(np.add.reduceat((values * values).sum(axis=1), self.island_start))

    def _add_points(self, v: Floats, outside: ExternalForces, push: Floats) -> Floats:
        """Adds springs and contacts to the matrix and to `push`; returns Δt times what they lose by v, (n, 3)."""
        model, points, dt = self.model, outside.points, self.dt
        drawn = np.zeros_like(push)
        if not len(points):
            return drawn
        lost = np.einsum("kij,kj->ki", dt * points.stiffness + points.damping, points.positions(v, model.tets))
        none, tets, blocks = np.zeros_like(points.stiffness), model.tets, model.pattern.corner_block
        add_point_terms(
            dt, points.tet, points.weights, points.stiffness, points.damping, points.force, tets, blocks, self.values,
            push,
        )  # fmt: skip
        add_point_terms(dt, points.tet, points.weights, none, none, floats(lost), tets, blocks, self.values, drawn)
        return drawn
