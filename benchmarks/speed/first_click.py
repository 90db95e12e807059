# SPDX-License-Identifier: GPL-3.0-or-later
"""From the click on Simulate to the first step: nothing compiled, all compiled, and a solver that waits."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from harness.result import Result
from speed.bake_startup import (
    LIBRARIES_CODE,
    compiled_kernel_count,
    library_load_seconds,
    time_new_process,
    time_warm_process,
    write_cube,
    yardstick_seconds,
)
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row

COLD_TARGET_SECONDS, WARM_TARGET_SECONDS = 8.0, 0.5  # [s], on the reference machine
REMARKS = {
    "cold": "Numba types and lowers in Python, which is more than half of it, and LLVM is the rest. The bake "
    "compiles each kernel when it first calls it; kernels of contacts that push are compiled when frames are coming "
    "already. A zip with kernels leaves nothing to compile. Ten kernels of a prototype took 17 s on the reference "
    "machine. What was tried without gain is told below. What is left are fewer and shorter kernels. Compiled ahead, "
    "no bake waits for it.",
    "fresh": "A process that is new has to load NumPy and Numba first, which takes {libraries:.2f} s by itself; a "
    "solver that waits takes {waiting:.2f} s to fill, bind and write the cube. What is left are three hundred modules "
    "of Sinew's and 21 compiled kernels. Blender keeps one "
    "that waits.",
    "waiting": "The first step is there when the cube is filled, bound and written.",
    "compiled": "A kernel was called with other types than when it was compiled ahead.",
}


def run(quick: bool) -> Result:
    """Measures in empty folders of kernels, then in one where all is compiled."""
    colds, rounds = (1, 1) if quick else (3, 5)
    with tempfile.TemporaryDirectory(prefix="sinew-first-click-") as name:
        folder = Path(name)
        cubes = {"falls": folder / "falls.sinew", "hangs": folder / "hangs.sinew"}
        for kind, cache in cubes.items():
            write_cube(cache, kind == "hangs")
        cold, sticks = [], []
        for number in range(colds):
            sticks.append(yardstick_seconds())
            cold.append(time_new_process(folder / f"kernels-{number}", cubes["falls"]))
        kernels = folder / "kernels-0"
        before = compiled_kernel_count(kernels)
        warm, ready, libraries = [], [], []
        for _ in range(rounds):
            warm.append(time_new_process(kernels, cubes["falls"])["step"])
            ready.append(time_warm_process(kernels, cubes["falls"]))
            libraries.append(library_load_seconds())
        more = compiled_kernel_count(kernels) - before
    seconds = {
        "cold": statistics.median(each["step"] for each in cold),
        "processor": statistics.median(each["processor"] for each in cold),
        "announced": statistics.median(each["compiling"] for each in cold),
        "fresh": statistics.median(warm),
        "waiting": statistics.median(each["step"] for each in ready),
        "libraries": statistics.median(libraries),
        "yardstick": statistics.median(sticks),
    }
    memory = statistics.median(each["memory"] for each in ready)
    counts = {"kernels": float(before), "compiled_anew": float(more)}
    return Result(_rows(seconds, memory, before, more), values={**seconds, **counts})


def _rows(seconds: dict[str, float], memory: float, kernels: int, more: int) -> list[Row]:
    """Returns the table."""
    judged = [
        ("first step, nothing compiled [s]", "cold", COLD_TARGET_SECONDS),
        ("first step, all compiled, a solver that waits [s]", "waiting", WARM_TARGET_SECONDS),
        ("first step, all compiled, a new process [s]", "fresh", WARM_TARGET_SECONDS),
    ]
    rows = [
        bound_row(
            text, f"≤ {most:g}", f"{seconds[key]:.2f}", seconds[key] <= most, REMARKS[key].format(**seconds), line=8
        )
        for text, key, most in judged
    ]
    return [
        *rows,
        bound_row(
            "kernels compiled by a click after the first", "0", str(more), more == 0, REMARKS["compiled"], line=8
        ),
        Row("until a person is told that it compiles [s]", NO_TARGET, f"{seconds['announced']:.2f}"),
        Row(f"a process that only does “{LIBRARIES_CODE}” [s]", NO_TARGET, f"{seconds['libraries']:.2f}"),
        Row("memory of a solver that waits [MB]", NO_TARGET, f"{memory:.0f}"),
        Row("kernels of that scene", NO_TARGET, str(kernels)),
        Row(
            "to compile all of them, time of a processor, of all processes [s]",
            NO_TARGET,
            f"{seconds['processor']:.1f}",
        ),
        Row("two small functions compiled by Numba here [s]", NO_TARGET, f"{seconds['yardstick']:.2f}"),
    ]


BENCHMARK = Benchmark(
    lines=(8,),
    title="The first click",
    what=(
        "Blender's default cube, two metres, filled with tets of a twelfth, half a metre above a ground, one "
        "step per frame. The command that Blender starts for a bake (bootstrap.py … simulate CACHE) is started "
        "with kernels in an empty folder, three times, then five times with what the first of them compiled; in "
        "turns with the latter, a process that Blender has started before (sinew wait) is asked for the same "
        "bake. The time is from the start of the process, or the line that asks it, to the event that says that "
        "frame 2 is written. Nothing else runs. The bounds are those of the reference machine; beside them stands "
        "what Numba takes here for two small functions. Before all that Blender writes the scene, frame by frame of "
        "the timeline: see the export under “What a bake costs beside its solver”."
    ),
    run=run,
)
