# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints how long a step of a clamped beam takes, per stage and tet: python benchmarks/step.py [--threads N].

The beam of E = 1e6 Pa, ν = 0.33 sags under gravity at Δt = 10 ms. Once with 20 iterations of the linear
solver, as others are measured, once to the tolerance of 1e-4 that a scene has by default.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from meshes import bar
from sinew.solver.integrators.implicit_euler import step
from sinew.solver.integrators.outside import Outside
from sinew.solver.jit import set_thread_count
from sinew.solver.model import Part, make_model
from sinew.solver.scene import Material, Settings
from sinew.solver.state import State

BEAMS = {"450": (3, 3, 10), "10K": (9, 9, 25), "100K": (20, 20, 50), "400K": (32, 32, 78)}
ASKED = {"20 iterations": Settings(tolerance=1e-12, max_iterations=20), "1e-4": Settings(max_iterations=2000)}


def main() -> None:
    """Measures and prints the table."""
    wanted = argparse.ArgumentParser(description=__doc__)
    wanted.add_argument("--threads", type=int, default=None)
    wanted.add_argument("--steps", type=int, default=10)
    wanted.add_argument("--beams", nargs="+", default=["450", "10K", "100K"], choices=list(BEAMS))
    wanted.add_argument("--shuffle", action="store_true", help="number the nodes and tets at random")
    chosen = wanted.parse_args()
    print(f"{set_thread_count(chosen.threads)} threads; medians of {chosen.steps} steps")
    print("tets    damping  solve          ms/step  tets ns  assembly ns  solve ms  iterations  residual")
    for name in chosen.beams:
        for damping in (0.0, 0.01):
            model = beam(BEAMS[name], damping, chosen.shuffle)
            for asked, settings in ASKED.items():
                print(f"{model.tet_count:<8}{damping:<9}{asked:<15}" + measured(model, settings, chosen.steps))


def beam(cells: tuple[int, int, int], damping: float, shuffle: bool):
    """Returns the model of a beam four times as long as thick, made of cubes."""
    nodes, tets = bar(cells, (1.0, 1.0, cells[2] / cells[0]))
    if shuffle:
        random = np.random.default_rng(0)
        order = random.permutation(len(nodes))
        place = np.argsort(order)
        nodes, tets = nodes[order], random.permutation(place[tets].astype(np.int32))
    return make_model([Part("beam", nodes, tets, np.ones(len(tets)), Material(1e6, 0.33, 1000.0, 0.0, damping))])


def measured(model, settings: Settings, steps: int) -> str:
    """Returns the rest of a row of the table."""
    state = State(model.X.copy(), np.zeros_like(model.X))
    outside = Outside(np.array([0.0, -9.81, 0.0]), model.X[:, 2] == 0.0, model.X)
    reports, times = [], []
    for _ in range(steps + 2):
        started = time.perf_counter()
        reports.append(step(model, state, outside, 0.01, settings))
        times.append(1e3 * (time.perf_counter() - started))
    reports, times = reports[2:], times[2:]
    stage = {name: statistics.median(r.milliseconds[name] for r in reports) for name in reports[0].milliseconds}
    iterations = statistics.median(r.iterations for r in reports)
    per_tet = 1e6 / model.tet_count
    return (
        f"{statistics.median(times):<9.3g}{stage['elements'] * per_tet:<9.3g}{stage['assembly'] * per_tet:<13.3g}"
        f"{stage['solve']:<10.3g}{iterations:<12g}{reports[-1].residual:.1e}"
    )


if __name__ == "__main__":
    main()
