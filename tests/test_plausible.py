# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts of pieces take for possible motions."""

from __future__ import annotations

import numpy as np

from sinew.solver.contact.plausible import FASTER, farthest, held_back


def test_nodes_that_go_too_far_end_on_their_way_and_others_stay():
    random = np.random.default_rng(1)
    start, way = random.normal(size=(2, 40, 3))
    way *= np.geomspace(1e-3, 1e3, 40)[:, None] / np.linalg.norm(way, axis=1)[:, None]
    ends = held_back(start, start + way, 0.5)
    far = np.linalg.norm(way, axis=1)
    slow = far <= 0.5
    assert slow.any() and not slow.all()
    assert (ends[slow] == (start + way)[slow]).all()
    moved = (ends - start)[~slow]
    assert np.allclose(np.linalg.norm(moved, axis=1), 0.5)
    assert np.allclose(moved * far[~slow, None], 0.5 * way[~slow])


def test_what_goes_as_it_can_is_not_touched():
    start = np.zeros((3, 3))
    x = start + 0.1
    assert held_back(start, x, 1.0) is x


def test_the_fastest_node_and_the_size_of_tets_say_how_far():
    start = np.zeros((2, 3))
    assert np.isclose(farthest(start, start + [[0.3, 0.0, 0.4], [0.1, 0.0, 0.0]], 0.02), 0.02 + FASTER * 0.5)
    assert farthest(np.zeros((0, 3)), np.zeros((0, 3)), 0.02) == 0.02
