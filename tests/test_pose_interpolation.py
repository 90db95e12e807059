# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies on flesh that follows a pose is carried by it, between samples too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fixtures.bone_scenes import limb, rod
from fixtures.scenes import Run, block, pose
from sinew.solver.scene.flesh import Bone, Flesh
from sinew.solver.scene.scene import Material, Scene, Settings

LIFT = 0.15  # of the bone, per frame [m]
FRAMES = 16


@pytest.mark.parametrize("tracked", [True, False])
def test_a_box_rides_on_a_limb_that_rises(tmp_path: Path, tracked: bool):
    arm = limb((12, 3, 3), flesh=Flesh(self_contact=False), material=Material(1.0e5, 0.3))
    box = block((3, 3, 3), (0.6, 0.6, 0.6), at=(1.7, 0.2, 1.01), key="box", material=Material(1.0e5, 0.3, 500.0))
    times = np.arange(FRAMES + 1) / 24.0
    # it rises from the third frame on, by three tets in the time that a step takes to a sample
    lifts = LIFT * np.maximum(np.arange(FRAMES + 1) - 3, 0)
    matrices = np.array([pose(None, [0.0, 0.0, lift if tracked else 0.0]) for lift in lifts])
    scene = Scene((arm, box), settings=Settings(frame_end=FRAMES + 1), bones=(Bone("rod", "Rod", *rod(0.2, 3.8)),))
    run = Run(tmp_path, scene, bone__rod__matrix=(times, matrices, "rigid"))
    deepest = 0.0
    for _ in range(FRAMES):
        run.advance()
        top = run.render["limb"][:, 2].max()
        deepest = max(deepest, top - run.render["box"][:, 2].min())
        assert run.reports[-1].poses_not_converged == 0
    assert deepest < 0.05
    nodes = run.built.flesh.quasistatic.part.nodes
    rise = LIFT if tracked else 0.0
    np.testing.assert_allclose(run.state.v[nodes].mean(axis=0), [0.0, 0.0, 24.0 * rise], atol=0.05)
