# SPDX-License-Identifier: GPL-3.0-or-later
"""A soft body with a fine mesh that sinks onto the ground: how often its steps are solved."""

from __future__ import annotations

from dataclasses import replace

from sinew.solver.mesh.shapes import sphere
from sinew.solver.scene.material_presets import find_preset
from sinew.solver.scene.scene import Body, Collider, Meshing, Scene, Settings
from sinew.solver.simulation.simulation import Simulation

STEPS = 30
# up to 40 when falling counted as energy from nothing, and wrong forces were halved after five solves
MAX_SOLVES_PER_STEP = 12


def test_steps_in_which_a_jelly_comes_to_lie_are_solved_a_few_times() -> None:
    vertices, triangles = sphere(0.15, 64, (0.0, 0.0, 0.15))
    body = Body(vertices, triangles, find_preset("jelly").material, Meshing("smooth", divisions=10), "body", "Body")
    settings = replace(Settings(), fps=60.0, substeps=1)
    simulation = Simulation(Scene((body,), (Collider("ground", "Ground"),), settings))
    solves = [simulation.advance().report.solves for _ in range(STEPS)]
    assert max(solves) <= MAX_SOLVES_PER_STEP
