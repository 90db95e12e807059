# SPDX-License-Identifier: GPL-3.0-or-later
"""MDMJC02's bunny and Great Dane: the demo scenes with a rigid core, and how long their steps and frames take."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from papers import mg04_demo_scenes
from sinew.solver.runtime.arrays import Floats
from sinew.solver.simulation.advance_frame import advance_frame, render_positions
from sinew.solver.simulation.simulation import Simulation

# file in demo_blends → bone tets, skin tets and triangles in the paper
SCENES = {"bunny_head": (276, 851, 5_000), "great_dane": (753, 1244, 5_000)}
TIME_STEP = 0.01  # [s]


@dataclass(frozen=True)
class SceneTimes:
    """What was measured of a scene.

    Attributes:
        core_tets, skin_tets, triangles: What it has.
        steps: Time of each step of 10 ms, solver alone, the fastest of equal runs [ms].
        draws: Time to move the triangles once a frame, the same [ms].
        iterations: Of the linear solver per step, on average.
    """

    core_tets: int
    skin_tets: int
    triangles: int
    steps: Floats
    draws: Floats
    iterations: float


def measure_scene(name: str, folder: Path, runs: int = 3, frames: int | None = None) -> SceneTimes:
    """Returns what a scene takes, exported into a folder; `frames` of it, or all."""
    first = _simulation(name, folder)
    settings = first.scene.settings
    last = settings.frame_end if frames is None else settings.frame_start + frames
    _run(first.copy(), min(settings.frame_start + 5, last))  # so that all is compiled
    found = [_run(first.copy(), last) for _ in range(runs)]
    core = sum(len(core.tets) for core in first.built.model.cores)
    return SceneTimes(
        core, first.built.model.tet_count - core, sum(len(body.triangles) for body in first.scene.bodies),
        np.min([steps for steps, _, _ in found], axis=0), np.min([draws for _, draws, _ in found], axis=0), found[0][2],
    )  # fmt: skip


def _simulation(name: str, folder: Path) -> Simulation:
    """Returns the scene as artists bake it: solved to its tolerance, not for so many iterations."""
    made = mg04_demo_scenes.demo_simulation(name, folder)
    settings = dataclasses.replace(made.scene.settings, tolerance=1.0e-4, max_iterations=400)
    made.scene = dataclasses.replace(made.scene, settings=settings)
    return made


def _run(simulated: Simulation, last: int) -> tuple[Floats, Floats, float]:
    """Returns how long each step and each drawing takes up to a frame [ms], and iterations per step."""
    steps, draws, iterations = [], [], 0
    substeps = simulated.scene.settings.substeps
    for frame in range(simulated.scene.settings.frame_start + 1, last + 1):
        began = time.perf_counter()
        iterations += advance_frame(simulated, frame, None).iterations
        stepped = time.perf_counter()
        render_positions(simulated.built, simulated.state)
        draws.append(1e3 * (time.perf_counter() - stepped))
        steps.append(1e3 * (stepped - began) / substeps)
    return np.array(steps), np.array(draws), iterations / (substeps * len(steps))
