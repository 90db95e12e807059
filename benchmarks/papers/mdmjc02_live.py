# SPDX-License-Identifier: GPL-3.0-or-later
"""MDMJC02 4.3 and 4.4, live: a hand drags the bunny's head and the Great Dane, rigid cores with a soft skin."""

from __future__ import annotations

from harness import demo_scenes
from harness.result import Result
from papers.experiment import Experiment, Row
from papers.live_scenes import FINER, STEPS, live_rows, measure
from papers.mdmjc02_core import SCENE_NAMES
from papers.rigid_core_scenes import SCENES


def run(quick: bool) -> Result:
    """Drags both."""
    if not demo_scenes.can_run():
        missing = "not measured: the scenes are made by Blender's module, which is not installed"
        return Result([Row("bunny and Great Dane, dragged", "real time", missing)])
    rows, values = list[Row](), dict[str, float]()
    for name in ["bunny_head"] if quick else SCENES:
        tets = sum(SCENES[name][:2])
        measured = measure(name, tets, quick)
        rows += live_rows(SCENE_NAMES[name], tets, measured)
        values |= measured.rates(name)
    return Result(rows, values=values)


EXPERIMENT = Experiment(
    "MDMJC02",
    "Bunny and Great Dane live, dragged by hand (sections 4.3, 4.4)",
    "The demo scenes `bunny_head` and `great_dane`, which are built from simple shapes as the paper's meshes are not "
    "available, run live with steps of 10 ms, each a sample, solved to the scene's tolerance. A hand takes what is "
    "within a tenth of the body's longest side of its end and drags it across by 15 % of that side, once to and fro a "
    f"second, {STEPS} steps; then the same with at least {FINER} times the tets. Times are processor times of one "
    "thread, the motion of the triangles included; the paper says that both run in real time.",
    run,
    is_timed=True,
)
