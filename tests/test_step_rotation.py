# SPDX-License-Identifier: GPL-3.0-or-later
"""The rotation of an element: nearest, proper, the same for the same F, whatever F is."""

import numpy as np
import pytest

from sinew.solver.mechanics.elements.nearest_rotation import nearest_rotation, nearest_rotation_of_any

AWKWARD = {
    "zero": np.zeros((3, 3)),
    "point reflection": -np.eye(3),
    "mirror": np.diag([1.0, 1.0, -1.0]),
    "mirror across x": np.diag([-1.0, 1.0, 1.0]),
    "flat": np.diag([1.0, 2.0, 0.0]),
    "needle": np.diag([0.0, 0.0, 5.0]),
    "shear, no volume": np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    "huge": 1e200 * np.eye(3),
    "tiny": 1e-200 * np.eye(3),
    "no numbers": np.full((3, 3), np.nan),
    "infinite": np.full((3, 3), np.inf),
    "nearly flat": np.diag([1.0, 1.0, 1e-14]),
}


def rotation(F, kernel=nearest_rotation):
    return np.array(kernel(*(float(f) for f in F.ravel()))).reshape(3, 3)


def slow_rotation(F):
    U, sizes, Vt = np.linalg.svd(F)
    return U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt, sizes * [1, 1, np.sign(np.linalg.det(F))]


def is_proper(R):
    return np.abs(R @ R.T - np.eye(3)).max() < 1e-14 and abs(np.linalg.det(R) - 1.0) < 1e-14


@pytest.mark.parametrize("kernel", [nearest_rotation, nearest_rotation_of_any])
def test_equals_the_signed_svd_for_random_gradients(kernel):
    random = np.random.default_rng(1)
    inverted = 0
    for _ in range(2000):
        F = random.normal(size=(3, 3)) * 10.0 ** random.uniform(-3, 3)
        F[:, 2] *= 10.0 ** random.choice([0.0, random.uniform(-8, 0)])
        expected, sizes = slow_rotation(F)
        inverted += sizes[2] < 0
        R = rotation(F, kernel)
        # the rotation is as well determined as this gap is wide
        gap = (sizes[1] + sizes[2]) / sizes[0]
        assert np.abs(R - expected).max() * gap < 1e-13
        assert is_proper(R)
    assert inverted > 500


@pytest.mark.parametrize("name", AWKWARD)
def test_is_proper_for_awkward_gradients(name):
    assert is_proper(rotation(AWKWARD[name]))


def test_of_a_rotation_is_itself():
    for seed in range(50):
        Q, _ = slow_rotation(np.random.default_rng(seed).normal(size=(3, 3)))
        assert np.abs(rotation(Q) - Q).max() < 1e-14


def test_does_not_jump_between_its_two_ways():
    random = np.random.default_rng(2)
    for _ in range(200):
        F = random.normal(size=(3, 3))
        F *= np.sign(np.linalg.det(F))
        assert np.abs(rotation(F) - rotation(F, nearest_rotation_of_any)).max() < 1e-10
