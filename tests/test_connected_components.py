# SPDX-License-Identifier: GPL-3.0-or-later
"""What hangs together is numbered as SciPy numbers it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph

from sinew.solver.mesh.geometry.connected_components import connected_components, mesh_components


def _by_scipy(a: np.ndarray, b: np.ndarray, count: int) -> np.ndarray:
    graph = scipy.sparse.coo_matrix((np.ones(len(a)), (a, b)), shape=(count, count))
    return scipy.sparse.csgraph.connected_components(graph, directed=False)[1]


@pytest.mark.parametrize("seed", range(20))
def test_links_by_chance(seed: int) -> None:
    chance = np.random.default_rng(seed)
    count = int(chance.integers(1, 300))
    a, b = chance.integers(0, count, (2, int(chance.integers(0, 2 * count))))
    found = connected_components(a, b, count)
    assert found.dtype == np.int32 and np.array_equal(found, _by_scipy(a, b, count))


def test_a_long_chain_in_any_order() -> None:
    order = np.random.default_rng(0).permutation(20_000)
    a, b = order[:-1], order[1:]
    assert not connected_components(a, b, len(order)).any()
    assert not connected_components(np.arange(len(a)), np.arange(1, len(order)), len(order)).any()
    halves = connected_components(np.delete(a, 9_999), np.delete(b, 9_999), len(order))
    assert np.array_equal(halves, _by_scipy(np.delete(a, 9_999), np.delete(b, 9_999), len(order)))


def test_nothing_linked_and_nothing_there() -> None:
    none = np.zeros(0, np.int64)
    assert connected_components(none, none, 3).tolist() == [0, 1, 2] and connected_components(none, none, 0).shape == (
        0,
    )


def test_pieces_of_tets_and_nodes_without_any() -> None:
    tets = np.array([[4, 5, 6, 7], [7, 8, 9, 10], [0, 1, 2, 3]], np.int32)
    assert mesh_components(tets, 12).tolist() == [0] * 4 + [1] * 7 + [2]
