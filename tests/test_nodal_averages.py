# SPDX-License-Identifier: GPL-3.0-or-later
"""Nearly incompressible flesh: averages at nodes against slow twins, differences, and what they may not change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.quasistatic_scenes import ends
from fixtures.tet_meshes import bar, lattice_bar
from reference.hyperelastic_laws import found
from sinew.solver.linalg.block_pattern import BlockPattern
from sinew.solver.linalg.block_system import PcgWorkspace
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import (
    Hyperelastic,
    energy,
    forces,
    forces_and_tangent,
    hyperelastic,
    tet_arrays,
    whole_tangent,
)
from sinew.solver.mechanics.hyperelastic.law_numbers import LAWS
from sinew.solver.mechanics.hyperelastic.nodal_averaging import NODAL_SHEAR_SHARE, TET_LAME_RATIO
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.quasistatic.equilibrium import solve
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.runtime.arrays import Floats
from sinew.solver.runtime.threads.thread_count import set_thread_count
from sinew.solver.scene.scene import Material


def model_of(nu: float = 0.49, cells: tuple[int, int, int] = (2, 2, 3)) -> Model:
    nodes, tets = bar(cells, (1.0, 1.0, 1.5))
    return make_model([Part("body", nodes, tets, np.ones(len(tets)), Material(1.0e4, nu))])


def found_at(model: Model, law: Hyperelastic, x: Floats, clamp: bool = True) -> tuple[float, Floats, Floats]:
    """Returns energy, forces, and the whole tangent as a dense matrix."""
    work = tet_arrays(model.pattern)
    values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(x)
    answer = forces_and_tangent(model, law, x, values, force, work, clamp)
    return answer.energy, force, dense(*whole_tangent(model, law, values, work))


def dense(pattern: BlockPattern, values: Floats) -> Floats:
    n = pattern.node_count
    rows = np.repeat(np.arange(n), np.diff(pattern.row_start.astype(int)))
    matrix = np.zeros((n, 3, n, 3))
    matrix[rows, :, pattern.column, :] = values.reshape(-1, 3, 3)
    return matrix.reshape(3 * n, 3 * n)


def bent(model: Model, amount: float = 0.04) -> Floats:
    return np.asarray(model.X + amount * np.random.default_rng(3).normal(size=model.X.shape))


@pytest.mark.parametrize("law", LAWS)
def test_energy_forces_and_tangent_are_those_of_averages(law):
    """Dense twin: every node's mean F by hand, and the element's own twin of what it gives."""
    model = model_of()
    flesh, x = hyperelastic(model, law, average=True), bent(model, 0.25)
    g = np.concatenate([-model.Dm_inverse.sum(axis=1, keepdims=True), model.Dm_inverse], axis=1)
    F = np.einsum("mai,maj->mij", x[model.tets], g)
    n, mu, lam = model.node_count, model.mu[0], model.lam[0]
    plain = replace(flesh, left=None)
    wanted_energy, wanted_force, wanted = found_at(model, plain, x)
    kept = (1.0 - NODAL_SHEAR_SHARE) * mu
    assert np.allclose(flesh.mu, kept) and np.allclose(flesh.lam, TET_LAME_RATIO * kept)
    flipped = 0
    for node in range(n):
        at = np.flatnonzero((model.tets == node).any(axis=1))
        volume = model.volume[at].sum() / 4.0
        weights = model.volume[at] / 4.0 / volume
        mean = np.einsum("t,tij->ij", weights, F[at])
        flipped += np.linalg.det(mean) < 0.0
        here = found(
            law, "constant", mean[None], clamped=True, mu=NODAL_SHEAR_SHARE * mu, lam=lam - TET_LAME_RATIO * kept
        )
        G = np.zeros((n, 3))
        np.add.at(G, model.tets[at], weights[:, None, None] * g[at])
        wanted_energy += volume * here.psi[0]
        wanted_force -= volume * G @ here.P[0].T
        wanted += volume * np.einsum("rmsn,am,bn->arbs", here.T[0], G, G).reshape(3 * n, 3 * n)
    total, force, matrix = found_at(model, flesh, x)
    assert flipped > 0 and total == pytest.approx(wanted_energy)
    assert np.abs(force - wanted_force).max() < 1e-11 * np.abs(force).max()
    assert np.abs(matrix - wanted).max() < 1e-11 * np.abs(matrix).max()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("extension", [None, "smooth"])
def test_forces_and_tangent_are_derivatives(law, extension):
    model, rng = model_of(), np.random.default_rng(4)
    flesh, x = hyperelastic(model, law, extension, average=True), bent(model)
    total, force, matrix = found_at(model, flesh, x, clamp=False)
    assert total > 0.0
    step, d, work = 1e-6, rng.normal(size=x.shape), tet_arrays(model.pattern)
    before, after = np.empty_like(x), np.empty_like(x)
    up = forces(model, flesh, x + step * d, after, work).energy
    slope = (up - forces(model, flesh, x - step * d, before, work).energy) / (2 * step)
    assert slope == pytest.approx(-np.sum(force * d), rel=1e-6)
    change = (after - before).ravel() / (2 * step)
    assert np.abs(matrix @ d.ravel() + change).max() < 1e-6 * np.abs(change).max()
    assert energy(model, flesh, x, work).energy == pytest.approx(total, rel=1e-13)


@pytest.mark.parametrize("law", LAWS)
def test_clamped_tangent_is_symmetric_and_semidefinite_also_in_a_heap(law):
    model, rng = model_of(), np.random.default_rng(5)
    x = rng.uniform(0, 10, model.X.shape)
    _, force, matrix = found_at(model, hyperelastic(model, law, average=True), x)
    assert np.abs(matrix - matrix.T).max() < 1e-12 * np.abs(matrix).max()
    assert np.linalg.eigvalsh(matrix)[0] > -1e-9 * np.linalg.norm(matrix, 2)
    assert np.abs(force.sum(axis=0)).max() < 1e-12 * np.abs(force).sum()
    assert np.abs(np.cross(x, force).sum(axis=0)).max() < 1e-12 * np.abs(np.cross(x, force)).sum()


@pytest.mark.parametrize("law", LAWS)
def test_turning_the_body_turns_forces(law):
    model = model_of()
    flesh, x = hyperelastic(model, law, average=True), bent(model)
    R = np.linalg.qr(np.random.default_rng(6).normal(size=(3, 3)))[0]
    R *= np.sign(np.linalg.det(R))
    total, force, matrix = found_at(model, flesh, x)
    turned, force_there, matrix_there = found_at(model, flesh, x @ R.T + 3.0)
    assert turned == pytest.approx(total, rel=1e-9)
    assert np.abs(force_there - force @ R.T).max() < 1e-9 * np.abs(force).max()
    big = np.kron(np.eye(model.node_count), R)
    assert np.abs(matrix_there - big @ matrix @ big.T).max() < 1e-9 * np.abs(matrix).max()


@pytest.mark.parametrize("law", LAWS)
def test_even_deformation_feels_as_the_law_itself(law):
    """Also near rest: elastic moduli do not change."""
    model, work = model_of(), None
    for amount in (0.3, 1.0e-4):
        F = np.eye(3) + amount * np.array([[0.4, 0.3, -0.1], [0.0, -0.2, 0.2], [0.1, 0.0, 0.1]])
        work = tet_arrays(model.pattern)
        usual = energy(model, hyperelastic(model, law), model.X @ F.T, work).energy
        averaged = energy(model, hyperelastic(model, law, average=True), model.X @ F.T, work).energy
        assert averaged == pytest.approx(usual, rel=1e-6)


def test_bodies_up_to_the_highest_ratio_are_left_alone():
    soft, stiff = model_of(0.45), model_of(0.46)
    assert hyperelastic(soft, average=True).left is None
    assert hyperelastic(stiff).left is None and hyperelastic(stiff, average=True).left is not None
    nodes, tets = bar((2, 2, 2), (1.0, 1.0, 1.0))
    parts = [
        Part(key, nodes + shift, tets, np.ones(len(tets)), Material(1.0e4, nu))
        for key, shift, nu in (("a", 0.0, 0.3), ("b", 5.0, 0.49))
    ]
    both, alone = make_model(parts), make_model(parts[:1])
    x = bent(both)
    flesh = hyperelastic(both, average=True)
    _, force, matrix = found_at(both, flesh, x)
    first = both.bodies[0].nodes
    _, usual, usual_matrix = found_at(alone, hyperelastic(alone), x[first])
    count = 3 * alone.node_count
    assert np.array_equal(force[first], usual) and np.array_equal(matrix[:count, :count], usual_matrix)
    assert not matrix[:count, count:].any()


def test_no_number_depends_on_the_threads():
    model = model_of(cells=(8, 8, 20))
    x, outcomes = bent(model, 0.01), []
    for threads in (1, 2):
        set_thread_count(threads)
        work, flesh = tet_arrays(model.pattern), hyperelastic(model, average=True)
        values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(x)
        answer = forces_and_tangent(model, flesh, x, values, force, work)
        _, wide = whole_tangent(model, flesh, values, work)
        outcomes.append((answer, wide.tobytes(), force.tobytes()))
    set_thread_count(None)
    assert model.node_count > 1024 and outcomes[0] == outcomes[1]


def test_the_array_of_a_workspace_is_written_again():
    """With the bits of a new array, whatever is left in it."""
    model = model_of(cells=(3, 3, 6))
    work, flesh, workspace = tet_arrays(model.pattern), hyperelastic(model, average=True), PcgWorkspace()
    for angle in (0.01, 0.3):
        x, values = bent(model, angle), np.empty((model.pattern.block_count, 9))
        forces_and_tangent(model, flesh, x, values, np.empty_like(x), work)
        _, wide = whole_tangent(model, flesh, values, work, workspace)
        assert wide.tobytes() == whole_tangent(model, flesh, values, work)[1].tobytes()
        assert np.shares_memory(wide, workspace.array("whole_tangent", 1, 9))
        wide[:] = np.nan


@pytest.mark.parametrize("mesh", [bar, lattice_bar])
def test_a_stretched_and_twisted_bar_comes_to_rest(mesh):
    nodes, tets = mesh((8, 3, 3), (2.0, 0.75, 0.75))
    model = make_model([Part("body", nodes, tets, np.ones(len(tets)), Material(1.0e5, 0.49))])
    held = ends(model.X, 0.0, 0.2, 0.5 * np.pi)
    shapes = []
    for average in (False, True):
        result = solve(EquilibriumProblem(model, hyperelastic(model, average=average), held), model.X)
        assert result.converged and result.residual <= 1e-6 and result.inverted_tets == 0
        shapes.append(result)
    assert shapes[1].energy < shapes[0].energy
    assert shapes[1].newton_iterations <= 2 * shapes[0].newton_iterations
