# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies on bodies, in small; what measures them, on shapes that are known. The long checks: validate_contact_*.py."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures import closed_surfaces as shapes
from fixtures.contact_scenes import pairs, pinched, stack
from fixtures.energy_measures import elastic_energy, energy
from fixtures.penetration_measures import DeepestEver, TetOverlap, deepest, depths
from fixtures.rigid_fit import away_from_rest
from fixtures.scenes import JELLY, Run, block, rotation
from sinew.solver.scene.scene import Scene
from validate_contact_fast import Pair, advance
from validate_contact_standing import middle

pytestmark = pytest.mark.slow


def test_a_vertex_in_a_ball_is_as_deep_as_it_is_below_its_surface():
    vertices, triangles = shapes.sphere(24)
    points = np.array([[0.0, 0.0, 0.0], [0.9, 0.0, 0.0], [1.1, 0.0, 0.0], [0.0, 3.0, 0.0]])
    assert depths(points, vertices, triangles) == pytest.approx([1.0, 0.1, 0.0, 0.0], abs=5e-3)
    other = vertices + [1.9, 0.0, 0.0]
    found, pair = deepest({"a": (vertices, triangles), "b": (other, triangles)}, {"a": 2.0, "b": 2.0})
    assert found == pytest.approx(0.05, abs=3e-3)
    assert pair in ("a in b", "b in a")


def test_energy_of_a_stretched_block_is_that_of_the_formula(tmp_path):
    run = Run(tmp_path, Scene((block((2, 2, 2)),)))
    x = run.state.x @ np.diag([1.1, 0.95, 1.0]) @ rotation([1, 2, 3], 2.0).T
    E, nu = JELLY.youngs_modulus, JELLY.poisson_ratio
    mu, lam = E / 2 / (1 + nu), E * nu / (1 + nu) / (1 - 2 * nu)
    assert elastic_energy(run.built.model, x) == pytest.approx(mu * (0.1**2 + 0.05**2) + 0.5 * lam * 0.05**2)
    run.state.v[:] = [2.0, 0.0, 0.0]
    assert energy(run) == pytest.approx(0.5 * 1000.0 * 4.0 + 9810.0 * 0.5)
    assert away_from_rest(run.state.x, x - 3.0) == pytest.approx(np.sqrt(0.05**2 + 0.025**2), rel=0.05)


def test_a_bar_bent_through_itself_overlaps_and_a_straight_one_does_not():
    body = block((30, 2, 2), (3.0, 0.2, 0.2))
    overlap, X = TetOverlap(body, 0.5), body.tet_nodes
    assert overlap.depth(X) == 0.0
    angle, radius = X[:, 0] * 2 * np.pi / 2.6, 2.6 / 2 / np.pi - (X[:, 1] - 0.1)
    ring = np.column_stack([radius * np.sin(angle), radius * np.cos(angle), X[:, 2]])
    assert overlap.depth(ring + np.c_[np.zeros((len(X), 2)), 0.5 * X[:, 0]]) == 0.0  # a coil
    assert overlap.depth(ring + np.c_[np.zeros((len(X), 2)), 0.03 * X[:, 0]]) == pytest.approx(0.08, abs=0.03)


def test_a_stack_of_three_stands(tmp_path):
    run = Run(tmp_path, stack(3))
    ever = DeepestEver(run)
    for _ in range(24):
        run.advance()
        ever.look(run)
    place = middle(run, 2)
    run.advance(24)
    assert ever.depth < 0.01, ever
    assert np.linalg.norm(middle(run, 2) - place) < 1e-4
    assert abs(place[2] - 0.25) < 1e-3
    assert np.linalg.norm(place[:2]) < 1e-3


@pytest.mark.parametrize(("start", "passes"), [(1.0, False), (0.0, True)], ids=["far", "through"])
def test_what_is_far_from_a_spinning_body_does_not_pass_it(tmp_path, start, passes):
    """As seen from a body that turns by 170 degrees, what is a metre away comes near on its chord."""
    run = Run(tmp_path, pairs(1, 100.0, (1.0e8, 1.0e9)))
    pair = Pair(run, 0)
    shapes = [at - at.mean(axis=0) for at in pair.start]
    across = np.cross(pair.way, [0.0, 0.0, 1.0])
    for i in range(4):
        turn = rotation(across, np.radians(170.0 * i)) if start else np.eye(3)
        run.state.x[pair.nodes[0]] = shapes[0] @ turn.T
        run.state.x[pair.nodes[1]] = shapes[1] + (start + 0.2 * i if start else 0.5 - 0.2 * i) * pair.way
        pair.follow(run)
    assert pair.seen[0] @ pair.way < 0.0  # it is beyond by then, as seen from there
    assert pair.has_passed == passes


def test_ten_fast_pairs_do_not_pass_through(tmp_path):
    run = Run(tmp_path, pairs(10, 100.0, (1.0e8, 1.0e9)))
    look_at = [Pair(run, i) for i in range(10)]
    for _ in range(8):
        advance(run, look_at)
        for pair in look_at:
            pair.look(run)
    assert not any(pair.has_passed for pair in look_at)
    assert max(pair.deepest for pair in look_at) < 0.05
    assert np.linalg.norm(run.state.v, axis=1).max() < 150.0


def test_what_was_pinched_takes_its_shape_again(tmp_path):
    scene, tracks = pinched(cells=4, E=1.0e5)
    run = Run(tmp_path, scene, **tracks)
    X = run.state.x.copy()
    for _ in range(108):
        run.advance()
        assert np.linalg.norm(run.state.v, axis=1).max() < 10.0
    assert away_from_rest(X, run.state.x) < 0.01
