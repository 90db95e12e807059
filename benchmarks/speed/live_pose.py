# SPDX-License-Identifier: GPL-3.0-or-later
"""How many samples a second a live run makes of flesh that follows a pose, while a hand moves its bones."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import demo_scenes
from sinew.solver.live.commands import parse_command
from sinew.solver.live.live_run import LiveRun, LiveSample
from sinew.solver.live.sample_files import SampleWriter
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import TrackReader

DEMO, FLESH = "bending_arm", "Arm"
TET_SIZE, QUICK_TET_SIZE = 0.0225, 0.04  # [m]; the first makes 5,000 tets


@dataclass(frozen=True)
class PosedRun:
    """A run in which the bones moved.

    Attributes:
        tets: Of the flesh.
        seconds: Of every step in which they did.
        missed: Poses that did not converge.
    """

    tets: int
    seconds: list[float]
    missed: int


class _Ended(Exception):
    """Ends a run."""


def arm_in_folder(folder: Path, tet_size: float) -> tuple[Scene, TrackReader]:
    """Returns the demo's arm on two bones, and how they move."""
    import bpy

    demo_scenes.demo_script(DEMO).build()
    bpy.data.objects[FLESH].sinew.tet_size = tet_size
    return demo_scenes.export_open_file(folder)


def run_posed(last: int, tet_size: float) -> PosedRun:
    """Sets every bone before every step up to a frame, as fast as samples come, written for another process."""
    with tempfile.TemporaryDirectory(prefix="sinew-live-") as name:
        scene, tracks = arm_in_folder(Path(name) / "arm", tet_size)
        names = [f"bone.{bone.key}.matrix" for bone in scene.bones]
        start, end = scene.settings.start_time, scene.settings.time(last)
        poses = {each: tracks.sample(each, start).tolist() for each in names}
        run, seconds = LiveRun(scene, tracks, poses), list[float]()
        writer: SampleWriter | None = None
        began, is_moved, missed = 0.0, False, 0

        def before_step() -> None:
            nonlocal began, is_moved
            if run.step_end > end:
                raise _Ended
            began, is_moved = time.perf_counter(), False
            for each in names:
                value = tracks.sample(each, run.step_end).tolist()
                is_moved |= value != poses[each]
                poses[each] = value
                run.apply(parse_command({"command": "set", "track": each, "value": value}))

        def on_sample(sample: LiveSample) -> None:
            nonlocal writer
            writer = writer or SampleWriter(Path(name), sample.positions)
            writer.write(sample.step, 0, sample.time, sample.positions)
            if is_moved:
                seconds.append(time.perf_counter() - began)

        def on_frame(report: Any) -> None:
            nonlocal missed
            missed += report.poses_not_converged

        try:
            run.run(before_step, on_sample, on_frame)
        except _Ended:
            pass
        assert writer is not None
        writer.close()
    return PosedRun(run.simulation.built.model.tet_count, seconds, missed)
