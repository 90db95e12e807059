# SPDX-License-Identifier: GPL-3.0-or-later
"""HS04, example 2: the path of a bar's corner under a rising shear load, by every formulation."""

from __future__ import annotations

import numpy as np

from harness import plots
from harness.result import Picture, Result
from papers.experiment import Experiment, claim_row
from papers.hs04_cube_and_bar import (
    DT,
    MATERIAL_TEXT,
    METHOD_COLOURS,
    METHOD_LINE_STYLES,
    METHODS,
    corner_node,
    upright_box,
)
from papers.simulation_setup import take_step
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.formulation import FormulationSettings

CELLS, LENGTHS = (3, 3, 12), (1.0, 1.0, 4.0)  # [m]
QUICK_CELLS = (1, 1, 4)
FORCE = 2.5e3  # at the end [N]
STEPS = 600
FIRST_COUNTED_STEP = 100  # step from which on errors count: before, the corner has hardly moved
EARLY_NOTE = (
    "while the bar bends little, all but Cauchy are within some tenths of a per cent of Green, and rotations per "
    "vertex are as accurate as rotations per tet; their error grows faster with the bend"
)
NAMES = [name for name in METHODS if name != "green"]


def run(quick: bool) -> Result:
    """Bends the bar by every formulation."""
    cells = QUICK_CELLS if quick else CELLS
    paths = {name: corner_displacements(method, cells) for name, method in METHODS.items()}
    true = paths["green"]
    error = {name: relative_errors(paths[name], true) for name in NAMES}
    mean = {name: float(error[name][FIRST_COUNTED_STEP:].mean()) for name in NAMES}
    last = {name: float(error[name][-1]) for name in NAMES}
    early = {name: float(error[name][STEPS // 3]) for name in NAMES}
    rows = []
    for when, found in (("over the run", mean), ("at the end", last), ("at a third of the load", early)):
        told = ", ".join(f"{name} {value:.2%}" for name, value in found.items())
        order = "hybrid < polar < warp < Cauchy"
        rows.append(claim_row(f"error of the corner {when}", order, told, is_error_order_as_paper(found), EARLY_NOTE))
    values = {f"mean {name}": value for name, value in mean.items()} | {f"last {n}": v for n, v in last.items()}
    values |= {f"early {name}": value for name, value in early.items()}
    values["corner"] = float(np.linalg.norm(true[-1]))
    figure, axes = plots.plot("time [s]", "relative error of the corner [%]", beside=2)
    for name in NAMES:
        for ax in axes:
            colour = plots.COLOURS[METHOD_COLOURS[name]]
            t = DT * np.arange(FIRST_COUNTED_STEP, STEPS)
            ax.plot(
                t,
                100.0 * error[name][FIRST_COUNTED_STEP:],
                color=colour,
                ls=METHOD_LINE_STYLES.get(name, "-"),
                label=name,
            )
    axes[1].set_ylim(0.0, 120.0 * max(value for name, value in last.items() if name != "linear"))
    axes[0].legend()
    axes[1].set_title("without the linear one", fontsize=9)
    figure.tight_layout()
    note = f"At the end Green's corner has moved {values['corner']:.2f} m; the bar is {LENGTHS[2]:g} m long."
    return Result(rows, [Picture("Errors while the load rises.", figure)], values, [note])


def corner_displacements(method: FormulationSettings, cells: tuple[int, int, int]) -> Floats:
    """Returns the way of the upper corner from its place at rest [m], (steps, 3)."""
    simulated = upright_box(cells, LENGTHS, method, force=lambda t: FORCE * t / (STEPS * DT))
    X = simulated.built.model.X
    node = corner_node(X)
    way = []
    for _ in range(STEPS):
        take_step(simulated)
        way.append(simulated.state.x[node] - X[node])
    return np.array(way)


def relative_errors(way: Floats, true: Floats) -> Floats:
    """Returns the distance from the true way over the length of that, (steps,)."""
    return np.linalg.norm(way - true, axis=1) / np.maximum(np.linalg.norm(true, axis=1), 1e-12)


def is_error_order_as_paper(found: dict[str, float]) -> bool:
    """Returns whether errors are in the paper's order."""
    warps = [value for name, value in found.items() if name.startswith("warp")]
    return bool(found["hybrid"] < found["polar"] < min(warps) and max(warps) < found["linear"])


EXPERIMENT = Experiment(
    "HS04",
    "The corner of a bar under a rising shear load (example 2)",
    f"""A bar of {LENGTHS[0]:g} × {LENGTHS[1]:g} × {LENGTHS[2]:g} m and {5 * CELLS[0] * CELLS[1] * CELLS[2]} tets
    ({MATERIAL_TEXT}) stands on a held side; the force along x on its upper side rises from 0 to {FORCE / 1e3:g} kN in
    {STEPS * DT:g} s. Each formulation runs by itself. The error is the distance of one upper corner from its position
    with Green's strain, over its displacement there; means from {FIRST_COUNTED_STEP * DT:g} s on.""",
    run,
)
