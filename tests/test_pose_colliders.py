# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh that follows a pose, and colliders that deform or are switched on and off."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fixtures import closed_surfaces as shapes
from fixtures.flesh_scenes import limb
from fixtures.scenes import Run
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.scene import Body, Collider, Scene, Settings

FRAME = 1.0 / 24.0
SETTINGS = Settings(frame_end=6, substeps=1, gravity=(0.0, 0.0, 0.0))


def ball_beside(body: Body, radius: float) -> Collider:
    """Returns a ball that touches the middle of a limb from above."""
    low, high = body.vertices.min(axis=0), body.vertices.max(axis=0)
    vertices, triangles = shapes.sphere(12)
    middle = 0.5 * (low + high)
    centre = [middle[0], middle[1], high[2] + radius]
    return Collider("ball", "Ball", "mesh", radius * vertices + centre, triangles, friction=0.0)


def pressed_run(folder: Path, track: str, own: float = 0.0) -> tuple[Run, float, list[float]]:
    """Returns a run in which the ball comes down by a part of the limb's thickness in three frames, and how deep.

    `own` is what the limb keeps away [m].
    """
    body = limb(flesh=Flesh(law="neo-hookean"), collision=Collision(thickness=own))
    thickness = float(np.ptp(body.vertices[:, 2]))
    ball = ball_beside(body, 0.5 * thickness)
    down = [-0.2 * thickness * min(k / 3.0, 1.0) for k in range(6)]
    times = FRAME * np.arange(6)
    if track == "vertices":
        told = {"collider__ball__vertices": (times, np.array([ball.vertices + [0.0, 0.0, z] for z in down]))}
    else:
        matrices = np.tile(np.eye(4), (6, 1, 1))
        matrices[:, 2, 3] = down
        told = {"collider__ball__matrix": (times, matrices, "rigid")}
    still = np.tile(body.vertices[body.pinned], (2, 1, 1))
    told["body__limb__targets"] = ([0.0, 1.0], still)
    if track == "switched":
        told["collider__ball__active"] = (times, [1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    run = Run(folder, Scene((body,), (ball,), SETTINGS), **told)
    run.simulation.start()
    return run, thickness, down


def depth(run: Run, thickness: float, z: float) -> float:
    """Returns how deep the limb is in the ball that has come down by z [m]."""
    ball = run.scene.colliders[0]
    centre = ball.vertices.mean(axis=0) + [0.0, 0.0, z]
    return 0.5 * thickness - float(np.linalg.norm(run.render["limb"] - centre, axis=1).min())


@pytest.mark.parametrize("track", ["matrix", "vertices"])
def test_a_ball_presses_flesh_in_whether_it_deforms_or_not(tmp_path, track):
    run, thickness, down = pressed_run(tmp_path, track)
    run.advance(4)
    assert run.reports[-1].contacts > 0 and run.reports[-1].converged
    assert depth(run, thickness, down[4]) < 0.04 * thickness
    moved = run.state.x - run.built.model.X
    assert moved[:, 2].min() < -0.1 * thickness


def test_both_come_to_the_same(tmp_path):
    ends = []
    for track in ("matrix", "vertices"):
        run, _, _ = pressed_run(tmp_path / track, track)
        ends.append(run.advance(3))
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


def test_what_is_switched_off_lets_go(tmp_path):
    run, thickness, _ = pressed_run(tmp_path, "switched")
    run.advance(3)
    assert run.reports[-1].contacts > 0
    run.advance(1)
    assert run.reports[-1].contacts == 0
    assert np.abs(run.state.x - run.built.model.X).max() < 0.01 * thickness


@pytest.mark.parametrize("track", ["matrix", "vertices"])
def test_flesh_keeps_its_own_thickness_from_colliders(tmp_path: Path, track: str) -> None:
    left = []
    for own in (0.0, 0.03):
        run, thickness, down = pressed_run(tmp_path / str(own), track, own)
        run.advance(4)
        left.append(-depth(run, thickness, down[4]))
    assert left[1] - left[0] == pytest.approx(0.03, abs=0.004)
    assert left[1] > 0.02
