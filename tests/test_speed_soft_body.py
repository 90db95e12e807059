# SPDX-License-Identifier: GPL-3.0-or-later
"""The comparison with Blender's soft body: both move on the same surface, and both are held."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

pytest.importorskip("bpy")

from speed.soft_body import run

pytestmark = pytest.mark.slow


def test_both_sag_while_they_are_held():
    result = run(True)
    values = result.values
    assert 0.0 < values["soft body.507.blender moved"] < 2.0
    assert 0.0 < values["soft body.507.sinew moved"] < 2.0
    assert result.rows[0].reached is None
