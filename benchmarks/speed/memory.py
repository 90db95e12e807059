# SPDX-License-Identifier: GPL-3.0-or-later
"""Peak memory of a dynamic bake by stage, up to a million tets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.result import Result
from speed import torus_scene
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row, missing_peer_row

MAX_BYTES_PER_TET = 1500.0  # bytes per tet
LAPTOP_BYTES = 16e9  # bytes
# divisions of the torus along its longest side
SIZES = {"100K": torus_scene.TETS_100K, "400K": 60, "1M": 82}
FEW_SEGMENTS = 6
FRAMES = 2  # the first, and one of steps

# runs in its own process, with only a bake in memory, and prints the peaks by stage [bytes]
CHILD_CODE = """
import json, sys, time
from pathlib import Path

STAGES = {"tetrahedralize": "filling", "bind": "tying points", "rest": "shapes at rest"}
found, stage, tets, began = {}, "starting", [0], time.perf_counter()

def told(name):
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return 1024 * int(lines[name].split()[0])

def next_stage(name):
    global stage
    found[stage] = max(found.get(stage, 0), told("VmHWM"))
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    stage = name

def hear(event):
    if event["event"] == "building":
        next_stage(STAGES.get(event["stage"], event["stage"]))
    if event["event"] == "built":
        tets[0] = event["tets"]
        next_stage("before the first step")
    if event["event"] == "frame":
        next_stage("steps")

from sinew.solver.bake.run_bake import run_bake
run_bake(Path(sys.argv[1]), hear)
next_stage("end")
print(json.dumps({"tets": tets[0], "seconds": time.perf_counter() - began, "stages": found}))
"""


def measure_peaks(divisions: int, segments: tuple[int, int]) -> tuple[int, float, dict[str, float]]:
    """Returns the tets of a bake, the seconds that it took, and the peak of each stage [bytes]."""
    with tempfile.TemporaryDirectory(prefix="sinew-memory-") as folder:
        cache = Path(folder) / "bake.sinew"
        torus_scene.make_torus(segments, divisions, FRAMES, is_held=False)
        torus_scene.add_ground()
        torus_scene.export_seconds(cache)
        command = [sys.executable, "-c", CHILD_CODE, str(cache)]
        done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, PYTHONUTF8="1"))
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    told = json.loads(done.stdout.splitlines()[-1])
    return int(told["tets"]), float(told["seconds"]), dict(told["stages"])


def run(quick: bool) -> Result:
    """Measures bakes of growing size, each in its own process."""
    quantity, wanted = "peak of a dynamic bake [bytes per tet]", f"≤ {MAX_BYTES_PER_TET:.0f}"
    if not Path("/proc/self/clear_refs").exists():
        return Result([Row(quantity, wanted, "only Linux reports it", line=10)])
    try:
        import bpy  # noqa: F401
    except ImportError:
        return Result([missing_peer_row(quantity, wanted, "bpy", line=10)])
    # the first bake compiles the kernels: its memory is the compiler's
    measure_peaks(FEW_SEGMENTS, torus_scene.COARSE_SEGMENTS)
    sizes = {"quick": FEW_SEGMENTS} if quick else SIZES
    rows, values, peaks = [], {}, {}
    for name, divisions in sizes.items():
        tets, seconds, stages = measure_peaks(
            divisions, torus_scene.COARSE_SEGMENTS if quick else torus_scene.FINE_SEGMENTS
        )
        peak, stage = max((bytes_, stage) for stage, bytes_ in stages.items())
        peaks[name] = tets, peak, stage, seconds
        values |= {f"{name} tets": float(tets), f"{name} peak": float(peak), f"{name} seconds": seconds}
        values |= {f"{name} {stage}": float(bytes_) for stage, bytes_ in stages.items()}
        told = ", ".join(f"{stage} {bytes_ / 1e6:,.0f}" for stage, bytes_ in stages.items() if stage != "end")
        rows.append(Row(f"{tets:,} tets, {seconds:.0f} s: peaks by stage [MB]", NO_TARGET, told))
        rows.append(Row(f"{tets:,} tets: peak of all stages [bytes per tet]", NO_TARGET, f"{peak / tets:,.0f}"))
    (few, low, _, _), (many, high, stage, seconds) = next(iter(peaks.values())), list(peaks.values())[-1]
    whole = high / many
    why = f"The peak is in the stage: {stage}. It includes Python, its kernels and the render mesh of 200,000 vertices."
    rows.append(bound_row(f"{quantity}, {many:,} tets, whole process", wanted, f"{whole:,.0f}",
                      whole <= MAX_BYTES_PER_TET, why, line=10))  # fmt: skip
    values["bytes per tet"] = whole
    if many > few:
        slope = (high - low) / (many - few)
        values["bytes per further tet"] = slope
        rows.append(Row(f"{quantity}, per tet beyond {few:,}", NO_TARGET, f"{slope:,.0f}"))
        fits = high <= 0.75 * LAPTOP_BYTES  # the rest is for Blender and the system
        rows.append(bound_row(f"{many:,} tets on 16 GB [GB]", "≤ 12", f"{high / 1e9:.2f}", fits, why, line=10))
    notes = [
        f"The bake of {many:,} tets took {seconds:.0f} s. Python with its kernels takes 0.16 GB, and "
        "binding the render mesh up to 0.3 GB, whatever the number of tets; so the target applies to the largest mesh, "
        "where these count least. The body falls and touches nothing yet."
    ]
    return Result(rows, values=values, notes=notes)


BENCHMARK = Benchmark(
    lines=(10,),
    title="Memory of a bake",
    what="The torus of 200,000 vertices that measures the overhead of a bake, here free and above a ground, at three "
    "sizes of tets. `simulate` bakes each in its own process: it fills the mesh, binds it, and computes and writes one "
    "frame of four steps. Peaks are Linux's VmHWM of the whole process, reset at each stage.",
    run=run,
)
