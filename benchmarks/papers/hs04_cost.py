# SPDX-License-Identifier: GPL-3.0-or-later
"""HS04, table of run times: cost of a step by every formulation, over Δt and the age of rotations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness import plots
from harness.result import Picture, Result
from papers.experiment import Experiment, Row, claim_row
from papers.hs04_cube_and_bar import MATERIAL_TEXT, METHOD_COLOURS, METHOD_LINE_STYLES, METHODS, upright_box
from papers.simulation_setup import measure_step_times
from sinew.solver.runtime.threads.thread_count import set_thread_count
from sinew.solver.scene.formulation import FormulationSettings

CELLS, LENGTHS = (3, 3, 12), (1.0, 1.0, 4.0)  # [m]
FORCE = 2.5e3  # at the end [N]
SECONDS = 2.0
TIME_STEPS = (0.005, 0.01, 0.02, 0.04)  # [s]
ROTATION_AGES = (1, 4)
ANGULAR_SPEED = np.pi / 2.0  # [rad/s]
SINGLE_SOLVE_METHODS, NEWTON_METHODS = ("polar", "warp, edge frames"), ("hybrid", "green")
ROTATION_JUMP_NOTE = (
    "Sinew computes 32 rotations at a time, a small share of a step; with old rotations forces jump at each update, so "
    "that a step predicts the next one worse and its solve takes more iterations"
)
EXPECTED_ORDER = "polar and warp well below hybrid and Green"


def run(quick: bool) -> Result:
    """Times all formulations at every step and age."""
    set_thread_count(1)
    steps, ages = (TIME_STEPS[1:2], ROTATION_AGES[:1]) if quick else (TIME_STEPS, ROTATION_AGES)
    ms = {
        (name, dt, age): median_step_ms(replace(method, rotations_every=age), dt, quick)
        for dt in steps
        for age in ages
        for name, method in METHODS.items()
    }
    rows = []
    for dt in steps:
        for age in ages:
            told = ", ".join(f"{name} {ms[name, dt, age]:.2f}" for name in METHODS)
            linear, iterated = (
                [ms[name, dt, age] for name in names] for names in (SINGLE_SOLVE_METHODS, NEWTON_METHODS)
            )
            quantity = f"Δt = {1e3 * dt:g} ms, rotations every {age}: ms per step"
            rows.append(claim_row(quantity, EXPECTED_ORDER, told, max(linear) < min(iterated), "another order"))
    faster = [ms["green", dt, 1] / ms["polar", dt, 1] for dt in steps]
    told = ", ".join(f"{factor:.1f}" for factor in faster)
    rows.append(claim_row("Green / polar, from short steps to long", "a factor", told, min(faster) > 1.5, "hardly any"))
    anew = float(np.median([ms["polar", dt, ages[0]] / ms["polar", dt, ages[-1]] for dt in steps]))
    rows.append(
        Row(
            f"polar: rotations updated in every step / every {ages[-1]}",
            "about 1: negligible",
            f"{anew:.2f}",
            None,
            ROTATION_JUMP_NOTE,
        )
    )
    values = {f"{name} {dt} {age}": value for (name, dt, age), value in ms.items()}
    values |= {"green / polar": float(np.median(faster)), "polar anew": anew}
    figure, ax = plots.plot("Δt [ms]", "ms per step", y_log=True)
    for name in METHODS:
        colour, line = plots.COLOURS[METHOD_COLOURS[name]], METHOD_LINE_STYLES.get(name, "-")
        ax.plot([1e3 * dt for dt in steps], [ms[name, dt, 1] for dt in steps], "o", color=colour, ls=line, label=name)
    ax.legend(fontsize=7)
    return Result(rows, [Picture("Time per step with rotations updated in every step.", figure)], values)


def median_step_ms(method: FormulationSettings, dt: float, quick: bool) -> float:
    """Returns what a step takes while the bar is bent and turned [ms]."""
    steps = 30 if quick else int(SECONDS / dt)
    simulated = upright_box(
        CELLS, LENGTHS, method, dt=dt, tolerance=1e-4,
        force=lambda t: FORCE * min(1.0, t / SECONDS), turn=lambda t: ANGULAR_SPEED * t,
    )  # fmt: skip
    return float(np.median(measure_step_times(simulated, steps)[steps // 10 :]))


EXPERIMENT = Experiment(
    "HS04",
    "Cost of a step (runtime table of example 2)",
    f"""A force that rises to {FORCE / 1e3:g} kN in {SECONDS:g} s bends the bar of {5 * CELLS[0] * CELLS[1] * CELLS[2]}
    tets ({MATERIAL_TEXT}, except Δt), while its lower side turns by {np.degrees(ANGULAR_SPEED):g}° a second. Linear
    solves and Newton's method end at a residual of 1e-4; one thread; medians. The digits of the paper's table are
    missing; its text says that corotational methods are a factor faster than the non-linear one, that rotations cost
    next to nothing, and that the hybrid tensor costs more, since its system is not linear.""",
    run,
    is_timed=True,
)
