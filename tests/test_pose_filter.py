# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh that follows a pose passes through what it is to ignore: colliders, and other flesh."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.flesh_scenes import limb
from fixtures.scenes import Run
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.scene import Scene
from test_pose_colliders import FRAME, SETTINGS, ball_beside


def flesh(key: str, move: tuple[float, float, float]):
    """Returns a limb that may be elsewhere."""
    body = limb(flesh=Flesh(law="neo-hookean"))
    return replace(body, key=key, name=key, vertices=body.vertices + move, tet_nodes=body.tet_nodes + move)


def pressed(folder, ignored, *, deforms: bool) -> tuple[Run, dict[str, float]]:
    """Returns how far two limbs are moved at most by a ball that presses both from above, in thicknesses."""
    near = flesh("near", (0.0, 0.0, 0.0))
    width, thickness = (float(np.ptp(near.vertices[:, axis])) for axis in (1, 2))
    far = flesh("far", (0.0, 1.1 * width, 0.0))
    ball = ball_beside(near, 2.0 * width)
    ball = replace(ball, vertices=ball.vertices + [0.0, 0.55 * width, 0.0])
    down = np.array([0.0, -0.15, -0.3, -0.3]) * thickness
    times = FRAME * np.arange(4)
    if deforms:
        told = {"collider__ball__vertices": (times, np.array([ball.vertices + [0.0, 0.0, z] for z in down]))}
    else:
        matrices = np.tile(np.eye(4), (4, 1, 1))
        matrices[:, 2, 3] = down
        told = {"collider__ball__matrix": (times, matrices, "rigid")}
    for body in (near, far):
        told[f"body__{body.key}__targets"] = ([0.0, 1.0], np.tile(body.vertices[body.pinned], (2, 1, 1)))
    run = Run(folder, Scene((near, far), (ball,), SETTINGS, ignored_pairs=ignored), **told)
    run.simulation.start()
    run.advance(3)
    moved = np.linalg.norm(run.state.x - run.built.model.X, axis=1)
    return run, {body.key: float(moved[body.range.nodes].max()) / thickness for body in run.built.bodies}


@pytest.mark.parametrize("deforms", [False, True])
def test_only_flesh_that_feels_a_collider_is_pressed(tmp_path, deforms):
    _, both = pressed(tmp_path / "both", (), deforms=deforms)
    assert min(both.values()) > 0.05
    _, one = pressed(tmp_path / "one", (("ball", "far"),), deforms=deforms)
    assert one["near"] > 0.05 and one["far"] < 1e-6


def test_flesh_passes_through_flesh_that_it_ignores(tmp_path):
    low = flesh("low", (0.0, 0.0, 0.0))
    thickness = float(np.ptp(low.vertices[:, 2]))
    high = flesh("high", (0.0, 0.0, 1.02 * thickness))
    contacts = {}
    for name, ignored in (("felt", ()), ("ignored", (("low", "high"),))):
        down = [high.vertices[high.pinned] - [0.0, 0.0, z * thickness] for z in (0.0, 0.15, 0.15)]
        told = {
            "body__low__targets": ([0.0, 1.0], np.tile(low.vertices[low.pinned], (2, 1, 1))),
            "body__high__targets": (FRAME * np.arange(3), np.array(down)),
        }
        run = Run(tmp_path / name, Scene((low, high), (), SETTINGS, ignored_pairs=ignored), **told)
        run.simulation.start()
        run.advance(2)
        contacts[name] = run.reports[-1].contacts
    assert contacts["felt"] > 0 and contacts["ignored"] == 0
