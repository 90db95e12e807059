# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet that is folded flat against itself, and through itself, bends on: its angle does not jump to the far side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fixtures.scenes import Run
from fixtures.sheets import energy_of
from sinew.solver.mechanics.sheets.hinge_turns import keep_hinge_turns, with_hinge_turns
from sinew.solver.mechanics.state_fields import HINGE_BEND
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.scene import Body, Material, Meshing, Scene, Settings
from sinew.solver.scene.sheet import Sheet

NODES = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.5, 0.0], [1.0, 0.5, 0.0]])
TRIANGLES = np.array([[0, 1, 2], [1, 0, 3]], np.int32)


def flap() -> Body:
    """Returns two triangles, one of them held, without weight."""
    return Body(
        NODES,
        TRIANGLES,
        meshing=Meshing("sheet"),
        material=Material(1.0e8, 0.3, 300.0),
        sheet=Sheet(0.01),
        pinned=np.array([0, 1, 2], np.int32),
        key="flap",
        name="Flap",
    )


def turned(angle: float) -> Floats:
    """Returns the nodes with the free one turned about the hinge [m]."""
    x = NODES.copy()
    x[3] = [np.cos(angle), 0.5, np.sin(angle)]
    return x


def run_of(folder: Path) -> Run:
    return Run(folder, Scene((flap(),), (), Settings(gravity=(0.0, 0.0, 0.0), frame_end=999)))


def test_energy_goes_on_where_the_angle_jumps(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    state, model, energies = run.state, run.built.model, []
    angles = np.linspace(0.1, 1.5 * np.pi, 40)
    for angle in angles:
        state.x[:] = turned(angle)
        now = with_hinge_turns(model, state)
        energies.append(energy_of(now, state.x))
        keep_hinge_turns(now, state)
    assert np.allclose(energies, energies[0] * (angles / angles[0]) ** 2, rtol=1e-9)
    assert np.abs(state.fields[HINGE_BEND]).max() == pytest.approx(1.5 * np.pi)
    for angle in angles[::-1]:
        state.x[:] = turned(angle)
        keep_hinge_turns(with_hinge_turns(model, state), state)
    assert HINGE_BEND not in state.fields


def test_a_flap_that_is_thrown_through_itself_comes_back(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    stiffness, angle = 2.0 * energy_of(run.built.model, turned(1.0)), 2.9
    speed = 3.0 * np.sqrt(stiffness / run.built.model.mass[3])  # much of which the long steps take
    run.state.x[:], run.state.v[3] = turned(angle), [-speed * np.sin(angle), 0.0, speed * np.cos(angle)]
    bends = []
    for _ in range(36):
        run.advance()
        kept = run.state.fields.get(HINGE_BEND)
        bends.append(0.0 if kept is None else float(np.abs(kept).max()))
    print(f"bent by up to {max(bends) / np.pi:.2f} half turns, then by {min(bends[bends.index(max(bends)) :]):.2f}")
    assert max(bends) > np.pi + 0.1
    assert min(bends[bends.index(max(bends)) :]) < np.pi - 0.3, "it comes back the way that it went"
    x = run.state.x[3]
    assert abs(np.arctan2(x[2], x[0])) < np.pi - 0.3 and x[2] > 0.0
