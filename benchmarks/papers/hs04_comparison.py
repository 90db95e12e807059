# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of a body by several formulations that are compared node by node, and what their steps cost."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from papers.simulation_setup import take_step
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.simulation.simulation import Simulation

SLOWER_NOTE = (
    "here Newton's method on all tets takes two to four iterations of compiled conjugate gradients; the hierarchical "
    "solver also solves the coarse problem and passes over all levels in each of its iterations"
)


@dataclass(frozen=True, eq=False)
class Run:
    """What came of one.

    Attributes:
        way: Displacement of what is watched after every step [m], (steps, 3).
        ms: What a step takes, the median [ms].
        coarse, fine: What of it hierarchical bodies take on the coarse level and on the others, the medians [ms].
        longest: The longest step but the first ones [ms].
        iterations, newton: Of the linear solver and of Newton's method per step, the means.
        x, tets: Nodes where what is watched is farthest [m], (n, 3), and tets.
    """

    way: Floats
    ms: float
    coarse: float
    fine: float
    longest: float
    iterations: float
    newton: float
    x: Floats
    tets: Indices


def run(simulated: Simulation, steps: int, watched: Indices) -> Run:
    """Moves a simulation on, and watches the mean of some nodes."""
    model = simulated.built.model
    way, reports, taken, farthest, x = [], [], [], 0.0, model.X
    for _ in range(steps):
        began = time.perf_counter()
        reports.append(take_step(simulated))
        taken.append(1e3 * (time.perf_counter() - began))
        way.append((simulated.state.x[watched] - model.X[watched]).mean(axis=0))
        if np.linalg.norm(way[-1]) > farthest:
            farthest, x = float(np.linalg.norm(way[-1])), simulated.state.x.copy()
    late = slice(steps // 10, None)
    coarse, fine = (float(np.median([r.milliseconds.get(n, 0.0) for r in reports[late]])) for n in ("coarse", "fine"))
    return Run(
        np.array(way), float(np.median(taken[late])), coarse, fine, max(taken[late]),
        float(np.mean([report.iterations for report in reports])),
        float(np.mean([report.newton_iterations for report in reports])), x, model.tets,
    )  # fmt: skip


def relative_error(found: Run, true: Run) -> float:
    """Returns the mean distance between two ways over the largest displacement of the true one."""
    away = np.linalg.norm(found.way - true.way, axis=1).mean()
    return float(away / np.linalg.norm(true.way, axis=1).max())


def cost_rows(found: dict[str, Run]) -> str:
    """Returns what steps cost by name [ms], with the Newton iterations of those that have any."""
    return ", ".join(
        f"{name} {run_.ms:.2f}" + (f" ({run_.newton:.1f} Newton)" if run_.newton else "")
        for name, run_ in found.items()
    )
