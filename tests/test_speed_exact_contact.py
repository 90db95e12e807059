# SPDX-License-Identifier: GPL-3.0-or-later
"""The IPC code that Exact contact is compared with: it solves what it says, and keeps surfaces apart."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("ipctk")
pytest.importorskip("cvxopt", reason="make bench solves with it")

from sinew.solver.integrators.exact_contact.incremental_potential import AppliedForces, IncrementalPotential
from speed.baseline_ipctk import CholmodFactor, IpcSimulator
from speed.exact_contact import DT, GRAVITY, QUICK_FALL, TrayScene
from speed.jelly_tray import BASE, RIM, WALL, depth_in_tray


def test_cholmod_solves_matrices_of_changing_patterns() -> None:
    import scipy.sparse

    rng, factor = np.random.default_rng(0), CholmodFactor()
    for density in (0.1, 0.1, 0.4):
        half = scipy.sparse.random(30, 30, density, random_state=rng)
        A = (half @ half.T + scipy.sparse.eye(30)).tocsc()
        b = rng.normal(size=30)
        assert A @ factor.solve(A, b) == pytest.approx(b, abs=1e-9)


def test_points_outside_of_the_tray_have_a_depth() -> None:
    middle = 0.5 * (BASE + RIM)
    points = np.array([[0.0, 0.0, 0.01], [middle, 0.0, 0.5 * WALL - 1e-9]])
    assert depth_in_tray(points) < 1e-8
    assert depth_in_tray(points - [0.0, 0.0, 0.03]) == pytest.approx(0.02)
    assert depth_in_tray(points + [0.05, 0.0, 0.0]) == pytest.approx(0.05 * WALL / np.hypot(WALL, RIM - BASE))


@pytest.mark.slow
def test_the_peer_ends_steps_where_its_potential_is_least_and_keeps_jellies_apart() -> None:
    scene = TrayScene(QUICK_FALL)
    how, state = scene.options, scene.start.copy()
    peer = IpcSimulator(scene.surfaces, scene.model.node_count, how.barrier, how.tolerance)
    closest = np.inf
    for _ in range(QUICK_FALL.steps):
        potential = IncrementalPotential(scene.model, state, DT, scene.workspace, AppliedForces(GRAVITY))
        assert peer.step(state, potential, scene.motion.end).converged
        assert scene.count_intersections(state.x) == 0
        closest = min(closest, peer.least_distance(state.x, scene.motion.end))
    assert 0.0 < closest < how.barrier.gap, "something touches"
