# SPDX-License-Identifier: GPL-3.0-or-later
"""A Newton iteration: forces and tangent at the positions, a direction, and a step along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..linalg import pcg
from ..linalg.block_pattern import BlockPattern
from ..linalg.block_system import BlockSystem, PcgWorkspace, StoppingCriteria
from ..linalg.multigrid.lattice_multigrid import IMMEDIATE_TOLERANCE, LatticeMultigrid
from ..linalg.schwarz_preconditioner import SchwarzPreconditioner
from ..mechanics.elements.inverted_tet_count import count_inverted
from ..mechanics.hyperelastic.hyperelastic_bodies import (
    EvaluationResult,
    Hyperelastic,
    energy,
    forces,
    forces_and_tangent,
    tet_arrays,
    whole_tangent,
)
from ..mechanics.hyperelastic.morton_ordering import ordered_model
from ..mechanics.model import Model
from ..runtime.arrays import Bools, Floats
from .blended_rigid_motions import blend_rigid_motions
from .contact_stiffness_blocks import CoupledPattern
from .equilibrium_problem import EquilibriumProblem
from .equilibrium_residual import force_scales, relative_residual
from .fixed_nodes import FixedNodes
from .line_search import SlopeBracket, backtracking_step_lengths, energy_round_off, secant_step_length
from .line_search_groups import StepGroups, SteppedPositions
from .potential_forces import PotentialForces, PotentialForcesOnPart
from .sums_by_body import SumsByBody

MAX_CG_ITERATIONS = 2000
# Relative residual to which muscles solve at most, so multigrid begins at once: iterations of block Jacobi before it
# take more than they save. Not in a tangle, where those take away what is rough
IMMEDIATE_TOLERANCE_OF_MUSCLES = 1.0e-2
TRUE_TANGENT_RESIDUAL = 1.0e-2  # residual from which the true tangent is tried
# Where the true tangent is hardly definite, or not, conjugate gradients take forever; what cycles of multigrid have
# found by then still lowers the energy, if it leaves less than this of the forces. Iterations of block Jacobi, which
# are cheap, are not cut off: what they leave are soft directions, in which a muscle ended 0.5 % of its size off
MAX_TRUE_TANGENT_ITERATIONS, MAX_TRUE_TANGENT_RESIDUAL = 150, 0.1
TRUE_TANGENT_STRETCH = 0.8  # smallest stretch from which it is tried sooner: hardly a tet's own is indefinite there


class NewtonIterate:
    """Forces and tangent of a solve at the last evaluation, and how they lead to the next positions."""

    def __init__(self, problem: EquilibriumProblem, potentials: PotentialForcesOnPart | None = None) -> None:
        """Makes the arrays.

        Args:
            problem: The bodies.
            potentials: What acts on them, where they are some of those that forces act on; None: the problem's forces.
        """
        model = problem.model
        self.model, self.ordered = model, ordered_model(model)
        self.is_free: Bools = problem.fixed.is_free(model.node_count)
        self.load, self.sums = problem.load, SumsByBody(model)
        sizes = model.node_count, model.pattern.block_count, self.sums.count
        self.potentials = PotentialForces(problem.forces, *sizes) if potentials is None else potentials
        self.moduli = self.sums.of_tets(
            model.volume * (2.0 * model.mu + model.lam), np.arange(model.tet_count, dtype=np.int64)
        )
        self.bodies = [(body.nodes, least) for body, least in zip(model.bodies, force_scales(model), strict=True)]
        self.values = np.empty((model.pattern.block_count, 9))
        self.force = np.empty((model.node_count, 3))
        self.work, self.workspace = tet_arrays(model.pattern), PcgWorkspace()
        self.law: Hyperelastic | None = None  # of the last evaluation
        self.is_tangent_current = False  # whether the tangent is that where forces are
        self.is_ordered = False  # whether tets had that of `ordered_model` in the last pass over them
        self.lattices = LatticeMultigrid(model.X, mesh=model.pattern, keeps_zero_blocks=False)
        self.is_hard = False  # whether the last system was, for block Jacobi
        self.is_matrix_solved = False  # whether the matrix is that of the last system
        self.coupled_pattern: CoupledPattern | None = None
        self.cg_iterations = 0
        self.system_count = 0
        self.may_be_definite = True  # whether the true tangent may still be asked
        self.is_mildly_strained = True  # whether it may be asked far from rest
        self.has_true_tangent = False  # whether that is what the last evaluation of a tangent has left
        self.wants_true_tangent = False  # whether it led to the positions, or no tet is compressed much there

    def take_experience(self, other: NewtonIterate) -> None:
        """Takes over what a solve of more or fewer of the bodies has found out about their tangents, and its arrays.

        The other one may go on when this one does not.
        """
        self.is_hard, self.may_be_definite = other.is_hard, other.may_be_definite
        self.is_mildly_strained, self.is_matrix_solved = other.is_mildly_strained, False
        self.workspace = other.workspace
        self.lattices = replace(self.lattices, workspace=other.lattices.workspace)

    def evaluate_tangent(self, law: Hyperelastic, x: Floats, clamp: bool = True) -> EvaluationResult:
        """Computes forces, loads included, and tangent at x; returns how it is there, energy in the loads included."""
        self.law, self.is_tangent_current, self.is_matrix_solved = law, True, False
        self.has_true_tangent = self.wants_true_tangent = not clamp
        answer = forces_and_tangent(*self._ordered_model(law), x, self.values, self.force, self.work, clamp)
        return self._add_forces(answer, x, self.values)

    def evaluate_forces(self, law: Hyperelastic, x: Floats) -> EvaluationResult:
        """Does what `evaluate_tangent` does, but for the tangent, which stays that of the last evaluation."""
        self.is_tangent_current = False
        return self._add_forces(forces(*self._ordered_model(law), x, self.force, self.work), x)

    def smallest(self) -> Floats:
        """Returns σ3 of every tet at the last evaluation, negative where inverted, (m,)."""
        if self.ordered is None or not self.is_ordered:
            return self.work.smallest
        found = np.empty_like(self.work.smallest)
        found[self.ordered.order] = self.work.smallest
        return found

    def residual(self) -> float:
        """Returns the residual at the last evaluation, of the body that is farthest from rest."""
        return max(self.residuals())

    def residuals(self) -> list[float]:
        """Returns the residual of every body at the last evaluation."""
        return [relative_residual(self.force[nodes], self.is_free[nodes], least) for nodes, least in self.bodies]

    def direction(self, law: Hyperelastic, x: Floats, tolerance: float) -> Floats:
        """Returns d with K d = f for the clamped tangent K at x, to a relative residual, and zero at fixed nodes."""
        if self.has_true_tangent or not self.is_tangent_current:
            self.evaluate_tangent(law, x)
        d = self._solve(tolerance)[0]
        if self.potentials.expected_forces() is None or self._slope(d) > 0.0:
            return d
        self.potentials.expect_nothing()  # what was expected to act leads uphill
        self.evaluate_tangent(law, x)
        return self._solve(tolerance)[0]

    def stale_direction(self, tolerance: float) -> Floats | None:
        """Returns d for the present forces and an older tangent, or None where the arrays have no such tangent."""
        if self.law is None or self.is_tangent_current or self.law.left is not None or self.potentials.active:
            return None
        d, reached = self._solve(tolerance)
        return d if reached <= tolerance and self._slope(d) > 0.0 else None

    def may_use_true_tangent(self, residual: float) -> bool:
        """Returns whether the true tangent is to be tried: near rest, or where the last step was led by it."""
        return self.may_be_definite and (
            residual <= TRUE_TANGENT_RESIDUAL or (self.wants_true_tangent and self.is_mildly_strained)
        )

    def true_tangent_direction(self, law: Hyperelastic, x: Floats, tolerance: float, residual: float) -> Floats | None:
        """Returns d for the true tangent at x, or None where that leads nowhere.

        Where tets are pressed, the clamped tangent is too stiff, and a step leaves half of the residual. Near a stable
        equilibrium the true tangent is definite, though that of single tets is not.
        """
        if not self.has_true_tangent or not self.is_tangent_current:  # else the step to x has left it
            self.evaluate_tangent(law, x, clamp=False)
        d, reached = self._solve(tolerance, MAX_TRUE_TANGENT_ITERATIONS if self.is_hard else MAX_CG_ITERATIONS)
        if reached <= max(tolerance, MAX_TRUE_TANGENT_RESIDUAL) and self._slope(d) > 0.0:
            return d
        self.may_be_definite, self.is_mildly_strained = residual > TRUE_TANGENT_RESIDUAL, False
        return None

    def move_with_fixed_nodes(self, x: Floats, fixed: FixedNodes) -> Floats:
        """Returns x with the fixed nodes where they are fixed, and the others moved along with them.

        Where that inverts more tets than if fixed nodes jumped alone, as it may where they turn far, they jump.
        """
        moved, jumped = blend_rigid_motions(self.model, x, fixed), x.copy()
        jumped[fixed.nodes] = fixed.positions
        if np.array_equal(moved, jumped):
            return moved
        inverted = [int(count_inverted(start, self.model.tets)) for start in (moved, jumped)]
        return jumped if inverted[0] > inverted[1] else moved

    def best_start(self, law: Hyperelastic, x: Floats, others: Sequence[Floats]) -> Floats:
        """Returns x or, of every group of bodies, that of the others [m], (n, 3), in which its energy is least."""
        energies = self.evaluate_forces(law, x).energies  # finds what touches at x
        groups = self._step_groups()
        best, least = x, groups.sums(energies)
        for other in others:
            found = self._energies(law, other, groups)
            best = np.where(groups.to_nodes(np.where(found < least, 1.0, 0.0)) > 0.0, other, best)
            least = np.minimum(found, least)
        return best

    def step(
        self, law: Hyperelastic, x: Floats, before: EvaluationResult, d: Floats, is_tangled: bool, is_last: bool = False
    ) -> tuple[Floats, EvaluationResult, bool]:
        """Takes a step along d.

        Args:
            law: The law.
            x: Where the step starts [m], (n, 3).
            before: The evaluation there.
            d: Direction and full length [m], (n, 3).
            is_tangled: Whether the solve is untangling.
            is_last: Whether x + d is likely to be at rest: its tangent is then computed only on demand.

        Returns:
            The new positions, their evaluation, and whether the step has any length.
        """
        if is_tangled or before.extended_count:
            slope = self._slope(d)
            answer = self.evaluate_forces(law, x + d)
            length = secant_step_length(slope, self._slope(d))
            return x + length * d, self.evaluate_tangent(law, x + length * d), True
        # the kind of tangent that led to x, or the true one where no tet is compressed much
        self.wants_true_tangent = self.has_true_tangent or (
            self.is_mildly_strained and before.smallest >= TRUE_TANGENT_STRETCH
        )
        stepped = SteppedPositions(x, d, self._step_groups())
        if self.potentials.are_coupling:
            return self._bracketed_step(law, stepped, before)

        def evaluate_next(end: Floats) -> EvaluationResult:
            return self.evaluate_tangent(law, end, clamp=not self.wants_true_tangent)

        groups = stepped.groups
        slopes, whole = self._slopes(d, groups), stepped.at(np.ones(groups.count))
        answer = self.evaluate_forces(law, whole) if is_last else evaluate_next(whole)
        if answer.extended_count:
            lengths = np.full(groups.count, secant_step_length(float(slopes.sum()), self._slope(d)), np.float64)
        else:
            lengths = self._falling_lengths(law, stepped, before, slopes, groups.sums(answer.energies))
        if (lengths == 1.0).all():
            return whole, answer, True
        return stepped.at(lengths), evaluate_next(stepped.at(lengths)), bool(lengths.any())

    def _bracketed_step(
        self, law: Hyperelastic, stepped: SteppedPositions, before: EvaluationResult
    ) -> tuple[Floats, EvaluationResult, bool]:
        """Takes a step in contact: an evaluation changes the contacts, and the energy that the step has to lower."""
        groups = stepped.groups
        slopes, whole = self._slopes(stepped.d, groups), stepped.at(np.ones(groups.count))
        # most steps are whole ones: their energy comes with the forces that are wanted next
        self.is_tangent_current = False
        of_tets = forces(*self._ordered_model(law), whole, self.force, self.work)
        energies = self._group_energies(of_tets, whole, groups)
        lengths = self._falling_lengths(law, stepped, before, slopes, energies)
        brackets = [SlopeBracket(slope, length) for slope, length in zip(slopes, lengths, strict=True)]
        is_whole = bool((lengths == 1.0).all())
        answer = self._add_forces(of_tets, whole) if is_whole else self.evaluate_forces(law, stepped.at(lengths))
        while True:
            beyond = self._slopes(stepped.d, groups)
            is_other = [bracket.narrow(each) for bracket, each in zip(brackets, beyond, strict=True)]
            if not any(is_other):
                return stepped.at(lengths), answer, bool(lengths.any())
            lengths = np.array([bracket.length for bracket in brackets])
            answer = self.evaluate_forces(law, stepped.at(lengths))

    def _falling_lengths(
        self,
        law: Hyperelastic,
        stepped: SteppedPositions,
        before: EvaluationResult,
        slopes: Floats,
        whole: Floats | None = None,
    ) -> Floats:
        """Returns lengths at which the energy of every group falls, (k,), for slopes and energies of whole steps."""
        groups = stepped.groups
        energies = groups.sums(before.energies)
        rounding = energy_round_off(energies, groups.sums(self.moduli))
        return backtracking_step_lengths(
            energies, slopes, rounding, lambda lengths: self._energies(law, stepped.at(lengths), groups), whole
        )

    def _step_groups(self) -> StepGroups:
        ties = self.potentials.couplings()
        return StepGroups(self.model, self.sums, [] if ties is None else [ties])

    def _slopes(self, d: Floats, groups: StepGroups) -> Floats:
        """Returns f·d of every group at the last evaluation [J], (k,)."""
        return groups.sums(self.sums.products(self.force, d))

    def _solve(self, tolerance: float, max_iterations: int = MAX_CG_ITERATIONS) -> tuple[Floats, float]:
        """Returns d for the tangent of the last evaluation, and the relative residual that it leaves."""
        expected = self.potentials.expected_forces()
        given = self.force if expected is None else self.force + expected
        d, b = np.zeros_like(self.force), np.where(self.is_free[:, None], given, 0.0)
        pattern, values, lattices = self._system()
        self.potentials.begin_step()
        lattices = replace(
            lattices,
            is_hard=self.is_hard,
            is_same=self.is_hard and self.is_matrix_solved,
            immediate_tolerance=self._immediate_tolerance,
        )
        tied = self.potentials.tied_nodes()
        solved = pcg.solve(
            BlockSystem(pattern, values, b, self.is_free),
            d,
            StoppingCriteria(tolerance, max_iterations),
            preconditioner=lattices if tied is None else SchwarzPreconditioner(tied),
            workspace=self.workspace,
        )
        self.is_hard, self.is_matrix_solved = solved.used_multigrid, True
        self.cg_iterations += solved.iterations
        self.system_count += 1
        return d, solved.residual

    @property
    def _immediate_tolerance(self) -> float:
        is_muscle = self.law is not None and self.law.anisotropic_term is not None
        return IMMEDIATE_TOLERANCE_OF_MUSCLES if is_muscle and not self.potentials.is_tangled else IMMEDIATE_TOLERANCE

    def _system(self) -> tuple[BlockPattern, Floats, LatticeMultigrid]:
        """Returns the tangent of the last evaluation with contacts between different tets, and its preconditioner."""
        assert self.law is not None
        pattern, values = whole_tangent(*self._ordered_model(self.law), self.values, self.work, self.workspace)
        if self.law.left is None:
            pattern = self.model.pattern  # the same blocks, whatever the order of tets
        ties = self.potentials.couplings()
        if ties is None:
            return pattern, values, self.lattices
        if self.coupled_pattern is None or self.coupled_pattern.pattern is not pattern:
            self.coupled_pattern = CoupledPattern(pattern, self.workspace)
        return *self.coupled_pattern.extend(values, ties), replace(self.lattices, has_couplings=True)

    def _slope(self, d: Floats) -> float:
        return float(np.sum(self.force * d))  # np.dot's sum depends on the number of threads

    def _energies(self, law: Hyperelastic, x: Floats, groups: StepGroups) -> Floats:
        """Returns the energy of every group at x [J], (k,); infinite where a tet of it is extended."""
        return self._group_energies(self._energy_of_tets(law, x), x, groups)

    def _group_energies(self, of_tets: EvaluationResult, x: Floats, groups: StepGroups) -> Floats:
        """Returns the same for an evaluation of tets alone."""
        found = self._with_load(of_tets, x, self.potentials.energies(x))
        return groups.sums(np.where(found.is_extended, np.inf, found.energies))

    def _energy_of_tets(self, law: Hyperelastic, x: Floats) -> EvaluationResult:
        return energy(*self._ordered_model(law), x, self.work)

    def _ordered_model(self, law: Hyperelastic) -> tuple[Model, Hyperelastic]:
        """Returns model and law with tets in the order in which passes over them take least."""
        self.is_ordered = law.anisotropic_term is None
        if self.ordered is None or law.anisotropic_term is not None:
            return self.model, law
        return self.ordered.model, self.ordered.law(law)

    def _add_forces(self, answer: EvaluationResult, x: Floats, values: Floats | None = None) -> EvaluationResult:
        """Adds what acts at x to the forces and, with `values`, to the tangent of tets."""
        if self.load is not None:
            self.force += self.load
        return self._with_load(answer, x, self.potentials.add(x, self.force, values))

    def _with_load(self, answer: EvaluationResult, x: Floats, added: Floats) -> EvaluationResult:
        total = added
        if self.load is not None:
            total = total - self.sums.products(self.load, x - self.model.X)
        return replace(answer, energies=answer.energies + total)
