# SPDX-License-Identifier: GPL-3.0-or-later
"""NPF05 figure 6: a liver held at four points, one point of which is torn through it, comes back."""

from __future__ import annotations

import numpy as np

from frame.figures import COLOURS, bodies, surface
from frame.result import Picture, Result
from papers.organic import liver
from papers.stage import Hold, body, hold, simulation, step
from papers.table import NONE, Experiment, Row
from sinew.solver.errors import SolveFailed
from sinew.solver.method import HIGHAM, Method
from sinew.solver.scene import Material

METHODS = {
    "QR": Method("qr"),
    "polar, nearest rotation": Method("polar"),
    "polar, Higham's iteration": Method("polar", rotation=HIGHAM),
    "vertex-warp": Method("vertex-warp"),
    "hybrid": Method("hybrid"),
    "green": Method("green"),
}
E, DT = 1.0e5, 0.01
MATERIAL = Material(E, 0.33, 1000.0, 0.0, 0.1)
POINTS = np.array([[-0.65, 0.0, 0.0], [-0.3, 0.34, 0.0], [-0.3, -0.34, 0.0], [0.65, 0.05, 0.07]])
TORN, WAY = np.array([0.15, 0.03, 0.2]), np.array([-0.6, 0.0, -1.2])
DURING, HELD, AFTER = 0.1, 0.4, 3.0
NEAR = 0.005  # of its size


def run(quick: bool) -> Result:
    """Returns who comes back."""
    nodes, tets = liver(8 if quick else 12)
    rows, values, pictures = [], {}, []
    for name, method in METHODS.items():
        if quick and name != "QR":
            continue
        shapes, worst, inverted, end = tear(nodes, tets, method)
        recovers = end < NEAR and inverted == 0
        values.update({f"misfit, {name}": end, f"inverted, {name}": inverted, f"recovers, {name}": float(recovers)})
        ours = f"{'recovers' if recovers else 'does not'}: {end:.2%} off, {inverted} tets inside out (at most {worst})"
        rows.append(_row(name, recovers, ours))
        if name == "QR":
            faces = [surface(x, tets) for x in shapes.values()]
            figure = bodies(list(shapes), faces, [COLOURS["qr"]] * len(shapes), view=(20.0, -70.0))
            pictures.append(Picture("The liver by QR, as figure 6: at rest, torn, at the end.", figure))
    return Result(rows, pictures, values)


def _row(name: str, recovers: bool, ours: str) -> Row:
    if name == "QR":
        return Row(name, "recovers", ours, recovers, "" if recovers else "tets stay inside out")
    if "Higham" in name:
        why = "" if not recovers else "its reflections came back by themselves"
        return Row(name, "converges to a reversed shape", ours, not recovers, why)
    why = "" if recovers or name != "green" else "a tet that is inside out is at rest by Green's strain"
    return Row(name, NONE, ours, None, why)


def tear(nodes, tets, method):
    """Returns shapes by moment, the most inverted tets, those at the end, and how far it is from its shape then."""
    near = [int(np.argmin(np.linalg.norm(nodes - point, axis=1))) for point in (*POINTS, TORN)]
    is_held = np.zeros(len(nodes), bool)
    is_held[near[:4]] = True
    start = nodes[near[4]]

    def torn(time: float):
        return None if time > DURING + HELD else start[None] + min(1.0, time / DURING) * WAY

    holds = (hold(nodes, is_held), Hold(np.array([near[4]], np.int32), torn, key="torn"))
    simulated = simulation(
        body(nodes, tets, MATERIAL, method), DT, held=holds, gravity=(0.0, 0.0, 0.0), tolerance=1e-5, max_iterations=500
    )
    shapes, worst = {"at rest": nodes}, 0
    for number in range(round((DURING + HELD + AFTER) / DT)):
        try:
            report = step(simulated)
        except SolveFailed:
            return shapes, worst, -1, np.inf
        worst = max(worst, report.inverted_tets)
        if number == round((DURING + HELD) / DT) - 1:
            shapes["torn"] = simulated.state.x.copy()
    shapes["at the end"] = simulated.state.x.copy()
    away = np.linalg.norm(simulated.state.x - nodes, axis=1).max() / np.ptp(nodes, axis=0).max()
    return shapes, worst, report.inverted_tets, float(away)


EXPERIMENT = Experiment(
    "NPF05",
    "A reversed body comes back (figure 6)",
    f"A liver of 1607 tets, a metre and a half long, E = 10⁵ Pa, ν = 0.33, damping {MATERIAL.stiffness_damping:g} s, "
    "is "
    f"held at four nodes. A fifth one on top is torn through the body by {np.linalg.norm(WAY):.1f} m within "
    f"{DURING:g} s, held there for {HELD:g} s and let go; {AFTER:g} s later its shape is compared with that at rest. "
    "Δt = 10 ms, no gravity. How far it is off is told of its size, of the node that is farthest from its place. The "
    "paper gives none of these numbers.",
    run,
)
