# SPDX-License-Identifier: GPL-3.0-or-later
"""All 72 frames of demo_blends/arm_layers.py, twelve muscles and their fat: a curl, drawn back, a punch.

python -m pytest -s tests/validate_arm_layers.py

It takes ten minutes on two cores. tests/test_demos.py bakes the first three frames alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("bpy", reason="needs Blender's module")

ROOT = Path(__file__).resolve().parent.parent
SECTION = "Layers"
FRAMES = 72
MOST_SECONDS = 7200
MAX_DEPTH = 0.0014  # a tenth of the tet size, twice what the solver accepts before it raises the penalty [m]


def test_an_arm_in_layers_keeps_its_tets_through_a_curl_and_a_punch(reach, tmp_path: Path) -> None:
    """A process of its own bakes, as in tests/test_demos.py."""
    result = subprocess.run(
        [sys.executable, "tests/demos/measure_demo.py", "arm_layers", str(FRAMES), str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=MOST_SECONDS,
        stdin=subprocess.DEVNULL,
    )
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-4000:]
    found = json.loads(next(line for line in result.stdout.splitlines() if line.startswith("NUMBERS "))[8:])
    assert found["frames"] == FRAMES
    missed, inverted, depth = found["not_converged"], found["inverted"], found["deepest_contact"]
    reach(SECTION, f"arm_layers, {FRAMES} frames in two passes: poses that did not converge, inverted tets",
          f"{missed}, {inverted}", "0, 0", missed == inverted == 0)  # fmt: skip
    reach(SECTION, "arm_layers: how deep one muscle comes in another or in a bone",
          f"{1e3 * depth:.1f} mm", f"{1e3 * MAX_DEPTH:.1f} mm", depth < MAX_DEPTH)  # fmt: skip
