# SPDX-License-Identifier: GPL-3.0-or-later
"""HS04, example 4: a liver-like body, refined once, pushed into: cost of the levels, and error against Green."""

from __future__ import annotations

import numpy as np

from harness import plots
from harness.result import Picture, Result
from papers import hs04_comparison
from papers.ellipsoid_bodies import liver
from papers.experiment import Experiment, Row, claim_row
from papers.hs04_comparison import SLOWER_NOTE, Run, cost_rows, relative_error
from papers.prescribed_forces import NodalForces, with_forces
from papers.simulation_setup import HeldNodes, body, make_simulation
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.runtime.threads.thread_count import set_thread_count
from sinew.solver.scene.formulation import BDF2, GREEN, HIERARCHICAL, LU, POLAR, FormulationSettings
from sinew.solver.scene.scene import Material
from sinew.solver.simulation.simulation import Simulation

LONGEST_SIDE = 0.22  # of its longest side [m]
DIVISIONS, QUICK_DIVISIONS = 8, 5
MATERIAL = Material(1.0e4, 0.4, 1050.0, 2.0, 0.0)
DT, STEPS, QUICK_STEPS = 0.01, 150, 30
FORCE, PERIOD = 1.0, 1.5  # [N], [s]
PUSH_RADIUS = 0.035  # of the middle of the push [m]
ROTATION_AGE = 4
HIERARCHICAL_LU, COARSE_GREEN = "hierarchical, LU", "green on the coarse tets alone"
TIGHT_SETTINGS = {"tolerance": 1e-4, "max_iterations": 2000, "gravity": (0.0, 0.0, 0.0)}


def run(quick: bool) -> Result:
    """Pushes the liver by all formulations."""
    set_thread_count(1)
    nodes, tets = scaled_liver(QUICK_DIVISIONS if quick else DIVISIONS)
    steps = QUICK_STEPS if quick else STEPS
    model = pushed_body(nodes, tets, hierarchical_settings()).built.model
    X, fine = model.X, model.tets
    found = {
        HIERARCHICAL: run_liver(nodes, tets, hierarchical_settings(), steps),
        HIERARCHICAL_LU: run_liver(nodes, tets, hierarchical_settings(coarse_solver=LU), steps),
        POLAR: run_liver(X, fine, FormulationSettings(POLAR, scheme=BDF2, rotations_every=ROTATION_AGE), steps),
        GREEN: run_liver(X, fine, FormulationSettings(GREEN, scheme=BDF2), steps),
        COARSE_GREEN: run_liver(nodes, tets, FormulationSettings(GREEN, scheme=BDF2), steps),
    }
    own, true = found[HIERARCHICAL], found[GREEN]
    away = {name: relative_error(run_, true) for name, run_ in found.items() if name != GREEN}
    told = ", ".join(f"{name} {share:.2%}" for name, share in away.items())
    stages = f"coarse {own.coarse:.2f} ms, fine {own.fine:.2f} ms of {own.ms:.2f} ms"
    rows = [
        Row(
            "tets, coarse and refined once", "8 times as many", f"{len(tets)}, {len(fine)}", len(fine) == 8 * len(tets)
        ),
        claim_row(
            "error",
            "better than coarse tets alone",
            told,
            away[HIERARCHICAL] < away[COARSE_GREEN],
            "the details do not help",
        ),
        claim_row("cost by level", "the fine level dominates", stages, own.fine > own.coarse, "the coarse one does"),
        claim_row("ms per step", "faster than Green on all tets", cost_rows(found), own.ms < true.ms, SLOWER_NOTE),
        Row("longest step / median", "frame rates jitter where frames change", f"{own.longest / own.ms:.1f}"),
    ]
    values = {f"error {name}": share for name, share in away.items()} | {f"ms {n}": r.ms for n, r in found.items()}
    values |= {"coarse ms": own.coarse, "fine ms": own.fine, "depth": float(np.linalg.norm(true.way, axis=1).max())}
    note = f"The pushed region moves {1e2 * values['depth']:.1f} cm; the liver is {1e2 * LONGEST_SIDE:g} cm long."
    return Result(rows, [plot_shapes(nodes, tets, found), plot_errors(found)], values, [note])


def scaled_liver(divisions: int) -> tuple[Floats, Indices]:
    """Returns nodes [m] and tets of the liver."""
    nodes, tets = liver(divisions)
    return nodes * (LONGEST_SIDE / np.ptp(nodes, axis=0).max()), tets


def hierarchical_settings(**settings: str) -> FormulationSettings:
    """Returns the method, refined once, rotations found anew every `ROTATION_AGE` steps, by BDF2."""
    return FormulationSettings(HIERARCHICAL, levels=1, rotations_every=ROTATION_AGE, scheme=BDF2, **settings)  # type: ignore[arg-type]


def pushed_body(nodes: Floats, tets: Indices, method: FormulationSettings) -> Simulation:
    """Returns the liver, its back held, and the end of its small lobe pushed down and let go."""
    made = make_simulation(body(nodes, tets, MATERIAL, method), DT, **TIGHT_SETTINGS)
    model = made.built.model
    is_held = relative_position(model.X, 1) > 0.8
    which = np.flatnonzero(pushed_region(model.X) & ~is_held).astype(np.int32)
    share = np.outer(model.mass[which] / model.mass[which].sum(), [0.0, 0.3, -1.0])
    held, still = np.flatnonzero(is_held).astype(np.int32), model.X[is_held]
    load = NodalForces(which, lambda time: FORCE * np.sin(np.pi * time / PERIOD) ** 2 * share)
    return with_forces(made, HeldNodes(held, lambda time: still), load)


def pushed_region(X: Floats) -> np.ndarray:
    """Returns which nodes are pushed, (n,): those near the end of the small lobe."""
    end = X[:, 0].max(), X[np.argmax(X[:, 0]), 1], X[np.argmax(X[:, 0]), 2]
    return np.linalg.norm(X - end, axis=1) < PUSH_RADIUS


def relative_position(X: Floats, axis: int) -> Floats:
    """Returns where nodes are along an axis, from 0 to 1, (n,): the same for coarse tets and for refined ones."""
    return (X[:, axis] - X[:, axis].min()) / np.ptp(X[:, axis])


def run_liver(nodes: Floats, tets: Indices, method: FormulationSettings, steps: int) -> Run:
    """Runs the liver by a method, and watches the region that is pushed."""
    simulated = pushed_body(nodes, tets, method)
    return hs04_comparison.run(simulated, steps, simulated.built.forces[-1].nodes)  # type: ignore[attr-defined]


def plot_shapes(nodes: Floats, tets: Indices, found: dict[str, Run]) -> Picture:
    """Returns the liver at rest and where it is pushed most."""
    own, true = found[HIERARCHICAL], found[GREEN]
    figure = plots.plot_bodies(
        ["coarse tets at rest", "hierarchical", "Green on all tets"],
        [
            plots.boundary_triangles(nodes, tets),
            plots.boundary_triangles(own.x, own.tets),
            plots.boundary_triangles(true.x, true.tets),
        ],
        ["#b08080", plots.COLOURS[HIERARCHICAL], plots.COLOURS[GREEN]],
        view=(18.0, -75.0),
    )
    return Picture("The liver at rest and at its largest displacement.", figure)


def plot_errors(found: dict[str, Run]) -> Picture:
    """Returns how far the region is from where Green's strain takes it."""
    figure, ax = plots.plot("time [s]", "distance from Green's [mm]")
    true = found[GREEN]
    for name, run_ in found.items():
        if name not in (GREEN, HIERARCHICAL_LU):
            away = 1e3 * np.linalg.norm(run_.way - true.way, axis=1)
            colour = "0.5" if name == COARSE_GREEN else plots.COLOURS[name]
            ax.plot(DT * np.arange(len(away)), away, color=colour, label=name)
    ax.legend(fontsize=7)
    return Picture("Distance of the region from its position with Green's strain on all tets.", figure)


EXPERIMENT = Experiment(
    "HS04",
    "A liver-like body (example 4)",
    f"""A liver of ellipsoids (the paper's own is not available), {1e2 * LONGEST_SIDE:g} cm long, 10 kPa, ν = 0.4, 1050
    kg/m³, mass damping of 2 per second, no gravity, is filled by Smooth with {DIVISIONS} divisions and refined once.
    Its back is held; a force that rises to {FORCE:g} N and falls within {PERIOD:g} s pushes the end of the small lobe.
    Steps of {1e3 * DT:g} ms by BDF2, rotations updated every {ROTATION_AGE} steps. The error is the mean distance of
    the pushed region from its position with Green's strain on all tets, over its largest displacement there. One
    thread; medians.""",
    run,
    is_timed=True,
)
