# SPDX-License-Identifier: GPL-3.0-or-later
"""Terms with directions beside every isotropic law, by fibres with activation (tests/reference/muscle_fibres.py)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from fixtures import quasistatic_scenes as scenes
from reference.hyperelastic_laws import KINDS, MU, clamp, differences, energy_density, gradients, rotations, size
from reference.muscle_fibres import Fibres, fibres, found_with, of_stretch
from sinew.solver.integrators.dynamic_flesh_forces import dynamic_flesh
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import (
    energy,
    forces,
    forces_and_tangent,
    hyperelastic,
    tet_arrays,
)
from sinew.solver.mechanics.hyperelastic.law_numbers import LAWS
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.mechanics.submodel import make_submodel
from sinew.solver.quasistatic import initial_guesses
from sinew.solver.quasistatic.equilibrium import solve
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.runtime.threads.thread_count import set_thread_count
from sinew.solver.scene.scene import Material

COUNT = 60


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", KINDS)
def test_stress_and_tangent_are_derivatives_of_the_energy(law: str, kind: str):
    F, term = gradients(kind, COUNT, seed=1), fibres(COUNT, 0.7)
    here = found_with(term, law, "linear", F)
    P = differences(lambda G: found_with(term, law, "linear", G).psi, F)
    T = differences(lambda G: found_with(term, law, "linear", G).P, F)
    assert np.max(size(here.P - P) / np.maximum(size(P), MU)) < 1e-6
    assert np.max(size(here.T - T) / size(T)) < 1e-6
    alone = found_with(None, law, "linear", F)
    assert np.median(size(here.T - alone.T) / size(alone.T)) > 0.1  # so fibres are seen


@pytest.mark.parametrize("kind", KINDS)
def test_the_energy_is_that_of_the_law_and_of_the_stretch_along_the_fibre(kind: str):
    F, term = gradients(kind, COUNT, seed=2), fibres(COUNT, 0.4)
    here, alone = found_with(term, "stvk", None, F), found_with(None, "stvk", None, F)
    assert np.allclose(alone.psi, [energy_density("stvk", f) for f in F], rtol=1e-9, atol=1e-9 * MU)
    J, solid = np.linalg.det(F), np.linalg.det(F) > 0.343
    along = np.linalg.norm(np.einsum("nij,nj->ni", F, term.direction), axis=1)[solid] * J[solid] ** (-1 / 3)
    fibre = of_stretch(along, term.activation[solid], term.passive[solid])[0]
    assert solid.any() == (kind in KINDS[:2])
    assert np.allclose((here.psi - alone.psi)[solid], fibre, rtol=1e-9, atol=1e-6)


def test_under_the_constant_extension_fibres_feel_raised_stretches():
    F, term = gradients("inverted", COUNT, seed=3), fibres(COUNT, 0.7)
    U, sigma, Vt = np.linalg.svd(F)
    sigma[:, 2] *= np.linalg.det(U @ Vt)
    U[:, :, 2] *= np.linalg.det(U @ Vt)[:, None]
    raised = U * np.maximum(sigma, 0.7)[:, None] @ Vt
    here, there = found_with(term, "neo-hookean", "constant", F), found_with(term, "neo-hookean", None, raised)
    assert np.max(size(here.P - there.P) / size(there.P)) < 1e-9
    assert np.max(size(here.T - there.T) / size(there.T)) < 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_rotations_of_space_and_of_the_material_turn_everything_along(kind: str):
    F, term, rng = gradients(kind, COUNT, seed=4), fibres(COUNT, 1.0), np.random.default_rng(5)
    Q, R = rotations(COUNT, rng), rotations(COUNT, rng)
    turned = replace(term, direction=np.einsum("nji,nj->ni", R, term.direction))
    here, there = found_with(term, "corotated", "linear", F), found_with(turned, "corotated", "linear", Q @ F @ R)
    T = np.einsum("nij,nlk,njlpq,nrp,nqs->nikrs", Q, R, here.T, Q, R, optimize=True)
    assert np.max(np.abs(there.psi - here.psi) / np.maximum(np.abs(here.psi), MU)) < 1e-9
    assert np.max(size(there.P - Q @ here.P @ R) / np.maximum(size(here.P), MU)) < 1e-9
    assert np.max(size(there.T - T) / size(T)) < 1e-9


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("extension", ["linear", "constant"])
def test_the_whole_is_clamped_to_the_nearest_semidefinite_tangent(law: str, extension: str):
    for kind in KINDS:
        F, term = gradients(kind, COUNT, seed=6), fibres(COUNT, 1.0)
        true, here = found_with(term, law, extension, F), found_with(term, law, extension, F, clamped=True)
        assert np.all(np.linalg.eigvalsh(here.T.reshape(-1, 9, 9))[:, 0] >= -1e-9 * size(here.T))
        assert np.max(size(here.T - clamp(true.T)) / size(true.T)) < 1e-9
        lowest = np.linalg.eigvalsh(true.T.reshape(-1, 9, 9))[:, 0]
        assert np.count_nonzero(lowest < -1e-3 * size(true.T)) > 10  # which the kernel had to change
        definite = lowest > 1e-9 * size(true.T)
        assert np.array_equal(here.T[definite], true.T[definite]) and np.array_equal(here.P, true.P)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("clamped", [False, True])
def test_a_term_of_nothing_leaves_the_isotropic_law(law: str, clamped: bool):
    for kind in KINDS:
        F = gradients(kind, COUNT, seed=7)
        here = found_with(fibres(COUNT, 0.0, 0.0), law, "constant", F, clamped)
        alone = found_with(None, law, "constant", F, clamped)
        assert np.array_equal(here.psi, alone.psi)
        assert np.max(size(here.P - alone.P) / np.maximum(size(alone.P), MU)) < 1e-14
        assert np.max(size(here.T - alone.T) / size(alone.T)) < 1e-14


def cube(cells: int = 3, poisson_ratio: float = 0.45) -> Model:
    nodes, tets = scenes.meshes.bar((cells, cells, cells), (1.0, 1.0, 1.0))
    return scenes.model_of(nodes, tets, 1.0e5, poisson_ratio)


def along_x(model: Model, activation: float) -> Fibres:
    m = model.tet_count
    return Fibres(np.arange(m), np.tile([1.0, 0.0, 0.0], (m, 1)), np.full(m, activation), np.ones(m))


def test_some_tets_have_fibres_and_forces_are_derivatives_of_the_energy():
    """Averages at nodes, tets without fibres and tets with them side by side."""
    model, rng = cube(poisson_ratio=0.49), np.random.default_rng(8)
    some = fibres(model.tet_count // 2, 0.6, seed=9)
    term = replace(some, tets=np.sort(rng.permutation(model.tet_count)[: model.tet_count // 2]))
    flesh = replace(hyperelastic(model, "neo-hookean", "linear", average=True), anisotropic_term=term)
    x, d = model.X + 0.02 * rng.normal(size=model.X.shape), rng.normal(size=model.X.shape)
    work, force, other = tet_arrays(model.pattern), np.empty_like(x), np.empty_like(x)
    here = forces(model, flesh, x, force, work)
    assert here == energy(model, flesh, x, work) and flesh.left is not None
    slope = (energy(model, flesh, x + 1e-6 * d, work).energy - energy(model, flesh, x - 1e-6 * d, work).energy) / 2e-6
    assert slope == pytest.approx(-np.sum(force * d), rel=1e-6)
    outcomes = []
    for threads in (1, 2):
        set_thread_count(threads)
        values = np.empty((model.pattern.block_count, 9))
        answer = forces_and_tangent(model, flesh, x, values, other, work)
        outcomes.append((answer, values.tobytes(), other.tobytes()))
    set_thread_count(None)
    assert outcomes[0] == outcomes[1] and np.array_equal(force, other)


def test_an_active_cube_becomes_as_short_as_its_energy_says():
    """Held at one node: every tet has the stretches (a, b, b) for which ψ is least."""
    model = cube()
    flesh = replace(hyperelastic(model), anisotropic_term=along_x(model, 1.0))
    mu, lam = model.mu[0], model.lam[0]

    def psi(ab: np.ndarray) -> float:
        a, b = ab
        J = a * b * b
        law = mu / 2 * (a * a + 2 * b * b - 3) - mu * np.log(J) + lam / 2 * np.log(J) ** 2
        return float(law + of_stretch(a * J ** (-1 / 3), np.ones(()), np.ones(()))[0])

    a, b = minimize(psi, [0.8, 1.1], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12}).x
    found = solve(EquilibriumProblem(model, flesh, FixedNodes(np.zeros(1, np.int32), model.X[:1])), model.X, 1e-8)
    Ds = np.swapaxes(found.x[model.tets[:, 1:]] - found.x[model.tets[:, :1]], 1, 2)
    F = Ds @ model.Dm_inverse
    assert found.converged and found.newton_iterations < 20 and 0.6 < a < 0.85 < 1.05 < b
    assert np.abs(np.linalg.svd(F)[1] - [b, b, a]).max() < 1e-5
    assert np.abs(np.linalg.norm(F[:, :, 0], axis=1) - a).max() < 1e-5  # along the fibres


def test_an_active_cube_comes_back_from_a_scatter_to_the_same_shape():
    model = cube()
    nodes = np.flatnonzero(model.X[:, 0] < 1e-9).astype(np.int32)
    held = FixedNodes(nodes, model.X[nodes])
    flesh = replace(hyperelastic(model), anisotropic_term=along_x(model, 1.0))
    lengths = []
    for start in (model.X, initial_guesses.scattered(model.X, held, 10.0, 1)):
        found = solve(EquilibriumProblem(model, flesh, held), start)
        assert found.converged and found.inverted_tets == 0 and found.newton_iterations <= 80
        lengths.append(found.x)
    end = model.X[:, 0] > 1.0 - 1e-9
    assert lengths[0][end, 0].mean() < 0.8 and np.ptp(lengths[0][:, 1]) > 1.1
    assert np.abs(lengths[0] - lengths[1]).max() < 1e-4
    passive = solve(EquilibriumProblem(model, replace(flesh, anisotropic_term=along_x(model, 0.0)), held), model.X)
    assert passive.newton_iterations == 0 and np.array_equal(passive.x, model.X)


def test_dynamic_bodies_of_two_schemes_keep_their_fibres():
    nodes, tets = scenes.meshes.bar((1, 1, 2), (1.0, 1.0, 2.0))
    part = Part("a", nodes, tets, np.ones(len(tets)), Material(youngs_modulus=1e4))
    whole = make_model([part, replace(part, key="b", nodes=nodes + 5.0)])
    term = replace(fibres(3, 1.0), tets=np.array([2, len(tets), len(tets) + 1]))
    law = replace(hyperelastic(whole, extension="smooth"), anisotropic_term=term)
    flesh = dynamic_flesh(whole, make_submodel(whole, [0, 1]), law, ["euler", "newmark"])
    assert flesh.euler is not None and flesh.newmark is not None
    first, second = flesh.euler.law.anisotropic_term, flesh.newmark.law.anisotropic_term
    assert isinstance(first, Fibres) and isinstance(second, Fibres)
    assert first.tets.tolist() == [2] and second.tets.tolist() == [0, 1]
    assert np.array_equal(np.vstack([first.direction, second.direction]), term.direction)
