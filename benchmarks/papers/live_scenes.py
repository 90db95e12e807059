# SPDX-License-Identifier: GPL-3.0-or-later
"""The papers' scenes run live: a hand drags a body, and every step of 10 ms is a sample.

Times are processor times of one thread, which other programs on the machine hardly change; those of a body that tears
are by the clock on two threads, too.
"""

from __future__ import annotations

import dataclasses
import math
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from harness import demo_scenes
from papers.experiment import NO_PAPER_VALUE, Row, claim_row
from sinew.solver.live.commands import parse_command
from sinew.solver.live.live_run import LiveRun, LiveSample
from sinew.solver.live.torn_meshes import TornMeshes
from sinew.solver.runtime.arrays import Floats
from sinew.solver.runtime.threads.thread_count import limiting_threads
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import TrackReader
from sinew.solver.simulation.build import build

DT = 0.01  # [s]
FINER = 10  # times the paper's tets
WARM_UP, STEPS = 20, 200  # steps before the hand comes, and with it
AMPLITUDE, PERIOD = 0.15, 1.0  # of its motion, in sizes of the body, and [s]
TEAR_SPEED = 1.0  # of a hand that tears, in sizes of the body [1/s]


@dataclass(frozen=True, eq=False)
class LiveTimes:
    """What was measured of a run.

    Attributes:
        tets: Of its body.
        steps: Time of each step with the hand, the motion of the render vertices included [ms].
        missed: Steps that did not converge or settle.
        pieces: Into how many the body was torn at the end.
        whole: How many of the steps were taken before anything tore.
    """

    tets: int
    steps: Floats
    missed: int
    pieces: int
    whole: int

    @property
    def rate(self) -> float:
        """Samples in a second, over all steps."""
        return _rate(self.steps)

    @property
    def torn_rate(self) -> float:
        """Samples in a second from when it begins to tear."""
        return _rate(self.steps[self.whole :])

    @property
    def rate_text(self) -> str:
        """The same in words, before and after it begins to tear where it does."""
        if self.whole == len(self.steps):
            return f"{self.rate:.0f} (95 % of steps within {np.quantile(self.steps, 0.95):.0f} ms)"
        return f"{_rate(self.steps[: self.whole]):.0f} until it tears, {self.torn_rate:.0f} while it does"


def _rate(steps: Floats) -> float:
    return 1.0e3 / median(steps)


class _Ended(Exception):
    """Ends a run."""


def load_scene(name: str, folder: Path) -> tuple[Scene, TrackReader]:
    """Returns a demo scene with steps of 10 ms, one a frame."""
    demo_scenes.demo_script(name).build()
    scene, tracks = demo_scenes.export_open_file(folder)
    settings = dataclasses.replace(scene.settings, fps=1.0 / DT, substeps=1)
    return dataclasses.replace(scene, settings=settings), tracks


def with_tets(scene: Scene, tracks: TrackReader, wanted: int) -> Scene:
    """Returns the scene with at least so many tets, and hardly more."""
    factor = 1.0
    while True:
        finer = _with_smaller_tets(scene, factor)
        found = build(finer, tracks, lambda stage, body: None).model.tet_count
        if found >= wanted:
            return finer
        factor *= max(wanted / found, 1.02)


def _with_smaller_tets(scene: Scene, factor: float) -> Scene:
    bodies = []
    for body in scene.bodies:
        assert body.meshing.tet_size is not None
        size = body.meshing.tet_size / factor ** (1.0 / 3.0)
        bodies.append(dataclasses.replace(body, meshing=dataclasses.replace(body.meshing, tet_size=size)))
    return dataclasses.replace(scene, bodies=tuple(bodies))


@dataclass(frozen=True)
class LiveMeasurements:
    """A scene with the paper's number of tets, with ten times as many, and, if it tears, these on two threads."""

    found: LiveTimes
    finer: LiveTimes | None
    on_two_threads: LiveTimes | None

    def rates(self, name: str) -> dict[str, float]:
        """Returns the samples a second of all runs, named for a scene."""
        runs = {"samples": self.found, "finer samples": self.finer, "finer samples on two threads": self.on_two_threads}
        return {f"{name} {what}": run.rate for what, run in runs.items() if run is not None}


def run_live(scene: Scene, tracks: TrackReader, steps: int, tears: bool, threads: int = 1) -> LiveTimes:
    """Drags the end of the first body's longest side to and fro across it, or away until it tears.

    Takes processor times on one thread, and times by the clock on more.
    """
    clock = time.process_time if threads == 1 else time.perf_counter
    run, body = LiveRun(scene, tracks), scene.bodies[0]
    torn = TornMeshes(run.simulation)
    axis = int(np.argmax(np.ptp(body.vertices, axis=0)))
    place, size = body.vertices[int(np.argmax(body.vertices[:, axis]))], float(np.ptp(body.vertices[:, axis]))
    across = np.eye(3)[axis] if tears else np.eye(3)[(axis + 1) % 3]
    taken, missed, began, whole = list[float](), 0, 0.0, 0

    def before_step() -> None:
        nonlocal began
        after = run.step - WARM_UP
        if after == steps:
            raise _Ended
        began = clock()
        if after == 0:
            command = {"command": "grab", "grab": 1, "body": body.key, "place": place.tolist(), "radius": 0.1 * size}
            run.apply(parse_command(command))
        if after >= 0:
            swung = AMPLITUDE * math.sin(2.0 * math.pi * after * DT / PERIOD)
            hand = place + size * (TEAR_SPEED * after * DT if tears else swung) * across
            run.apply(parse_command({"command": "move", "grab": 1, "place": hand.tolist()}))

    def on_sample(sample: LiveSample) -> None:
        nonlocal whole
        if sample.step > WARM_UP:
            taken.append(1.0e3 * (clock() - began))
            whole += run.simulation.built.unbroken is None

    def on_frame(report: Any) -> None:
        nonlocal missed
        missed += (report.not_converged + report.unsettled) if run.step > WARM_UP else 0

    with limiting_threads(threads):
        try:
            run.run(before_step, on_sample, on_frame)
        except _Ended:
            pass
    found = torn.cut_anew(lambda problem: None)
    pieces = found[body.key].final.piece_count if body.key in found else 1
    return LiveTimes(run.simulation.built.model.tet_count, np.array(taken), missed, pieces, whole)


def measure(name: str, paper_tets: int, quick: bool, tears: bool = False) -> LiveMeasurements:
    """Measures a demo scene with the paper's number of tets, and with ten times as many (not if quick)."""
    with tempfile.TemporaryDirectory() as folder:
        scene, tracks = load_scene(name, Path(folder))
        steps = 40 if quick else STEPS
        run_live(scene, tracks, 5, tears)  # so that all is compiled
        found = run_live(scene, tracks, steps, tears)
        if quick:
            return LiveMeasurements(found, None, None)
        fine = with_tets(scene, tracks, FINER * paper_tets)
        finer = run_live(fine, tracks, steps, tears)
        return LiveMeasurements(found, finer, run_live(fine, tracks, steps, tears, threads=2) if tears else None)


def live_rows(word: str, paper_tets: int, measured: LiveMeasurements) -> list[Row]:
    """Returns the rows of a scene."""
    found, finer, torn = measured.found, measured.finer, measured.on_two_threads
    middle = median(found.steps)
    rows = [
        claim_row(
            f"{word}, {found.tets} tets, dragged: a step of 10 ms [ms]",
            "real time: 10 ms",
            f"{middle:.2f} (95 % within {np.quantile(found.steps, 0.95):.1f}): {1e3 * DT / middle:.1f} × real time",
            middle <= 1e3 * DT,
            "slower than real time",
        )
    ]
    if finer is not None:
        quantity = (
            f"{word}, {finer.tets} tets ({finer.tets / paper_tets:.1f} times the paper's), dragged: samples a second"
        )
        rows.append(Row(quantity, NO_PAPER_VALUE, finer.rate_text))
    if torn is not None:
        quantity = f"{word}, the same by the clock on two threads, as Live has them"
        rows.append(Row(quantity, NO_PAPER_VALUE, torn.rate_text))
    times = [each for each in (found, finer, torn) if each is not None]
    missed = ", ".join(str(each.missed) for each in times)
    rows.append(Row(f"{word}: steps that did not converge or settle", NO_PAPER_VALUE, missed))
    if torn is not None:
        text = ", ".join(f"into {each.pieces} pieces" for each in times)
        all_torn = all(each.pieces > 1 for each in times)
        rows.append(claim_row(f"{word}: torn by hand", "torn by the mouse", text, all_torn, "it held"))
    return rows
