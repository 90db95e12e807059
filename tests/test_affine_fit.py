# SPDX-License-Identifier: GPL-3.0-or-later
"""Pin regions whose targets move affinely: the short way gives what the long way gives."""

import numpy as np
import pytest

import sinew.solver.constraints.pin_regions as pin_regions
from fixtures.scenes import rotation
from fixtures.tet_meshes import bar
from sinew.solver.mesh.embedding import bind


def region(flat):
    nodes, tets = bar((3, 3, 3), (1.0, 1.0, 1.0))
    rng = np.random.default_rng(0)
    vertices = rng.uniform(0.1, 0.9, (60, 3)) * [1.0, 1.0, 0.0 if flat else 1.0] + [0.0, 0.0, 0.2]
    bound = bind(nodes, tets, vertices)
    rows = np.arange(60, dtype=np.int32)
    made = pin_regions.make_region(nodes, tets, vertices, rows, bound.tet, bound.weights, 1.0 / 3.0)
    return made, vertices, nodes[made.nodes]


@pytest.mark.parametrize("flat", [False, True])
def test_nodes_follow_an_affine_motion_the_short_way(flat, monkeypatch):
    held, vertices, nodes = region(flat)
    turn, move = rotation((1, 2, 3), 1.1), np.array([0.3, -2.0, 5.0])
    for stretch in (np.eye(3), np.diag([1.3, 0.8, 1.0])):
        F = turn @ stretch
        targets = vertices @ F.T + move
        short = held.node_targets(targets)
        if not flat:
            np.testing.assert_allclose(short, nodes @ F.T + move, atol=1e-12)
        with monkeypatch.context() as patched:
            patched.setattr(pin_regions, "apply_affine_fit", lambda *_: False)
            np.testing.assert_allclose(short, held.node_targets(targets), atol=1e-9)


def test_bent_targets_take_the_long_way(monkeypatch):
    held, vertices, _ = region(False)
    said = []
    short_way = pin_regions.apply_affine_fit
    monkeypatch.setattr(pin_regions, "apply_affine_fit", lambda *a: said.append(short_way(*a)) or said[-1])
    held.node_targets(vertices + 0.01 * vertices[:, [0]] ** 2)
    held.node_targets(vertices * [1.0, 1.0, 1e-3])
    held.node_targets(vertices * 2.0)
    assert said == [False, False, True]
