# SPDX-License-Identifier: GPL-3.0-or-later
"""MDMJC02 3.2: the warped stiffness of a network of springs, in place of that of tets."""

from __future__ import annotations

from dataclasses import replace

from harness.plots import COLOURS, boundary_triangles, plot_bodies
from harness.result import Picture, Result
from papers.experiment import NO_PAPER_VALUE, Experiment, Row
from papers.mdmjc02_clamped_bars import DESCRIPTION, DT, MATERIAL, SHORT_BAR_CELLS, SIDE
from papers.simulation_setup import body, hold_in_place, make_simulation, signed_volume, take_steps
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.scene.formulation import EDGES, LEAST_SQUARES, SPRINGS, FormulationSettings

POISSON_RATIO = 0.25  # of every network of springs
METHODS = {
    "springs, edge frames": FormulationSettings("vertex-warp", network=SPRINGS, rotation_field=EDGES),
    "springs, least squares": FormulationSettings("vertex-warp", network=SPRINGS, rotation_field=LEAST_SQUARES),
    "tets, edge frames": FormulationSettings("vertex-warp", rotation_field=EDGES),
    "tets, polar": FormulationSettings("polar"),
}
STEPS, QUICK_STEPS = 300, 60
MAX_VOLUME_CHANGE = 0.1


def run(quick: bool) -> Result:
    """Returns volumes and sags of bars of springs and of tets."""
    nodes, tets = box_tets((3, SHORT_BAR_CELLS, 3), (SIDE, SIDE * SHORT_BAR_CELLS / 3.0, SIDE))
    tip = nodes[:, 1] == nodes[:, 1].max()
    rows, values, shapes = [], {}, {}
    for name, method in METHODS.items():
        material = replace(MATERIAL, poisson_ratio=POISSON_RATIO)
        simulated = make_simulation(
            body(nodes, tets, material, method),
            DT,
            held=hold_in_place(nodes, nodes[:, 1] == 0.0),
            tolerance=1e-6,
            max_iterations=2000,
        )
        state, at_rest, volumes, sags = simulated.state, signed_volume(nodes, tets), [], []
        shapes[name] = nodes

        def look(_, state=state, at_rest=at_rest, volumes=volumes, sags=sags, name=name):
            volumes.append(signed_volume(state.x, tets) / at_rest)
            sags.append(float(nodes[tip, 2].mean() - state.x[tip, 2].mean()))
            if sags[-1] == max(sags):
                shapes[name] = state.x.copy()

        count = QUICK_STEPS if quick else STEPS
        taken = take_steps(simulated, count, look)
        low, high, sag = min(volumes), max(volumes), max(sags)
        values.update({f"sag, {name}": sag, f"volume, {name}": high})
        is_stable = taken == count and 1.0 - MAX_VOLUME_CHANGE < low and high < 1.0 + MAX_VOLUME_CHANGE
        paper = "works" if "springs" in name else NO_PAPER_VALUE
        agrees = is_stable if "springs" in name else None
        ours = f"volume {low:.3f} to {high:.3f}, end sags {sag:.2f} m"
        rows.append(Row(name, paper, ours, agrees, "" if agrees is not False else "its volume changes too much"))
    figure = plot_bodies(
        list(shapes),
        [boundary_triangles(x, tets) for x in shapes.values()],
        [COLOURS["polar" if "polar" in n else "vertex-warp"] for n in shapes],
        view=(8.0, -10.0),
    )
    return Result(rows, [Picture("The bars at their lowest.", figure)], values)


EXPERIMENT = Experiment(
    "MDMJC02",
    "A network of springs (section 3.2)",
    DESCRIPTION.replace("ν = 0.33", f"ν = {POISSON_RATIO:g}")
    + " It has 450 tets. Springs lie along the edges of the tets, k = Σ E V / l² over the tets of an edge. Such a "
    "network has ν = ¼, so the tets get the same ν. A network works if its volume stays within "
    f"{MAX_VOLUME_CHANGE:.0%} and nothing diverges.",
    run,
)
