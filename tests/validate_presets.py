# SPDX-License-Identifier: GPL-3.0-or-later
"""What the presets do at the size of a statue: one metre high, set down, and dropped by a metre.

python -m pytest -s tests/validate_presets.py
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reach_table import reach
from scenes import Run, block, rotation
from sinew.solver.presets import PRESETS
from sinew.solver.scene import Collider, Meshing, Scene, Settings

SECTION = "Presets at the size of a statue"
FALL = 1.0  # [m]
TILT = 0.9  # [rad]
SOFT_LANDING = 0.05  # [m]
BREAKS = {"GLASS": (3, 1000), "PLASTER": (3, 1000), "CHOCOLATE": (3, 1000), "TEARING_RUBBER": (1, 1)}
DENTS = {"CLAY": (0.05, 2.0), "WAX": (0.0, 0.1)}


def dropped(folder: Path, key: str, height: float, tilt: float, frames: int) -> Run:
    """Returns a slender block of one metre that fell from a height [m], turned by a tilt [rad], after its impact."""
    preset = PRESETS[key]
    shown = {part: getattr(preset, part) for part in preset.shows if part != "heat"}
    turn = rotation((1.0, 0.6, 0.2), tilt) if tilt else None
    body = block((4, 4, 10), (0.4, 0.4, 1.0), turn=turn, material=preset.material, **shown)
    lifted = [0.0, 0.0, 0.002 - body.vertices[:, 2].min()]
    body = replace(
        body,
        vertices=body.vertices + lifted,
        meshing=Meshing("robust", 0.1),
        tet_nodes=None,
        tets=None,
        initial_velocity=(0.0, 0.0, -float(np.sqrt(2.0 * 9.81 * height))),
    )
    run = Run(folder, Scene((body,), (Collider("ground", "Ground"),), Settings(frame_end=1 + frames)))
    run.advance(frames)
    return run


@pytest.mark.parametrize("key", BREAKS)
def test_what_breaks(key: str, tmp_path: Path) -> None:
    least, most = BREAKS[key]
    label = PRESETS[key].label
    stood = dropped(tmp_path / "stood", key, SOFT_LANDING, 0.0, 12).reports[-1].bodies["block"]
    reach(
        SECTION, f"{label}: set down from {SOFT_LANDING} m", f"{stood['pieces']:.0f} pieces", "1", stood["pieces"] == 1
    )
    fell = dropped(tmp_path / "fell", key, FALL, TILT, 18).reports[-1].bodies["block"]
    bound = f"{least} to {most}" if most > least else str(least)
    holds = least <= fell["pieces"] <= most
    reach(SECTION, f"{label}: falls from {FALL} m on an edge", f"{fell['pieces']:.0f} pieces", bound, holds)


@pytest.mark.parametrize("key", DENTS)
def test_what_dents(key: str, tmp_path: Path) -> None:
    least, most = DENTS[key]
    fell = dropped(tmp_path, key, FALL, TILT, 18)
    strain = fell.reports[-1].bodies["block"]["largest_plastic_strain"]
    line = f"{PRESETS[key].label}: largest lasting strain after a fall from {FALL} m"
    reach(SECTION, line, strain, f"{least} to {most}", least <= strain <= most)
    inverted = max(report.inverted_tets for report in fell.reports)
    reach(SECTION, f"{PRESETS[key].label}: tets inside out meanwhile", inverted, 0, inverted == 0)
