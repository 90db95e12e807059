# SPDX-License-Identifier: GPL-3.0-or-later
"""MDMJC02 figures 6, 7 and 8: the volume of bending bars over time."""

from __future__ import annotations

import numpy as np

from harness.plots import COLOURS, boundary_triangles, plot, plot_bodies
from harness.result import Picture, Result
from papers.experiment import NO_PAPER_VALUE, Experiment, Row
from papers.mdmjc02_clamped_bars import (
    DESCRIPTION,
    DT,
    LONG_BAR_CELLS,
    OTHER_METHODS,
    PAPER_METHODS,
    SHORT_BAR_CELLS,
    clamped_bar,
)
from papers.simulation_setup import signed_volume, take_steps

STEPS, QUICK_STEPS = 300, 80
MIN_GROWTH = 0.05  # a volume that increases by more than this grows …
MAX_KEPT_SHARE = 0.25  # … and one that changes by less than this share of the linear one's growth is kept
MAX_VOLUME_RATIO = 50.0  # the picture shows a diverged bar at its last smaller volume
LENGTHS = {SHORT_BAR_CELLS: "450 tets", LONG_BAR_CELLS: "765 tets"}


def run(quick: bool) -> Result:
    """Returns the table, the plot of figure 6 and the bars of figures 7 and 8."""
    count = QUICK_STEPS if quick else STEPS
    methods = PAPER_METHODS if quick else {**PAPER_METHODS, **OTHER_METHODS}
    found = {(cells, name): run_bar(cells, method, count) for cells in LENGTHS for name, method in methods.items()}
    rows, values = [], {}
    for (cells, name), (curve, _) in found.items():
        growth = found[cells, "linear"][0].max() - 1.0
        change = float(np.abs(curve - 1.0).max())
        values[f"change {name} {LENGTHS[cells]}"] = change
        rows.append(_row(cells, name, curve, change, growth))
    pictures = [_curves({name: found[SHORT_BAR_CELLS, name][0] for name in methods})]
    for cells, figure in ((SHORT_BAR_CELLS, 7), (LONG_BAR_CELLS, 8)):
        pictures.append(_bars({name: found[cells, name][1] for name in PAPER_METHODS}, LENGTHS[cells], figure))
    return Result(rows, pictures, values)


def run_bar(cells, method, count):
    """Returns the volume over that at rest after every step, and the boundary where the bar hung lowest."""
    simulated = clamped_bar(cells, method)
    tets = simulated.built.model.tets
    at_rest = signed_volume(simulated.state.x, tets)
    curve, lowest = [1.0], simulated.state.x

    def look(_):
        nonlocal lowest
        x = simulated.state.x
        curve.append(signed_volume(x, tets) / at_rest)
        if 0.5 < curve[-1] < MAX_VOLUME_RATIO and x[:, 2].mean() < lowest[:, 2].mean():
            lowest = x.copy()

    take_steps(simulated, count, look)
    return np.array(curve), boundary_triangles(lowest, tets)


def _row(cells: int, name: str, curve: np.ndarray, change: float, growth: float) -> Row:
    quantity = f"{LENGTHS[cells]}, {name}: largest and smallest volume over volume at rest"
    ours = ", ".join(f"{each:.3f}" if abs(each) < 100.0 else f"{each:.1e}" for each in (curve.max(), curve.min()))
    if name == "linear":
        grows = growth > MIN_GROWTH
        return Row(quantity, "grows", ours, grows, "" if grows else f"it grows by less than {MIN_GROWTH:.0%}")
    diverges = (cells, name) == (LONG_BAR_CELLS, "green")
    if diverges or name not in PAPER_METHODS:
        return Row(
            quantity,
            NO_PAPER_VALUE,
            ours,
            None,
            "it diverges; see the experiment on the bar of 765 tets" if diverges else "",
        )
    keeps = change < MAX_KEPT_SHARE * growth
    return Row(
        quantity, "kept", ours, keeps, "" if keeps else f"changes by more than {MAX_KEPT_SHARE:g} of the linear growth"
    )


def _curves(curves: dict[str, np.ndarray]) -> Picture:
    figure, ax = plot("time [s]", "volume / volume at rest")
    for name, curve in curves.items():
        style = "-" if name in PAPER_METHODS else ":"
        ax.plot(np.arange(len(curve)) * DT, curve, style, color=COLOURS[name], label=name)
    ax.legend(fontsize=7, loc="upper right")
    return Picture("Volume of 450 tets over time, as in the paper's figure 6: only the linear bar grows.", figure)


def _bars(shapes: dict[str, np.ndarray], tets: str, number: int) -> Picture:
    figure = plot_bodies(list(shapes), list(shapes.values()), [COLOURS[name] for name in shapes], view=(8.0, -10.0))
    return Picture(f"The bars of {tets} at their lowest, as in figure {number}.", figure)


EXPERIMENT = Experiment("MDMJC02", "Volume of bending bars (figures 6, 7, 8)", DESCRIPTION, run)
