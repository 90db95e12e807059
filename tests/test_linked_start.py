# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the solve of a pose begins: flesh goes along with the colliders that its surface is linked to.

A muscle from a bone that stays to one that turns about the muscle's own origin, linked to a plate that turns, too.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.muscle_scenes import BELLY, LONG, fusiform_muscle
from fixtures.scenes import Run, block, pose, rotation
from fixtures.sliding_scenes import attachments_of, muscle_scene
from sinew.solver.constraints.force import ForceStep
from sinew.solver.mechanics.model import Model
from sinew.solver.quasistatic.blended_rigid_motions import blend_rigid_motions
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.runtime.arrays import Bools, Floats
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.scene import Collider
from sinew.solver.simulation.flesh import pose_equilibrium
from sinew.solver.simulation.flesh.linked_start import MovedLinks, moved_links, start_along_links

FPS, FRAMES = 24.0, 3
TURN = rotation((0.0, 1.0, 0.0), np.radians(4.0))  # in each frame


def turned_muscle(folder: Path) -> Run:
    shape = block((1, 1, 4), (0.02, 0.06, 0.18), at=(BELLY + 0.001, -0.03, 0.07))
    plate = Collider("plate", "Plate", "mesh", vertices=shape.vertices, triangles=shape.triangles)
    empty = np.zeros(0, np.int32)
    muscle = replace(fusiform_muscle(divisions=18), pinned=empty, pin_weights=np.zeros(0),
                     attachments=(Attachment("plate", "sliding", 0.02),))  # fmt: skip
    scene = replace(muscle_scene([muscle], FRAMES, gravity=(0.0, 0.0, 0.0)), colliders=(plate,))
    turns = [pose(np.linalg.matrix_power(TURN, frame)) for frame in range(FRAMES)]
    times = np.arange(FRAMES, dtype=np.float64) / FPS
    tracks = {name: (times, np.array(turns)) for name in ("bone__lower__matrix", "collider__plate__matrix")}
    return Run(folder, scene, **tracks)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return turned_muscle(tmp_path)


def links_at(run: Run, before: float, now: float) -> list[MovedLinks]:
    step = ForceStep(run.built.model, run.state, run.tracks, now, now, is_static=True)
    return moved_links([attachments_of(run).surface_potential(step)], run.tracks, before)


def ends(run: Run) -> tuple[Bools, Bools]:
    """Returns which nodes are in the origin and in the insertion, (n,) each."""
    z = run.built.model.X[:, 2]
    return z < 0.03 * LONG, z > 0.97 * LONG


def held(run: Run, there: Floats, which: Bools) -> FixedNodes:
    nodes = np.flatnonzero(np.logical_or(*ends(run))).astype(np.int32)
    return FixedNodes(nodes, np.where(which[:, None], there, run.built.model.X)[nodes])


def test_a_belly_goes_with_the_bone_beside_it(run: Run) -> None:
    model, (links,) = run.built.model, links_at(run, 0.0, 1.0 / FPS)
    fixed = held(run, model.X @ TURN.T, ends(run)[1])
    points = links.links.links.points(model.X, model.tets) @ TURN.T
    starts = blend_rigid_motions(model, model.X, fixed), start_along_links(model, model.X, fixed, [links])
    lags = [np.linalg.norm(links.links.links.points(start, model.tets) - points, axis=1) for start in starts]
    assert len(points) > 50 and lags[0].max() > 0.005 and lags[1].max() < 0.2 * lags[0].max()
    np.testing.assert_array_equal(starts[1][fixed.nodes], fixed.positions)
    assert not pose_equilibrium._is_inverted(model, starts[1]).any()


def test_where_all_turns_the_start_is_a_rigid_motion(run: Run) -> None:
    model, moved = run.built.model, links_at(run, 0.0, 1.0 / FPS)
    there = model.X @ TURN.T
    fixed = held(run, there, np.ones(len(there), bool))
    np.testing.assert_allclose(start_along_links(model, model.X, fixed, moved), there, atol=1e-9 * LONG)


def test_points_turn_with_the_triangles_beside_them(run: Run) -> None:
    (links,) = links_at(run, 0.0, 1.0 / FPS)
    points = np.random.default_rng(0).uniform(-0.1, 0.3, (50, 3))
    np.testing.assert_allclose(links.carried_points(points), points @ TURN.T, atol=1e-12)


def test_nothing_begins_elsewhere_where_no_link_moves(run: Run) -> None:
    model, still = run.built.model, links_at(run, 0.0, 0.0)
    assert len(still) == 1 and not still[0].has_moved
    fixed = held(run, model.X @ TURN.T, ends(run)[1])
    assert start_along_links(model, model.X, fixed, still) is model.X
    points = np.ones((2, 3))
    assert still[0].carried_points(points) is points


def test_links_that_would_turn_tets_inside_out_do_not_count(run: Run) -> None:
    model, (links,) = run.built.model, links_at(run, 0.0, 1.0 / FPS)
    far = replace(links, before=links.before - [0.5, 0.0, 0.0])
    fixed = held(run, model.X, ends(run)[1])
    assert start_along_links(model, model.X, fixed, [far]) is model.X


@pytest.mark.slow
def test_a_solve_begins_nearer_to_the_same_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With links, and without: these say where the solve begins, not where it ends."""
    rests, ways = [], []

    def begin(model: Model, x: Floats, fixed: FixedNodes, moved: list[MovedLinks]) -> Floats:
        begins.append(start_along_links(model, x, fixed, moved if has_links else []))
        blended.append(blend_rigid_motions(model, begins[-1], fixed))
        return begins[-1]

    monkeypatch.setattr(pose_equilibrium, "start_along_links", begin)
    for has_links in (True, False):
        begins, blended = [], []
        run = turned_muscle(tmp_path / str(has_links))
        run.advance(FRAMES - 1)
        assert len(begins) == FRAMES and not any(report.poses_not_converged for report in run.reports)
        rests.append(run.state.x.copy())
        ways.append(np.linalg.norm(blended[-1] - run.state.x, axis=1).max())
    assert ways[0] < 0.5 * ways[1]
    assert np.linalg.norm(rests[0] - rests[1], axis=1).max() < 0.002 * LONG
