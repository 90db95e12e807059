# SPDX-License-Identifier: GPL-3.0-or-later
"""Points tied to tets: linear fields, rest positions, choices outside."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sinew.solver.mesh.embedding import bind, closest_tets, interpolate
from sinew.solver.mesh.geometry.box_tree import build_box_tree
from sinew.solver.mesh.geometry.point_tet import barycentric_rows


def block(cells: int, seed: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Returns a cube of unit cells, each cut into six tets, its nodes jittered."""
    side = cells + 1
    nodes = np.indices((side,) * 3).reshape(3, -1).T.astype(float)
    if seed is not None:
        nodes += np.random.default_rng(seed).uniform(-0.12, 0.12, nodes.shape)
    first = np.indices((cells,) * 3).reshape(3, -1).T
    tets = []
    for axes in itertools.permutations(range(3)):
        path = [first]
        for axis in axes:
            path.append(path[-1] + np.eye(3, dtype=int)[axis])
        tets.append(np.stack([(p * [side * side, side, 1]).sum(axis=1) for p in path], axis=1))
    return nodes, np.concatenate(tets).astype(np.int32)


def moved(x: np.ndarray, tets: np.ndarray, binding) -> np.ndarray:
    out = np.empty((len(binding.tet), 3))
    interpolate(x, tets, binding, out)
    return out


@pytest.mark.parametrize("scale", [1.0e-3, 1.0, 1.0e4])
def test_linear_fields_and_rest_positions_come_back_inside_and_outside(scale):
    nodes, tets = block(5, seed=1)
    nodes *= scale
    points = np.random.default_rng(2).uniform(-2.0, 7.0, (3000, 3)) * scale
    binding = bind(nodes, tets, points)
    assert np.abs(moved(nodes, tets, binding) - points).max() <= 1e-12 * 5 * scale
    matrix, shift = np.random.default_rng(3).normal(size=(3, 3)), np.array([3.0, -2.0, 1.0]) * scale
    field = moved(nodes @ matrix.T + shift, tets, binding)
    assert np.abs(field - points @ matrix.T - shift).max() <= 1e-10 * scale
    assert np.abs(binding.weights.sum(axis=1) - 1.0).max() <= 1e-14 * np.abs(binding.weights).max()


def test_interpolation_equals_its_twin():
    nodes, tets = block(3, seed=4)
    binding = bind(nodes, tets, np.random.default_rng(5).uniform(0, 3, (200, 3)))
    x = np.random.default_rng(6).normal(size=nodes.shape)
    twin = np.einsum("kj,kji->ki", binding.weights, x[tets[binding.tet]])
    assert np.abs(moved(x, tets, binding) - twin).max() <= 1e-14


def test_a_point_inside_gets_a_tet_that_holds_it():
    nodes, tets = block(6, seed=7)
    points = np.random.default_rng(8).uniform(0.5, 5.5, (5000, 3))
    assert bind(nodes, tets, points).weights.min() >= -1e-9
    assert closest_tets(nodes, tets, points).distance.max() == 0.0


def test_a_point_on_shared_faces_gets_the_lowest_number():
    nodes, tets = block(3)
    points = nodes.copy()
    binding = bind(nodes, tets, points)
    lowest = [np.flatnonzero((tets == node).any(axis=1))[0] for node in range(len(nodes))]
    assert binding.tet.tolist() == lowest


def test_overlapping_tets_give_the_lowest_number_whatever_the_order_of_points():
    nodes, tets = block(2)
    nodes, tets = np.concatenate([nodes, nodes]), np.concatenate([tets, tets + len(nodes)])
    points = np.random.default_rng(9).uniform(-0.5, 2.5, (400, 3))
    binding = bind(nodes, tets, points)
    assert binding.tet.max() < len(tets) // 2
    shuffled = np.random.default_rng(10).permutation(len(points))
    assert np.array_equal(bind(nodes, tets, points[shuffled]).tet, binding.tet[shuffled])


def slow_distance(nodes: np.ndarray, tets: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Returns the distance of one point from every tet: the least over its vertices, edges, faces and inside."""
    distances = []
    for tet in tets:
        best = np.inf
        for size in (1, 2, 3, 4):
            for corners in itertools.combinations(nodes[tet], size):
                first, edges = corners[0], np.array([c - corners[0] for c in corners[1:]]).reshape(-1, 3)
                weights = np.linalg.lstsq(edges.T, point - first, rcond=None)[0] if len(edges) else np.zeros(0)
                if (weights >= -1e-12).all() and weights.sum() <= 1 + 1e-12:
                    best = min(best, float(np.linalg.norm(first + weights @ edges - point)))
        distances.append(best)
    return np.array(distances)


def test_outside_the_closest_tet_is_found_and_a_mild_one_chosen():
    nodes, tets = block(2, seed=11)
    points = np.random.default_rng(12).uniform(-2.0, 4.0, (40, 3))
    found = closest_tets(nodes, tets, points)
    binding = bind(nodes, tets, points)
    rows, _ = barycentric_rows(nodes, tets)
    longest_edge = 2.0
    for i, point in enumerate(points):
        distance = slow_distance(nodes, tets, point)
        assert abs(found.distance[i] - distance.min()) <= 1e-12
        assert distance[binding.tet[i]] <= distance.min() + min(0.25 * distance.min(), longest_edge) + 1e-12
        inner = rows[found.tet[i]] @ (point - nodes[tets[found.tet[i], 0]])
        closest_weights = np.abs([1 - inner.sum(), *inner]).max()
        assert np.abs(binding.weights[i]).max() <= closest_weights * (1 + 1e-8)


def test_a_sliver_at_the_surface_is_not_chosen():
    """A flat tet lies on the cube's face; extrapolated weights would be about a hundred times as large."""
    nodes, tets = block(2)
    lid = np.array([[0.5, 0.5, 2.0], [1.5, 0.5, 2.0], [0.5, 1.5, 2.0], [0.8, 0.8, 2.002]])
    sliver = len(nodes) + np.arange(4)
    all_nodes, all_tets = np.concatenate([nodes, lid]), np.concatenate([tets, sliver[None]]).astype(np.int32)
    points = np.column_stack([np.full((20, 2), 0.8), np.linspace(2.05, 4.0, 20)])
    largest = np.abs(bind(all_nodes, all_tets, points).weights).max(axis=1)
    assert np.abs(closest_tets(all_nodes, all_tets, points).distance - (points[:, 2] - 2.002)).max() <= 1e-12
    assert largest.max() <= 3.0
    assert (largest <= np.abs(bind(nodes, tets, points).weights).max(axis=1) + 1e-12).all()


def test_nodes_without_tets_do_not_matter():
    nodes, tets = block(2, seed=16)
    points = np.random.default_rng(17).uniform(-3.0, 5.0, (50, 3))
    more = np.concatenate([points, nodes, points])
    binding, expected = bind(more, tets + np.int32(len(points)), points), bind(nodes, tets, points)
    assert np.array_equal(binding.tet, expected.tet) and np.array_equal(binding.weights, expected.weights)
    assert bind(nodes, tets, nodes).weights.max(axis=1) == pytest.approx(1.0)


def test_tets_without_volume_are_never_chosen():
    nodes, tets = block(1)
    flat = np.array([[0, 1, 2, 3]], np.int32)  # four corners of one face
    binding = bind(nodes, np.concatenate([flat, tets]), nodes + 1e-3)
    assert binding.tet.min() > 0
    with pytest.raises(ValueError, match="without volume"):
        bind(nodes, flat, nodes)
    with pytest.raises(ValueError, match="not numbers"):
        bind(nodes, tets, np.full((2, 3), np.nan))
    with pytest.raises(ValueError, match="without tets"):
        bind(nodes, tets[:0], nodes)


def test_threads_do_not_change_a_bit():
    from sinew.solver.runtime.threads.thread_count import set_thread_count

    nodes, tets = block(4, seed=13)
    points = np.random.default_rng(14).uniform(-1.0, 5.0, (5000, 3))
    many = bind(nodes, tets, points)
    set_thread_count(1)
    one = bind(nodes, tets, points)
    set_thread_count(None)
    assert np.array_equal(one.tet, many.tet)
    assert np.array_equal(one.weights, many.weights)


@pytest.mark.parametrize("count", [1, 3, 4, 5, 100])
def test_boxes_of_the_tree_hold_their_items(count):
    lower = np.random.default_rng(15).normal(size=(count, 3))
    upper = lower + 0.1
    tree = build_box_tree(lower, upper)
    assert sorted(tree.order) == list(range(count))
    assert np.array_equal(tree.lower[1], lower.min(axis=0))
    for node in range(1, tree.leaf_count):
        for child in (2 * node, 2 * node + 1):
            assert (tree.lower[node] <= tree.lower[child]).all()
            assert (tree.upper[node] >= tree.upper[child]).all()
    for place, item in enumerate(tree.order):
        leaf = tree.leaf_count + place // 4
        assert (tree.lower[leaf] <= lower[item]).all()
        assert (tree.upper[leaf] >= upper[item]).all()
