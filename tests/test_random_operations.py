# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of every kind with undo and redo in between, in a process of its own: what goes wrong there ends Blender."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("bpy")

OPERATIONS = Path(__file__).resolve().parent / "window" / "random_operations_background.py"
# of a seed with which a data-block that an undo handler made ended Blender at the 86th operation
SEED = 3


@pytest.mark.parametrize("count", [30, pytest.param(100, marks=pytest.mark.long)])
def test_undo_and_redo_between_bakes_of_every_kind(tmp_path: Path, count: int) -> None:
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path)}
    command = [sys.executable, str(OPERATIONS), str(SEED), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stdout[-2000:] + done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["operations"] == count and told["seen"]["baked"] and told["seen"]["running"], told
