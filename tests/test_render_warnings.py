# SPDX-License-Identifier: GPL-3.0-or-later
"""A render of frames that are not baked warns, on standard error and in the panel."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("bpy")

from sinew.addon.baking import last_failure
from test_modifier_stack import render
from test_motion_blur import FRAMES, nodding


def test_a_render_of_frames_that_are_not_baked_warns(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scene, _ = nodding(tmp_path / "c.sinew", 1)
    render(scene, 3, tmp_path / "there.png")
    assert "baked up to" not in capfd.readouterr().err
    render(scene, FRAMES + 3, tmp_path / "missing.png")
    assert f"is baked up to frame {FRAMES} only" in capfd.readouterr().err
    assert f"frame {FRAMES} only" in last_failure.failure_text(scene)
