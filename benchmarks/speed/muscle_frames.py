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
from sinew.solver.quasistatic.progress import Progress
from sinew.solver.simulation.simulation import FrameCallbacks, Simulation
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row, missing_peer_row

LINE = 13
FRAMES_PER_SECOND, ARM_SECONDS = 25.0, 2.0
MUSCLE_TET_SIZE, ARM_TET_SIZE = 0.00815, 0.0051  # 10,000 and 150,000 tets [m]
MUSCLE_FRAMES, ARM_FRAMES = 28, 6  # the curl of the one; the first of the arm, later ones take longer
ITERATIONS_OF_FINE_ARM = 6  # that are timed; a whole frame takes minutes


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


class _EnoughIterations(Exception):
    """Ends a solve of which enough has been timed."""


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


def time_iterations(simulated: Simulation, count: int) -> list[float]:
    """Returns the seconds of the first Newton iterations of the first frame, without the very first, which compiles."""
    times: list[float] = []

    def hear(_frame: int, progress: Progress) -> None:
        times.append(time.perf_counter())
        if progress.newton_iterations > count:
            raise _EnoughIterations

    try:
        simulated.start(FrameCallbacks(on_progress=hear))
    except _EnoughIterations:
        pass
    return [after - before for before, after in zip(times[1:-1], times[2:], strict=True)]


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


def table_rows(muscle: Frames, arm: Frames, fine_tets: int, fine_iterations: list[float]) -> list[Row]:
    """Returns the table."""
    rate, iteration = 1.0 / muscle.median, statistics.median(fine_iterations)
    iterations = statistics.median(arm.iterations)
    fine_seconds = iteration * iterations
    return [
        bound_row(
            f"one muscle of {muscle.tets:,} tets, frames a second",
            f"≥ {FRAMES_PER_SECOND:g}",
            f"{rate:.1f}",
            rate >= FRAMES_PER_SECOND,
            f"A frame takes {statistics.median(muscle.iterations):.0f} Newton iterations of "
            f"{1e3 * muscle.median / max(statistics.median(muscle.iterations), 1):.0f} ms each; 25 frames a second "
            "leave 40 ms for all of them.",
            line=LINE,
        ),
        bound_row(
            f"twelve muscles of an arm, {fine_tets:,} tets, seconds a frame",
            f"≤ {ARM_SECONDS:g}",
            f"{fine_seconds:.0f}",
            fine_seconds <= ARM_SECONDS,
            f"A Newton iteration takes {iteration:.1f} s there, so 2 s are over after "
            f"{ARM_SECONDS / iteration:.1f} of them. The frame is told as this time by the {iterations:.0f} iterations "
            f"that a frame takes with {arm.tets:,} tets.",
            line=LINE,
        ),
        Row(f"twelve muscles of an arm, {arm.tets:,} tets, seconds a frame", NO_TARGET, f"{arm.median:.1f}"),
        Row("of that Newton iterations, each frame", NO_TARGET, " / ".join(map(str, arm.iterations))),
        Row(f"one Newton iteration at {fine_tets:,} tets [s]", NO_TARGET, f"{iteration:.2f}"),
    ]


def run(quick: bool) -> Result:
    """Measures the curl of the biceps, then the first frames of the arm, then single iterations of a finer arm."""
    if not demo_scenes.can_run():
        return Result([missing_peer_row("muscles", f"{FRAMES_PER_SECOND:g} frames a second", "bpy", line=LINE)])
    sizes = (None, None) if quick else (MUSCLE_TET_SIZE, ARM_TET_SIZE)
    with tempfile.TemporaryDirectory(prefix="sinew-muscles-") as name:
        folder = Path(name)
        muscle = time_frames(muscle_simulation(folder / "muscle", sizes[0]), 3 if quick else MUSCLE_FRAMES)
        arm = time_frames(arm_simulation(folder / "arm", None), 2 if quick else ARM_FRAMES)
        fine = arm_simulation(folder / "fine", sizes[1])
        fine_iterations = time_iterations(fine, 2 if quick else ITERATIONS_OF_FINE_ARM)
    fine_tets = fine.built.model.tet_count
    values = {
        "tets of one muscle": float(muscle.tets),
        "seconds of one muscle": muscle.median,
        "tets of the arm": float(arm.tets),
        "seconds of the arm": arm.median,
        "tets of the fine arm": float(fine_tets),
        "seconds of an iteration of the fine arm": statistics.median(fine_iterations),
    }
    return Result(table_rows(muscle, arm, fine_tets, fine_iterations), values=values)


BENCHMARK = Benchmark(
    lines=(LINE,),
    title="Muscles that come to rest",
    what="The biceps of the demo biceps_curl with tets of 8.15 mm through its curl, frames 2 to 28, median. The twelve "
    "muscles of the demo arm_layers, in contact with each other and with the bones, as the demo is (frames 2 to 6, "
    f"medians), and with tets of 5.1 mm, where the first {ITERATIONS_OF_FINE_ARM} Newton iterations after the very "
    "first are timed. Presets, tolerances and all else are those of the demos.",
    run=run,
)
