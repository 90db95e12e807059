# SPDX-License-Identifier: GPL-3.0-or-later
"""The claims of test_formulations.py on finer bars, other materials, and many shapes, inverted ones too."""

import numpy as np
import pytest

from fixtures.formulation_cases import (
    CASES,
    LEVELS,
    LINEAR,
    WITH_GHOST_FORCE,
    WITHOUT_TORQUE,
    asked,
    bar_of,
    lacks,
    shaken,
    slow_forces,
)

each = pytest.mark.parametrize("method", CASES.values(), ids=CASES)
CELLS = (5, 2, 2)


@each
@pytest.mark.parametrize("size", (0.01, 0.1, 0.3))
def test_many_shapes(method, size):
    """Forces are those of the slow twin; they sum to zero, and make no torque, where that is claimed."""
    model = bar_of(method, (3, 2, 1))
    for seed in range(4):
        x = shaken(model, size, seed)
        f, wanted = asked(method, model).forces(x), slow_forces(method, model, x)
        assert np.abs(f - wanted).max() < 1e-8 * np.abs(wanted).max()
        if method not in WITH_GHOST_FORCE:
            assert np.linalg.norm(f.sum(axis=0)) < 1e-12 * np.abs(f).sum()
        if method in WITHOUT_TORQUE:
            assert np.linalg.norm(np.cross(x, f).sum(axis=0)) < 1e-11 * np.abs(np.cross(x, f)).sum()


@each
def test_many_rigid_motions(method):
    model, random = bar_of(method, CELLS), np.random.default_rng(0)
    found, typical = asked(method, model), np.abs(asked(LINEAR, model).forces(1.01 * model.X)).max()
    for _ in range(20):
        turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
        x = model.X @ (turn * np.sign(np.linalg.det(turn))).T + 10.0 * random.normal(size=3)
        force = np.abs(found.forces(x)).max()
        assert (force > 0.1 * typical) if method is LINEAR else (force < 1e-8 * typical)


@each
@pytest.mark.parametrize("nu", (0.0, 0.45))
def test_energies_of_other_materials(method, nu):
    model = bar_of(method, CELLS, nu)
    x = shaken(model, 0.05, 1)
    found, d = asked(method, model, x), np.random.default_rng(2).normal(size=model.X.shape)
    if found.energy(x) is None:
        assert method.name in ("qr", "vertex-warp")
        return
    slopes = [(found.energy(x + h * d) - found.energy(x - h * d)) / (2.0 * h) for h in (1e-5, 1e-6)]
    assert min(abs(np.sum(found.forces(x) * d) / slope + 1.0) for slope in slopes) < 1e-6


@each
def test_the_limit_of_small_strain_is_reached_in_proportion(method):
    model = bar_of(method, CELLS)
    far = [lacks(method, model, load) for load in (100.0, 10.0)]
    print("lacks", ", ".join(f"{value:.1e}" for value in far))
    assert far[0] < 0.02
    assert far[1] < 0.105 * far[0] + 1e-10


def test_the_torque_of_coarse_frames_is_of_second_order_in_details():
    """As tests/test_hierarchical_energy.py has it for one bar: here over four turns and crumplings."""
    model = bar_of(LEVELS, CELLS)
    for seed in range(4):
        torque = []
        for size in (0.004, 0.008):
            x = shaken(model, size, seed)
            f = asked(LEVELS, model).forces(x)
            torque.append(np.linalg.norm(np.cross(x, f).sum(axis=0)))
        assert torque[1] / torque[0] == pytest.approx(4.0, rel=0.1)
