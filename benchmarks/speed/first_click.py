# SPDX-License-Identifier: GPL-3.0-or-later
"""From the click on Simulate to the first step: with no kernels, with all kernels, and with a waiting solver."""

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

# [s], on the reference machine; a new process had 0.5 while tricks with Numba's insides saved it half a second
COLD_TARGET_SECONDS, WAITING_TARGET_SECONDS, NEW_PROCESS_TARGET_SECONDS = 8.0, 0.5, 1.0
REMARKS = {
    "cold": "Numba's passes in Python take three fifths of the time (lowering 26 %, typing 17 %), LLVM the rest. The "
    "bake compiles each kernel when it first calls it, and the kernels of contact forces while frames already arrive. "
    "A zip with kernels leaves nothing to compile. Ten kernels of a prototype took 17 s on the reference machine. How "
    "many kernels there are hardly counts: as many of one line compile in 1 to 2 s. Their length does: these have "
    "14,000 instructions of bytecode, which take 0.9 ms each on a busy machine. Conjugate gradients take 24 %, filling "
    "the mesh and binding to it 21 %, rotations and records of tets 17 %, assembly and rigid modes 8 % each, the "
    "search for contacts 5 %. So 8 s would take kernels of three fifths of that length. See “Rejected ideas”.",
    "fresh": "A new process first has to load NumPy and Numba, which takes {libraries:.2f} s; a waiting solver takes "
    "{waiting:.2f} s to fill, bind and write the cube. The rest is three hundred modules of Sinew and 21 compiled "
    "kernels. Blender keeps a waiting solver.",
    "waiting": "Before the first step the solver has to fill, bind and write the cube.",
    "compiled": "A call used other types than the kernel compiled ahead.",
}


def run(quick: bool) -> Result:
    """Measures with empty kernel folders, then with all kernels compiled."""
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
        ("first step, all compiled, waiting solver [s]", "waiting", WAITING_TARGET_SECONDS),
        ("first step, all compiled, new process [s]", "fresh", NEW_PROCESS_TARGET_SECONDS),
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
        Row("until Sinew announces the compilation [s]", NO_TARGET, f"{seconds['announced']:.2f}"),
        Row(f"a process that only runs “{LIBRARIES_CODE}” [s]", NO_TARGET, f"{seconds['libraries']:.2f}"),
        Row("memory of a waiting solver [MB]", NO_TARGET, f"{memory:.0f}"),
        Row("kernels of that scene", NO_TARGET, str(kernels)),
        Row(
            "processor time of all processes to compile them [s]",
            NO_TARGET,
            f"{seconds['processor']:.1f}",
        ),
        Row("Numba compiling two small functions [s]", NO_TARGET, f"{seconds['yardstick']:.2f}"),
    ]


BENCHMARK = Benchmark(
    lines=(8,),
    title="The first click",
    what=(
        "The scene is Blender's default cube, two metres, filled with tets of a twelfth of it, half a metre above a "
        "ground, with one step per frame. The benchmark starts the command that Blender starts for a bake "
        "(bootstrap.py … simulate CACHE) three times with an empty kernel folder, then five times with the kernels of "
        "the first run. In turns with the latter it sends the same bake to a process that Blender started before "
        "(sinew wait). A time runs from the start of the process, or from the request, to the event that announces "
        "frame 2. Nothing else runs. The targets hold for the reference machine; the time that Numba takes for two "
        "small functions lets other machines be compared. Before all that Blender exports the scene frame by "
        "frame: see “Overhead of a bake”."
    ),
    run=run,
)
