# SPDX-License-Identifier: GPL-3.0-or-later
"""HS04, example 3: a hierarchical bar, its error against Green's strain on all of its tets, and its cost per level."""

from __future__ import annotations

import numpy as np

from harness import plots
from harness.result import Picture, Result
from papers import hs04_comparison
from papers.experiment import NO_PAPER_VALUE, Experiment, Row, claim_row
from papers.hs04_comparison import SLOWER_NOTE, Run, cost_rows, relative_error
from papers.hs04_cube_and_bar import DT, MATERIAL_TEXT, corner_node, sheared_body
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.runtime.threads.thread_count import set_thread_count
from sinew.solver.scene.formulation import GREEN, HIERARCHICAL, LU, POLAR, FormulationSettings

CELLS, LENGTHS = (2, 2, 6), (1.0, 1.0, 3.0)  # [m], of the coarse bar
FORCE = 3.0e3  # at the end [N]
END_ROTATION = np.pi  # at the end [rad]
STEPS, QUICK_STEPS = 300, 60
ROTATION_AGE = 4  # steps between updates of rotations
REFINEMENTS = (1, 2)
HIERARCHICAL_LU, COARSE_GREEN = "hierarchical, LU", "green on the coarse tets alone"
FEW_NOTE = "larger than with a frame per tet"
GREEN_MEANS_NOTE = (
    "here Green's strain acts on the mean of all details in a coarse tet, and only their deviations from it are "
    "linear; HS04 does not say which energy couples its levels"
)


def run(quick: bool) -> Result:
    """Bends and turns the bar, refined once and twice."""
    set_thread_count(1)
    cells, steps = ((1, 1, 3), QUICK_STEPS) if quick else (CELLS, STEPS)
    nodes, tets = box_tets(cells, LENGTHS)
    coarse = run_bar(nodes, tets, FormulationSettings(GREEN), steps)
    rows, values = [], {}
    for levels in REFINEMENTS[:1] if quick else REFINEMENTS:
        X, fine = refined_rest_shape(nodes, tets, levels)
        found = {
            HIERARCHICAL: run_bar(nodes, tets, hierarchical_settings(levels), steps),
            HIERARCHICAL_LU: run_bar(nodes, tets, hierarchical_settings(levels, coarse_solver=LU), steps),
            POLAR: run_bar(X, fine, FormulationSettings(POLAR, rotations_every=ROTATION_AGE), steps),
            GREEN: run_bar(X, fine, FormulationSettings(GREEN), steps),
            COARSE_GREEN: coarse,
        }
        rows += comparison_rows(f"{len(tets)} → {len(fine)} tets", found)
        values |= {f"error {levels} {name}": relative_error(path_, found[GREEN]) for name, path_ in found.items()}
        values |= {f"ms {levels} {name}": path_.ms for name, path_ in found.items()}
    figure = plots.plot_bodies(
        ["Green on coarse tets alone", "hierarchical", "Green on all tets"],
        [plots.boundary_triangles(found[name].x, found[name].tets) for name in (COARSE_GREEN, HIERARCHICAL, GREEN)],
        [plots.COLOURS[GREEN], plots.COLOURS[HIERARCHICAL], plots.COLOURS[GREEN]],
        view=(10.0, -75.0),
    )
    return Result(
        rows, [Picture("The bars at the corner's largest displacement, refined as in the last rows.", figure)], values
    )


def comparison_rows(size: str, found: dict[str, Run]) -> list[Row]:
    """Returns the rows of one refinement."""
    away = {name: relative_error(path_, found[GREEN]) for name, path_ in found.items() if name != GREEN}
    told = ", ".join(f"{name} {share:.2%}" for name, share in away.items())
    own = found[HIERARCHICAL]
    stages = f"coarse {own.coarse:.2f} ms, fine {own.fine:.2f} ms of {own.ms:.2f} ms"
    iterations = f"{own.iterations:.0f}; with factors of the coarse level {found[HIERARCHICAL_LU].iterations:.0f}"
    against = away[HIERARCHICAL] / away[POLAR]
    better = away[HIERARCHICAL] < away[COARSE_GREEN]
    return [
        claim_row(
            f"{size}: error of the corner", "better than coarse tets alone", told, better, "the details do not help"
        ),
        claim_row(f"{size}: error over that of polar", FEW_NOTE, f"{against:.2f}", against > 1.0, GREEN_MEANS_NOTE),
        claim_row(
            f"{size}: cost by level", "the fine levels dominate", stages, own.fine > own.coarse, "the coarse one does"
        ),
        claim_row(
            f"{size}: ms per step",
            "faster than Green on all tets",
            cost_rows(found),
            own.ms < found[GREEN].ms,
            SLOWER_NOTE,
        ),
        Row(f"{size}: iterations of the linear solver per step", NO_PAPER_VALUE, iterations),
    ]


def hierarchical_settings(levels: int, **settings: str) -> FormulationSettings:
    """Returns the method, rotations found anew every `ROTATION_AGE` steps."""
    return FormulationSettings(HIERARCHICAL, levels=levels, rotations_every=ROTATION_AGE, **settings)  # type: ignore[arg-type]


def refined_rest_shape(nodes: Floats, tets: Indices, levels: int) -> tuple[Floats, Indices]:
    """Returns nodes [m] and tets of a body, refined."""
    model = sheared_body(nodes, tets, hierarchical_settings(levels)).built.model
    return model.X, model.tets


def run_bar(nodes: Floats, tets: Indices, method: FormulationSettings, steps: int) -> Run:
    """Runs a bar by a method: the force and the turn rise over all steps."""
    end = steps * DT
    simulated = sheared_body(
        nodes, tets, method, force=lambda t: FORCE * t / end, turn=lambda t: END_ROTATION * t / end
    )
    return hs04_comparison.run(simulated, steps, np.array([corner_node(simulated.built.model.X)], np.int32))


EXPERIMENT = Experiment(
    "HS04",
    "A hierarchical bar (example 3)",
    f"""A bar of {LENGTHS[0]:g} × {LENGTHS[1]:g} × {LENGTHS[2]:g} m ({MATERIAL_TEXT}) of
    {5 * CELLS[0] * CELLS[1] * CELLS[2]}
    coarse tets, refined once and twice, stands on a held side. In {STEPS * DT:g} s a force along x on its upper side
    rises to {FORCE / 1e3:g} kN and the held side turns by {np.degrees(END_ROTATION):g}°. Rotations are updated every
    {ROTATION_AGE} steps. The error is the mean distance of an upper corner from its position with Green's strain on all
    tets, over its largest displacement there. One thread; medians over the steps; linear solves end at a residual of
    1e-6.""",
    run,
    is_timed=True,
)
