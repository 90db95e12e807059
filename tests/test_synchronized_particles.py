# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles that are synchronized: against what their formulas say."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.flesh_dynamics import model_of
from sinew.solver.constraints.bindings.synchronized_particles import SynchronizedParticles


def particles_in_bar(count: int, seed: int):
    model, random = model_of(cells=(3, 2, 2), lengths=(0.3, 0.2, 0.2)), np.random.default_rng(seed)
    weights = random.dirichlet(np.ones(4), count)
    tet = random.choice(model.tet_count, count, replace=False).astype(np.int32)
    return model, SynchronizedParticles(tet, weights), random


def test_one_particle_moves_its_parents_by_its_effective_mass() -> None:
    """Δx_i = w_i (m_e / m_i) Δx_e and j_i = w_i m_e Δv_e (S07, section 6.2)."""
    model, particles, random = particles_in_bar(1, 2)
    drift, parents = random.normal(size=(1, 3)), model.tets[particles.tet[0]]
    effective = 1.0 / np.sum(particles.weights[0] ** 2 / model.mass[parents])
    change, share = particles.hand_down(drift, model.mass, model.tets)
    wanted = np.zeros_like(change)
    wanted[parents] = (particles.weights[0] * effective / model.mass[parents])[:, None] * drift
    assert change == pytest.approx(wanted, rel=1e-12, abs=1e-15)
    assert share == pytest.approx(effective * drift, rel=1e-12)


def test_particles_that_share_parents_arrive_together_and_gain_what_they_are_given() -> None:
    model, particles, random = particles_in_bar(12, 3)
    drift = random.normal(size=(12, 3)) * (np.arange(12) % 3 > 0)[:, None]
    change, impulse = particles.hand_down(drift, model.mass, model.tets)
    moved = drift.any(axis=1)
    assert particles.synchronized(change, model.tets)[moved] == pytest.approx(drift[moved], abs=1e-9)
    assert model.mass @ change == pytest.approx(impulse.sum(axis=0), rel=1e-12, abs=1e-12)
    assert not impulse[~moved].any()


def test_what_has_not_drifted_changes_nothing() -> None:
    model, particles, _ = particles_in_bar(5, 4)
    change, impulse = particles.hand_down(np.zeros((5, 3)), model.mass, model.tets)
    assert not change.any() and not impulse.any()
