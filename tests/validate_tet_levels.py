# SPDX-License-Identifier: GPL-3.0-or-later
"""Adaptive tets that change their sizes while a collider presses an arm, against even ones: `make validate`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.adaptive_shapes import arm
from fixtures.claim_table import reach
from fixtures.closed_surfaces import sphere
from fixtures.scenes import Run
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.meshing import Meshing
from sinew.solver.scene.scene import Body, Material, Scene, Settings

SECTION = "Adaptive tets that change their sizes"
FRAMES, DIVISIONS = 36, 56  # pressed for 24; the arm swings freely afterwards
MAX_ERROR, MAX_TETS, MAX_TIME = 0.05, 0.30, 0.5
SKIN = Material(youngs_modulus=1.0e6, poisson_ratio=0.35, density=1000.0, stiffness_damping=0.02)


def pressed_arm(folder: Path, method: str, **more: Any) -> Run:
    """Returns an arm held at its shoulder, into which a ball is pressed from above, and lifted again."""
    vertices, triangles = arm()
    held = np.flatnonzero(vertices[:, 0] < 0.3).astype(np.int32)
    meshing = Meshing(method, divisions=DIVISIONS, **more)
    body = Body(vertices, triangles, SKIN, meshing, pinned=held, key="arm", name="Arm")
    places, faces = sphere(12)
    ball = Collider("ball", "Ball", shape="mesh", vertices=0.4 * places, triangles=faces)
    times = np.linspace(0.0, 2.0, 97)
    poses = np.tile(np.eye(4), (len(times), 1, 1))
    poses[:, :3, 3] = [2.6, 0.0, 1.6]
    poses[:, 2, 3] -= 1.28 * np.sin(np.pi * np.minimum(times, 1.0))
    scene = Scene((body,), (ball,), Settings(frame_end=FRAMES + 1))
    return Run(folder, scene, collider__ball__matrix=(times, poses))


@pytest.mark.timed
def test_a_pressed_arm_against_even_tets(tmp_path: Path) -> None:
    runs = {
        "even": pressed_arm(tmp_path / "even", "robust"),
        "switched": pressed_arm(tmp_path / "switched", "adaptive", switches_levels=True),
    }
    rest = runs["even"].scene.bodies[0].vertices
    shapes: dict[str, list[Floats]] = {kind: [] for kind in runs}
    seconds, counts = dict.fromkeys(runs, 0.0), dict.fromkeys(runs, 0.0)
    for frame in range(FRAMES):
        for kind, run in runs.items():  # in turns, so that what else the machine does falls on both
            begin = time.process_time()
            shapes[kind].append(run.advance().copy())
            seconds[kind] += time.process_time() - begin if frame else 0.0  # the first frame compiles
            counts[kind] += run.built.model.tet_count / FRAMES
    even, own = (np.array(shapes[kind]) for kind in ("even", "switched"))
    error = float(np.linalg.norm(own - even) / np.linalg.norm(even - rest))
    share, ratio = counts["switched"] / counts["even"], seconds["switched"] / seconds["even"]
    found = [
        reach(SECTION, "pressed arm: off even tets, of the deformation (rms)", error, MAX_ERROR, error <= MAX_ERROR),
        reach(SECTION, f"tets on average, of {counts['even']:,.0f} even ones", share, MAX_TETS, share <= MAX_TETS),
        reach(SECTION, "time of all steps and switches, of that with even ones", ratio, MAX_TIME, ratio <= MAX_TIME),
    ]
    assert all(found)
