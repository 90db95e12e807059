# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo scenes of MG04's table 1, as Blender's module exports them, and their steps of 10 ms."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from harness.demo_scenes import demo_script, export_open_file
from sinew.solver.scene.scene import JACOBI
from sinew.solver.simulation.advance_frame import advance_step
from sinew.solver.simulation.simulation import Simulation

DT = 0.01
ITERATIONS = 20
# file in demo_blends → tets and triangles of the paper's table
PAPER_TABLE_1 = {"snake": (440, 22_000), "wax_cow": (970, 5_800), "dragon": (834, 10_000)}


def demo_simulation(name: str, folder: Path) -> Simulation:
    """Returns a demo scene, exported into a folder and built, with the paper's number of iterations."""
    demo_script(name).build()
    scene, tracks = export_open_file(folder)
    assert np.isclose(scene.settings.substeps * scene.settings.fps, 1.0 / DT)
    simulated = Simulation(scene, tracks)
    # no residual is small enough to stop before
    settings = dataclasses.replace(scene.settings, tolerance=0.0, max_iterations=ITERATIONS, linear_solver=JACOBI)
    simulated.scene = dataclasses.replace(scene, settings=settings)
    return simulated


def rendered_triangle_count() -> int:
    """Returns how many triangles the bodies of the open file have when they are rendered, with all their modifiers."""
    import bpy

    depsgraph, count = bpy.context.evaluated_depsgraph_get(), 0
    for obj in bpy.context.scene.objects:
        if obj.type == "MESH" and obj.sinew.role == "BODY":
            mesh = obj.evaluated_get(depsgraph).to_mesh()
            mesh.calc_loop_triangles()
            count += len(mesh.loop_triangles)
    return count


def timed_steps(simulated: Simulation) -> Iterator[float]:
    """Moves it through all its frames, and yields how long each step took [ms]."""
    settings = simulated.scene.settings
    for number in range((settings.frame_end - settings.frame_start) * settings.substeps):
        began = time.perf_counter()
        advance_step(simulated, number * DT, (number + 1) * DT)
        yield 1e3 * (time.perf_counter() - began)
