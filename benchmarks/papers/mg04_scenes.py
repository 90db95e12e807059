# SPDX-License-Identifier: GPL-3.0-or-later
"""MG04, table 1: the snake, the cow and the dragon, as the demo scenes have them, in real time."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from harness import demo_scenes, plots
from harness.result import Picture, Result
from papers import mg04_demo_scenes
from papers.experiment import Experiment, Row, claim_row
from papers.mg04_demo_scenes import DT, PAPER_TABLE_1

RUNS = 3


def run(quick: bool) -> Result:
    """Steps every scene through all its frames."""
    if not demo_scenes.can_run():
        missing = "not measured: the scenes are made by Blender's module, which is not installed"
        return Result([Row("table 1's scenes", "real time", missing)])
    rows, values = [], {}
    figure, ax = plots.plot("time of the scene [s]", "ms per step of 10 ms")
    for name, (tets, triangles) in PAPER_TABLE_1.items():
        taken, had, shown = measure_scene(name, 1 if quick else RUNS)
        middle, longest = median(taken), float(taken.max())
        alike = abs(had / tets - 1.0) < 0.05 and abs(shown / triangles - 1.0) < 0.05
        size = f"{name}: tets, triangles"
        speed = f"{middle:.2f} ms, longest {longest:.1f} ms: {1e3 * DT / middle:.0f} × real time"
        rows += [
            claim_row(size, f"{tets}, {triangles:,}", f"{had}, {shown:,}", alike, "the demo has another size"),
            claim_row(
                f"{name}: a step of 10 ms", "real time: 10 ms", speed, middle <= 1e3 * DT, "slower than real time"
            ),
        ]
        values[f"{name} ms"], values[f"{name} tets"] = middle, had
        ax.plot(DT * np.arange(len(taken)), taken, label=f"{name}, {had} tets", lw=0.8)
    ax.set_yscale("log")
    ax.legend()
    caption = "Time of every step of the three scenes, the fastest of equal runs; 10 ms are real time."
    return Result(rows, [Picture(caption, figure)], values)


def measure_scene(name: str, runs: int):
    """Returns how long each step of a scene took [ms], the fastest of equal runs, its tets, and triangles shown."""
    with tempfile.TemporaryDirectory() as folder:
        first = mg04_demo_scenes.demo_simulation(name, Path(folder))
        tets, shown = first.built.model.tet_count, mg04_demo_scenes.rendered_triangle_count()
        start = first.copy()
        for _ in mg04_demo_scenes.timed_steps(first):
            pass  # so that all is compiled
        taken = [list(mg04_demo_scenes.timed_steps(start.copy())) for _ in range(runs)]
    return np.min(taken, axis=0), tets, shown


EXPERIMENT = Experiment(
    "MG04",
    "Snake, cow and dragon in real time (table 1)",
    "The demo scenes `snake`, `wax_cow` and `dragon` have the tets, triangles, Young's modulus, ν, density, yield, "
    "creep and fracture stress of the paper's table. Steps of 10 ms with 20 iterations of conjugate gradients include "
    "pins, contacts, flow, heat and fracture, but no drawing, on two threads. The cow and the dragon flow by Sinew's "
    "multiplicative law, which keeps volume. The paper says that all ran in real time on a Pentium 4 of 1.8 GHz.",
    run,
    is_timed=True,
)
