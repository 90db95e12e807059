# SPDX-License-Identifier: GPL-3.0-or-later
"""The presets Wax, Ice and Chocolate melt by Make Body, Add Ground and Add Heat Source as they come.

python -m pytest -s tests/validate_melting_presets.py

A body has melted when it is lower than 60 % of its height: that is what a viewer sees, and a puddle is lower still.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("bpy")

from fixtures.claim_table import reach
from fixtures.melting_scenes import DIVISIONS, melt, melting_scene

SECTION = "Presets melt"
FRAMES = 100


@pytest.mark.parametrize("size", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("shape", DIVISIONS)
@pytest.mark.parametrize("preset", ["WAX", "ICE", "CHOCOLATE"])
def test_a_preset_melts_within_100_frames(preset: str, shape: str, size: float, tmp_path: Path) -> None:
    melting_scene(preset, shape, size)
    found = melt(tmp_path / "c.sinew", FRAMES)
    words = f"{preset.capitalize()}, {shape} of {size:g} m, {found.tets} tets"
    melts_at, lowest = found.melts_at, f"height {found.heights[-1]:.2f}"
    reach(SECTION, f"{words}: melts at frame", melts_at or f"never, {lowest}", FRAMES, melts_at is not None)
    reach(SECTION, f"{words}: change of volume", f"{found.volume_change:.2%}", "5 %", found.volume_change < 0.05)
    reach(SECTION, f"{words}: frames not converged", len(found.unconverged), 0, not found.unconverged)
    print(
        f"{words}: {lowest}, {found.coldest:.0f} to {found.hottest:.0f} °C, volume of the mesh {found.mesh_volume:.3f}"
    )
