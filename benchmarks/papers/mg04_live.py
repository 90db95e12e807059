# SPDX-License-Identifier: GPL-3.0-or-later
"""MG04, table 1, live: a hand drags the snake and the cow, and tears the dragon."""

from __future__ import annotations

from harness import demo_scenes
from harness.result import Result
from papers.experiment import Experiment, Row
from papers.live_scenes import FINER, STEPS, live_rows, measure
from papers.mg04_demo_scenes import PAPER_TABLE_1

TORN = "dragon"


def run(quick: bool) -> Result:
    """Drags all three."""
    if not demo_scenes.can_run():
        missing = "not measured: the scenes are made by Blender's module, which is not installed"
        return Result([Row("table 1's scenes, dragged", "real time", missing)])
    rows, values = list[Row](), dict[str, float]()
    for name in ["snake"] if quick else PAPER_TABLE_1:
        measured = measure(name, PAPER_TABLE_1[name][0], quick, tears=name == TORN)
        rows += live_rows(name, PAPER_TABLE_1[name][0], measured)
        values |= measured.rates(name)
    return Result(rows, values=values)


EXPERIMENT = Experiment(
    "MG04",
    "Snake, cow and dragon live, dragged and torn by hand (table 1)",
    "The demo scenes `snake`, `wax_cow` and `dragon` run live with steps of 10 ms, each a sample, solved to the "
    "scene's tolerance, with heat, flow and fracture. A hand takes what is within a tenth of the body's longest side "
    "of its end and drags it across by 15 % of that side, once to and fro a second; the dragon it pulls away "
    f"lengthwise by a length a second, until it tears. {STEPS} steps; then the same with at least {FINER} times the "
    "paper's tets. Times are processor times of one thread, the motion of the triangles included; the torn dragon is "
    "timed by the clock on two threads, too.",
    run,
    is_timed=True,
)
