# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums over the nodes of islands that kernels compute, against NumPy: energies and shares of motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.tet_meshes import bar
from sinew.solver.integrators.system.right_hand_side import MIN_MOTION_SHARE, motion_share
from sinew.solver.mechanics.finite_rotation_correction import chord_stretch_energy
from sinew.solver.mechanics.kinetic_energy import kinetic_energies, kinetic_energy_bound
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.scene.scene import Material

DT, GRAVITY = 0.01, np.array([0.5, 0.0, -9.81])


@pytest.fixture
def two_bars() -> Model:
    nodes, tets = bar((2, 2, 3), (0.2, 0.2, 0.3))
    hard = Material(1.0e6, 0.3, 1000.0, stiffness_damping=0.02)
    parts = [Part(f"bar{k}", nodes + 2.0 * k, tets, np.ones(len(tets)), hard) for k in range(2)]
    model = make_model(parts)
    return replace(model, gravity_scale=np.random.default_rng(1).uniform(0.5, 1.0, model.node_count))


def island_slices(model: Model) -> list[slice]:
    start = model.pattern.island_start
    return [slice(int(begin), int(end)) for begin, end in zip(start[:-1], start[1:], strict=True)]


def test_kinetic_energies(two_bars: Model) -> None:
    v = np.random.default_rng(2).normal(size=two_bars.X.shape)
    falling = v + DT * two_bars.gravity_scale[:, None] * GRAVITY
    by_hand = [
        [0.5 * (two_bars.mass[own, None] * u[own] ** 2).sum() for own in island_slices(two_bars)] for u in (v, falling)
    ]
    np.testing.assert_allclose(kinetic_energies(two_bars, v), by_hand[0])
    np.testing.assert_allclose(kinetic_energy_bound(two_bars, v, GRAVITY, DT), np.maximum(*by_hand))


def test_share_of_motion(two_bars: Model) -> None:
    random = np.random.default_rng(3)
    v, b = random.normal(size=two_bars.X.shape), 100.0 * random.normal(size=two_bars.X.shape)
    shares = []
    for own in island_slices(two_bars):
        weight = DT * two_bars.mass[own] * two_bars.gravity_scale[own] * np.linalg.norm(GRAVITY)
        moving = np.linalg.norm(two_bars.mass[own, None] * v[own]) + np.linalg.norm(weight)
        shares.append(moving / np.linalg.norm(b[own]))
    assert MIN_MOTION_SHARE < min(shares) < 1.0
    assert motion_share(two_bars, v, GRAVITY, DT, b) == pytest.approx(min(shares))
    assert motion_share(two_bars, v, GRAVITY, DT, 1e-6 * b) == 1.0
    assert motion_share(two_bars, v, GRAVITY, DT, 1e12 * b) == MIN_MOTION_SHARE
    # nothing moves, nor falls: a body that comes to rest
    assert motion_share(two_bars, 0.0 * v, 0.0 * GRAVITY, DT, b) == 1.0


def test_energy_of_a_turn_along_chords(two_bars: Model) -> None:
    angle = np.array([0.1, 0.2])
    stiffness = two_bars.mu * two_bars.volume * (1.0 + two_bars.stiffness_damping / DT)
    expected = [stiffness[body.tets].sum() * angle[k] ** 4 for k, body in enumerate(two_bars.bodies)]
    np.testing.assert_allclose(chord_stretch_energy(two_bars, angle, DT), expected)
