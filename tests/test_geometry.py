# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees, closest points and winding numbers against slow, obvious twins."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.closed_surfaces import cube, sphere, torus
from fixtures.slow_winding_numbers import slow_winding_numbers
from sinew.solver.mesh.geometry.closest_point import closest_points
from sinew.solver.mesh.geometry.triangle_bvh import LEAF_SIZE, build_bvh
from sinew.solver.mesh.geometry.winding_number import winding_numbers


def slow_distances(corners, points):
    """Distances to all triangles: the plane's foot where it is inside, else the nearest of the three sides."""
    best = np.full(len(points), np.inf)
    for i, point in enumerate(points):
        for triangle in corners:
            distances = []
            for s in range(3):
                a, b = triangle[s], triangle[(s + 1) % 3]
                length2 = (b - a) @ (b - a)
                t = np.clip((point - a) @ (b - a) / length2, 0, 1) if length2 > 0 else 0.0
                distances.append(np.linalg.norm(point - a - t * (b - a)))
            normal = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
            if np.linalg.norm(normal) > 0:
                foot = point - ((point - triangle[0]) @ normal) / (normal @ normal) * normal
                sides = [np.cross(triangle[(s + 1) % 3] - triangle[s], foot - triangle[s]) @ normal for s in range(3)]
                if min(sides) >= 0:
                    distances.append(np.linalg.norm(point - foot))
            best[i] = min(best[i], min(distances))
    return best


def random_soup(rng, count):
    """Triangles of all sizes, some doubled, some flat to a line, some to a point."""
    corners = rng.normal(size=(count, 1, 3)) + 10 ** rng.uniform(-3, 0, (count, 1, 1)) * rng.normal(size=(count, 3, 3))
    corners[::7, 2] = 2 * corners[::7, 1] - corners[::7, 0]
    corners[::11] = corners[::11, :1]
    corners[1::5] = corners[0]
    return corners


@pytest.mark.parametrize("count", [1, 2, LEAF_SIZE, LEAF_SIZE + 1, 37, 1000])
def test_tree_holds_every_triangle_once(count):
    corners = random_soup(np.random.default_rng(count), count)
    bvh = build_bvh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))
    assert sorted(bvh.order) == list(range(count))
    leaves = bvh.tree[:, 0] < 0
    held = np.concatenate([np.arange(first, first + size) for _, first, size, _ in bvh.tree[leaves]])
    assert sorted(held) == list(range(count))
    for i, (_, first, size, after) in enumerate(bvh.tree):
        inside = corners[bvh.order[first : first + size]].reshape(-1, 3)
        assert np.array_equal(bvh.boxes[i], np.r_[inside.min(0), inside.max(0)])
        below = np.arange(i + 1, after)
        assert np.all(bvh.tree[below, 1] >= first) and np.all(bvh.tree[below, 1:3].sum(1) <= first + size)


@pytest.mark.slow
def test_closest_points_equal_the_slow_twin():
    rng = np.random.default_rng(2)
    corners = random_soup(rng, 150)
    points = rng.normal(scale=2, size=(200, 3))
    bvh = build_bvh(corners.reshape(-1, 3), np.arange(450).reshape(-1, 3))
    found = closest_points(bvh, points)
    assert np.allclose(found.distance, slow_distances(corners, points), rtol=1e-12, atol=1e-12)
    there = np.einsum("kc,kcx->kx", found.weights, corners[found.triangle])
    assert np.allclose(np.linalg.norm(there - points, axis=1), found.distance, rtol=1e-9, atol=1e-12)
    assert np.all(found.weights >= 0) and np.allclose(found.weights.sum(1), 1)


def test_closest_points_stop_at_the_limit():
    vertices, triangles = sphere(8)
    found = closest_points(build_bvh(vertices, triangles), [[0.0, 0, 0], [0, 0, 0.99], [0, 0, 5]], limit=0.5)
    assert list(found.triangle >= 0) == [False, True, False]
    assert np.isinf(found.distance[[0, 2]]).all() and found.distance[1] <= 0.02


@pytest.mark.parametrize("make", [lambda: sphere(24), lambda: torus(40, 16), lambda: cube(6)])
def test_winding_numbers_equal_the_sum_of_solid_angles(make):
    vertices, triangles = make()
    points = np.random.default_rng(3).uniform(-1.5, 1.5, (400, 3))
    exact = slow_winding_numbers(vertices[triangles], points)
    assert np.allclose(exact, np.round(exact), atol=1e-9)
    error = np.abs(winding_numbers(build_bvh(vertices, triangles), points) - exact)
    assert error.max() < 0.1 and error.mean() < 0.01


def test_expansion_of_a_cluster_is_right_to_second_order():
    """The error of dipole and first moment falls with the fourth power of the distance."""
    vertices, triangles = sphere(12)
    patch = triangles[vertices[triangles].mean(axis=1) @ [0.6, 0.0, 0.8] > 0.7]
    bvh = build_bvh(vertices, patch)
    direction = np.array([0.3, -0.5, 0.81])
    errors = []
    for far in (16.0, 32.0):
        point = [far * direction]
        errors.append(abs(winding_numbers(bvh, point)[0] - slow_winding_numbers(vertices[patch], point)[0]))
    assert bvh.tree.shape[0] > 20 and errors[0] > 1e-8
    assert 12 < errors[0] / errors[1] < 20


def test_winding_numbers_of_a_soup_and_of_an_open_sphere():
    rng = np.random.default_rng(4)
    vertices, triangles = sphere(24)
    open_sphere = triangles[vertices[triangles].mean(axis=1)[:, 2] < 0.8]
    for corners in (random_soup(rng, 500), vertices[open_sphere]):
        points = rng.normal(size=(300, 3))
        bvh = build_bvh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))
        assert np.abs(winding_numbers(bvh, points) - slow_winding_numbers(corners, points)).max() < 0.1


def test_winding_number_counts_shells_and_sides():
    vertices, triangles = sphere(16)
    twice = np.r_[vertices, 0.5 * vertices], np.r_[triangles, triangles + len(vertices)]
    hollow = np.r_[vertices, 0.5 * vertices], np.r_[triangles, triangles[:, ::-1] + len(vertices)]
    points = [[0, 0, 0.1], [0, 0, 0.7], [0, 0, 1.5]]
    assert np.allclose(winding_numbers(build_bvh(*twice), points), [2, 1, 0], atol=0.1)
    assert np.allclose(winding_numbers(build_bvh(*hollow), points), [0, 1, 0], atol=0.1)
    assert np.allclose(winding_numbers(build_bvh(vertices, triangles[:, ::-1]), points), [-1, -1, 0], atol=0.1)


def test_results_do_not_depend_on_threads():
    from sinew.solver.runtime.threads.thread_count import set_thread_count

    vertices, triangles = torus(30, 12)
    bvh = build_bvh(vertices, triangles)
    points = np.random.default_rng(5).uniform(-1.5, 1.5, (5000, 3))
    results = []
    for threads in (1, 2):
        set_thread_count(threads)
        results.append((winding_numbers(bvh, points).tobytes(), closest_points(bvh, points).distance.tobytes()))
    set_thread_count(None)
    assert results[0] == results[1]
