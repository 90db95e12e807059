# SPDX-License-Identifier: GPL-3.0-or-later
"""Two simulations of one build do not see each other: in turns or at once, they move as they do one after the other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

from fixtures.contact_scenes import stack
from fixtures.scenes import Run, block
from sinew.solver.scene.flesh import DYNAMIC, Flesh
from sinew.solver.scene.formulation import (
    BDF2,
    HIERARCHICAL,
    HYBRID,
    LINEAR,
    POLAR,
    QR,
    VERTEX_WARP,
    FormulationSettings,
)
from sinew.solver.scene.rigid_core import Core
from sinew.solver.scene.scene import Body, Collider, Material, Scene, Settings
from sinew.solver.simulation.advance_frame import advance_step
from sinew.solver.simulation.simulation import Simulation

STEPS = 6
FLOOR = (Collider("floor", "Floor", "plane"),)
# by which formulation the block is computed, for those with arrays of their own
FORMULATIONS = {
    "cached-rows": FormulationSettings(LINEAR),
    "matrix-free": FormulationSettings(QR, is_matrix_free=True),
    "vertex-warp": FormulationSettings(VERTEX_WARP, rotations_every=3),
    "lagged-shear": FormulationSettings(HYBRID, rotations_every=3),
    "hierarchical": FormulationSettings(HIERARCHICAL),
    "bdf2": FormulationSettings(POLAR, scheme=BDF2),
}


def bouncing_stack(*flesh: Flesh | None) -> Scene:
    """Returns three cubes that fall on each other, made of corotated tets and of these kinds of flesh by turns."""
    scene = stack(3, gap=0.004, E=1.0e5)
    bodies = [
        replace(body, flesh=flesh[number % len(flesh)], gravity_in_shape=False)
        for number, body in enumerate(scene.bodies)
    ]
    return replace(scene, bodies=tuple(bodies))


def beam() -> Scene:
    """Returns a stiff beam that is held at one end and solved to a tight tolerance: multigrid takes over."""
    pins = np.arange(20, dtype=np.int32)
    body = block(
        (24, 8, 8), (1.0, 0.3, 0.3), material=Material(1.0e8, 0.3, 1000.0, 0.01), pinned=pins, pin_weights=np.ones(20)
    )
    return Scene((body,), (), Settings(frame_end=9, substeps=2, tolerance=1e-6))


def on_the_floor(body: Body) -> Scene:
    """Returns a body just above the floor."""
    return Scene((body,), FLOOR, Settings(frame_end=9, substeps=2))


def formulated(name: str) -> Scene:
    """Returns a block by one of `FORMULATIONS`."""
    return on_the_floor(block((6, 6, 6), (0.3, 0.3, 0.3), at=(0.0, 0.0, 0.001), method=FORMULATIONS[name]))


def scene_of(name: str) -> Scene:
    """Returns the scene of a test."""
    if name in FORMULATIONS:
        return formulated(name)
    if name == "rigid-core":
        return on_the_floor(block((6, 6, 6), (0.3, 0.3, 0.3), at=(0.0, 0.0, 0.001), core=Core(skin_thickness=0.06)))
    return {
        "contact": lambda: bouncing_stack(None),
        "flesh": lambda: bouncing_stack(Flesh(DYNAMIC)),
        "mixed": lambda: bouncing_stack(None, Flesh(DYNAMIC), Flesh(DYNAMIC, scheme="newmark")),
        "multigrid": beam,
    }[name]()


SCENES = ("contact", "flesh", "mixed", "multigrid", "rigid-core", *FORMULATIONS)


def take_step(simulation: Simulation, number: int) -> None:
    """Takes the step of this number, from 0 on."""
    settings = simulation.scene.settings
    times = [settings.start_time + n / (settings.fps * settings.substeps) for n in (number, number + 1)]
    advance_step(simulation, *times)


def take_steps(simulation: Simulation) -> None:
    """Takes all steps."""
    for number in range(STEPS):
        take_step(simulation, number)


def ends(simulations: list[Simulation]) -> list[tuple[bytes, bytes]]:
    """Returns positions and velocities of all simulations."""
    return [(one.state.x.tobytes(), one.state.v.tobytes()) for one in simulations]


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_the_same_bytes_in_turns_and_in_two_threads(tmp_path: Path, name: str):
    run = Run(tmp_path, scene_of(name))

    def pair() -> list[Simulation]:
        """Returns two simulations of the build, one of them with another motion."""
        pushes = (np.zeros(3), np.array([0.3, -0.2, -1.0]))
        pair = [Simulation(run.scene, run.tracks, run.built, run.built.initial.copy()) for _ in pushes]
        for one, push in zip(pair, pushes, strict=True):
            one.state.v = one.state.v + push
        return pair

    apart = pair()
    for one in apart:
        take_steps(one)
    expected = ends(apart)
    assert expected[0] != expected[1]

    in_turns = pair()
    for number in range(STEPS):
        for one in in_turns:
            take_step(one, number)
    assert ends(in_turns) == expected

    at_once, start = pair(), Barrier(2)

    def together(simulation: Simulation) -> None:
        start.wait(timeout=60)
        take_steps(simulation)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(together, at_once))
    assert ends(at_once) == expected
