# SPDX-License-Identifier: GPL-3.0-or-later
"""How many samples a second a live run makes without a window, and how soon a grab is seen."""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from harness import demo_scenes
from harness.result import Result
from sinew.addon.baking.child_process import ChildProcess, child_command
from sinew.solver.bake.cache import layout
from sinew.solver.live.commands import parse_command
from sinew.solver.live.live_run import LiveRun, LiveSample
from sinew.solver.live.sample_files import SampleReader, SampleWriter
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.material_presets import find_preset
from sinew.solver.scene.scene import Body, Collider, Meshing, Scene, Settings
from sinew.solver.scene.tracks import NoTracks, TrackWriter
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row, missing_peer_row
from speed.live_pose import DEMO, QUICK_TET_SIZE, TET_SIZE, run_posed

LINE = 15
RINGS, SEGMENTS = 158, 318  # 50,000 vertices
DIVISIONS, SMALL_DIVISIONS = 16, 10  # over 20,000 and 5,000 tets
SETTLED, STEPS = 120, 300  # steps until bodies lie still, and with the grab
RADII = (0.15, 0.15, 0.12)  # [m]
GRABS = 100
POSED_RATE, LAST_FRAME, QUICK_LAST_FRAME = 15.0, 60, 12
MEDIAN_MILLISECONDS, WORST_MILLISECONDS = 40.0, 80.0
TURN, FOOT = math.radians(35.0), 0.09  # of walls that all but touch the body: from upright, from its middle [m]


class _Ended(Exception):
    """Ends a run."""


def spheroid(rings: int, segments: int) -> tuple[Floats, Indices]:
    """Returns a closed surface that stands on z = 0: vertices [m], (v, 3), and triangles, (t, 3)."""
    polar = np.pi * np.arange(1, rings) / rings
    around = 2.0 * np.pi * np.arange(segments) / segments
    ring = np.stack([np.cos(around), np.sin(around)], axis=1)
    middle = np.concatenate(
        [np.sin(polar)[:, None, None] * ring, np.broadcast_to(np.cos(polar)[:, None, None], (rings - 1, segments, 1))],
        axis=2,
    )
    vertices = np.concatenate([[[0.0, 0.0, 1.0]], middle.reshape(-1, 3), [[0.0, 0.0, -1.0]]])
    here, there = np.arange(segments, dtype=np.int64), (np.arange(segments, dtype=np.int64) + 1) % segments
    last, faces = len(vertices) - 1, []
    faces.append(np.stack([np.zeros_like(here), 1 + here, 1 + there], axis=1))
    for number in range(rings - 2):
        above, below = 1 + number * segments, 1 + (number + 1) * segments
        faces.append(np.stack([above + here, below + here, below + there], axis=1))
        faces.append(np.stack([above + here, below + there, above + there], axis=1))
    bottom = 1 + (rings - 2) * segments
    faces.append(np.stack([np.full_like(here, last), bottom + there, bottom + here], axis=1))
    return vertices * RADII + [0.0, 0.0, RADII[2]], np.concatenate(faces).astype(np.int32)


def lying_body(preset: str, divisions: int, is_small: bool, in_trough: bool = False) -> Scene:
    """Returns a body on the ground; or one that meets itself, too, in a trough of two walls and the ground."""
    vertices, triangles = spheroid(*((20, 40) if is_small else (RINGS, SEGMENTS)))
    meshing = Meshing("smooth", divisions=divisions)
    collision = Collision(self_contact=in_trough)
    material = find_preset(preset).material
    body = Body(vertices, triangles, material, meshing, "body", preset.capitalize(), collision=collision)
    walls = (Collider("left", "Left"), Collider("right", "Right")) if in_trough else ()
    return Scene((body,), (Collider("ground", "Ground"), *walls), Settings(fps=60.0))


def wall(side: float) -> list[list[float]]:
    """Returns the matrix of a plane that leans towards the middle from one side, −1 or 1."""
    matrix = np.eye(4)
    matrix[:3, 2] = [-side * math.cos(TURN), 0.0, math.sin(TURN)]
    matrix[:3, 0] = [math.sin(TURN), 0.0, side * math.cos(TURN)]
    matrix[:3, 1] = np.cross(matrix[:3, 2], matrix[:3, 0])
    matrix[0, 3] = side * FOOT
    return [list(map(float, row)) for row in matrix]


def seconds_of_samples(scene: Scene, steps: int, controls: dict[str, Any]) -> tuple[int, list[float], list[int]]:
    """Drives a run as fast as it comes, with its samples written for another process.

    Returns:
        Its tets, the seconds of each step while a hand moves the top of the body to and fro, and how many steps did not
        converge or settle while the body came to lie, and with the hand.
    """
    run, times, missed = LiveRun(scene, NoTracks(), controls), list[float](), [0, 0]
    top = [0.0, 0.0, 2.0 * RADII[2]]
    with tempfile.TemporaryDirectory(prefix="sinew-live-") as name:
        writer: SampleWriter | None = None

        def before_step() -> None:
            after = run.step - SETTLED
            if after == steps:
                raise _Ended
            if after == 0:
                run.apply(parse_command({"command": "grab", "grab": 1, "body": "body", "place": top}))
            elif after > 0:
                place = [0.2 * RADII[0] * math.sin(after / 20.0), 0.0, top[2]]
                run.apply(parse_command({"command": "move", "grab": 1, "place": place}))

        def on_sample(sample: LiveSample) -> None:
            nonlocal writer
            if writer is None:
                writer = SampleWriter(Path(name), sample.positions)
            writer.write(sample.step, 0, sample.time, sample.positions)
            times.append(time.perf_counter())

        def on_frame(report: Any) -> None:
            missed[run.step > SETTLED] += report.not_converged + report.unsettled

        try:
            run.run(before_step, on_sample, on_frame)
        except _Ended:
            pass
        assert writer is not None
        writer.close()
    taken = [after - before for before, after in zip(times[SETTLED:-1], times[SETTLED + 1 :], strict=True)]
    return run.simulation.built.model.tet_count, taken, missed


def seconds_until_seen(scene: Scene, count: int) -> list[float]:
    """Returns how long it takes from a command to the first sample that has it, by another process [s]."""
    with tempfile.TemporaryDirectory(prefix="sinew-live-") as name:
        cache = Path(name) / "live.sinew"
        scene.save(cache / layout.SCENE_FOLDER)
        TrackWriter(cache / layout.SCENE_FOLDER, is_durable=False).close()
        process = ChildProcess(child_command(["live", str(cache), "--child", "--json"]), cache / layout.LOG_FILE)
        _wait(lambda: any(event["event"] == "live" and event["step"] > SETTLED for event in process.events()), 300.0)
        reader, taken = SampleReader(cache / layout.LIVE_FOLDER), []
        grab = {"command": "grab", "grab": 1, "body": "body", "place": [0.0, 0.0, 2.0 * RADII[2]]}
        for number in range(count):
            time.sleep(0.05 + 0.013 * (number % 7))  # at any time within a step
            before = time.perf_counter()
            process.send(grab if number % 2 == 0 else {"command": "release", "grab": 1})
            _wait(lambda wanted=number + 1: _has_commands(reader, wanted), 10.0)
            taken.append(time.perf_counter() - before)
        reader.close()
        process.send({"command": "cancel"})
        _wait(lambda: process.exit_code() is not None, 10.0)
        process.close()
    return taken


def _has_commands(reader: SampleReader, wanted: int) -> bool:
    head = reader.newest()
    return head is not None and head.commands >= wanted


def _wait(is_there: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not is_there():
        assert time.monotonic() < end, "the run does not answer"
        time.sleep(0.0005)


def _rate_rows(name: str, wanted: float, scene: Scene, steps: int, controls: dict[str, Any]) -> tuple[list[Row], float]:
    tets, taken, missed = seconds_of_samples(scene, steps, controls)
    rate, worst = 1.0 / statistics.median(taken), 1e3 * float(np.quantile(taken, 0.95))
    text = f"{rate:.0f} (95 % of steps within {worst:.0f} ms)"
    row = bound_row(
        f"{name}, {tets:,} tets, samples a second",
        f"≥ {wanted:g}",
        text,
        rate >= wanted and missed[1] == 0,
        f"{missed[1]} steps with the hand did not converge or settle.",
        line=LINE,
    )
    told = Row(
        "of that not converged or settled: while it came to lie, with the hand", NO_TARGET, "{}, {}".format(*missed)
    )
    return [row, told], rate


def _posed_rows(quick: bool) -> tuple[list[Row], dict[str, float]]:
    quantity, wanted = "Flesh in Follow Pose, samples a second", f"≥ {POSED_RATE:g}"
    if not demo_scenes.can_run():
        return [missing_peer_row(quantity, wanted, "bpy", line=LINE)], {}
    found = run_posed(QUICK_LAST_FRAME, QUICK_TET_SIZE) if quick else run_posed(LAST_FRAME, TET_SIZE)
    rate, worst = 1.0 / statistics.median(found.seconds), 1e3 * float(np.quantile(found.seconds, 0.95))
    row = bound_row(
        f"Flesh in Follow Pose, {found.tets:,} tets, samples a second",
        wanted,
        f"{rate:.0f} (95 % of poses within {worst:.0f} ms)",
        rate >= POSED_RATE and found.missed == 0,
        f"{found.missed} poses did not converge.",
        line=LINE,
    )
    return [row], {"pose": rate}


def run(quick: bool) -> Result:
    """Measures the rates of samples, then the delay of grabs."""
    steps, rows, values = 20 if quick else STEPS, list[Row](), dict[str, float]()
    for preset, wanted in (("JELLY", 60.0), ("RUBBER", 30.0)):
        scene = lying_body(preset, 6 if quick else DIVISIONS, quick)
        told, values[preset] = _rate_rows(f"{preset.capitalize()} on the ground", wanted, scene, steps, {})
        rows += told
    trough = lying_body("JELLY", 5 if quick else SMALL_DIVISIONS, quick, in_trough=True)
    sides = {"collider.left.matrix": wall(-1.0), "collider.right.matrix": wall(1.0)}
    told, values["trough"] = _rate_rows("Jelly in a trough, with self collision", 30.0, trough, steps, sides)
    rows += told
    told, posed = _posed_rows(quick)
    rows += told
    grabbed = lying_body("JELLY", 6 if quick else DIVISIONS, quick)
    delays = [1e3 * each for each in seconds_until_seen(grabbed, 6 if quick else GRABS)]
    median, worst = statistics.median(delays), float(np.quantile(delays, 0.99))
    values |= posed | {"median delay": median, "worst delay": worst}
    rows.append(
        bound_row(
            "from a command to the first sample that has it, median and 99th percentile [ms]",
            f"≤ {MEDIAN_MILLISECONDS:g}, {WORST_MILLISECONDS:g}",
            f"{median:.0f}, {worst:.0f}",
            median <= MEDIAN_MILLISECONDS and worst <= WORST_MILLISECONDS,
            "A command waits for the present step, then for its own.",
            line=LINE,
        )
    )
    rows.append(Row("render vertices", NO_TARGET, f"{2 + (RINGS - 1) * SEGMENTS:,}"))
    return Result(rows, values=values)


BENCHMARK = Benchmark(
    lines=(LINE,),
    title="Live",
    what=f"A spheroid of 30 × 30 × 24 cm with {2 + (RINGS - 1) * SEGMENTS:,} render vertices lies on the ground, with "
    "the presets as they come, steps of 1/60 s and the default tolerance. When it has lain for two seconds a hand "
    f"takes its top and moves it to and fro by 3 cm, {STEPS} steps as fast as they come, each written for another "
    f"process. In the trough two walls that lean by 35° hold it as well. The flesh is the arm of the demo {DEMO} with "
    f"tets of {1e3 * TET_SIZE:g} mm and its self collision: commands set both bones before every sample, as the demo "
    "bends the elbow to 140° in 1.3 s and back to 70°, 72 of them a second. The delay is that of a child process that "
    f"keeps to the clock, over {GRABS} grabs and releases of the first body.",
    run=run,
)
