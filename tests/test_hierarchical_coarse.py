# SPDX-License-Identifier: GPL-3.0-or-later
"""The coarse level of hierarchical bodies: Green's strain per tet, and its problem by Newton's method."""

import numpy as np
import pytest

from fixtures.tet_meshes import bar
from reference import hierarchical as twins
from sinew.solver.mechanics.hierarchical import coarse_green_law, coarse_newton
from sinew.solver.mechanics.hierarchical.coarse_linear_solve import conjugate_gradient_solver, lu_solver
from sinew.solver.mechanics.hierarchical.coarse_newton import CoarseProblem
from sinew.solver.mechanics.hierarchical.hierarchical_body import hierarchical_body
from sinew.solver.mechanics.hierarchical.level_matrices import level_maps
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mesh.red_refinement import interpolate_from_coarse, red_refinement
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.scene import Material

RNG = np.random.default_rng(0)
COUNT = 6
MU, LAM, VOLUME = (RNG.uniform(0.5, 2.0, COUNT) for _ in range(3))
F = np.eye(3) + 0.4 * RNG.normal(size=(COUNT, 3, 3))


def densities(gradients):
    return [twins.green(gradient, mu, lam) for gradient, mu, lam in zip(gradients, MU, LAM, strict=True)]


def test_energy_and_stress_are_those_of_the_twin():
    energy, stress = np.empty(COUNT), np.empty_like(F)
    coarse_green_law.energies(F, MU, LAM, VOLUME, energy)
    coarse_green_law.stresses(F, MU, LAM, VOLUME, stress)
    np.testing.assert_allclose(energy, VOLUME * [density for density, _ in densities(F)], rtol=1e-12)
    np.testing.assert_allclose(stress, VOLUME[:, None, None] * [P for _, P in densities(F)], atol=1e-12)


def test_moduli_are_differences_of_the_stress():
    moduli, h = np.empty((COUNT, 9, 9)), 1e-6
    coarse_green_law.moduli(F, MU, LAM, VOLUME, False, moduli)
    for column in range(9):
        step = np.zeros(9)
        step[column] = h
        ahead, behind = (np.array([P for _, P in densities(F + s * step.reshape(3, 3))]) for s in (1.0, -1.0))
        change = VOLUME[:, None] * ((ahead - behind) / (2.0 * h)).reshape(COUNT, 9)
        np.testing.assert_allclose(moduli[:, :, column], change, atol=1e-7 * np.abs(moduli).max())


def test_clamped_moduli_are_semidefinite_and_others_where_something_is_pressed_alone():
    true, clamped = np.empty((2, COUNT, 9, 9))
    pressed, pulled = F * 0.6, np.tile(np.diag([1.1, 1.2, 1.3]), (COUNT, 1, 1))
    coarse_green_law.moduli(pressed, MU, LAM, VOLUME, False, true)
    coarse_green_law.moduli(pressed, MU, LAM, VOLUME, True, clamped)
    assert np.linalg.eigvalsh(true).min() < -0.1
    assert np.linalg.eigvalsh(clamped).min() > -1e-9
    assert np.linalg.eigvalsh(clamped - true).min() > -1e-9  # it is only stiffer
    coarse_green_law.moduli(pulled, MU, LAM, VOLUME, False, true)
    coarse_green_law.moduli(pulled, MU, LAM, VOLUME, True, clamped)
    np.testing.assert_array_equal(true, clamped)


def test_linear_parts_are_taken_as_the_twin_has_them():
    R = np.array([twins.rotation(gradient) for gradient in F])
    energy, stress, moduli = np.zeros(COUNT), np.zeros_like(F), np.zeros((COUNT, 9, 9))
    coarse_green_law.subtract_linear_energy(R, F, MU, LAM, VOLUME, energy)
    coarse_green_law.subtract_linear_stress(R, F, MU, LAM, VOLUME, stress)
    coarse_green_law.subtract_linear_moduli(R, MU, LAM, VOLUME, moduli)
    expected = [twins.linear(F[k] - R[k], R[k], MU[k], LAM[k]) for k in range(COUNT)]
    np.testing.assert_allclose(energy, -VOLUME * [density for density, _ in expected], rtol=1e-11)
    np.testing.assert_allclose(stress, -VOLUME[:, None, None] * [P for _, P in expected], atol=1e-12)
    product = np.einsum("mij,mj->mi", moduli, (F - R).reshape(COUNT, 9)).reshape(F.shape)
    np.testing.assert_allclose(product, stress, atol=1e-12)


def problem(factored, squeeze=1.0, dt=0.1, pull=1.0):
    """Returns the coarse problem of a bar that gravity pulls along, and that begins squeezed."""
    coarse_nodes, coarse = bar((2, 1, 1), (2.0, 1.0, 1.0))
    tets, levels = red_refinement(coarse, len(coarse_nodes), 1)
    part = Part(
        "bar", interpolate_from_coarse(levels, coarse_nodes), tets, np.ones(len(tets)), Material(1.0e4, 0.3),
        method=FormulationSettings("hierarchical"), levels=levels,
    )  # fmt: skip
    model = make_model([part])
    body = hierarchical_body(model, 0)
    maps, n0 = level_maps(levels, model.pattern, model.bodies[0].nodes), levels.starts[1]
    A = np.zeros((maps.coarse.block_count, 9))
    A[maps.coarse.diagonal] = 100.0 * np.eye(3).ravel()
    is_free = coarse_nodes[:, 0] > 0.0
    r = pull * np.tile([30.0, 0.0, -100.0], (n0, 1)) * is_free[:, None]
    return CoarseProblem(body, maps, dt, A, r, body.mean_gradients(model.X * [squeeze, 1.0, 1.0]), is_free, factored)


@pytest.mark.parametrize("factored", [lu_solver, conjugate_gradient_solver])
def test_newton_finds_the_minimum_of_the_coarse_potential(factored, monkeypatch):
    monkeypatch.setattr(coarse_newton, "RESIDUAL_TOLERANCE", 1e-8)
    monkeypatch.setattr(coarse_newton, "MAX_ITERATIONS", 60)
    asked = problem(factored)
    y, _ = asked.solve()
    assert np.linalg.norm(asked._residual(y)) <= 1e-8 * np.linalg.norm(asked.r)
    assert not y[~asked.is_free].any() and np.abs(y).max() > 0.3
    for _ in range(5):
        d = 0.01 * RNG.normal(size=y.shape) * asked.is_free[:, None]
        assert asked._potential(y + d) > asked._potential(y)


def test_what_is_left_is_the_slope_of_the_potential():
    asked = problem(lu_solver, squeeze=0.8)
    asked.solve()
    y, h = 0.3 * RNG.normal(size=asked.r.shape) * asked.is_free[:, None], 1e-5
    for _ in range(3):
        d = RNG.normal(size=y.shape) * asked.is_free[:, None]
        slope = (asked._potential(y + h * d) - asked._potential(y - h * d)) / (2.0 * h)
        assert -np.sum(asked._residual(y) * d) == pytest.approx(slope, rel=1e-6)


def test_it_goes_back_where_a_whole_step_would_lead_up(monkeypatch):
    asked, tried = problem(lu_solver, squeeze=0.6, pull=100.0), []
    potential = asked._potential
    monkeypatch.setattr(asked, "_potential", lambda y: tried.append(potential(y)) or tried[-1])
    y, iterations = asked.solve()
    assert len(tried) > iterations  # some steps were taken back
    assert potential(y) < 0.0 and potential(y) == pytest.approx(min(tried), rel=1e-12)
