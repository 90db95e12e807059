# SPDX-License-Identifier: GPL-3.0-or-later
"""The nearest points, compared with sorting all distances."""

from __future__ import annotations

import numpy as np
import pytest

from sinew.solver.mesh.geometry.nearest_points import nearest_points


@pytest.mark.parametrize("count", [1, 3])
def test_nearest_is_as_sorted(count):
    points, places = np.split(np.random.default_rng(4).standard_normal((60, 3)), [40])
    every = np.linalg.norm(places[:, None] - points, axis=2)
    distance, found = nearest_points(points, places, count)
    assert found.shape == distance.shape == (20, count)
    assert np.array_equal(found, np.argsort(every, axis=1)[:, :count])
    assert np.allclose(distance, np.sort(every, axis=1)[:, :count])


def test_what_is_farther_does_not_count():
    distance, found = nearest_points(
        np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), np.array([[0.1, 0.0, 0.0]]), 2, within=0.5
    )
    assert np.allclose(distance, [[0.1, np.inf]]) and found.tolist() == [[0, 2]]
