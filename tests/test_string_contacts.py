# SPDX-License-Identifier: GPL-3.0-or-later
"""Strings between their vertices meet edges of colliders, bodies, sheets and other strings, and air drags them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.rigid_bodies import momenta, rigid_box, run_of
from fixtures.scenes import Run, block, rotation
from fixtures.sheets import grid
from sinew.solver.constraints.strand_drag import strand_forces
from sinew.solver.mesh.shapes import box
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.constant_wind import Wind
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.meshing import Meshing
from sinew.solver.scene.scene import Body, Scene, Settings
from sinew.solver.scene.sheet_presets import SHEET_PRESETS
from test_strand_scenes import NYLON, THICKNESS, rope

ENDS = np.array([0, 3], np.int32)  # of a rope of three strings, which has a string in its middle
WEIGHTLESS = (0.0, 0.0, 0.0)


def middle(run: Run, key: str) -> float:
    """Returns the height of the middle string of a rope of an odd number of strings [m]."""
    x = run.render[key]
    return float(x[len(x) // 2 - 1 : len(x) // 2 + 1, 2].mean())


def assert_converged(run: Run) -> None:
    assert all(report.converged for report in run.reports)


@pytest.mark.slow
def test_a_string_lies_across_the_edge_of_a_box(tmp_path: Path) -> None:
    vertices, triangles = box((0.2, 0.2, 0.2), 1)
    vertices = vertices @ rotation([0.0, 1.0, 0.0], np.pi / 4.0).T - [0.0, 0.0, 0.1 * np.sqrt(2.0)]
    ridge = Collider("box", "Box", "mesh", vertices, triangles)
    run = run_of(tmp_path, rope(5, 0.5, 0.03), colliders=(ridge,), frame_end=40)
    run.advance(15)
    assert_converged(run)
    assert 0.4 * THICKNESS < middle(run, "rope") < 0.8 * THICKNESS  # on the edge, as far away as it is thick
    assert run.render["rope"][[0, -1], 2].max() < -0.05  # its ends hang down on both sides


@pytest.mark.parametrize("kind", ["rigid", "soft", "string", pytest.param("cloth", marks=pytest.mark.slow)])
def test_a_taut_string_holds_what_falls_on_it_between_its_vertices(tmp_path: Path, kind: str) -> None:
    line = rope(3, 0.5, pinned=ENDS)
    if kind == "rigid":
        other = rigid_box((0.01, 0.2, 0.01), (0.0, 0.0, 0.02), key="other")
    elif kind == "soft":
        other = block((1, 10, 1), (0.02, 0.2, 0.02), at=(-0.01, -0.1, 0.01), key="other")
    elif kind == "string":
        other = rope(3, 0.3, 0.03, along=1, key="other", name="Other")
    else:
        nodes, faces = grid((3, 3), (0.2, 0.2))  # no vertex of it is above the string
        made = SHEET_PRESETS["COTTON"]
        places = np.stack([nodes[:, 0] - 0.1, nodes[:, 1] - 0.1, np.full(len(nodes), 0.02)], axis=1)
        other = Body(places, faces, made.material, Meshing("sheet"), key="other", name="Other", sheet=made.sheet)
    run = run_of(tmp_path, line, other, frame_end=40)
    run.advance(18)
    assert_converged(run)
    held = run.render["other"][:, 2]
    assert held.max() > middle(run, "rope"), "nothing has fallen through"
    assert middle(run, "rope") < -0.25 * THICKNESS, "the string bears it"
    assert run.reports[-1].contacts > 0


def test_strings_that_meet_in_space_keep_their_momentum(tmp_path: Path) -> None:
    free: dict[str, Any] = {"material": replace(NYLON, mass_damping=0.0)}
    still = rope(3, 0.4, 0.0, **free)
    moving = rope(3, 0.4, 0.03, 1, key="other", name="Other", initial_velocity=(0.1, 0.0, -0.5), **free)
    settings = Settings(1, 30, gravity=WEIGHTLESS, tolerance=1e-12, max_iterations=2000)
    run = Run(tmp_path, Scene((still, moving), settings=settings))
    before, _ = momenta(run)  # friction across the distance that strings keep has a torque, as that of sheets has
    run.advance(10)
    after, _ = momenta(run)
    assert np.abs(after - before).max() < 1e-12 * np.abs(before).max()
    own = run.built.model.bodies[0].nodes
    assert run.state.v[own, 2].mean() < -0.05, "one pushes the other"


def test_the_drag_on_a_string_falls_with_its_velocity_as_it_says() -> None:
    rng = np.random.default_rng(4)
    ends, v, air = (rng.normal(size=(30, 2, 3)) for _ in range(3))
    diameter, flow = rng.uniform(0.01, 0.1, 30), 0.7
    slowing = np.broadcast_to(flow * np.eye(3), (30, 2, 3, 3))

    def dragged(velocity: Floats) -> tuple[Floats, Floats]:
        return strand_forces(ends, air - flow * velocity, slowing, diameter, 1.3)

    damping, step = dragged(v)[1], 1e-6
    for axis in range(3):
        nudge = np.zeros(3)
        nudge[axis] = step
        slope = (dragged(v + nudge)[0] - dragged(v - nudge)[0]) / (2.0 * step)
        assert slope == pytest.approx(-damping[..., axis], abs=1e-8)
    assert damping == pytest.approx(np.swapaxes(damping, 2, 3))
    random = rng.normal(size=(30, 2, 3, 3))
    uneven = random @ np.swapaxes(random, 2, 3)
    assert np.linalg.eigvalsh(strand_forces(ends, air, uneven, diameter, 1.3)[1]).min() > -1e-12


@pytest.mark.parametrize("angle", [0.0, 0.5, 1.2])
def test_the_drag_is_the_pressure_on_the_windward_half_of_a_cylinder(angle: float) -> None:
    """The slow way: f = ½ ρ C Σ s² n dA over faces around a string at an angle to the wind."""
    length, d, u = 2.0, 0.05, np.array([3.0, 0.0, 0.0])
    t = np.array([np.sin(angle), 0.0, np.cos(angle)])
    side, up = np.array([0.0, 1.0, 0.0]), np.array([np.cos(angle), 0.0, -np.sin(angle)])
    around = (np.arange(4000) + 0.5) / 4000 * 2.0 * np.pi
    n = np.cos(around)[:, None] * up + np.sin(around)[:, None] * side
    s = np.minimum(n @ u, 0.0)
    wanted = -0.5 * 1.3 * (s**2 @ n) * length * np.pi * d / len(around)
    ends = np.array([[np.zeros(3), length * t]])
    air, slowing = np.broadcast_to(u, (1, 2, 3)), np.zeros((1, 2, 3, 3))
    found, _ = strand_forces(ends, air, slowing, np.array([d]), 1.3)
    assert found.sum(axis=(0, 1)) == pytest.approx(wanted, rel=1e-6, abs=1e-12)


def test_a_rope_falls_with_its_terminal_velocity(tmp_path: Path) -> None:
    """m g = ⅓ ρ C d L v²."""
    light = replace(NYLON, density=5.0, mass_damping=0.0)
    wind = Wind((0.0, 0.0, 0.0), 1.2, 1.1)
    run = Run(tmp_path, Scene((rope(4, 0.5, material=light),), settings=Settings(1, 60, fps=50.0), wind=wind))
    run.advance(50)
    mass = run.built.model.mass
    terminal = np.sqrt(mass.sum() * 9.81 / (1.2 * 1.1 * THICKNESS * 0.5 / 3.0))
    assert (mass @ run.state.v / mass.sum())[2] == pytest.approx(-terminal, rel=1e-3)
