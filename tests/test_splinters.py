# SPDX-License-Identifier: GPL-3.0-or-later
"""What breaks on the ground stays near it: nothing is thrown off faster than the body fell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.scenes import Run, block, rotation
from sinew.solver.scene.scene import Collider, Fracture, Material, Meshing, Plasticity, Scene, Settings

SPEED = 5.0


@pytest.mark.slow
def test_splinters_are_not_thrown_off(tmp_path: Path) -> None:
    turn = rotation((0.5, 0.4, 0.1), 0.64)
    body = block(
        (8, 8, 8),
        (2.0, 2.0, 2.0),
        (-1.0, -1.0, -1.0),
        turn=turn,
        material=Material(youngs_modulus=1.0e8, poisson_ratio=0.4, density=1250.0, stiffness_damping=0.005),
        fracture=Fracture(1.0e6, 8.0e4),
        plasticity=Plasticity(yield_strain=0.015, flow=5.0),
        initial_velocity=(0.0, 0.0, -SPEED),
    )
    lifted = [0.0, 0.0, 0.05 - body.vertices[:, 2].min()]
    body = replace(body, vertices=body.vertices + lifted, meshing=Meshing(tet_size=0.4), tet_nodes=None, tets=None)
    run = Run(tmp_path, Scene((body,), (Collider("ground", "Ground"),), Settings(frame_end=17)))
    fastest = 0.0
    for _ in range(16):
        run.advance()
        model = run.built.model
        first = np.asarray(model.pattern.island_start)[:-1]
        momentum = np.add.reduceat(model.mass[:, None] * run.state.v, first)
        speeds = np.linalg.norm(momentum, axis=1) / np.add.reduceat(model.mass, first)
        fastest = max(fastest, float(speeds.max()))
    assert run.reports[-1].bodies["block"]["pieces"] > 20
    assert fastest < 1.5 * SPEED, "they may turn and slip away, not be shot"
