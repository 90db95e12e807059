# SPDX-License-Identifier: GPL-3.0-or-later
"""MDMJC02 figures 6 and 7: the volume of a bending bar over time, by three methods."""

from __future__ import annotations

import numpy as np

from papers.figures import COLOURS, bodies, plot, surface
from papers.mdmjc02_bars import DT, SHORT, WHAT, clamped
from papers.stage import step, volume
from papers.table import NONE, Experiment, Picture, Result, Row
from sinew.solver.method import Method

METHODS = {
    "linear": Method("linear"),
    "polar": Method("polar"),
}
STEPS, QUICK_STEPS = 300, 60
KEEPS = 0.05  # a volume that stays so near its own is called constant


def run(quick: bool) -> Result:
    """Returns the table, the plot of figure 6 and the bars of figure 7."""
    count = QUICK_STEPS if quick else STEPS
    curves, shapes = {}, {}
    for name, method in METHODS.items():
        simulated = clamped(SHORT, method)
        tets = simulated.built.model.tets
        volumes = [volume(simulated.state.x, tets)]
        deepest = simulated.state.x
        for _ in range(count):
            step(simulated)
            volumes.append(volume(simulated.state.x, tets))
            if simulated.state.x[:, 2].mean() < deepest[:, 2].mean():
                deepest = simulated.state.x.copy()
        curves[name] = np.array(volumes) / volumes[0]
        shapes[name] = surface(deepest, tets)
    rows = []
    for name, curve in curves.items():
        grows = name == "linear"
        agrees = (curve.max() > 1.0 + KEEPS) if grows else np.abs(curve - 1.0).max() < KEEPS
        rows.append(
            Row(
                f"largest and smallest volume over that at rest, {name}",
                "grows" if grows else "constant" if name in ("vertex-warp", "green") else NONE,
                f"{curve.max():.3f}, {curve.min():.3f}",
                bool(agrees),
                "" if agrees else f"more than {KEEPS:.0%} away from what was to be expected",
            )
        )
    return Result(rows, [_curves(curves), _bars(shapes)], {f"largest {n}": float(c.max()) for n, c in curves.items()})


def _curves(curves: dict[str, np.ndarray]) -> Picture:
    figure, ax = plot("time [s]", "volume / volume at rest")
    for name, curve in curves.items():
        ax.plot(np.arange(len(curve)) * DT, curve, color=COLOURS[name], label=name)
    ax.legend()
    return Picture("Volume over time, as figure 6 of the paper: only the linear one grows.", figure)


def _bars(shapes: dict[str, np.ndarray]) -> Picture:
    figure = bodies(list(shapes), list(shapes.values()), [COLOURS[name] for name in shapes], view=(8.0, -10.0))
    return Picture("The bars where they hang lowest, as figure 7.", figure)


EXPERIMENT = Experiment("MDMJC02", "Volume of a bending bar (figures 6, 7)", WHAT, run)
