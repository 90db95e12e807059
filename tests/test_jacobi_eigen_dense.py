# SPDX-License-Identifier: GPL-3.0-or-later
"""The positive semi-definite projection of larger matrices, against NumPy's eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest

from sinew.solver.mechanics.hyperelastic.jacobi_eigen_dense import BATCH, project_semidefinite_dense


def random_matrices(count: int, is_definite: bool, seed: int = 3) -> np.ndarray:
    """Returns symmetric 9×9 matrices with eigenvalues of many sizes, one to four of them negative, or none."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(count, 9, 9)))[0]
    values = 10.0 ** rng.uniform(-4, 4, (count, 9))
    if not is_definite:
        values[np.arange(9) < rng.integers(1, 5, count)[:, None]] *= -1.0
    return np.einsum("zij,zj,zkj->zik", axes, values, axes)


@pytest.mark.parametrize("count", [1, BATCH, 2 * BATCH + 5])
def test_indefinite_matrices_become_the_nearest_semidefinite_ones(count: int):
    indefinite, definite = random_matrices(count, False), random_matrices(count, True)
    given = np.stack([indefinite, definite], axis=1).reshape(-1, 9, 9)
    found = given.copy()
    project_semidefinite_dense(found)
    values, axes = np.linalg.eigh(indefinite)
    nearest = np.einsum("zij,zj,zkj->zik", axes, np.maximum(values, 0.0), axes)
    scale = np.abs(indefinite).max(axis=(1, 2))
    assert np.all(np.abs(found[0::2] - nearest).max(axis=(1, 2)) <= 1e-13 * scale)
    np.testing.assert_array_equal(found[1::2], definite)


def test_no_matrix_and_a_zero_one():
    project_semidefinite_dense(np.zeros((0, 9, 9)))
    zero = np.zeros((1, 9, 9))
    project_semidefinite_dense(zero)
    np.testing.assert_array_equal(zero, 0.0)
