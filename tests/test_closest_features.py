# SPDX-License-Identifier: GPL-3.0-or-later
"""Distances of points, triangles and edges, with derivatives, against slow references and the IPC Toolkit."""

from __future__ import annotations

import numpy as np
import pytest

from reference.closest_features import differences, edge_edge_distance2, point_triangle_distance2
from sinew.solver.contact.exact.closest_features import (
    allocate_closest_points,
    closest_of_edges,
    closest_on_triangle_to_point,
    edges_parameter_count,
    triangle_parameter_count,
)
from sinew.solver.contact.exact.edge_edge_mollifier import (
    edge_cross_squared,
    fill_edge_cross_derivatives,
    mollifier,
    mollifier_threshold,
)
from sinew.solver.contact.exact.squared_distance import (
    fill_distance_gradient,
    fill_distance_hessian,
    squared_distance,
)

KINDS = {
    "point and triangle": (closest_on_triangle_to_point, triangle_parameter_count, point_triangle_distance2, 7),
    "edges": (closest_of_edges, edges_parameter_count, edge_edge_distance2, 9),
}


def pairs(count, seed):
    """Yields corners in all positions, (4, 3)."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield rng.uniform(-1.0, 1.0, (4, 3)) * [1.0, 1.0, rng.choice([1.0, 0.1])]


@pytest.mark.parametrize("kind", KINDS)
def test_distances_and_derivatives(kind) -> None:
    find, parameters_of, reference, features = KINDS[kind]
    closest, gradient, hessian = allocate_closest_points(), np.empty(12), np.empty((12, 12))

    def value(x):
        find(x, closest)
        return squared_distance(x, closest)

    def slope(x):
        find(x, closest)
        fill_distance_gradient(x, closest, gradient)
        return gradient.copy()

    seen = np.zeros(features, int)
    for x in pairs(300, 1):
        feature = find(x, closest)
        seen[feature] += 1
        assert value(x) == pytest.approx(reference(x), rel=1e-9, abs=1e-12)
        assert abs(closest.weights.sum()) < 1e-12 and np.abs(closest.weight_derivatives.sum(axis=1)).max() == 0.0
        exact = slope(x)
        assert np.abs(differences(value, x, 1e-6) - exact).max() < 1e-8
        around = [find(x + move, closest) for move in 1e-4 * np.random.default_rng(0).normal(size=(20, 4, 3))]
        if set(around) != {feature}:
            continue  # second derivatives jump where the feature changes
        find(x, closest)
        fill_distance_hessian(x, closest, parameters_of(feature), hessian)
        scale = np.abs(hessian).max()
        assert np.abs(differences(slope, x, 1e-6) - hessian).max() < 1e-5 * scale**2
        assert np.abs(hessian - hessian.T).max() < 1e-12 * scale
    assert seen.min() >= 3, seen


def test_distances_of_flat_triangles_and_parallel_edges() -> None:
    rng, closest = np.random.default_rng(2), allocate_closest_points()
    for tilt in (0.0, 1e-16, 1e-12, 1e-8, 1e-4):
        for _ in range(50):
            x, along = rng.uniform(-1.0, 1.0, (4, 3)), rng.uniform(-1.0, 1.0, 2)
            x[3] = x[2] + along[0] * (x[1] - x[0]) + tilt * rng.normal(size=3)
            closest_of_edges(x, closest)
            assert np.sqrt(squared_distance(x, closest)) == pytest.approx(np.sqrt(edge_edge_distance2(x)), abs=1e-8)
            x[3] = x[1] + along[1] * (x[2] - x[1]) + tilt * rng.normal(size=3)
            closest_on_triangle_to_point(x, closest)
            distance = np.sqrt(squared_distance(x, closest))
            assert distance == pytest.approx(np.sqrt(point_triangle_distance2(x)), abs=1e-8)
    point = np.tile(rng.uniform(-1.0, 1.0, 3), (4, 1))  # features without any size
    assert closest_of_edges(point, closest) > 0 and squared_distance(point, closest) == 0.0
    assert closest_on_triangle_to_point(point, closest) > 0 and squared_distance(point, closest) == 0.0


def test_the_mollifier_and_its_derivatives() -> None:
    gradient, hessian = np.empty(12), np.empty((12, 12))

    def slope(x):
        fill_edge_cross_derivatives(x, gradient, hessian)
        return gradient.copy()

    for x in pairs(30, 3):
        first_derivative, second_derivative = slope(x), hessian.copy()
        assert np.abs(differences(edge_cross_squared, x, 1e-5) - first_derivative).max() < 1e-8
        assert np.abs(differences(slope, x, 1e-5) - second_derivative).max() < 1e-8
        assert edge_cross_squared(x) == pytest.approx((np.cross(x[1] - x[0], x[3] - x[2]) ** 2).sum())
        threshold = mollifier_threshold(x)
        assert threshold == pytest.approx(1e-3 * ((x[1] - x[0]) ** 2).sum() * ((x[3] - x[2]) ** 2).sum())
        assert mollifier(threshold, threshold) == (1.0, 0.0, 0.0) and mollifier(0.0, threshold)[0] == 0.0
        for c in (0.1 * threshold, 0.7 * threshold):
            _, first, second = mollifier(c, threshold)
            step = 1e-4 * threshold
            above, below = mollifier(c + step, threshold), mollifier(c - step, threshold)
            assert (above[0] - below[0]) / (2.0 * step) == pytest.approx(first)
            assert (above[1] - below[1]) / (2.0 * step) == pytest.approx(second)


def test_as_the_ipc_toolkit() -> None:
    ipctk = pytest.importorskip("ipctk")
    closest, gradient, hessian = allocate_closest_points(), np.empty(12), np.empty((12, 12))
    for x in pairs(200, 4):
        for name, (find, parameters_of, _, _) in KINDS.items():
            prefix = "point_triangle_distance" if name == "point and triangle" else "edge_edge_distance"
            feature = find(x, closest)
            fill_distance_gradient(x, closest, gradient)
            fill_distance_hessian(x, closest, parameters_of(feature), hessian)
            assert squared_distance(x, closest) == pytest.approx(getattr(ipctk, prefix)(*x))
            np.testing.assert_allclose(gradient, getattr(ipctk, f"{prefix}_gradient")(*x), atol=1e-9)
            wanted = getattr(ipctk, f"{prefix}_hessian")(*x)
            np.testing.assert_allclose(hessian, wanted, atol=1e-7 * np.abs(wanted).max())
        fill_edge_cross_derivatives(x, gradient, hessian)
        np.testing.assert_allclose(hessian, ipctk.edge_edge_cross_squarednorm_hessian(*x), atol=1e-10)
        assert mollifier_threshold(x) == pytest.approx(ipctk.edge_edge_mollifier_threshold(*x))
        c = edge_cross_squared(x)
        for threshold in (0.5 * c, 3.0 * c):
            assert mollifier(c, threshold)[0] == pytest.approx(ipctk.edge_edge_mollifier(*x, threshold))
