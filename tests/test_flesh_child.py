# SPDX-License-Identifier: GPL-3.0-or-later
"""The child that bakes flesh: killed or cancelled in the middle of a solve, and gone on with to the same bytes."""

from __future__ import annotations

import dataclasses
import time as clock
from pathlib import Path

import pytest

from fixtures.child_process_bakes import at_frame, child, listen
from fixtures.flesh_scenes import limb, write_limb
from fixtures.tiny_bakes import baked
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.scene.flesh import DYNAMIC, Flesh
from sinew.solver.scene.scene import Collider, Scene, Settings

pytestmark = pytest.mark.slow

SETTINGS = Settings(frame_end=12, substeps=2, preroll=3)


def scene() -> Scene:
    """Returns a limb that follows its pose, and one that jiggles."""
    jiggles = limb("other", (0.0, 2.0, 1.0), flesh=Flesh(DYNAMIC))
    return Scene((limb(), jiggles), (Collider("g", "Ground"),), SETTINGS)


def test_killed_and_resumed(tmp_path: Path):
    write_limb(tmp_path / "whole", scene())
    run_bake(tmp_path / "whole", lambda event: None, options=BakeOptions(threads=2))
    write_limb(tmp_path / "parts", scene())
    for frame, threads in ((2, "1"), (7, "2")):
        process = child(tmp_path / "parts", "--resume", "--threads", threads)
        listen(process, at_frame(frame))
        process.kill()
        listen(process)
        process.close()
        assert CacheReader(tmp_path / "parts").integrity_problems() == []
    process = child(tmp_path / "parts", "--resume")
    assert listen(process)[-1]["event"] == "done"
    assert baked(tmp_path / "whole") == baked(tmp_path / "parts")


def test_cancelled_in_the_middle_of_a_long_solve(tmp_path: Path):
    """A solve that would take minutes ends when it is asked to, and leaves what was there before it."""
    endless = dataclasses.replace(SETTINGS, pose_tolerance=1e-15, pose_iterations=100000, preroll=0)
    body = limb(cells=(32, 10, 10), flesh=Flesh(law="stvk"))
    write_limb(tmp_path, Scene((body,), (), endless), degrees=120.0)
    process = child(tmp_path)
    listen(process, lambda event: event["event"] == "solving")
    begin = clock.monotonic()
    process.send({"command": "cancel"})
    events = listen(process)
    assert process.exit_code() == 130
    assert clock.monotonic() - begin < 5.0  # 0.7 s, but the machine may be busy
    assert not [event for event in events if event["event"] == "done"]
    reader = CacheReader(tmp_path)
    assert reader.last_frame() == reader.resume_frame() or reader.resume_frame() is None
    process.close()
