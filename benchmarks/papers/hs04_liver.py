# SPDX-License-Identifier: GPL-3.0-or-later
"""HS04, example 4: a liver-like body, refined once, pushed into: cost of the levels, and error against Green."""

from __future__ import annotations

import numpy as np

from frame import figures
from frame.result import Picture, Result
from papers import hs04_runs
from papers.hs04_runs import SLOWER, Run, costs_of, error
from papers.load import Load, with_pins
from papers.organic import liver
from papers.stage import Hold, body, simulation
from papers.table import Experiment, Row, claim
from sinew.solver.arrays import Floats, Indices
from sinew.solver.jit import set_thread_count
from sinew.solver.method import BDF2, GREEN, HIERARCHICAL, LU, POLAR, Method
from sinew.solver.scene import Material
from sinew.solver.simulation import Simulation

SIZE = 0.22  # of its longest side [m]
DIVISIONS, QUICK_DIVISIONS = 8, 5
MATERIAL = Material(1.0e4, 0.4, 1050.0, 2.0, 0.0)
DT, STEPS, QUICK_STEPS = 0.01, 150, 30
FORCE, PERIOD = 1.0, 1.5  # [N], [s]
NEAR = 0.035  # of the middle of the push [m]
AGE = 4
BY_FACTORS, COARSE = "hierarchical, LU", "green on the coarse tets alone"
TIGHT = {"tolerance": 1e-4, "max_iterations": 2000, "gravity": (0.0, 0.0, 0.0)}


def run(quick: bool) -> Result:
    """Pushes the liver by all formulations."""
    set_thread_count(1)
    nodes, tets = sized(QUICK_DIVISIONS if quick else DIVISIONS)
    steps = QUICK_STEPS if quick else STEPS
    model = pushed(nodes, tets, hierarchical()).built.model
    X, fine = model.X, model.tets
    found = {
        HIERARCHICAL: path(nodes, tets, hierarchical(), steps),
        BY_FACTORS: path(nodes, tets, hierarchical(coarse_solver=LU), steps),
        POLAR: path(X, fine, Method(POLAR, scheme=BDF2, rotations_every=AGE), steps),
        GREEN: path(X, fine, Method(GREEN, scheme=BDF2), steps),
        COARSE: path(nodes, tets, Method(GREEN, scheme=BDF2), steps),
    }
    own, true = found[HIERARCHICAL], found[GREEN]
    away = {name: error(run_, true) for name, run_ in found.items() if name != GREEN}
    told = ", ".join(f"{name} {share:.2%}" for name, share in away.items())
    stages = f"coarse {own.coarse:.2f} ms, fine {own.fine:.2f} ms of {own.ms:.2f} ms"
    rows = [
        Row(
            "tets, coarse and refined once", "8 times as many", f"{len(tets)}, {len(fine)}", len(fine) == 8 * len(tets)
        ),
        claim(
            "error", "better than coarse tets alone", told, away[HIERARCHICAL] < away[COARSE], "the details do not help"
        ),
        claim("cost by level", "the fine level dominates", stages, own.fine > own.coarse, "the coarse one does"),
        claim("ms per step", "faster than Green on all tets", costs_of(found), own.ms < true.ms, SLOWER),
        Row("longest step / median", "frame rates jitter where frames change", f"{own.longest / own.ms:.1f}"),
    ]
    values = {f"error {name}": share for name, share in away.items()} | {f"ms {n}": r.ms for n, r in found.items()}
    values |= {"coarse ms": own.coarse, "fine ms": own.fine, "depth": float(np.linalg.norm(true.way, axis=1).max())}
    note = f"The region that is pushed goes {1e2 * values['depth']:.1f} cm; the liver is {1e2 * SIZE:g} cm long."
    return Result(rows, [drawn(nodes, tets, found), over_time(found)], values, [note])


def sized(divisions: int) -> tuple[Floats, Indices]:
    """Returns nodes [m] and tets of the liver."""
    nodes, tets = liver(divisions)
    return nodes * (SIZE / np.ptp(nodes, axis=0).max()), tets


def hierarchical(**settings: str) -> Method:
    """Returns the method, refined once, rotations found anew every `AGE` steps, by BDF2."""
    return Method(HIERARCHICAL, levels=1, rotations_every=AGE, scheme=BDF2, **settings)  # type: ignore[arg-type]


def pushed(nodes: Floats, tets: Indices, method: Method) -> Simulation:
    """Returns the liver, its back held, and the end of its small lobe pushed down and let go."""
    made = simulation(body(nodes, tets, MATERIAL, method), DT, **TIGHT)
    model = made.built.model
    is_held = along(model.X, 1) > 0.8
    which = np.flatnonzero(region(model.X) & ~is_held).astype(np.int32)
    share = np.outer(model.mass[which] / model.mass[which].sum(), [0.0, 0.3, -1.0])
    held, still = np.flatnonzero(is_held).astype(np.int32), model.X[is_held]
    load = Load(which, lambda time: FORCE * np.sin(np.pi * time / PERIOD) ** 2 * share)
    return with_pins(made, Hold(held, lambda time: still), load)


def region(X: Floats) -> np.ndarray:
    """Returns which nodes are pushed, (n,): those near the end of the small lobe."""
    end = X[:, 0].max(), X[np.argmax(X[:, 0]), 1], X[np.argmax(X[:, 0]), 2]
    return np.linalg.norm(X - end, axis=1) < NEAR


def along(X: Floats, axis: int) -> Floats:
    """Returns where nodes are along an axis, from 0 to 1, (n,): the same for coarse tets and for refined ones."""
    return (X[:, axis] - X[:, axis].min()) / np.ptp(X[:, axis])


def path(nodes: Floats, tets: Indices, method: Method, steps: int) -> Run:
    """Runs the liver by a method, and watches the region that is pushed."""
    simulated = pushed(nodes, tets, method)
    return hs04_runs.run(simulated, steps, simulated.built.pins[-1].nodes)  # type: ignore[attr-defined]


def drawn(nodes: Floats, tets: Indices, found: dict[str, Run]) -> Picture:
    """Returns the liver at rest and where it is pushed most."""
    own, true = found[HIERARCHICAL], found[GREEN]
    figure = figures.bodies(
        ["coarse tets at rest", "hierarchical", "Green on all tets"],
        [figures.surface(nodes, tets), figures.surface(own.x, own.tets), figures.surface(true.x, true.tets)],
        ["#b08080", figures.COLOURS[HIERARCHICAL], figures.COLOURS[GREEN]],
        view=(18.0, -75.0),
    )
    return Picture("The liver at rest, and where it is pushed most.", figure)


def over_time(found: dict[str, Run]) -> Picture:
    """Returns how far the region is from where Green's strain takes it."""
    figure, ax = figures.plot("time [s]", "distance from Green's [mm]")
    true = found[GREEN]
    for name, run_ in found.items():
        if name not in (GREEN, BY_FACTORS):
            away = 1e3 * np.linalg.norm(run_.way - true.way, axis=1)
            colour = "0.5" if name == COARSE else figures.COLOURS[name]
            ax.plot(DT * np.arange(len(away)), away, color=colour, label=name)
    ax.legend(fontsize=7)
    return Picture("How far the region is from where Green's strain on all tets takes it.", figure)


EXPERIMENT = Experiment(
    "HS04",
    "A liver-like body (example 4)",
    f"""A liver of ellipsoids (the paper's own is not given), {1e2 * SIZE:g} cm long, 10 kPa, ν = 0.4, 1050 kg/m³,
    damping by mass of 2 per second, no gravity, is filled by Smooth with {DIVISIONS} divisions and refined once. Its
    back is held; a force that swells to {FORCE:g} N and ebbs within {PERIOD:g} s pushes the end of the small lobe.
    Steps of {1e3 * DT:g} ms by BDF2, rotations anew every {AGE} steps. The error is the mean distance of the region
    from where Green's strain on all tets takes it, over the longest way that it goes there. One thread; medians.""",
    run,
    is_timed=True,
)
