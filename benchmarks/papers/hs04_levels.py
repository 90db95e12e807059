# SPDX-License-Identifier: GPL-3.0-or-later
"""HS04, example 3: a hierarchical bar, its error against Green's strain on all of its tets, and its cost per level."""

from __future__ import annotations

import numpy as np

from frame import figures
from frame.result import Picture, Result
from meshes import bar
from papers import hs04_runs
from papers.hs04_bodies import DT, MATTER, corner_of, standing
from papers.hs04_runs import SLOWER, Run, costs_of, error
from papers.table import NONE, Experiment, Row, claim
from sinew.solver.arrays import Floats, Indices
from sinew.solver.jit import set_thread_count
from sinew.solver.method import GREEN, HIERARCHICAL, LU, POLAR, Method

CELLS, LENGTHS = (2, 2, 6), (1.0, 1.0, 3.0)  # [m], of the coarse bar
FORCE = 3.0e3  # at the end [N]
TURN = np.pi  # at the end [rad]
STEPS, QUICK_STEPS = 300, 60
AGE = 4  # steps between updates of rotations
LEVELS = (1, 2)
BY_FACTORS, COARSE = "hierarchical, LU", "green on the coarse tets alone"
FEW = "larger than with a frame per tet"
GREEN_MEANS = (
    "Green's strain acts on the mean of all details in a coarse tet here, and what is linear is only how they differ "
    "from it; HS04 does not say by which energy its levels hang together"
)


def run(quick: bool) -> Result:
    """Bends and turns the bar, refined once and twice."""
    set_thread_count(1)
    cells, steps = ((1, 1, 3), QUICK_STEPS) if quick else (CELLS, STEPS)
    nodes, tets = bar(cells, LENGTHS)
    coarse = path(nodes, tets, Method(GREEN), steps)
    rows, values = [], {}
    for levels in LEVELS[:1] if quick else LEVELS:
        X, fine = rest_of(nodes, tets, levels)
        found = {
            HIERARCHICAL: path(nodes, tets, hierarchical(levels), steps),
            BY_FACTORS: path(nodes, tets, hierarchical(levels, coarse_solver=LU), steps),
            POLAR: path(X, fine, Method(POLAR, rotations_every=AGE), steps),
            GREEN: path(X, fine, Method(GREEN), steps),
            COARSE: coarse,
        }
        rows += compared(f"{len(tets)} → {len(fine)} tets", found)
        values |= {f"error {levels} {name}": error(path_, found[GREEN]) for name, path_ in found.items()}
        values |= {f"ms {levels} {name}": path_.ms for name, path_ in found.items()}
    figure = figures.bodies(
        ["Green on coarse tets alone", "hierarchical", "Green on all tets"],
        [figures.surface(found[name].x, found[name].tets) for name in (COARSE, HIERARCHICAL, GREEN)],
        [figures.COLOURS[GREEN], figures.COLOURS[HIERARCHICAL], figures.COLOURS[GREEN]],
        view=(10.0, -75.0),
    )
    return Result(
        rows, [Picture("The bars where the corner is farthest, refined as often as in the last rows.", figure)], values
    )


def compared(size: str, found: dict[str, Run]) -> list[Row]:
    """Returns the rows of one refinement."""
    away = {name: error(path_, found[GREEN]) for name, path_ in found.items() if name != GREEN}
    told = ", ".join(f"{name} {share:.2%}" for name, share in away.items())
    own = found[HIERARCHICAL]
    stages = f"coarse {own.coarse:.2f} ms, fine {own.fine:.2f} ms of {own.ms:.2f} ms"
    iterations = f"{own.iterations:.0f}; with factors of the coarse level {found[BY_FACTORS].iterations:.0f}"
    against = away[HIERARCHICAL] / away[POLAR]
    better = away[HIERARCHICAL] < away[COARSE]
    return [
        claim(f"{size}: error of the corner", "better than coarse tets alone", told, better, "the details do not help"),
        claim(f"{size}: error over that of polar", FEW, f"{against:.2f}", against > 1.0, GREEN_MEANS),
        claim(
            f"{size}: cost by level", "the fine levels dominate", stages, own.fine > own.coarse, "the coarse one does"
        ),
        claim(
            f"{size}: ms per step", "faster than Green on all tets", costs_of(found), own.ms < found[GREEN].ms, SLOWER
        ),
        Row(f"{size}: iterations of the linear solver per step", NONE, iterations),
    ]


def hierarchical(levels: int, **settings: str) -> Method:
    """Returns the method, rotations found anew every `AGE` steps."""
    return Method(HIERARCHICAL, levels=levels, rotations_every=AGE, **settings)  # type: ignore[arg-type]


def rest_of(nodes: Floats, tets: Indices, levels: int) -> tuple[Floats, Indices]:
    """Returns nodes [m] and tets of a body, refined."""
    model = standing(nodes, tets, hierarchical(levels)).built.model
    return model.X, model.tets


def path(nodes: Floats, tets: Indices, method: Method, steps: int) -> Run:
    """Runs a bar by a method: the force and the turn rise over all steps."""
    end = steps * DT
    simulated = standing(nodes, tets, method, force=lambda t: FORCE * t / end, turn=lambda t: TURN * t / end)
    return hs04_runs.run(simulated, steps, np.array([corner_of(simulated.built.model.X)], np.int32))


EXPERIMENT = Experiment(
    "HS04",
    "A hierarchical bar (example 3)",
    f"""A bar of {LENGTHS[0]:g} × {LENGTHS[1]:g} × {LENGTHS[2]:g} m ({MATTER}) of {5 * CELLS[0] * CELLS[1] * CELLS[2]}
    coarse tets, refined once and twice, stands on a held side. In {STEPS * DT:g} s a force along x on its upper
    side rises to {FORCE / 1e3:g} kN, and the held side is turned by {np.degrees(TURN):g}°. Rotations are found
    anew every {AGE} steps. The error is the mean distance of an upper corner from where Green's strain on all tets
    takes it, over the longest way that it goes there. One thread; medians over the steps; linear solves end at a
    residual of 1e-6.""",
    run,
    is_timed=True,
)
