# SPDX-License-Identifier: GPL-3.0-or-later
"""Where nodes go when those that are fixed move: along with the blended rigid motions of groups of fixed nodes."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures import quasistatic_scenes as scenes
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import energy, hyperelastic, tet_arrays
from sinew.solver.quasistatic.blended_rigid_motions import MAX_GROUPS, blend_rigid_motions
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.runtime.arrays import Floats


def turn(degrees: float) -> Floats:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])


def test_a_rigid_motion_of_all_fixed_nodes_moves_the_body_rigidly():
    model = scenes.bar_model()
    ends = scenes.ends(model.X)
    there = model.X @ turn(70.0).T + [40.0, 0.0, -3.0]  # far away: weights of a sum other than 1 would show
    moved = blend_rigid_motions(model, model.X, FixedNodes(ends.nodes, there[ends.nodes]))
    np.testing.assert_allclose(moved, there, atol=1e-12 * 40.0)


def test_flesh_near_a_bone_turns_with_it():
    model = scenes.bar_model()
    ends, X = scenes.ends(model.X), model.X
    is_far = X[:, 0] > X[:, 0].mean()
    hinge = np.array([X[:, 0].mean(), 0.0, 0.0])
    turned = (X - hinge) @ turn(50.0).T + hinge
    fixed = FixedNodes(ends.nodes, np.where(is_far[ends.nodes, None], turned[ends.nodes], X[ends.nodes]))
    moved, jumped = blend_rigid_motions(model, X, fixed), X.copy()
    jumped[fixed.nodes] = fixed.positions
    law, work = hyperelastic(model), tet_arrays(model.pattern)
    assert energy(model, law, jumped, work).inverted > 0 == energy(model, law, moved, work).inverted
    # a linear extension of the same motion shrinks what turns; here the last tenth keeps its shape to 15 %
    near = X[:, 0] > X[:, 0].max() - 0.1 * np.ptp(X[:, 0])
    length = np.linalg.norm(moved[near] - moved[near].mean(axis=0), axis=1).max()
    assert length == pytest.approx(np.linalg.norm(X[near] - X[near].mean(axis=0), axis=1).max(), rel=0.15)


def test_what_is_not_rigid_in_a_group_is_extended():
    model = scenes.bar_model()
    X, ends = model.X, scenes.ends(model.X)
    spread = X * [1.0, 1.2, 1.0]  # affine: harmonic, and exact where nothing else is given
    moved = blend_rigid_motions(model, X, FixedNodes(ends.nodes, spread[ends.nodes]))
    inner = np.abs(moved - X)[np.setdiff1d(np.arange(len(X), dtype=np.int64), ends.nodes)]
    assert np.array_equal(moved[ends.nodes], spread[ends.nodes]) and 0.0 < inner.max() <= np.abs(spread - X).max()


def test_pieces_without_fixed_nodes_and_bodies_at_rest_stay():
    model = scenes.bar_model()
    none = FixedNodes(np.zeros(0, np.int32), np.zeros((0, 3)))
    assert np.array_equal(blend_rigid_motions(model, model.X, none), model.X)
    ends = scenes.ends(model.X)
    still = FixedNodes(ends.nodes, model.X[ends.nodes])
    assert np.array_equal(blend_rigid_motions(model, model.X, still), model.X)


def test_too_many_groups_count_as_one():
    model = scenes.bar_model((16, 6, 6))
    apart = []  # nodes of which no two share an edge
    for node in range(model.node_count):
        if not np.isin(
            model.pattern.column[model.pattern.row_start[node] : model.pattern.row_start[node + 1]], apart
        ).any():
            apart.append(node)
    nodes = np.array(apart, np.int32)
    assert len(nodes) > MAX_GROUPS
    there = model.X @ turn(30.0).T
    moved = blend_rigid_motions(model, model.X, FixedNodes(nodes, there[nodes]))
    np.testing.assert_allclose(moved, there, atol=1e-8)  # 1e-9 is what decides turns that nodes leave open
