# SPDX-License-Identifier: GPL-3.0-or-later
"""MG04, figure 7: time per step over the number of tets, warped stiffness against linear."""

from __future__ import annotations

import time
from statistics import median

import numpy as np

from harness import plots
from harness.result import Picture, Result
from papers.experiment import Experiment, Row, claim_row
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.solver_context import SolverContext
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.runtime.threads.thread_count import set_thread_count
from sinew.solver.scene.formulation import LINEAR, POLAR, FormulationSettings
from sinew.solver.scene.scene import JACOBI, Material, Settings

BARS = ((2, 2, 7), (3, 3, 10), (4, 4, 13), (5, 5, 16), (6, 6, 17), (6, 6, 20))
DT = 0.01
# no residual is small enough to stop before
TWENTY_ITERATIONS = Settings(tolerance=0.0, max_iterations=20, linear_solver=JACOBI)
METHODS = (LINEAR, POLAR)
SHORT_SOLVE_NOTE = "the solve is so short here that the rest shows; the matrix of linear bodies is not made anew"
LARGE_MESH_NOTE = "20 iterations are few: here a product with the matrix is cheap beside its assembly"


def run(quick: bool) -> Result:
    """Measures bars of more and more tets."""
    set_thread_count(1)
    bars, steps = (BARS[:2], 10) if quick else (BARS, 60)
    rows, values, table = [], {}, []
    for cells in bars:
        tets, ms, rest = measure_bar(cells, steps)
        table.append((tets, *ms))
        ratio = ms[1] / ms[0]
        told = f"linear {ms[0]:.3g} ms, warped {ms[1]:.3g} ms: {ratio:.2f} times"
        rows.append(claim_row(f"{tets} tets", "little more than linear", told, ratio < 1.5, SHORT_SOLVE_NOTE))
        values[f"ratio {tets}"], values[f"beside {tets}"] = ratio, rest
    counts, linear, warped = np.transpose(table)
    beside = [values[f"beside {tets:.0f}"] for tets in counts]
    told = ", ".join(f"{share:.0%}" for share in beside)
    rows.append(claim_row("rotations and assembly over the solve", "small", told, max(beside) < 0.5, LARGE_MESH_NOTE))
    slope = float(np.polyfit(np.log(counts), np.log(warped), 1)[0])
    rows.append(Row("growth exponent of warped stiffness over tets", "about 1 (a line)", f"{slope:.2f}", None))
    values["slope"] = slope
    figure, ax = plots.plot("tets", "ms per step")
    ax.plot(counts, linear, "o-", color=plots.COLOURS[LINEAR], label="linear")
    ax.plot(counts, warped, "o-", color=plots.COLOURS[POLAR], label="warped stiffness")
    ax.legend()
    return Result(rows, [Picture("Time per step over tets, as in figure 7.", figure)], values)


def measure_bar(cells: tuple[int, int, int], steps: int) -> tuple[int, list[float], float]:
    """Returns the tets, the median times of a step per method [ms], taken in turns, and polar's elements / solve."""
    nodes, tets = box_tets(cells, (0.3, 0.3, 1.0))
    material = Material(1.0e5, 0.33, 1000.0, 0.0, 0.0)
    moving = []
    for name in METHODS:
        model = make_model([Part("bar", nodes, tets, np.ones(len(tets)), material, method=FormulationSettings(name))])
        outside = ExternalForces(np.array([0.0, -9.81, 0.0]), model.X[:, 2] == 0.0, model.X)
        moving.append((model, State(model.X.copy(), np.zeros_like(model.X)), outside, SolverContext()))
    taken: list[list[float]] = [[], []]
    shares = []
    for _ in range(steps):
        for k, (model, state, outside, context) in enumerate(moving):
            began = time.perf_counter()
            report = step(model, state, outside, DT, TWENTY_ITERATIONS, context=context)
            taken[k].append(1e3 * (time.perf_counter() - began))
        stage = report.milliseconds
        shares.append((stage["elements"] + stage["assembly"]) / stage["solve"])
    warm = steps // 5
    return len(tets), [median(times[warm:]) for times in taken], median(shares[warm:])


EXPERIMENT = Experiment(
    "MG04",
    "Time per step over tets (figure 7)",
    "Bars of 0.3 × 0.3 × 1 m, five tets per cell, 100 kPa, ν = 0.33, held at one end, sag under gravity in steps of 10 "
    "ms with 20 iterations of conjugate gradients each. The linear method and warped stiffness (polar decomposition "
    "per tet) take turns on one thread; medians. The digits of the paper's figure are missing; its text speaks of a "
    "few thousand tets and says that rotations and assembly are small beside the solve.",
    run,
    is_timed=True,
)
