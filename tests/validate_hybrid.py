# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten minutes of all kinds of bodies on each other: nothing drifts, no energy comes from nothing: `make validate`."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.joints import Z_ALONG_Y, joint_frame
from fixtures.rigid_bodies import FLOOR, centres, energy, rigid_box
from fixtures.scenes import Run, block, rotation
from fixtures.sheets import grid
from sinew.solver.scene.joint import Joint
from sinew.solver.scene.material_presets import MATERIAL_PRESETS
from sinew.solver.scene.scene import Body, Meshing, Scene, Settings
from sinew.solver.scene.sheet_presets import SHEET_PRESETS

SECTION = "All kinds in one scene, ten minutes"
SECONDS, SETTLED = 600, 60  # of the scene
MAX_DRIFT = 0.001  # of a centre since it had settled [m]
ANGLE = 0.6  # of the rod from straight down, where it is let go


def leather() -> Body:
    """Returns a sheet of 0.5 m above a box of 0.3 m, over which it drapes."""
    nodes, triangles = grid((6, 6), (0.5, 0.5))
    places = np.stack([nodes[:, 0] - 0.25, nodes[:, 1] - 0.25, np.full(len(nodes), 0.56)], axis=1)
    made = SHEET_PRESETS["LEATHER"]
    return Body(
        places,
        triangles,
        meshing=Meshing("sheet"),
        material=made.material,
        sheet=made.sheet,
        key="leather",
        name="Leather",
    )


def scene() -> Scene:
    """A rubber block bears a rigid box with leather over it; clay lies beside, and a rod swings on a hinge."""
    rubber, clay = MATERIAL_PRESETS["RUBBER"], MATERIAL_PRESETS["CLAY"]
    top = (-0.6 + 0.3 * np.sin(ANGLE), 0.0, 0.6 + 0.3 * np.cos(ANGLE))
    bodies = (
        block((3, 3, 2), (0.6, 0.6, 0.3), (-0.3, -0.3, 0.005), key="rubber", material=rubber.material),
        block(
            (2, 2, 2),
            (0.3, 0.3, 0.3),
            (0.31, -0.15, 0.005),
            key="clay",
            material=clay.material,
            plasticity=clay.plasticity,
        ),
        rigid_box((0.3, 0.3, 0.2), (0.0, 0.0, 0.43), key="box"),
        leather(),
        rigid_box((0.06, 0.06, 0.6), (-0.6, 0.0, 0.6), rotation((0, 1, 0), ANGLE), key="rod"),
    )
    joints = (Joint("rod", "", "hinge", joint_frame(top, Z_ALONG_Y)),)
    return Scene(bodies, (FLOOR,), Settings(frame_end=99999), joints=joints)


@pytest.mark.timed
def test_ten_minutes_of_all_kinds(tmp_path: Path) -> None:
    run, asked = Run(tmp_path, scene()), scene().settings
    first, highest, unsettled = energy(run), -np.inf, 0
    settled, drift, began = np.zeros(0), 0.0, time.perf_counter()
    for second in range(1, SECONDS + 1):
        run.advance(round(asked.fps))
        highest = max(highest, energy(run))
        at = centres(run)[:-1]  # without the rod
        if second == SETTLED:
            settled, unsettled = at, sum(report.unsettled + report.not_converged for report in run.reports)
        elif second > SETTLED:
            drift = max(drift, float(np.linalg.norm(at - settled, axis=1).max()))
    seconds = time.perf_counter() - began
    later = sum(report.unsettled + report.not_converged for report in run.reports) - unsettled
    gained = (highest - first) / abs(first)
    reach(
        SECTION,
        "soft, plastic, sheet, rigid: largest way of a centre in nine minutes",
        f"{drift:.1e} m",
        "1e-3 m",
        drift < MAX_DRIFT,
    )
    reach(SECTION, "energy of motion and height above that of the start", f"{gained:.1e}", "0", gained <= 1e-9)
    reach(SECTION, "steps of these nine minutes that did not converge or settle", f"{later}", "0", later == 0)
    reach(SECTION, "time it took, of 600 s", f"{seconds:.0f} s", "600 s", seconds <= SECONDS)
