# SPDX-License-Identifier: GPL-3.0-or-later
"""The equation of a step of bodies with nonlinear forces at an iterate: residual r and matrix A = −∂r/∂v.

    r(v) = M v0 + Δt (f_elastic(x) + f_external(x, v)) − (M + Δt C) v,    x = x0 + Δt v

These bodies are dynamic flesh, and those with Green's strain, hybrid strain or a hierarchical basis; their forces are
those at x. All other terms stay constant from iterate to iterate (`constant_terms.py`): corotated bodies are linear in
v as in `solver/integrators/implicit_euler.py`, and damping has the shapes at the start of the step. Linear terms are
linearised about x_a, which is x0 except for bodies by BDF2 (`solver/integrators/bdf2.py`). Rows of fixed nodes, and of
bodies that move by another scheme or stand still, have no meaning.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...constraints.external_forces import ExternalForces
from ...constraints.rigid_core import LinearSystem, effective_forces, nodes_with_cores, nodes_with_hinges
from ...linalg.pcg import SolveResult
from ...mechanics.sheets.coupled_bending import CoupledBending
from ...mechanics.submodel import Submodel
from ...mechanics.vertex_warp import ghost_impulse, is_any_warped, is_unsymmetric
from ...runtime.arrays import Bools, Floats, floats
from ...runtime.row_dot_products import row_dot_products
from ..dynamic_flesh_forces import DynamicFlesh, FleshEvaluator, FleshGroup
from ..step_input import StepInput
from ..system.block_ops import add_blocks, block_matrix_product, for_all_rows
from ..system.external_blocks import (
    add_pair_blocks,
    add_point_blocks,
    add_tet_blocks,
    pair_stiffness_impulse,
    point_stiffness_impulse,
    tet_stiffness_impulse,
)
from ..system.right_hand_side import NORM_FLOOR_SHARE, write_gravity_impulse
from ..system.solve_system import solve_system
from .bending_correction import INNER_TOLERANCE, BendingCorrection
from .constant_terms import ConstantTerms
from .elastic_energies import EnergyEvaluator
from .line_search_groups import CoupledGroups
from .two_ring_tangent import WideTangent, body_slices

# Share of the tolerance to which linear systems are solved, so that the residual is within it afterwards
LINEAR_TOLERANCE_SHARE = 0.5


class NewtonSystem:
    """Residual and matrix of one step, at the last `evaluate`.

    Attributes:
        r: The residual, zero at fixed nodes [N s], (n, 3).
        linear: The same without Δt f of flesh.
        pattern, matrix: A, without the rows of `wide_tangent` where `is_apart`.
        wide_tangent: Flesh with nodal averages; None where there is none.
        is_apart: Whether that is solved for by itself: no pair forces couple it to others.
        scale: Norm to which ‖r‖ is relative, per island [N s], (k,).
        constant_terms: What stays constant during the step.
        evaluator: Forces and tangent of flesh; None where no body moves by implicit Euler.
        levels: Hierarchical bodies; None where there are none.
        energy_evaluator, part: Energies of bodies between iterates, and these bodies in the whole model; None: none.
    """

    def __init__(self, start: StepInput, flesh: DynamicFlesh) -> None:
        """Begins a step, and assembles its constant terms."""
        model, state, dt, workspace = start.model, start.state, start.dt, start.workspace
        self.model, self.dt, self.settings, self.x0 = model, dt, start.settings, floats(state.x)
        self.workspace = workspace
        self.group: FleshGroup | None = flesh.euler
        self.evaluator = FleshEvaluator(flesh.euler, model, workspace) if flesh.euler else None
        self.wide_tangent: WideTangent | None = None
        if flesh.euler and flesh.euler.law.left is not None:
            self.wide_tangent = WideTangent(flesh.euler, model, workspace)
        self.constant_terms = ConstantTerms(start, flesh, self.evaluator)
        self.levels = self.constant_terms.levels
        self.once = flesh.once
        pattern = model.pattern
        self.values = workspace.values
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
            self.energy_evaluator = EnergyEvaluator(model, self.group, self.evaluator, self.levels, workspace)
            self.part = self.energy_evaluator.part
            self.energy_round_off = self.energy_evaluator.ordered(
                self.energy_round_off if self.evaluator else np.zeros(0), of_levels
            )

    def evaluate(
        self, x: Floats, v: Floats, external_forces: ExternalForces, is_free: Bools, clamp: bool = True
    ) -> None:
        """Computes residual and matrix at an iterate x [m], v [m/s], (n, 3) each; `clamp` as for the tangent."""
        if self.evaluator and self.group:
            self.evaluator.evaluate(x[self.group.part.nodes], clamp)
        if self.levels:
            self.levels.evaluate(x, clamp)
        self.update(v, external_forces, is_free)

    def update(self, v: Floats, external_forces: ExternalForces, is_free: Bools) -> None:
        """Computes residual and matrix with the forces and the tangent of flesh at the last evaluation."""
        model, dt = self.model, self.dt
        self.external_forces = external_forces
        np.copyto(self.values, self.constant_terms.values)
        elastic_impulse = dt * self.constant_terms.force
        if self.evaluator and self.group:
            for whole, own in body_slices(self.group, self.model):
                for_all_rows(add_blocks, self.evaluator.tangent[own[1]], dt * dt, self.values[whole[1]])
                elastic_impulse[whole[0]] += dt * self.evaluator.force[own[0]]
        if self.levels:
            for nodes in self.levels.rows:
                elastic_impulse[nodes] += dt * self.levels.force[nodes]
        external_impulse = np.empty_like(self.r)
        write_gravity_impulse(model.mass, model.gravity_scale, floats(external_forces.gravity), dt, external_impulse)
        if external_forces.node_force is not None:
            external_impulse += dt * external_forces.node_force
        add_point_blocks(model, external_forces.points, dt, self.values, external_impulse)
        velocity_impulse = point_stiffness_impulse(model, external_forces.points, dt, v)
        if len(external_forces.tets):
            add_tet_blocks(model, external_forces.tets, dt, self.values, external_impulse)
            velocity_impulse += tet_stiffness_impulse(model, external_forces.tets, dt, v)
        velocity_impulse += pair_stiffness_impulse(model, external_forces.pairs, dt, v)
        self.pattern, self.matrix, self.is_apart = model.pattern, self.values, self.wide_tangent is not None
        if self.wide_tangent and self.evaluator:
            self.wide_tangent.update(self.evaluator, self.values, dt)
            if len(external_forces.pairs) or model.bound is not None:
                self.pattern, self.matrix = self.wide_tangent.merged(self.values)
                self.is_apart = False
        self.pattern, self.matrix = add_pair_blocks(
            model,
            (self.pattern, self.matrix),
            external_forces.pairs,
            dt,
            external_impulse,
            self.workspace.pair_patterns,
        )
        r = (
            self.momentum
            + elastic_impulse
            + external_impulse
            - velocity_impulse
            - block_matrix_product(self.model.pattern, self.constant_terms.values, v)
        )
        if is_any_warped(model):
            is_whole = is_free & ~nodes_with_hinges(model) if model.cores else is_free
            r -= ghost_impulse(model, self.x0, v, is_whole, self.workspace.warped)
        elastic = elastic_impulse - dt * self.constant_terms.force
        if model.bound is not None:
            model.bound.hand_down(r)
            model.bound.hand_down(elastic)
        r[~is_free] = 0.0
        if model.cores:
            r = effective_forces(model, self.x0, r, is_free)
        self.r, self.linear = r, r - is_free[:, None] * elastic
        self.scale = self._scale(v, is_free, elastic_impulse, external_impulse)
        if model.bound is not None:
            self.scale = self.workspace.eliminated_patterns.of(model.pattern, model.bound).joint_norms(self.scale)

    def residual(self) -> float:
        """Returns the largest ‖r‖ / `scale` of the islands; infinite where it is not finite."""
        return self._largest(self.sizes())

    def residual_of(self, which: Bools) -> float:
        """Returns the same of the islands of some nodes, (n,); 0 for none."""
        own = np.zeros(len(self.scale), bool)
        own[self.model.pattern.island_of_row[which]] = True
        return self._largest(np.where(own, self.sizes(), 0.0))

    def _largest(self, size: Floats) -> float:
        """Returns the largest size / `scale` of the islands, (k,); infinite where it is not finite."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(size > 0.0, size / self.scale, 0.0)
        return float(np.max(found, initial=0.0)) if np.isfinite(found).all() else float("inf")

    def sizes(self) -> Floats:
        """Returns ‖r‖ of the islands [N s], (k,)."""
        return self._norms(self.r)

    def linearisation_residual(self, x: Floats, is_free: Bools) -> float:
        """Returns the relative residual that bodies that are linearised once leave; 0 without them.

        Args:
            x: End of the step [m], (n, 3), where the last evaluation was.
            is_free: Which nodes are solved for.
        """
        if not self.once:
            return 0.0
        nodes, left = self.once.part.nodes, np.zeros_like(self.r)
        left[nodes] = self.dt * self.constant_terms.linearisation_residual(x)
        if self.model.bound is not None:
            self.model.bound.hand_down(left)
        r = self.r + left
        r[~is_free] = 0.0
        return self._largest(self._norms(r))

    def predicted_residual(self, d: Floats, is_free: Bools) -> Floats:
        """Returns ‖r‖ if only the fixed nodes moved along d [m/s], (n, 3), and forces were linear, (k,)."""
        is_fixed = ~is_free[:, None]
        if not (d * is_fixed).any():
            return self.sizes()
        return self._norms(~is_fixed * (self.r - self._times(d * is_fixed)))

    def direction(
        self,
        x: Floats,
        is_free: Bools,
        guess: Floats,
        initial_direction: Floats | None,
        forcing_term: float,
        groups: CoupledGroups,
    ) -> tuple[Floats, SolveResult]:
        """Returns δ [m/s], (n, 3), with A δ = r up to a share of r, and how that solve went.

        Args:
            x: The iterate [m], (n, 3).
            is_free: Which nodes are solved for.
            guess: A first guess, and δ of the fixed nodes, (n, 3).
            initial_direction: From the guess, a direction in which δ is likely to lie, (n, 3).
            forcing_term: Share of ‖r‖ that may be left, but the solve ends at the tolerance of the settings.
            groups: Groups of bodies that are coupled.
        """
        norm_floor = LINEAR_TOLERANCE_SHARE * self.settings.tolerance / forcing_term * self.scale
        whole = LinearSystem(
            pattern=self.pattern,
            values=self.matrix,
            b=self.r,
            is_free=is_free,
            v=guess.copy(),
            x=x,
            X=self.model.X,
            is_unsymmetric=None,
            tolerance=forcing_term,
            norm_floor=norm_floor,
            initial_direction=initial_direction,
            tied_nodes=self.external_forces.tied_nodes,
        )
        if self.wide_tangent is None or not self.is_apart:
            found = self._solve(whole)
            if not (self.evaluator and self.group and self.evaluator.model.sheets):
                return whole.v, found
            bending = self.evaluator.coupled_bending(x[self.group.part.nodes])
            return self._correct_bending(bending, whole, found, groups)
        own, wide = self.wide_tangent.nodes, self.wide_tangent
        part = replace(
            whole,
            pattern=wide.pattern,
            values=wide.values,
            b=floats(self.r[own]),
            is_free=is_free[own],
            v=floats(whole.v[own]),
            x=floats(x[own]),
            X=self.model.X[own],
            norm_floor=norm_floor[wide.islands],
            initial_direction=None if initial_direction is None else floats(initial_direction[own]),
            tied_nodes=None,
        )
        found = solve_system(self.model, part, self.settings, self.workspace)
        whole.v[own] = part.v
        others = is_free & ~wide.is_own
        if not others.any():
            return whole.v, found
        rest = replace(
            whole, pattern=self.model.pattern, values=self.values, b=self.r * others[:, None], is_free=others
        )
        return whole.v, SolveResult.merge(found, self._solve(rest))

    def _correct_bending(
        self, bending: CoupledBending, asked: LinearSystem, found: SolveResult, groups: CoupledGroups
    ) -> tuple[Floats, SolveResult]:
        """Returns δ with hinges of sheets that resist together, after a solve where each resists alone."""
        assert self.group is not None
        is_free, results, nodes = asked.is_free, [found], self.group.part.nodes
        enough = asked.tolerance * np.maximum(self.sizes(), asked.norm_floor)

        def times(v: Floats) -> Floats:
            out = self._times(v)
            coupled = np.zeros_like(out)
            coupled[nodes] = self.dt * self.dt * bending.times(floats(v[nodes]))
            if self.model.bound is not None:
                self.model.bound.hand_down(coupled)
            out = (out + coupled) * is_free[:, None]
            return effective_forces(self.model, self.x0, out, is_free) if self.model.cores else out

        def solve(r: Floats) -> Floats:
            part = replace(
                asked,
                b=r,
                v=np.zeros_like(r),
                tolerance=INNER_TOLERANCE,
                norm_floor=enough / INNER_TOLERANCE,
                initial_direction=None,
            )
            results.append(self._solve(part))
            return part.v

        correction = BendingCorrection(
            times, solve, lambda r: bool((self._norms(r) <= enough).all()), groups, groups.nodes_with_sheets()
        )
        d = correction.direction(asked.v, self.r, is_free)
        return d, replace(found, iterations=sum(each.iterations for each in results))

    def coarse_motion(self, is_free: Bools) -> Floats:
        """Returns the velocities [m/s], (n, 3), that solve the coarse problems of hierarchical bodies."""
        assert self.levels
        return self.levels.coarse_motion(self.external_forces, self.pattern, self.matrix, self.r, is_free)

    def _solve(self, system: LinearSystem) -> SolveResult:
        """Solves A δ = r for nodes of the whole model, from the guess in `system.v`.

        Hierarchical bodies that touch bodies which are warped or have a rigid core are solved with K of their fine tets
        alone.
        """
        if self.model.cores:  # velocities of a core are those of a rigid body from the start of the step
            rigid = replace(system, x=self.x0, base_velocity=(system.x - self.x0) / self.dt)
        else:
            rigid = system
        if not self.levels:
            return solve_system(self.model, rigid, self.settings, self.workspace)
        is_apart = np.zeros_like(system.is_free)
        if is_any_warped(self.model):
            is_apart = system.is_free & is_unsymmetric(self.model, system.pattern)
        if self.model.cores:
            is_apart |= system.is_free & nodes_with_cores(self.model, system.pattern)
        by_levels = replace(system, is_free=system.is_free & ~is_apart)
        found = self.levels.solve(self.external_forces, by_levels, self.settings.max_iterations)
        if not is_apart.any():
            return found
        rest = replace(rigid, is_free=is_apart)
        return SolveResult.merge(found, solve_system(self.model, rest, self.settings, self.workspace))

    def _times(self, v: Floats, whole: bool = True) -> Floats:
        """Returns A v on nodes that are not bound, (n, 3).

        If not `whole`, without the excess of the tangent of hierarchical bodies.
        """
        out = block_matrix_product(self.pattern, self.matrix, v)
        if self.wide_tangent and self.is_apart:
            self.wide_tangent.multiply(v, out)
        if self.levels and whole:
            self.levels.add_excess_tangent(v, out)
        if self.model.bound is not None:
            self.model.bound.hand_down(out)
        return out

    def _scale(self, v: Floats, is_free: Bools, elastic_impulse: Floats, external_impulse: Floats) -> Floats:
        """Returns ‖b‖ of the linear system at the iterate, as `linalg/pcg.py` computes it."""
        free = is_free[:, None]
        b = self.r + free * self._times(v * free, whole=False)
        norms = sum(self._norms(part * free) for part in (self.momentum, elastic_impulse, external_impulse))
        return np.maximum(
            np.maximum(self._norms(b), NORM_FLOOR_SHARE * norms), self.round_off / self.settings.tolerance
        )

    def _norms(self, values: Floats) -> Floats:
        return np.sqrt(np.add.reduceat(row_dot_products(values, values), self.island_start))
