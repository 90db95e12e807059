# SPDX-License-Identifier: GPL-3.0-or-later
"""What hangs together has one number, in the order of the first things."""

from __future__ import annotations

import numpy as np
import pytest

from sinew.solver.mesh.geometry.connected_components import connected_components, mesh_components


def _by_merging(a: np.ndarray, b: np.ndarray, count: int) -> np.ndarray:
    """Returns the same by merging sets, link by link."""
    sets = [{thing} for thing in range(count)]
    for first, second in zip(a, b, strict=True):
        if sets[first] is not sets[second]:
            smaller, larger = sorted((sets[first], sets[second]), key=len)
            larger |= smaller
            for thing in smaller:
                sets[thing] = larger
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(id(each), len(numbers)) for each in sets], np.int32)


@pytest.mark.parametrize("seed", range(20))
def test_links_by_chance(seed: int) -> None:
    chance = np.random.default_rng(seed)
    count = int(chance.integers(1, 300))
    a, b = chance.integers(0, count, (2, int(chance.integers(0, 2 * count))))
    found = connected_components(a, b, count)
    assert found.dtype == np.int32 and np.array_equal(found, _by_merging(a, b, count))


def test_a_long_chain_in_any_order() -> None:
    order = np.random.default_rng(0).permutation(20_000)
    a, b = order[:-1], order[1:]
    assert not connected_components(a, b, len(order)).any()
    assert not connected_components(np.arange(len(a)), np.arange(1, len(order)), len(order)).any()
    halves = connected_components(np.delete(a, 9_999), np.delete(b, 9_999), len(order))
    assert np.array_equal(halves, _by_merging(np.delete(a, 9_999), np.delete(b, 9_999), len(order)))


def test_nothing_linked_and_nothing_there() -> None:
    none = np.zeros(0, np.int64)
    assert connected_components(none, none, 3).tolist() == [0, 1, 2] and connected_components(none, none, 0).shape == (
        0,
    )


def test_pieces_of_tets_and_nodes_without_any() -> None:
    tets = np.array([[4, 5, 6, 7], [7, 8, 9, 10], [0, 1, 2, 3]], np.int32)
    assert mesh_components(tets, 12).tolist() == [0] * 4 + [1] * 7 + [2]
