# SPDX-License-Identifier: GPL-3.0-or-later
"""The energy of hierarchical bodies: against its twin, its own differences, and where it becomes another one."""

from dataclasses import replace

import numpy as np
import pytest

from fixtures.scenes import rotation
from fixtures.tet_meshes import bar
from harness.formulations import formulation
from reference import hierarchical as twins
from sinew.solver.mechanics.elastic_moduli import lame_moduli
from sinew.solver.mechanics.elements.elastic_stress import elastic_stress
from sinew.solver.mechanics.hierarchical.fine_stress import level_stress
from sinew.solver.mechanics.model import Part, make_model, rest_shape_inverses
from sinew.solver.mesh.red_refinement import interpolate_from_coarse, recover_levels, red_refinement
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.scene import Material

MATERIAL = Material(1.0e5, 0.3, stiffness_damping=0.0)
MU, LAM = lame_moduli(1.0e5, 0.3)


def level_model(count=1, cells=(2, 1, 1), material=MATERIAL):
    coarse_nodes, coarse = bar(cells, tuple(float(c) for c in cells))
    tets, levels = red_refinement(coarse, len(coarse_nodes), count)
    nodes = interpolate_from_coarse(levels, coarse_nodes)
    method = FormulationSettings("hierarchical", levels=count)
    return make_model([Part("bar", nodes, tets, np.ones(len(tets)), material, method=method, levels=levels)])


def shaken(model, size=0.1, seed=3):
    return model.X + size * np.random.default_rng(seed).normal(size=model.X.shape)


def dense(pattern, values):
    n = pattern.node_count
    K = np.zeros((n, n, 3, 3))
    rows = np.repeat(np.arange(n), np.diff(pattern.row_start.astype(int)))
    K[rows, pattern.column] = values.reshape(-1, 3, 3)
    return K.transpose(0, 2, 1, 3).reshape(3 * n, 3 * n)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_refinement_is_nested_and_positive(count):
    nodes, coarse = bar((2, 2, 2), (1.0, 1.0, 1.0))
    tets, levels = red_refinement(coarse, len(nodes), count)
    fine = interpolate_from_coarse(levels, nodes)
    volume = rest_shape_inverses(fine, tets)[1]
    expected = np.repeat(rest_shape_inverses(nodes, coarse)[1] / 8**count, 8**count)
    np.testing.assert_allclose(volume, expected, rtol=1e-12)
    assert len(np.unique(fine, axis=0)) == len(fine) == levels.starts[-1]  # conforming: no node twice
    assert (levels.parents < np.repeat(levels.starts[1:-1], np.diff(levels.starts[1:]))[:, None]).all()
    again = recover_levels(tets, count)
    np.testing.assert_array_equal(again.coarse_tets, coarse)
    np.testing.assert_array_equal(again.parents, levels.parents)


def test_shapes_do_not_degenerate():
    nodes = np.random.default_rng(0).normal(size=(4, 3))
    tet = np.array([[0, 1, 2, 3]])
    if rest_shape_inverses(nodes, tet)[1] < 0:
        tet = tet[:, [0, 1, 3, 2]]
    quality = []
    for count in (1, 2, 4):
        tets, levels = red_refinement(tet, 4, count)
        fine = interpolate_from_coarse(levels, nodes)
        edges = fine[tets[:, [1, 2, 3, 2, 3, 3]]] - fine[tets[:, [0, 0, 0, 1, 1, 2]]]
        quality.append((rest_shape_inverses(fine, tets)[1] / (edges**2).sum(axis=(1, 2)) ** 1.5).min())
    assert quality[2] == pytest.approx(quality[1], rel=1e-9)  # no new shapes from the second refinement on


def test_tets_that_were_not_refined_are_told():
    _, tets = bar((2, 2, 2), (1.0, 1.0, 1.0))
    with pytest.raises(ValueError, match="not refined"):
        recover_levels(tets, 1)


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 1, 2])
def test_energy_and_forces_are_those_of_the_twin(count):
    model = level_model(count)
    x = shaken(model, 0.05)
    asked = formulation(model, model.methods[0])
    energy, force = twins.energy_and_forces(model.X, model.tets, x, 8**count, MU, LAM)
    assert asked.energy(x) == pytest.approx(energy, rel=1e-10)
    np.testing.assert_allclose(asked.forces(x), force, atol=1e-10 * np.abs(force).max())


def test_forces_are_the_slope_of_the_energy_and_stiffness_theirs():
    model = level_model(1)
    x, rng = shaken(model, 0.05), np.random.default_rng(1)
    asked = formulation(model, model.methods[0])
    asked.frames = [body.rotations(x) for body in asked.bodies]
    K = dense(asked.pattern, asked.stiffness(x))
    np.testing.assert_allclose(K, K.T, atol=1e-9 * np.abs(K).max())
    for _ in range(3):
        d = rng.normal(size=x.shape)
        h = 1e-6
        slope = (asked.energy(x + h * d) - asked.energy(x - h * d)) / (2.0 * h)
        assert -np.sum(asked.forces(x) * d) == pytest.approx(slope, rel=1e-6)
        change = (asked.forces(x - h * d) - asked.forces(x + h * d)) / (2.0 * h)
        np.testing.assert_allclose((K @ d.ravel()).reshape(-1, 3), change, atol=1e-6 * np.abs(change).max())


def test_without_details_it_is_green():
    model = level_model(1)
    levels, rng = model.levels[0], np.random.default_rng(4)
    coarse_X = model.X[: levels.starts[1]]
    coarse_x = coarse_X + 0.1 * rng.normal(size=coarse_X.shape)
    F, V = twins.gradients(coarse_X, levels.coarse_tets, coarse_x)
    expected = sum(volume * twins.green(gradient, MU, LAM)[0] for gradient, volume in zip(F, V, strict=True))
    asked, x = formulation(model, model.methods[0]), interpolate_from_coarse(levels, coarse_x)
    assert np.abs(asked.details(x)[levels.starts[1] :]).max() < 1e-15
    assert asked.energy(x) == pytest.approx(expected, rel=1e-12)


def test_at_small_strain_it_is_linear_on_the_fine_tets():
    model = level_model(2)
    d = 1e-6 * np.random.default_rng(5).normal(size=model.X.shape)
    ours = formulation(model, model.methods[0]).forces(model.X + d)
    linear = formulation(model, FormulationSettings("linear")).forces(model.X + d)
    np.testing.assert_allclose(ours, linear, atol=1e-4 * np.abs(linear).max())


def test_rigid_motion_is_not_felt():
    model = level_model(1)
    turn = rotation((1.0, 2.0, -0.5), 2.1)
    asked = formulation(model, model.methods[0])
    x = shaken(model, 0.05)
    assert np.abs(asked.forces(model.X @ turn.T + 3.0)).max() < 1e-9 * 1.0e5
    assert asked.energy(x @ turn.T) == pytest.approx(asked.energy(x), rel=1e-12)
    np.testing.assert_allclose(asked.forces(x @ turn.T), asked.forces(x) @ turn.T, atol=1e-9 * 1.0e5)


def test_momentum_is_kept_and_torque_is_of_second_order_in_details():
    model = level_model(1)
    levels, rng = model.levels[0], np.random.default_rng(6)
    n0 = levels.starts[1]
    coarse_x = model.X[:n0] + 0.1 * rng.normal(size=(n0, 3))
    asked = formulation(model, model.methods[0])
    torque = []
    for size in (0.0, 0.01, 0.02):
        x = interpolate_from_coarse(levels, coarse_x)
        x[n0:] += size * np.random.default_rng(7).normal(size=x[n0:].shape)
        f = asked.forces(x)
        assert np.abs(f.sum(axis=0)).max() < 1e-10 * np.abs(f).sum()
        torque.append(np.linalg.norm(np.cross(x, f).sum(axis=0)))
    assert torque[0] < 1e-9 * 1.0e5
    assert torque[2] / torque[1] == pytest.approx(4.0, rel=0.05)  # the frame of a coarse tet is not that of its parts


def smallest_over_rest(model, share, plain):
    """Returns the smallest eigenvalue of K of a body pressed by a share along x, its surface held, over that at rest.

    Args:
        model: One body.
        share: By which it is pressed.
        plain: Whether by the energy that leaves coarse nodes Green's strain alone, without the details' means.
    """
    levels, X = model.levels[0], model.X
    x = X * [1.0 - share, 1.0, 1.0]
    free = np.repeat(((X > X.min(axis=0) + 1e-9) & (X < X.max(axis=0) - 1e-9)).all(axis=1), 3)
    asked = formulation(model, model.methods[0])
    body = asked.bodies[0]
    K = dense(asked.pattern, asked.stiffness(x))
    if plain:
        # coarse nodes alone feel what is beyond: in the hierarchical basis their values are those of the nodes
        beyond = body.excess_tangent(x, body.rotations(x), False).reshape(-1, 3, 3, 3, 3)
        n0 = levels.starts[1]
        extra = np.zeros((n0, 3, n0, 3))
        blocks = np.einsum("maj,mijkl,mbl->maibk", body.gradient_operator.coarse, beyond, body.gradient_operator.coarse)
        for tet, block in zip(levels.coarse_tets, blocks, strict=True):
            extra[np.ix_(tet, range(3), tet, range(3))] += block
        K = dense(model.pattern, formulation(model, FormulationSettings("polar")).stiffness(x))
        K[: 3 * n0, : 3 * n0] += extra.reshape(3 * n0, 3 * n0)
    return np.linalg.eigvalsh(K[np.ix_(free, free)]).min()


def test_pressed_details_stay_stable_where_the_plain_energy_does_not():
    model = level_model(1, cells=(3, 3, 3))
    at_rest = smallest_over_rest(model, 0.0, False)
    assert smallest_over_rest(model, 0.0, True) == pytest.approx(at_rest, rel=1e-6)  # one and the same at small strain
    assert smallest_over_rest(model, 0.15, False) > 0.5 * at_rest
    assert smallest_over_rest(model, 0.25, False) > 0.2 * at_rest
    assert smallest_over_rest(model, 0.15, True) < 0.0  # details would grow by themselves


def test_stress_is_that_of_greens_strain_where_all_is_stretched_alike():
    model = level_model(1)
    F = np.array([[1.2, 0.1, 0.0], [0.0, 0.9, -0.05], [0.1, 0.0, 1.1]])
    stress, largest = level_stress(model, 0, model.X @ F.T)
    expected = twins.green(F, MU, LAM)[1] @ F.T / np.linalg.det(F)
    six = expected[(0, 1, 2, 0, 1, 2), (0, 1, 2, 1, 2, 0)]
    np.testing.assert_allclose(stress, np.tile(six, (len(stress), 1)), rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(largest, np.linalg.eigvalsh(expected).max(), rtol=1e-9)


@pytest.mark.slow
def test_stress_of_small_details_is_hookes():
    model = level_model(1)
    x = model.X + 1e-7 * np.random.default_rng(8).normal(size=model.X.shape)
    stress, _ = level_stress(model, 0, x)
    linear, _ = elastic_stress(replace(model, methods=(FormulationSettings("linear"),)), x)
    np.testing.assert_allclose(stress, linear, atol=1e-5 * np.abs(linear).max())
