# SPDX-License-Identifier: GPL-3.0-or-later
"""A bar of chocolate that a ball presses to bits between two blocks: the bits come to rest, and no energy is made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fixtures.edge_contact_scenes import box
from fixtures.live_runs import drive
from fixtures.scenes import block
from sinew.solver.live.live_run import LiveRun
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.scene import Fracture, Material, Plasticity, Scene, Settings
from sinew.solver.scene.tracks import NoTracks

CHOCOLATE = Material(youngs_modulus=1.0e8, poisson_ratio=0.4, density=1250.0, stiffness_damping=0.0053)
LENGTHS, BELOW = (0.156, 0.078, 0.011), 0.03  # of the bar, and the height of the blocks below it [m]
RADIUS = 0.015  # of the ball [m]
PRESSED, LIFTED, RESTED, END = 60, 80, 170, 230  # steps of a sixtieth of a second; by 170 a bit has slid off another


def bar_on_blocks() -> Scene:
    """Returns a bar that lies with its ends on two blocks on the ground."""
    bar = block(
        (8, 4, 1),
        LENGTHS,
        (-0.5 * LENGTHS[0], -0.5 * LENGTHS[1], BELOW + 0.0005),
        key="bar",
        material=CHOCOLATE,
        plasticity=Plasticity(yield_strain=0.015, flow=5.0),
        fracture=Fracture(1.0e6, 8.0e4),
    )
    vertices, triangles = box(np.array([0.03, 0.09, BELOW]))
    sides = (("left", -0.077), ("right", 0.047))
    blocks = [
        Collider(key, key.capitalize(), "mesh", vertices + [x, -0.045, 0.0], triangles, friction=0.5)
        for key, x in sides
    ]
    return Scene((bar,), (Collider("ground", "Ground"), *blocks), Settings(fps=60.0))


def ball(step: int) -> list[dict[str, Any]]:
    """Presses a ball through the middle of the bar, holds it there, and lifts it."""
    if step >= LIFTED:
        return [{"command": "lift", "brush": 1}] if step == LIFTED else []
    top, bottom = BELOW + LENGTHS[2] + RADIUS, 0.6 * RADIUS
    height = top + min(step / PRESSED, 1.0) * (bottom - top)
    return [{"command": "push", "brush": 1, "place": [0.0, 0.0, height], "radius": RADIUS}]


@pytest.mark.slow
def test_bits_of_a_crushed_bar_come_to_rest() -> None:
    run = LiveRun(bar_on_blocks(), NoTracks())
    simulation, speeds, energies, unsettled = run.simulation, [], [], []

    def hand(step: int) -> list[dict[str, Any]]:
        state, mass = simulation.state, simulation.built.model.mass
        kinetic = 0.5 * float(mass @ np.einsum("ni,ni->n", state.v, state.v))
        speeds.append(float(np.linalg.norm(state.v, axis=1).max()))
        energies.append(kinetic + 9.81 * float(mass @ state.x[:, 2]))
        if simulation.contacts is not None:
            unsettled.append(not simulation.contacts.is_converged)
        return ball(step)

    drive(run, END, hand)
    assert simulation.built.model.pattern.island_count > 3, "it is in pieces"
    assert max(speeds[RESTED:]) < 0.01
    assert np.diff(energies[LIFTED + 1 :]).max() < 1.0e-6 * energies[LIFTED], "nothing lifts or drives them any more"
    assert sum(unsettled) < 0.3 * len(unsettled)
