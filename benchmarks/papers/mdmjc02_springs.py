# SPDX-License-Identifier: GPL-3.0-or-later
"""MDMJC02 3.2: the warped stiffness of a network of springs, in place of that of tets."""

from __future__ import annotations

from dataclasses import replace

from frame.figures import COLOURS, bodies, surface
from frame.result import Picture, Result
from meshes import bar
from papers.mdmjc02_bars import DT, MATERIAL, SHORT, SIDE, WHAT
from papers.stage import body, hold, simulation, steps, volume
from papers.table import NONE, Experiment, Row
from sinew.solver.method import EDGES, LEAST_SQUARES, SPRINGS, Method

RATIO = 0.25  # Poisson's, which a network of springs has whatever is asked
METHODS = {
    "springs, edge frames": Method("vertex-warp", network=SPRINGS, rotation_field=EDGES),
    "springs, least squares": Method("vertex-warp", network=SPRINGS, rotation_field=LEAST_SQUARES),
    "tets, edge frames": Method("vertex-warp", rotation_field=EDGES),
    "tets, polar": Method("polar"),
}
STEPS, QUICK_STEPS = 300, 60
KEEPS = 0.1


def run(quick: bool) -> Result:
    """Returns volumes and sags of bars of springs and of tets."""
    nodes, tets = bar((3, SHORT, 3), (SIDE, SIDE * SHORT / 3.0, SIDE))
    tip = nodes[:, 1] == nodes[:, 1].max()
    rows, values, shapes = [], {}, {}
    for name, method in METHODS.items():
        material = replace(MATERIAL, poisson_ratio=RATIO)
        simulated = simulation(
            body(nodes, tets, material, method),
            DT,
            held=hold(nodes, nodes[:, 1] == 0.0),
            tolerance=1e-6,
            max_iterations=2000,
        )
        state, at_rest, volumes, sags = simulated.state, volume(nodes, tets), [], []
        shapes[name] = nodes

        def look(_, state=state, at_rest=at_rest, volumes=volumes, sags=sags, name=name):
            volumes.append(volume(state.x, tets) / at_rest)
            sags.append(float(nodes[tip, 2].mean() - state.x[tip, 2].mean()))
            if sags[-1] == max(sags):
                shapes[name] = state.x.copy()

        count = QUICK_STEPS if quick else STEPS
        taken = steps(simulated, count, look)
        low, high, sag = min(volumes), max(volumes), max(sags)
        values.update({f"sag, {name}": sag, f"volume, {name}": high})
        is_stable = taken == count and 1.0 - KEEPS < low and high < 1.0 + KEEPS
        paper = "works" if "springs" in name else NONE
        agrees = is_stable if "springs" in name else None
        ours = f"volume {low:.3f} to {high:.3f}, end sags {sag:.2f} m"
        rows.append(Row(name, paper, ours, agrees, "" if agrees is not False else "its volume does not stay"))
    figure = bodies(
        list(shapes),
        [surface(x, tets) for x in shapes.values()],
        [COLOURS["polar" if "polar" in n else "vertex-warp"] for n in shapes],
        view=(8.0, -10.0),
    )
    return Result(rows, [Picture("Where they hang lowest.", figure)], values)


EXPERIMENT = Experiment(
    "MDMJC02",
    "A network of springs (section 3.2)",
    WHAT.replace("ν = 0.33", f"ν = {RATIO:g}")
    + " 450 tets. Springs lie along the edges of the tets, k = Σ E V / l² over the tets of "
    "an edge; such a network has ν = ¼, so the tets beside it are given that, too. Deviations of the volume are "
    "compared, "
    f"and a network works if its volume stays within {KEEPS:.0%} and nothing diverges.",
    run,
)
