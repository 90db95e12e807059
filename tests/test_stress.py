# SPDX-License-Identifier: GPL-3.0-or-later
"""Elastic stress of tets: against its slow twin, the forces of the step, and planes carried to rest."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fixtures.scenes import JELLY, rotation
from fixtures.tet_meshes import bar
from reference.linear_elasticity import corotated_strain, stress
from sinew.solver.mechanics.elements.elastic_stress import elastic_stress, normal_at_rest, principal_stresses, von_mises
from sinew.solver.mechanics.model import Part, make_model


@pytest.fixture(scope="module")
def model():
    nodes, tets = bar((3, 2, 2), (1.0, 0.5, 0.5))
    return make_model([Part("bar", nodes, tets, np.ones(len(tets)), JELLY)])


def gradients(model, x):
    edges = (x[model.tets[:, 1:]] - x[model.tets[:, :1]]).transpose(0, 2, 1)
    return edges @ model.Dm_inverse


def proper_rotations(F):
    u, _, vt = np.linalg.svd(F)
    u[:, :, 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
    return u @ vt


def matrices(six):
    return six[:, [0, 3, 5, 3, 1, 4, 5, 4, 2]].reshape(-1, 3, 3)


@pytest.mark.parametrize("size", [0.0, 0.01, 0.15, 0.6])
@pytest.mark.parametrize("has_strain", [False, True])
def test_stress_is_that_of_the_slow_twin(model, size, has_strain):
    random = np.random.default_rng(3)
    x = model.X @ rotation([1.0, 2.0, 3.0], 1.0).T + size * random.normal(size=model.X.shape)
    if has_strain:
        model = dataclasses.replace(model, initial_strain=0.1 * random.normal(size=(model.tet_count, 6)))
    F = gradients(model, x)
    R = proper_rotations(F)
    strain = corotated_strain(F, R) - (matrices(model.initial_strain) if has_strain else 0.0)
    wanted = R @ stress(strain, model.mu, model.lam) @ R.transpose(0, 2, 1)
    found, largest = elastic_stress(model, x)
    scale = max(np.abs(wanted).max(), 1.0)
    np.testing.assert_allclose(matrices(found), wanted, atol=1e-7 * scale)
    np.testing.assert_allclose(largest, np.linalg.eigvalsh(wanted)[:, 2], atol=1e-7 * scale)


def test_principal_stresses_are_those_of_the_matrix(model):
    found, largest = elastic_stress(model, model.X * [1.1, 1.0, 0.95])
    values, directions = principal_stresses(found)
    np.testing.assert_allclose(values[:, 2], largest, rtol=1e-9)
    np.testing.assert_allclose(np.abs(directions[:, :, 2]), np.tile([1.0, 0.0, 0.0], (len(found), 1)), atol=1e-9)
    again = np.einsum("kia,ka,kja->kij", directions, values, directions)
    np.testing.assert_allclose(again, matrices(found), atol=1e-8 * np.abs(found).max())


def test_a_turned_body_has_its_stress_turned(model):
    R = rotation([0.3, -1.0, 0.2], 2.0)
    stretched = model.X * [1.2, 0.9, 1.0]
    still, largest = elastic_stress(model, stretched)
    turned, largest_turned = elastic_stress(model, stretched @ R.T)
    np.testing.assert_allclose(matrices(turned), R @ matrices(still) @ R.T, atol=1e-9 * np.abs(still).max())
    np.testing.assert_allclose(largest_turned, largest, rtol=1e-10)


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (0.3, -0.5, 0.8)])
def test_pulled_along_an_axis_the_stress_is_youngs_modulus_times_strain(model, axis):
    n = np.asarray(axis) / np.linalg.norm(axis)
    strain = 0.02
    F = np.eye(3) * (1.0 - JELLY.poisson_ratio * strain) + np.outer(n, n) * strain * (1.0 + JELLY.poisson_ratio)
    found, largest = elastic_stress(model, model.X @ F.T)
    np.testing.assert_allclose(largest, JELLY.youngs_modulus * strain, rtol=1e-9)
    np.testing.assert_allclose(von_mises(found), JELLY.youngs_modulus * strain, rtol=1e-9)


def test_pressure_has_no_von_mises_stress(model):
    found, largest = elastic_stress(model, 1.1 * model.X)
    assert np.all(von_mises(found) < 1e-9 * largest)


def test_planes_are_carried_to_rest(model):
    """Two points of a plane in space lie in the plane carried to rest."""
    random = np.random.default_rng(5)
    F = np.eye(3) + 0.3 * random.normal(size=(3, 3))
    which = np.array([0, 4, 7], np.int32)
    n = random.normal(size=(3, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    at_rest = normal_at_rest(model, model.X @ F.T, which, n)
    np.testing.assert_allclose(np.linalg.norm(at_rest, axis=1), 1.0)
    for normal, carried in zip(n, at_rest, strict=True):
        along = np.linalg.svd(normal[None])[2][1:]  # two directions in the plane
        np.testing.assert_allclose(np.linalg.solve(F, along.T).T @ carried, 0.0, atol=1e-12)


def test_no_stress_where_nothing_is_strained(model):
    found, largest = elastic_stress(model, model.X @ rotation([1.0, 1.0, 0.0], 3.0).T)
    assert np.abs(found).max() < 1e-8 and np.abs(largest).max() < 1e-8


def test_some_of_the_tets_have_the_stress_that_they_have_among_all(model):
    model = dataclasses.replace(
        model,
        initial_strain=0.1 * np.random.default_rng(1).normal(size=(model.tet_count, 6)),
        pressure_modulus=np.linspace(0.0, 1e5, model.tet_count),
    )
    x = model.X + 0.1 * np.random.default_rng(2).normal(size=model.X.shape)
    stress, largest = elastic_stress(model, x)
    which = np.array([7, 2, 30], np.int32)
    some, most = elastic_stress(model, x, which)
    assert (some == stress[which]).all() and (most == largest[which]).all()


def test_what_resists_by_volume_has_the_pressure_of_its_volume(model):
    """A melt: hardly any shear modulus, strained so that the trace of its strain says nothing of its volume."""
    mu, kappa = 1.0, 1.0e6
    soft = dataclasses.replace(
        model,
        mu=np.full(model.tet_count, mu),
        lam=np.full(model.tet_count, kappa - 2.0 / 3.0 * mu),
        pressure_modulus=np.full(model.tet_count, kappa),
    )
    R, F = rotation([1.0, 2.0, 3.0], 1.0), np.diag([1.2, 0.9, 0.9])
    found, largest = elastic_stress(soft, model.X @ (R @ F).T)
    pressure = kappa * (1.2 * 0.9 * 0.9 - 1.0)
    np.testing.assert_allclose(matrices(found), np.tile(pressure * np.eye(3), (len(found), 1, 1)), atol=1.0)
    np.testing.assert_allclose(np.trace(matrices(found), axis1=1, axis2=2), 3.0 * pressure, rtol=1e-9)
    assert (largest < 0.0).all()
