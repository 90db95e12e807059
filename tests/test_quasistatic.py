# SPDX-License-Identifier: GPL-3.0-or-later
"""Equilibria of hyperelastic bodies: right, from any start, and never silently missed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures import quasistatic_scenes as scenes
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import forces, hyperelastic, tet_arrays
from sinew.solver.quasistatic import initial_guesses, outcome_classification
from sinew.solver.quasistatic.equilibrium import solve
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.equilibrium_residual import REFERENCE_STRAIN, force_scale, relative_residual
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.quasistatic.line_search import (
    MAX_EXTRAPOLATION,
    backtracking_step_lengths,
    energy_round_off,
    secant_step_length,
)
from sinew.solver.quasistatic.newton_iterate import NewtonIterate
from sinew.solver.quasistatic.progress import Progress
from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count


def test_residual_is_out_of_balance_over_held_forces():
    force = np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 50.0], [0.0, 0.0, 0.0]])
    is_free = np.array([True, False, True])
    assert relative_residual(force, is_free, 1.0) == pytest.approx(0.1)
    assert relative_residual(force, is_free, 500.0) == pytest.approx(0.01)
    assert relative_residual(force * np.nan, is_free, 1.0) == np.inf
    assert (
        relative_residual(0.0 * force, is_free, 0.0) == 0.0
        and relative_residual(force * is_free[:, None], is_free, 0.0) == np.inf
    )


@pytest.mark.parametrize(("size", "stiffness"), [(1.0, 1.0), (0.01, 1.0), (1.0, 1.0e6)])
def test_residual_does_not_depend_on_units(size: float, stiffness: float):
    model = scenes.model_of(*scenes.meshes.bar((4, 2, 2), (2.0, 1.0, 1.0)))
    other = scenes.model_of(model.X * size, model.tets, 1.0e5 * stiffness)
    held = scenes.ends(model.X)

    def residual(model, x):
        force = np.empty_like(x)
        forces(model, hyperelastic(model), x, force, tet_arrays(model.pattern))
        return relative_residual(force, held.is_free(len(x)), force_scale(model))

    for amount in (1.0e-7, 0.05):
        x = model.X + amount * np.random.default_rng(0).standard_normal(model.X.shape)
        assert residual(other, x * size) == pytest.approx(residual(model, x), rel=1e-6)


def test_least_scale_is_what_one_thousandth_of_strain_gives_a_tet():
    model = scenes.model_of(np.vstack([np.zeros(3), np.eye(3)]), np.array([[0, 1, 2, 3]]))
    modulus = 2.0 * model.mu[0] + model.lam[0]
    assert force_scale(model) == pytest.approx(REFERENCE_STRAIN * modulus / 6.0 * np.sqrt(6.0))


def test_steps_are_drawn_out_but_never_shortened():
    assert secant_step_length(1.0, 0.5) == pytest.approx(2.0)
    assert secant_step_length(1.0, -1.0) == 1.0
    assert secant_step_length(1.0, 0.99) == MAX_EXTRAPOLATION
    assert secant_step_length(1.0, 3.0) == MAX_EXTRAPOLATION
    assert secant_step_length(1.0, np.nan) == 1.0


def test_steps_lower_the_energy_or_are_none():
    def energies(s):
        return np.array([5.0 * s[0] * s[0] - s[0], -s[1] if s[1] < 0.03 else np.inf, 1.0, -s[3]])

    lengths = backtracking_step_lengths(np.zeros(4), np.ones(4), np.zeros(4), energies)
    assert lengths[0] == pytest.approx(0.1) and 0.0 < lengths[1] < 0.03 and lengths[2] == 0.0 and lengths[3] == 1.0
    # what seems to rise by round-off alone is a way: at rest terms of large moduli cancel
    noise = energy_round_off(np.zeros(1), np.ones(1))
    assert backtracking_step_lengths(np.zeros(1), np.array([1.0e-20]), noise, lambda s: np.full(1, 5.0e-16)) == 1.0


def test_starts_keep_what_is_held_and_move_the_rest():
    X = scenes.bar_model().X
    held = scenes.ends(X, stretch=0.1)
    size = np.ptp(X, axis=0).max()
    free = held.is_free(len(X))
    strewn = initial_guesses.scattered(X, held, 10.0, 3)
    for x in (
        strewn,
        initial_guesses.collapsed(X, held, 3),
        initial_guesses.flattened(X, held),
        initial_guesses.mirrored(X, held),
    ):
        assert np.array_equal(x[held.nodes], held.positions)
    assert np.array_equal(strewn, initial_guesses.scattered(X, held, 10.0, 3))
    assert 9.0 * size < np.ptp(strewn[free], axis=0).min() <= 10.0 * size
    assert (
        np.ptp(initial_guesses.collapsed(X, held, 3)[free], axis=0).max()
        <= 2.0 * initial_guesses.NOISE_AMPLITUDE * size
    )
    assert np.ptp(initial_guesses.flattened(X, held)[free, 0]) == 0.0
    middle = 0.5 * (X.min(axis=0) + X.max(axis=0))
    assert np.allclose((initial_guesses.mirrored(X, held) - middle)[free], (X - middle)[free] * [-1.0, 1.0, 1.0])


def test_a_start_follows_held_nodes_that_move_rigidly():
    X = scenes.bar_model().X
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    moved = X @ turn.T + [1.0, 2.0, 3.0]
    nodes = np.array([0, 5, 9, 20, 33], np.int32)
    assert np.allclose(initial_guesses.rigidly_aligned(X, FixedNodes(nodes, moved[nodes])), moved, atol=1e-7)
    alone = initial_guesses.rigidly_aligned(X, FixedNodes(nodes[:1], moved[nodes[:1]]))
    assert np.allclose(alone - alone[0], X - X[0])


@pytest.mark.parametrize("law", scenes.LAWS)
def test_a_homogeneous_deformation_of_the_outside_goes_through_the_inside(law: str):
    model = scenes.model_of(*scenes.meshes.bar((4, 4, 4), (1.0, 1.0, 1.0)))
    F = np.array([[1.1, 0.1, 0.0], [0.0, 0.95, 0.05], [0.02, 0.0, 1.05]])
    outside = np.flatnonzero(((model.X < 1e-9) | (model.X > 1.0 - 1e-9)).any(axis=1)).astype(np.int32)
    held = FixedNodes(outside, model.X[outside] @ F.T)
    found = solve(EquilibriumProblem(model, scenes.law_of(model, law), held), model.X, 1e-10)
    assert found.converged and np.abs(found.x - model.X @ F.T).max() < 1e-9


@pytest.mark.parametrize("law", scenes.LAWS)
@pytest.mark.parametrize("start", ["scatter", "point", "plane", "mirror"])
def test_a_bar_comes_back_from_anything(law: str, start: str):
    model = scenes.bar_model()
    held = scenes.ends(model.X)
    x = {
        "scatter": lambda: initial_guesses.scattered(model.X, held, 10.0, 1),
        "point": lambda: initial_guesses.collapsed(model.X, held, 1),
        "plane": lambda: initial_guesses.flattened(model.X, held),
        "mirror": lambda: initial_guesses.mirrored(model.X, held),
    }[start]()
    found = solve(EquilibriumProblem(model, scenes.law_of(model, law), held), x)
    assert found.converged and found.residual <= 1e-6 and found.inverted_tets == 0
    assert np.abs(found.x - model.X).max() < 1e-4 * 2.0
    assert found.newton_iterations <= 80


def test_at_rest_there_is_nothing_to_do():
    model = scenes.bar_model()
    found = solve(EquilibriumProblem(model, scenes.law_of(model, "neo-hookean"), scenes.ends(model.X)), model.X)
    assert found.converged and found.newton_iterations == 0 and found.energy == pytest.approx(0.0, abs=1e-9)


def test_a_body_moves_along_with_its_held_nodes():
    model = scenes.bar_model()
    held = scenes.ends(model.X, stretch=-0.2)
    law = scenes.law_of(model, "neo-hookean")
    search = NewtonIterate(EquilibriumProblem(model, law, held))
    jumped = model.X.copy()
    jumped[held.nodes] = held.positions
    moved = search.move_with_fixed_nodes(model.X, held)
    assert np.array_equal(moved[held.nodes], held.positions)
    assert search.evaluate_tangent(law, jumped).smallest < 0.0 < 0.7 < search.evaluate_tangent(law, moved).smallest
    assert np.array_equal(search.move_with_fixed_nodes(jumped, held), jumped) and search.system_count == 0


def test_a_solve_begins_elsewhere_only_where_that_has_less_energy():
    model = scenes.bar_model()
    problem = EquilibriumProblem(model, hyperelastic(model), scenes.ends(model.X, stretch=0.3))
    plain = solve(problem, model.X, 1.0e-8)
    strewn = initial_guesses.scattered(model.X, problem.fixed, 1.0, 3)
    right = solve(problem, model.X, 1.0e-8, other_starts=[strewn, plain.x])
    assert plain.newton_iterations > 2 and right.newton_iterations == 0
    wrong = solve(problem, model.X, 1.0e-8, other_starts=[strewn])
    assert np.array_equal(wrong.x, plain.x) and wrong.newton_iterations == plain.newton_iterations


def test_round_off_in_what_is_held_moves_nothing_along():
    model = scenes.bar_model()
    held = scenes.ends(model.X, stretch=0.1)
    begin = initial_guesses.rigidly_aligned(model.X, held)
    begin[held.nodes] = held.positions
    off = begin.copy()
    off[held.nodes] *= 1.0 + 1.0e-15
    exact, near = (solve(EquilibriumProblem(model, hyperelastic(model), held), x) for x in (begin, off))
    assert (off != begin).any() and exact.converged
    assert (near.newton_iterations, near.cg_iterations) == (exact.newton_iterations, exact.cg_iterations)
    np.testing.assert_allclose(near.x, exact.x, atol=1e-9)


def test_a_solve_that_stops_early_says_so():
    model = scenes.bar_model()
    told: list[Progress] = []
    held = scenes.ends(model.X, stretch=0.3)
    found = solve(
        EquilibriumProblem(model, scenes.law_of(model, "neo-hookean"), held), model.X, 1e-8, 2, on_iteration=told.append
    )
    assert not found.converged and found.residual > 1e-8 and found.newton_iterations == 2
    assert [step.newton_iterations for step in told] == [0, 1, 2] and told[-1].residual == found.residual
    assert (
        outcome_classification.classify_outcome(
            EquilibriumProblem(model, scenes.law_of(model, "neo-hookean"), held), found, True, 1e-6
        ).kind
        == "not converged"
    )


def test_a_tangle_that_is_not_undone_is_told_under_the_law_asked_for():
    model = scenes.bar_model()
    held = scenes.ends(model.X)
    law = scenes.law_of(model, "neo-hookean")
    x = model.X + 0.3 * np.random.default_rng(0).uniform(-1.0, 1.0, model.X.shape)
    x[held.nodes] = held.positions
    found = solve(EquilibriumProblem(model, law, held), x, max_iterations=1)
    force = np.empty_like(found.x)
    answer = forces(model, law, found.x, force, tet_arrays(model.pattern))
    assert not found.converged and found.inverted_tets == answer.inverted > 0
    assert found.residual == pytest.approx(relative_residual(force, held.is_free(len(x)), force_scale(model)))


def test_the_residual_told_is_that_of_the_positions_returned():
    model = scenes.bar_model()
    held = scenes.ends(model.X, stretch=0.2, turn=1.0)
    law = scenes.law_of(model, "neo-hookean")
    found = solve(EquilibriumProblem(model, law, held), model.X, 1e-8)
    force = np.empty_like(found.x)
    answer = forces(model, law, found.x, force, tet_arrays(model.pattern))
    assert relative_residual(force, held.is_free(len(force)), force_scale(model)) == pytest.approx(
        found.residual, rel=1e-3
    )
    assert answer.energy == pytest.approx(found.energy) and found.energy > 0.0


@pytest.mark.parametrize("law", ["stable-neo-hookean", "corotated", "stvk"])
def test_energy_never_rises_where_there_is_one(law: str):
    model = scenes.bar_model()
    held = scenes.ends(model.X, stretch=0.5, turn=2.0)
    flesh = scenes.law_of(model, law)
    start = model.X
    energies = [solve(EquilibriumProblem(model, flesh, held), start, 1e-8, count).energy for count in range(1, 13)]
    assert all(later <= before * (1.0 + 1e-9) for before, later in zip(energies, energies[1:], strict=False))


@pytest.mark.parametrize("extension", ["linear", "smooth", None])
def test_every_extension_leads_to_the_same_equilibrium(extension: str | None):
    model = scenes.bar_model()
    held = scenes.ends(model.X, stretch=0.2)
    usual = solve(EquilibriumProblem(model, hyperelastic(model, "neo-hookean", "constant"), held), model.X, 1e-9)
    found = solve(
        EquilibriumProblem(model, hyperelastic(model, "neo-hookean", extension), held), stretched(model.X, 0.2), 1e-9
    )
    assert found.converged and np.abs(found.x - usual.x).max() < 1e-8


def stretched(X: np.ndarray, stretch: float) -> np.ndarray:
    """Returns X stretched along x, so that a law without an extension has an energy at the start."""
    return X * [1.0 + stretch, 1.0, 1.0]


def test_pressed_tets_obey_their_law_in_the_end():
    model = scenes.bar_model()
    held = scenes.ends(model.X, stretch=-0.45)
    law = hyperelastic(model, "neo-hookean", "constant", 0.9)
    found = solve(EquilibriumProblem(model, law, held), model.X, 1e-8)
    assert found.converged and found.extended_tets == 0 and found.inverted_tets == 0
    force = np.empty_like(found.x)
    answer = forces(model, hyperelastic(model, "neo-hookean", None), found.x, force, tet_arrays(model.pattern))
    assert answer.smallest < 0.7
    assert relative_residual(force, held.is_free(len(force)), force_scale(model)) <= 1e-8


def test_near_the_end_digits_double():
    model = scenes.bar_model()
    held = scenes.ends(model.X, stretch=-0.2)
    told: list[Progress] = []
    law = scenes.law_of(model, "neo-hookean")
    assert solve(EquilibriumProblem(model, law, held), model.X, 1e-10, on_iteration=told.append).converged
    residuals = [step.residual for step in told]
    near = next(i for i, residual in enumerate(residuals) if residual < 1e-3)
    assert len(residuals) - near <= 5


def test_a_load_is_borne_by_what_is_held():
    model = scenes.bar_model()
    X = model.X
    nodes = np.flatnonzero(X[:, 0] < 1e-9).astype(np.int32)
    held = FixedNodes(nodes, X[nodes])
    load = 0.2 * model.mass[:, None] * [[0.0, 0.0, -9.81]]
    law = scenes.law_of(model, "neo-hookean")
    found = solve(EquilibriumProblem(model, law, held, load=load), X, 1e-9)
    force = np.empty_like(X)
    forces(model, law, found.x, force, tet_arrays(model.pattern))
    assert found.converged and found.x[:, 2].min() < -0.001
    borne = load[held.is_free(len(X))].sum(axis=0)
    assert np.allclose(force[nodes].sum(axis=0), borne, atol=1e-6 * abs(borne[2]))


@pytest.mark.parametrize("turns", [1.0, 2.0])
def test_a_twisted_equilibrium_is_told_from_the_right_one(turns: float):
    model = scenes.bar_model((24, 2, 2), (6.0, 0.5, 0.5))
    held = scenes.ends(model.X)
    x = scenes.turned_about(model.X, 2.0 * np.pi * turns)
    law = scenes.law_of(model, "neo-hookean")
    found = solve(EquilibriumProblem(model, law, held), x)
    assert found.converged and found.residual <= 1e-6 and found.inverted_tets == 0
    judged = outcome_classification.classify_outcome(EquilibriumProblem(model, law, held), found, True, 1e-6)
    assert judged.kind == "elsewhere" and judged.distance > 0.01
    back = solve(EquilibriumProblem(model, law, held), initial_guesses.scattered(model.X, held, 2.0, 0))
    assert (
        outcome_classification.classify_outcome(
            EquilibriumProblem(model, law, held), replace(back, x=model.X), True, 1e-6
        ).kind
        == "at rest"
    )


@pytest.mark.parametrize("law", scenes.LAWS)
def test_tets_that_are_held_flat_are_told(law: str):
    """A law that has no energy without volume has no stress there that could tell."""
    model = scenes.bar_model((4, 1, 1))
    nodes = np.flatnonzero(model.X[:, 0] < 1e-9).astype(np.int32)
    held = FixedNodes(nodes, np.zeros((len(nodes), 3)))
    flesh = scenes.law_of(model, law)
    flat = np.isin(model.tets, nodes).sum(axis=1) >= 2
    found = solve(EquilibriumProblem(model, flesh, held), model.X)
    assert flat.any() and found.inverted_tets >= np.count_nonzero(flat)
    assert outcome_classification.classify_outcome(EquilibriumProblem(model, flesh, held), found, False, 1e-6).kind in (
        outcome_classification.INVERTED,
        outcome_classification.NOT_CONVERGED,
    )


def test_threads_change_no_bit():
    model = scenes.bar_model((10, 5, 5), (2.0, 1.0, 1.0))
    held = scenes.ends(model.X)
    x = initial_guesses.scattered(model.X, held, 10.0, 5)
    before = thread_count()
    try:
        found = []
        for threads in (1, min(2, before)):
            set_thread_count(threads)
            found.append(solve(EquilibriumProblem(model, scenes.law_of(model, "neo-hookean"), held), x).x)
    finally:
        set_thread_count(before)
    assert np.array_equal(*found)


def test_a_twisted_beam_is_as_felupe_has_it():
    model = scenes.bar_model((12, 3, 3), (4.0, 1.0, 1.0))
    held = scenes.ends(model.X, stretch=0.2, turn=0.5 * np.pi)
    theirs = scenes.by_felupe(model, held, steps=10)
    found = solve(EquilibriumProblem(model, scenes.law_of(model, "neo-hookean"), held), model.X, 1e-9)
    assert found.converged
    assert np.abs(found.x - theirs).max() <= 1e-6 * np.abs(theirs - model.X).max()
