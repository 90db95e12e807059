# SPDX-License-Identifier: GPL-3.0-or-later
"""The stress in flesh is that of its law."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from fixtures.flesh_scenes import FLESH, bent, limb
from fixtures.scenes import Run, block
from reference.hyperelastic_laws import found
from sinew.solver.bake.attributes.attribute_fields import attribute_values, body_values
from sinew.solver.mechanics.elastic_moduli import lame_moduli
from sinew.solver.mechanics.elements.elastic_stress import von_mises
from sinew.solver.scene.flesh import FLESH_LAWS, Flesh
from sinew.solver.scene.scene import Material, Scene, Settings
from sinew.solver.simulation.flesh.flesh_stress import cauchy_stress

STILL = Settings(frame_end=2, substeps=1, gravity=(0.0, 0.0, 0.0))


def stress_of(folder: Path, law: str, F: np.ndarray, material: Material = FLESH) -> tuple[np.ndarray, np.ndarray]:
    """Returns Cauchy stresses (m, 3, 3) of a block that is deformed by F everywhere, and their largest values."""
    run = Run(folder, Scene((block(flesh=Flesh(law=law), material=material),), (), STILL))
    part = run.built.flesh.quasistatic
    six, largest = cauchy_stress(part, part.model, np.ascontiguousarray(part.model.X @ F.T))
    return six[:, [0, 3, 5, 3, 1, 4, 5, 4, 2]].reshape(-1, 3, 3), largest


@pytest.mark.parametrize("poisson_ratio", [0.3, 0.49])
@pytest.mark.parametrize("law", FLESH_LAWS)
def test_it_is_that_of_the_law(tmp_path: Path, law: str, poisson_ratio: float):
    """σ = P Fᵀ / J, also where part of the energy is that of averages at nodes: F is the same in all tets."""
    F = np.array([[1.2, 0.3, 0.0], [-0.1, 0.9, 0.2], [0.1, 0.0, 1.1]])
    material = dataclasses.replace(FLESH, poisson_ratio=poisson_ratio)
    mu, lam = lame_moduli(material.youngs_modulus, material.poisson_ratio)
    P = found(law, None, F[None], mu=mu, lam=lam).P[0]
    wanted = P @ F.T / np.linalg.det(F)
    stress, largest = stress_of(tmp_path, law, F, material)
    np.testing.assert_allclose(stress, np.broadcast_to(wanted, stress.shape), atol=1e-8 * np.abs(wanted).max())
    np.testing.assert_allclose(largest, np.linalg.eigvalsh(wanted)[-1])


def test_for_small_strains_it_is_hookes(tmp_path: Path):
    strain = 1e-6 * np.array([[1.0, 0.5, 0.0], [0.5, -2.0, 0.3], [0.0, 0.3, 0.7]])
    mu, lam = lame_moduli(FLESH.youngs_modulus, FLESH.poisson_ratio)
    wanted = 2 * mu * strain + lam * np.trace(strain) * np.eye(3)
    for law in FLESH_LAWS:
        stress, _ = stress_of(tmp_path / law, law, np.eye(3) + strain)
        np.testing.assert_allclose(stress, np.broadcast_to(wanted, stress.shape), rtol=1e-4, atol=1e-7)


def test_shaders_get_it(tmp_path: Path):
    """Of a bent limb and of a body that is none, in one scene."""
    body = limb(simulated_scale=2.0, attributes=("stress", "principal_stress"))
    other = block(at=(0.0, 3.0, 0.0), key="other", attributes=("stress",))
    targets = (np.array([0.0, 1.0 / 24.0]), np.array([bent(body, 0.0), bent(body, 50.0)]))
    run = Run(tmp_path, Scene((other, body), (), STILL), body__limb__targets=targets)
    run.advance()
    values = attribute_values(run.simulation, ("stress", "principal_stress"))
    part = run.built.flesh.quasistatic
    six, largest = cauchy_stress(part, part.model, np.ascontiguousarray(run.state.x[part.part.nodes]))
    assert largest.max() > 1e3
    told = body_values(run.simulation, 1, values)
    np.testing.assert_allclose(told["stress"], 4.0 * von_mises(six))
    np.testing.assert_allclose(told["principal_stress"], 4.0 * largest)
    assert np.abs(body_values(run.simulation, 0, values)["stress"]).max() < 1e-3
