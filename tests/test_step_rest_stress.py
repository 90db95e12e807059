# SPDX-License-Identifier: GPL-3.0-or-later
"""Stress at rest: as wanted in the shape at hand, and torque-free in any other."""

from dataclasses import replace

import numpy as np
import pytest

from reference.linear_elasticity import stress, symmetric_matrices
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.mechanics.prestress import with_prestress
from sinew.solver.scene.scene import Material, Settings
from test_step_forces import gradients, model_of, tet_forces
from test_step_motion import at_rest, spin
from test_step_motion import model_of as bar_of

RANDOM = np.random.default_rng(11)


@pytest.mark.parametrize("size", [0.0, 1e-3, 0.1, 0.4, 3.0])
def test_the_stress_wanted_is_there_even_if_no_stretch_gives_it(size):
    model = model_of((2, 2, 2))
    strain = size * RANDOM.uniform(-1, 1, (model.tet_count, 6))
    stressed = with_prestress(model, strain)
    expected = -model.volume[:, None, None] * np.einsum(
        "mij,maj->mai", stress(symmetric_matrices(strain), model.mu, model.lam), gradients(model)
    )
    assert np.abs(tet_forces(stressed, model.X) - expected).max() <= 1e-10 * np.abs(expected).max() + 1e-9
    assert (len(stressed.initial_strain) == 0) == (size <= 0.1)
    assert (stressed.mass == model.mass).all()


def test_tets_without_stress_keep_their_bits():
    model = model_of((2, 2, 2))
    strain = np.zeros((model.tet_count, 6))
    strain[3, 2] = 0.2
    stressed = with_prestress(model, strain)
    same = np.arange(model.tet_count) != 3
    assert (stressed.Dm_inverse[same] == model.Dm_inverse[same]).all()
    assert (stressed.volume[same] == model.volume[same]).all()
    assert stressed.volume[3] != model.volume[3]


def test_no_torque_in_any_shape_unlike_an_initial_strain():
    model = model_of((2, 2, 2))
    strain = 0.1 * RANDOM.uniform(-1, 1, (model.tet_count, 6))
    x = model.X + 0.1 * RANDOM.normal(size=model.X.shape)
    torques = []
    for variant in (with_prestress(model, strain), replace(model, initial_strain=-strain)):
        forces = tet_forces(variant, x)
        arms = x[model.tets] - x[model.tets].mean(axis=1, keepdims=True)
        torque = np.linalg.norm(np.cross(arms, forces).sum(axis=1), axis=1)
        torques.append(np.max(torque / (np.abs(forces) * np.abs(arms)).sum(axis=(1, 2))))
    print("torque of stress-free shapes and of initial strains", torques)
    assert torques[0] < 1e-13 < 1e-3 < torques[1]


def test_released_stress_starts_no_spin():
    model = bar_of((2, 2, 5), (0.4, 0.4, 1.0), Material(1.0e5, 0.33, 1000.0, 0.0, 0.0))
    # bent, as by a weight
    strain = np.zeros((model.tet_count, 6))
    middle = model.X[model.tets].mean(axis=1)
    strain[:, 2] = 0.5 * (middle[:, 0] - 0.2) * (1.0 - middle[:, 2])
    strain[:, 5] = 0.1 * (1.0 - middle[:, 2])
    spins = []
    for variant in (with_prestress(model, strain), replace(model, initial_strain=-strain)):
        for dt in (0.002, 0.001):
            state, most = at_rest(variant), 0.0
            for _ in range(round(0.1 / dt)):
                step(variant, state, ExternalForces(), dt, Settings(tolerance=1e-8, max_iterations=2000))
                most = max(most, np.abs(spin(variant, state)).max())
            spins.append(most)
    print("largest angular momentum of stress-free shapes, and of initial strains", spins)
    assert 1.6 < spins[0] / spins[1] < 2.4
    assert spins[2] / spins[3] < 1.3
