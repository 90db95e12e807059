# SPDX-License-Identifier: GPL-3.0-or-later
"""The hyperelastic element: forces and tangent against differences of the energy and of the forces."""

from __future__ import annotations

import numpy as np
import pytest

from meshes import bar
from sinew.solver.arrays import Floats
from sinew.solver.errors import BadInput
from sinew.solver.hyperelastic.element import energy, forces, forces_and_tangent, hyperelastic, tet_work
from sinew.solver.hyperelastic.laws import LAWS
from sinew.solver.model import Model, Part, make_model
from sinew.solver.scene import Material


def model_of(cells: tuple[int, int, int] = (2, 2, 3)) -> Model:
    nodes, tets = bar(cells, (1.0, 1.0, 1.5))
    return make_model([Part("body", nodes, tets, np.ones(len(tets)), Material(youngs_modulus=1e4))])


def dense(model: Model, values: Floats) -> Floats:
    pattern, n = model.pattern, model.node_count
    rows = np.repeat(np.arange(n), np.diff(pattern.row_start.astype(int)))
    matrix = np.zeros((n, 3, n, 3))
    matrix[rows, :, pattern.column, :] = values.reshape(-1, 3, 3)
    return matrix.reshape(3 * n, 3 * n)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("extension", [None, "linear", "smooth"])
def test_forces_and_tangent_are_derivatives_of_the_energy(law, extension):
    model, rng = model_of(), np.random.default_rng(3)
    x = model.X + 0.04 * rng.normal(size=model.X.shape)
    flesh, work = hyperelastic(model, law, extension), tet_work(model.pattern)
    values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(x)
    answer = forces_and_tangent(model, flesh, x, values, force, work, clamp=False)
    assert answer.energy > 0.0 and answer.below == 0

    step, d = 1e-6, rng.normal(size=x.shape)
    before, after = np.empty_like(x), np.empty_like(x)
    slope = (
        forces(model, flesh, x + step * d, after, work).energy - forces(model, flesh, x - step * d, before, work).energy
    ) / (2 * step)
    assert slope == pytest.approx(-np.sum(force * d), rel=1e-6)
    change = (after - before).ravel() / (2 * step)
    product = dense(model, values) @ d.ravel()
    assert np.abs(product + change).max() < 1e-6 * np.abs(change).max()


@pytest.mark.parametrize("law", LAWS)
def test_clamped_tangent_is_symmetric_and_semidefinite_also_in_a_heap(law):
    model, rng = model_of(), np.random.default_rng(4)
    flesh, work = hyperelastic(model, law), tet_work(model.pattern)
    values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(model.X)
    answer = forces_and_tangent(model, flesh, rng.uniform(0, 10, model.X.shape), values, force, work)
    matrix = dense(model, values)
    assert answer.inverted > 10 and answer.below > answer.inverted
    assert np.abs(matrix - matrix.T).max() < 1e-12 * np.abs(matrix).max()
    assert np.linalg.eigvalsh(matrix)[0] > -1e-9 * np.linalg.norm(matrix, 2)
    assert np.abs(force.sum(axis=0)).max() < 1e-12 * np.abs(force).sum()


def test_energy_alone_is_the_same():
    model = model_of()
    x = model.X + 0.02 * np.random.default_rng(5).normal(size=model.X.shape)
    flesh, work = hyperelastic(model), tet_work(model.pattern)
    alone = energy(model, flesh, x, work)
    values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(x)
    assert forces_and_tangent(model, flesh, x, values, force, work) == alone


def test_unknown_names_are_told():
    with pytest.raises(BadInput, match="treacle"):
        hyperelastic(model_of(), "treacle")
    with pytest.raises(BadInput, match="cubic"):
        hyperelastic(model_of(), extension="cubic")
