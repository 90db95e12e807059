# SPDX-License-Identifier: GPL-3.0-or-later
"""NPF05 figure 3: forces without a torque turn a tet whose strain–displacement matrix is stale."""

from __future__ import annotations

import numpy as np

from frame.figures import COLOURS, plot
from frame.result import Picture, Result
from papers.stage import Hold, body, simulation, steps
from papers.table import NONE, Experiment, Row
from sinew.solver.arrays import Floats
from sinew.solver.formulations import formulation
from sinew.solver.integrators.outside import Points
from sinew.solver.method import Method
from sinew.solver.scene import Material

METHODS = {
    "stale": Method("qr", is_stale=True),
    "fresh": Method("qr"),
    "polar": Method("polar"),
}
LINES = {"stale": ("qr", "--"), "fresh": ("qr", "-"), "polar": ("polar", "-")}
E = 1.0e5
PULL = 0.2 * E  # [N], of two nodes on each other, along the line between them
PULLED = ((1, 2, -1.0), (0, 3, 1.0))  # nodes, and whether they pull (1) or push (−1)
DT = 1.0e-3
STEPS, QUICK_STEPS = 1000, 200
NOTHING = 1e-9
CORNERS = np.array(
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, np.sqrt(0.75), 0.0], [0.5, np.sqrt(1.0 / 12.0), np.sqrt(2.0 / 3.0)]]
)


class Pulling(Hold):
    """Holds nothing: pairs of nodes pull each other along their line, which makes no torque whatever the shape."""

    def __init__(self) -> None:
        super().__init__(np.zeros(0, np.int32), lambda time: np.zeros((0, 3)))

    def hold(self, *_: object) -> None:
        """Nothing."""

    def pull(self, state, *_: object) -> Points:
        """Returns the forces at where the nodes are now."""
        force = np.zeros((4, 3))
        for one, other, sign in PULLED:
            line = state.x[other] - state.x[one]
            line *= sign * PULL / np.linalg.norm(line)
            force[one] += line
            force[other] -= line
        none = np.zeros((4, 3, 3))
        return Points(np.zeros(4, np.int32), np.eye(4), force, none, none)


def run(quick: bool) -> Result:
    """Returns net torques and how far the tet turns."""
    rows, values, curves = [], {}, {}
    for name, method in METHODS.items():
        torque, curves[name] = let_go(method, QUICK_STEPS if quick else STEPS)
        turn = float(curves[name].max())
        values.update({f"torque, {name}": torque, f"turn, {name}": turn})
        rows += _rows(name, torque, turn)
    return Result(rows, [_picture(curves)], values)


def let_go(method: Method, count: int) -> tuple[float, Floats]:
    """Returns the largest net torque over the largest force and the edge, and how far it has turned by then [°]."""
    tet = body(CORNERS, np.array([[0, 1, 2, 3]], np.int32), Material(E, 0.3, 1000.0, 0.0, 0.005), method)
    simulated = simulation(tet, DT, held=Pulling(), gravity=(0.0, 0.0, 0.0), tolerance=1e-12)
    state, model = simulated.state, simulated.built.model
    asked, torques, spins = formulation(model, method), [], []

    def look(_: object) -> None:
        forces, arm = asked.forces(state.x), state.x - state.x.mean(axis=0)
        torques.append(np.linalg.norm(np.cross(arm, forces).sum(axis=0)) / np.linalg.norm(forces, axis=1).max())
        inertia = model.mass[0] * ((arm**2).sum() * np.eye(3) - arm.T @ arm)
        spins.append(np.linalg.solve(inertia, model.mass[0] * np.cross(arm, state.v).sum(axis=0)))

    steps(simulated, count, look)
    return float(max(torques)), np.degrees(np.linalg.norm(np.cumsum(spins, axis=0), axis=1) * DT)


def _rows(name: str, torque: float, turn: float) -> list[Row]:
    is_stale = name == "stale"
    is_so = (torque > 1e-3, turn > 5.0) if is_stale else (torque < NOTHING, turn < 0.5)
    claims = ("not zero", "it starts to rotate") if is_stale else ("zero", "it does not")
    claims = (NONE, NONE) if name == "polar" else claims
    agrees = [None if claim == NONE else bool(so) for claim, so in zip(claims, is_so, strict=True)]
    why = ["" if each is not False else "the contrary was measured" for each in agrees]
    return [
        Row(
            f"{name}: net elastic torque over largest force and edge at rest",
            claims[0],
            f"{torque:.2g}",
            agrees[0],
            why[0],
        ),
        Row(f"{name}: turned by the end [°]", claims[1], f"{turn:.2g}", agrees[1], why[1]),
    ]


def _picture(curves: dict[str, Floats]) -> Picture:
    figure, ax = plot("time [s]", "turned by [°]")
    for name, curve in curves.items():
        colour, line = LINES[name]
        ax.plot((np.arange(len(curve)) + 1) * DT, curve, line, color=COLOURS[colour], label=name)
    ax.legend()
    return Picture("How far the tet has turned under forces that make no torque, as figure 3.", figure)


EXPERIMENT = Experiment(
    "NPF05",
    "Torque of a stale strain–displacement matrix (figure 3)",
    "An equilateral tet of 1 m, E = 10⁵ Pa, ν = 0.3, is let go at rest. Two of its nodes pull each other and two push, "
    f"with {PULL:g} N along the line between them: these forces make no torque, however the tet is shaped. Its "
    "rotation "
    "is that of QR; the strain–displacement matrix is that of the rest shape (stale) or of the present one (fresh). "
    f"Δt = 1 ms, {STEPS * DT:g} s.",
    run,
)
