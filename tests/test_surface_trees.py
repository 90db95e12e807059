# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of pieces of surfaces: every triangle is in one slot, and no tree depends on the pieces beside it."""

from __future__ import annotations

import numpy as np
import pytest

from sinew.solver.contact.surfaces.surface_trees import LEAF_SIZE, SurfaceTrees, make_trees

COUNTS = (12, 0, 1, 4, 5, 40, 12, 0, 9)  # triangles of pieces


def soup() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns vertices, triangles of pieces in a mixed order, and their pieces."""
    rng = np.random.default_rng(0)
    piece = np.repeat(np.arange(len(COUNTS), dtype=np.int32), COUNTS)
    rng.shuffle(piece)
    return rng.normal(size=(60, 3)), rng.integers(0, 60, (len(piece), 3)).astype(np.int32), piece


def slots_of(trees: SurfaceTrees, piece: int) -> np.ndarray:
    first, last = 2 * trees.start[piece : piece + 2]
    return trees.slot_triangle[first:last].reshape(-1, LEAF_SIZE)


def test_every_triangle_is_in_one_slot_of_its_piece():
    vertices, triangles, piece = soup()
    trees = make_trees(vertices, triangles, piece, len(COUNTS))
    for number in range(len(COUNTS)):
        slots = slots_of(trees, number)
        filled = slots[slots >= 0]
        assert sorted(filled.tolist()) == np.flatnonzero(piece == number).tolist(), number
        sizes = (slots >= 0).sum(axis=1)
        assert sizes.max() - sizes.min() <= 1, number  # halves have equally many


@pytest.mark.parametrize("number", [0, 4, 5, 6])
def test_a_tree_is_the_one_of_its_piece_alone(number):
    vertices, triangles, piece = soup()
    own = np.flatnonzero(piece == number)
    alone = slots_of(make_trees(vertices, triangles[own], np.zeros(len(own), np.int32), 1), 0)
    expected = np.where(alone >= 0, np.append(own, -1)[alone], -1)
    np.testing.assert_array_equal(slots_of(make_trees(vertices, triangles, piece, len(COUNTS)), number), expected)


def test_halves_lie_beside_each_other_along_the_longest_side():
    corners = np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]])
    places = np.array([5, 2, 7, 0, 3, 6, 1, 4])
    vertices = np.concatenate([np.column_stack([corners + [3.0 * k, 0.0], np.zeros(3)]) for k in places])
    triangles = np.arange(24, dtype=np.int32).reshape(8, 3)
    slots = slots_of(make_trees(vertices, triangles, np.zeros(8, np.int32), 1), 0)
    assert [sorted(places[row].tolist()) for row in slots] == [[0, 1, 2, 3], [4, 5, 6, 7]]
