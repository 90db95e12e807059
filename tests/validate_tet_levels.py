# SPDX-License-Identifier: GPL-3.0-or-later
"""Adaptive tets that change their sizes: pressed against even ones, and what a ball that bounces keeps.

`make validate`
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.adaptive_shapes import arm, monkey
from fixtures.claim_table import reach
from fixtures.closed_surfaces import sphere
from fixtures.scenes import Run
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.contact import Collider, Collision
from sinew.solver.scene.meshing import Meshing
from sinew.solver.scene.scene import Body, Material, Scene, Settings
from sinew.solver.simulation.dynamic_refinement import split_criteria
from sinew.solver.simulation.dynamic_refinement.elastic_energy import elastic_body, tet_energies
from sinew.solver.simulation.dynamic_refinement.switch_levels import switch_levels
from sinew.solver.simulation.simulated_scene import SimulatedScene

SECTION = "Adaptive tets that change their sizes"
FRAMES = 36  # pressed for 24; what is pressed swings freely afterwards
MAX_ERROR, MAX_TETS, MAX_TIME = 0.05, 0.30, 0.5
SKIN = Material(youngs_modulus=1.0e6, poisson_ratio=0.35, density=1000.0, stiffness_damping=0.02)


def pressed(folder: Path, name: str, method: str, **more: Any) -> Run:
    """Returns an arm held at its shoulder, or a head held at its back, into which a ball is pressed and taken away."""
    vertices, triangles = arm() if name == "arm" else monkey()
    is_held = vertices[:, 0] < 0.3 if name == "arm" else vertices[:, 1] > 0.5
    meshing = Meshing(method, divisions=56 if name == "arm" else 48, **more)
    held = np.flatnonzero(is_held).astype(np.int32)
    body = Body(vertices, triangles, SKIN, meshing, pinned=held, key="body", name=name)
    places, faces = sphere(12)
    ball = Collider("ball", "Ball", shape="mesh", vertices=0.4 * places, triangles=faces)
    times = np.linspace(0.0, 2.0, 97)
    poses = np.tile(np.eye(4), (len(times), 1, 1))
    start, way = ([2.6, 0.0, 1.6], [0.0, 0.0, -1.28]) if name == "arm" else ([0.0, -1.5, 0.0], [0.0, 0.5, 0.0])
    poses[:, :3, 3] = start + np.sin(np.pi * np.minimum(times, 1.0))[:, None] * np.array(way)
    scene = Scene((body,), (ball,), Settings(frame_end=100))
    return Run(folder, scene, collider__ball__matrix=(times, poses))


@pytest.mark.timed
@pytest.mark.parametrize("name", ["arm", "Suzanne"])
def test_pressed_by_a_ball_against_even_tets(name: str, tmp_path: Path) -> None:
    runs = {
        "even": pressed(tmp_path / "even", name, "robust"),
        "switched": pressed(tmp_path / "switched", name, "adaptive", refines_dynamically=True),
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
    start, count = f"{name}, pressed", f"{counts['even']:,.0f}"
    found = [
        reach(SECTION, f"{start}: off even tets, of the deformation (rms)", error, MAX_ERROR, error <= MAX_ERROR),
        reach(SECTION, f"{start}: tets on average, of {count} even ones", share, MAX_TETS, share <= MAX_TETS),
        reach(SECTION, f"{start}: time with switches, of that of even ones", ratio, MAX_TIME, ratio <= MAX_TIME),
    ]
    assert all(found)


def momenta(simulation: SimulatedScene) -> Floats:
    """Returns momentum and angular momentum, (6,)."""
    mass, x, v = simulation.built.model.mass, simulation.state.x, simulation.state.v
    return np.concatenate([mass @ v, mass @ np.cross(x, v)])


def energy(simulation: SimulatedScene) -> float:
    """Returns the kinetic and elastic energy of the only body [J]."""
    built, state = simulation.built, simulation.state
    leaves = built.levels[0].leaves
    stored = tet_energies(elastic_body(built.model, 0), leaves, np.arange(len(leaves.cell), dtype=np.int64), state.x)
    return float(stored.sum() + 0.5 * built.model.mass @ (state.v**2).sum(axis=1))


def test_a_ball_that_bounces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It slides on the ground without friction or damping, turns, swings, and flies on."""
    soft = Material(youngs_modulus=3.0e4, poisson_ratio=0.3, density=1000.0)
    places, faces = sphere(12)
    body = Body(places + [0.0, 0.0, 1.5], faces, soft, Meshing("adaptive", divisions=10, refines_dynamically=True))
    body = replace(body, collision=Collision(friction=0.0), initial_velocity=(1.0, 0.0, -3.0))
    body = replace(body, initial_spin=(0.5, 1.0, 0.0))
    settings = Settings(frame_end=100, gravity=(0.0, 0.0, -2.0), tolerance=1e-10)
    run = Run(tmp_path, Scene((body,), (Collider("ground", "Ground"),), settings))
    counts, totals, lost, gained = [run.built.model.tet_count], [], [0.0], [0.0]

    def watched(simulation: SimulatedScene, wanted: Any) -> None:
        was, before, stored = simulation.built, momenta(simulation), energy(simulation)
        switch_levels(simulation, wanted)
        if simulation.built is not was:
            counts.append(simulation.built.model.tet_count)
            change = np.abs(momenta(simulation) - before).reshape(2, 3).max(axis=1)
            lost.append(float((change / np.abs(before).reshape(2, 3).max(axis=1)).max()))
            gained.append(energy(simulation) / stored - 1.0)

    monkeypatch.setattr(split_criteria, "switch_levels", watched)
    for _ in range(80):
        run.advance()
        height = run.built.model.mass @ run.state.x[:, 2]
        totals.append(energy(run.simulation) + 2.0 * float(height))
    assert len(counts) > 5 and (np.diff(counts) < 0).any() and (np.diff(counts) > 0).any()
    steps, start = float(np.diff(totals).max() / totals[0]), f"{len(counts) - 1} switches of a ball that bounces"
    found = [
        reach(SECTION, f"{start}: momenta that they change, at most", max(lost), 1e-9, max(lost) <= 1e-9),
        reach(SECTION, f"{start}: energy that they bring, at most", max(gained), 1e-12, max(gained) <= 1e-12),
        reach(SECTION, "energy that any frame of 80 brings, at most", steps, 1e-6, steps <= 1e-6),
    ]
    assert all(found)
