# SPDX-License-Identifier: GPL-3.0-or-later
"""How long muscles take to come to rest, frame by frame: one of 10,000 tets, and the twelve of an arm."""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from harness import demo_scenes
from harness.result import Result
from sinew.solver.simulation.simulation import Simulation
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row, missing_peer_row

LINE = 13
FRAMES_PER_SECOND, ARM_SECONDS = 25.0, 2.0
MUSCLE_TET_SIZE, ARM_TET_SIZE = 0.00815, 0.0051  # 10,000 and 150,000 tets [m]
# the curl of the one; the first frames of the arm, and two beside the very first of the finer one
MUSCLE_FRAMES, ARM_FRAMES, FINE_ARM_FRAMES = 28, 6, 3


@dataclass(frozen=True)
class Frames:
    """What the frames after the first took.

    Attributes:
        tets: Of all muscles.
        seconds: Of each frame.
        iterations: Newton iterations of each.
    """

    tets: int
    seconds: list[float]
    iterations: list[int]

    @property
    def median(self) -> float:
        """Seconds of a frame."""
        return statistics.median(self.seconds)

    @property
    def per_iteration(self) -> float:
        """Seconds of a Newton iteration, and what of the rest of a frame falls to it."""
        return sum(self.seconds) / max(sum(self.iterations), 1)


def time_frames(simulated: Simulation, last: int) -> Frames:
    """Moves a simulation to a frame and times each after the first."""
    seconds, iterations, began = [], [], time.perf_counter()
    for frame in simulated.run():
        seconds.append(time.perf_counter() - began)
        iterations.append(frame.report.newton_iterations)
        if frame.number >= last:
            break
        began = time.perf_counter()
    return Frames(simulated.built.model.tet_count, seconds[1:], iterations[1:])


def muscle_simulation(folder: Path, tet_size: float | None) -> Simulation:
    """Returns the one muscle of biceps_curl; None: with the tets of the demo."""
    import bpy

    demo_scenes.demo_script("biceps_curl").build()
    if tet_size is not None:
        bpy.data.objects["Biceps"].sinew.tet_size = tet_size
    return Simulation(*demo_scenes.export_open_file(folder))


def arm_simulation(folder: Path, tet_size: float | None) -> Simulation:
    """Returns the muscles of arm_layers, its first pass; None: with the tets of the demo."""
    arm = demo_scenes.demo_script("arm_layers")
    arm.build(tet_size or arm.TET_SIZE)
    return Simulation(*demo_scenes.export_open_file(folder, bake_pass=1))


def table_rows(muscle: Frames, arm: Frames, fine: Frames) -> list[Row]:
    """Returns the table."""
    rate = 1.0 / muscle.median
    return [
        bound_row(
            f"one muscle of {muscle.tets:,} tets, frames a second",
            f"≥ {FRAMES_PER_SECOND:g}",
            f"{rate:.1f}",
            rate >= FRAMES_PER_SECOND,
            f"A frame takes {statistics.median(muscle.iterations):.0f} Newton iterations of "
            f"{1e3 * muscle.per_iteration:.0f} ms each; 25 frames a second leave 40 ms for all of them.",
            line=LINE,
        ),
        bound_row(
            f"twelve muscles of an arm, {fine.tets:,} tets, seconds a frame",
            f"≤ {ARM_SECONDS:g}",
            f"{fine.median:.0f}",
            fine.median <= ARM_SECONDS,
            f"A frame takes {statistics.median(fine.iterations):.0f} Newton iterations of {fine.per_iteration:.1f} s "
            f"each, so 2 s are over after {ARM_SECONDS / fine.per_iteration:.1f} of them. S07 names 240 s "
            f"a frame for a million tets, on one processor of 3 GHz; here that would be "
            f"{1e6 * fine.median / fine.tets:.0f} s.",
            line=LINE,
        ),
        Row(f"twelve muscles of an arm, {arm.tets:,} tets, seconds a frame", NO_TARGET, f"{arm.median:.1f}"),
        Row("of that Newton iterations, each frame", NO_TARGET, " / ".join(map(str, arm.iterations))),
    ]


def run(quick: bool) -> Result:
    """Measures the curl of the biceps, then the first frames of the arm, then those of a finer arm."""
    if not demo_scenes.can_run():
        return Result([missing_peer_row("muscles", f"{FRAMES_PER_SECOND:g} frames a second", "bpy", line=LINE)])
    sizes = (None, None) if quick else (MUSCLE_TET_SIZE, ARM_TET_SIZE)
    with tempfile.TemporaryDirectory(prefix="sinew-muscles-") as name:
        folder = Path(name)
        muscle = time_frames(muscle_simulation(folder / "muscle", sizes[0]), 3 if quick else MUSCLE_FRAMES)
        arm = time_frames(arm_simulation(folder / "arm", None), 2 if quick else ARM_FRAMES)
        fine = time_frames(arm_simulation(folder / "fine", sizes[1]), 2 if quick else FINE_ARM_FRAMES)
    values = {
        "tets of one muscle": float(muscle.tets),
        "seconds of one muscle": muscle.median,
        "tets of the arm": float(arm.tets),
        "seconds of the arm": arm.median,
        "tets of the fine arm": float(fine.tets),
        "seconds of the fine arm": fine.median,
    }
    return Result(table_rows(muscle, arm, fine), values=values)


BENCHMARK = Benchmark(
    lines=(LINE,),
    title="Muscles that come to rest",
    what="The biceps of the demo biceps_curl with tets of 8.15 mm through its curl, frames 2 to 28, median. The twelve "
    "muscles of the demo arm_layers, in contact with each other and with the bones, as the demo is (frames 2 to 6, "
    f"medians), and with tets of 5.1 mm (frames 2 to {FINE_ARM_FRAMES}). Presets, tolerances and all else are those of "
    "the demos.",
    run=run,
)
