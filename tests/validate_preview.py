# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the motion at Preview, with a quarter to a half of the tets, is from the final one, in three demo scenes.

python -m pytest -s tests/validate_preview.py

Both are simulated over all frames of the scene with its own settings. The distance is that of render vertices at the
same moment, in shares of the longest side of the body: its root mean square in the frame where that is largest.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from harness import demo_scenes
from sinew.addon.objects import roles, tet_estimate
from sinew.solver.runtime.arrays import Floats
from sinew.solver.simulation.simulation import Simulation

SECTION = "Preview"
FEWER = 4  # final tets for each one at Preview that is asked for; thin bodies get up to twice as many
# shares of the longest side, 1.5 times what was seen: a coarse body is stiffer and has other contacts
MOST_APART = {"jelly_suzanne": 0.06, "clay_head": 0.03, "bending_arm": 0.02}


def motion(folder: Path) -> tuple[int, list[Floats]]:
    """Returns how many tets the first body of the open scene has, and its render vertices in all frames [m]."""
    simulation = Simulation(*demo_scenes.export_open_file(folder))
    body = simulation.built.bodies[0]
    shapes = [frame.positions[body.key] for frame in simulation.run()]
    return body.range.tets.stop - body.range.tets.start, shapes


@pytest.mark.parametrize("name", MOST_APART)
def test_a_preview_moves_like_the_final_bake(name: str, reach, tmp_path: Path) -> None:
    demo_scenes.demo_script(name).build()
    scene = bpy.context.scene
    tets, final = motion(tmp_path / "final.sinew")
    for obj in roles.bodies(scene):
        obj.sinew.use_preview_tets = True
        obj.sinew.preview_tets = tet_estimate.tet_count(obj, scene.unit_settings.scale_length) // FEWER
    scene.sinew.bake_detail = "PREVIEW"
    fewer, preview = motion(tmp_path / "preview.sinew")
    assert len(final) == len(preview) > 1 and fewer < 0.6 * tets
    size = np.ptp(final[0], axis=0).max()
    apart = [np.sqrt(((a - b) ** 2).sum(axis=1).mean()) / size for a, b in zip(final, preview, strict=True)]
    reach(
        SECTION,
        f"{name}, {tets:,} and {fewer:,} tets, {len(final)} frames: how far apart at most (mean over frames)",
        f"{100 * max(apart):.1f} % ({100 * np.mean(apart):.1f} %)",
        f"{100 * MOST_APART[name]:g} %",
        bool(max(apart) <= MOST_APART[name]),
    )
