# SPDX-License-Identifier: GPL-3.0-or-later
"""The hyperelastic element: forces and tangent against differences of the energy and of the forces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.tet_meshes import bar
from reference.hyperelastic_laws import LAM, MU, found
from sinew.solver.linalg.block_pattern import BlockPattern
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import (
    energy,
    forces,
    forces_and_tangent,
    hyperelastic,
    tet_arrays,
)
from sinew.solver.mechanics.hyperelastic.law_numbers import LAWS
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.runtime.arrays import Floats
from sinew.solver.runtime.errors import BadInput
from sinew.solver.runtime.threads.thread_count import set_thread_count
from sinew.solver.runtime.threads.thread_pool import run_parts
from sinew.solver.scene.scene import Material


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
    flesh, work = hyperelastic(model, law, extension), tet_arrays(model.pattern)
    values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(x)
    answer = forces_and_tangent(model, flesh, x, values, force, work, clamp=False)
    assert answer.energy > 0.0 and answer.extended_count == 0

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
    flesh, work = hyperelastic(model, law), tet_arrays(model.pattern)
    values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(model.X)
    answer = forces_and_tangent(model, flesh, rng.uniform(0, 10, model.X.shape), values, force, work)
    matrix = dense(model, values)
    assert answer.inverted > 10 and answer.extended_count > answer.inverted
    assert np.abs(matrix - matrix.T).max() < 1e-12 * np.abs(matrix).max()
    assert np.linalg.eigvalsh(matrix)[0] > -1e-9 * np.linalg.norm(matrix, 2)
    assert np.abs(force.sum(axis=0)).max() < 1e-12 * np.abs(force).sum()


@pytest.mark.parametrize("law", LAWS)
def test_matrix_and_forces_are_the_sums_over_tets(law):
    """Dense twin: K = Σ V Bᵀ T B and f = −Σ V Bᵀ P, tet by tet, of what single unit tets give."""
    model = model_of()
    model = replace(model, mu=np.full(model.tet_count, MU), lam=np.full(model.tet_count, LAM))
    x = 1.3 * model.X + 0.3 * np.random.default_rng(6).normal(size=model.X.shape)
    flesh, work = hyperelastic(model, law), tet_arrays(model.pattern)
    values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(x)
    answer = forces_and_tangent(model, flesh, x, values, force, work)
    Ds = np.swapaxes(x[model.tets[:, 1:]] - x[model.tets[:, :1]], 1, 2)
    here = found(law, "constant", Ds @ model.Dm_inverse, clamped=True)
    n = model.node_count
    K, f = np.zeros((n, 3, n, 3)), np.zeros((n, 3))
    for tet, G, V, P, T in zip(model.tets, model.Dm_inverse, model.volume, here.P, here.T, strict=True):
        g = np.concatenate([-G.sum(axis=0, keepdims=True), G])
        f[tet] -= V * g @ P.T
        for a in range(4):
            for b in range(4):
                K[tet[a], :, tet[b], :] += V * np.einsum("rmsn,m,n->rs", T, g[a], g[b])
    assert answer.inverted > 0 and answer.energy == pytest.approx(np.sum(model.volume * here.psi))
    assert np.abs(force - f).max() < 1e-12 * np.abs(f).max()
    assert np.abs(dense(model, values) - K.reshape(3 * n, 3 * n)).max() < 1e-12 * np.abs(K).max()


def test_no_number_depends_on_the_threads():
    model = model_of((6, 6, 20))
    x = model.X + 0.1 * np.random.default_rng(7).normal(size=model.X.shape)
    outcomes = []
    for threads in (1, 2):
        set_thread_count(threads)
        work = tet_arrays(model.pattern)
        values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(x)
        answer = forces_and_tangent(model, hyperelastic(model), x, values, force, work)
        outcomes.append((answer, values.tobytes(), force.tobytes()))
    set_thread_count(None)
    assert model.tet_count > 2 * 1024 and outcomes[0] == outcomes[1]


def test_every_body_has_its_law():
    nodes, tets = bar((1, 1, 2), (1.0, 1.0, 2.0))
    part = Part("a", nodes, tets, np.ones(len(tets)), Material(youngs_modulus=1e4))
    both = make_model([part, replace(part, key="b", nodes=nodes + 5.0)])
    x = both.X + 0.05 * np.random.default_rng(8).normal(size=both.X.shape)
    mixed, work = np.empty_like(x), tet_arrays(both.pattern)
    forces(both, hyperelastic(both, ["stvk", "neo-hookean"]), x, mixed, work)
    for law, body in zip(["stvk", "neo-hookean"], both.bodies, strict=True):
        alone = np.empty_like(x)
        forces(both, hyperelastic(both, law), x, alone, work)
        assert np.array_equal(alone[body.nodes], mixed[body.nodes])


def test_every_body_has_the_parameter_of_its_law():
    nodes, tets = bar((1, 1, 2), (1.0, 1.0, 2.0))
    part = Part("a", nodes, tets, np.ones(len(tets)), Material(youngs_modulus=1e4))
    both = make_model([part, replace(part, key="b", nodes=nodes + 5.0)])
    x = both.X + 0.05 * np.random.default_rng(9).normal(size=both.X.shape)
    mixed, default, work = np.empty_like(x), np.empty_like(x), tet_arrays(both.pattern)
    forces(both, hyperelastic(both, "mooney-rivlin"), x, default, work)
    forces(both, hyperelastic(both, "mooney-rivlin", parameter=[None, 0.6]), x, mixed, work)
    one, other = (body.nodes for body in both.bodies)
    assert np.array_equal(mixed[one], default[one])
    assert np.abs(mixed[other] - default[other]).max() > 0.01 * np.abs(default[other]).max()
    alone = np.empty_like(x)
    forces(both, hyperelastic(both, "mooney-rivlin", parameter=0.6), x, alone, work)
    assert np.array_equal(mixed[other], alone[other])


def test_energy_alone_is_the_same():
    model = model_of()
    x = model.X + 0.02 * np.random.default_rng(5).normal(size=model.X.shape)
    flesh, work = hyperelastic(model), tet_arrays(model.pattern)
    alone = energy(model, flesh, x, work)
    values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(x)
    assert forces_and_tangent(model, flesh, x, values, force, work) == alone


def test_unknown_names_are_told():
    with pytest.raises(BadInput, match="treacle"):
        hyperelastic(model_of(), "treacle")
    with pytest.raises(BadInput, match="cubic"):
        hyperelastic(model_of(), extension="cubic")


def test_numbers_that_are_none_are_told():
    model = model_of()
    x = model.X.copy()
    x[0] = np.nan
    values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(x)
    answer = forces_and_tangent(model, hyperelastic(model), x, values, force, tet_arrays(model.pattern))
    touched = np.unique(model.tets[(model.tets == 0).any(axis=1)])
    assert answer.inverted >= 1 and np.isnan(answer.energy)
    assert np.isnan(force[touched]).all() and np.isfinite(np.delete(force, touched, axis=0)).all()


def test_every_part_is_worked_on_once_and_failures_come_out():
    done = []
    run_parts(100, done.append)
    assert sorted(done) == list(range(100))

    def fail(part: int) -> None:
        if part == 70:
            raise ValueError("seventy")

    with pytest.raises(ValueError, match="seventy"):
        run_parts(100, fail)


def test_blocks_that_no_tet_has_become_zero():
    """A pattern may hold more blocks than the tets need, as remedies for locking do."""
    model = model_of((1, 1, 2))
    n = model.node_count
    wide = wide_pattern(model)
    narrow_values, values = np.empty((model.pattern.block_count, 9)), np.full((wide.block_count, 9), np.nan)
    x, force = model.X + 0.05 * np.random.default_rng(9).normal(size=model.X.shape), np.empty((n, 3))
    forces_and_tangent(model, hyperelastic(model), x, narrow_values, force, tet_arrays(model.pattern))
    other = replace(model, pattern=wide)
    forces_and_tangent(other, hyperelastic(other), x, values, force, tet_arrays(wide))
    assert wide.block_count == n * n > model.pattern.block_count
    assert np.allclose(dense(other, values), dense(model, narrow_values), rtol=0, atol=1e-12 * np.abs(values).max())


def wide_pattern(model: Model) -> BlockPattern:
    """Returns the pattern of a full matrix for the tets of a model."""
    n, narrow = model.node_count, model.pattern
    corner_node = model.tets.ravel().astype(np.int64)
    return replace(
        narrow,
        row_start=np.arange(0, n * n + 1, n, dtype=np.uint32),
        column=np.tile(np.arange(n, dtype=np.uint32), n),
        diagonal=np.arange(0, n * n, n + 1, dtype=np.uint32),
        corner_block=(corner_node[:, None] * n + np.repeat(model.tets, 4, axis=0)).astype(np.uint32),
    )
