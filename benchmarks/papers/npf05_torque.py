# SPDX-License-Identifier: GPL-3.0-or-later
"""NPF05 figure 3: forces without a torque turn a tet whose strain–displacement matrix is stale."""

from __future__ import annotations

import numpy as np

from harness.formulations import formulation
from harness.plots import COLOURS, plot
from harness.result import Picture, Result
from papers.experiment import NO_PAPER_VALUE, Experiment, Row
from papers.simulation_setup import body, make_simulation, take_steps
from sinew.solver.constraints.force import Force, ForceStep
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.scene import Material

METHODS = {
    "stale": FormulationSettings("qr", is_stale=True),
    "fresh": FormulationSettings("qr"),
    "polar": FormulationSettings("polar"),
}
LINE_STYLES = {"stale": ("qr", "--"), "fresh": ("qr", "-"), "polar": ("polar", "-")}
E = 1.0e5
PULL_FORCE = 0.2 * E  # [N], of two nodes on each other, along the line between them
PULLED_NODES = ((1, 2, -1.0), (0, 3, 1.0))  # nodes, and whether they pull (1) or push (−1)
DT = 1.0e-3
STEPS, QUICK_STEPS = 1000, 200
ROUND_OFF = 1e-9
CORNERS = np.array(
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, np.sqrt(0.75), 0.0], [0.5, np.sqrt(1.0 / 12.0), np.sqrt(2.0 / 3.0)]]
)


class PairForces(Force):
    """Pairs of nodes pull each other along their line, which makes no torque whatever the shape."""

    kind = "pair forces"

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns the forces at where the nodes are now."""
        state, force = step.state, np.zeros((4, 3))
        for one, other, sign in PULLED_NODES:
            line = state.x[other] - state.x[one]
            line *= sign * PULL_FORCE / np.linalg.norm(line)
            force[one] += line
            force[other] -= line
        none = np.zeros((4, 3, 3))
        return PointForces(np.zeros(4, np.int32), np.eye(4), force, none, none)


def run(quick: bool) -> Result:
    """Returns net torques and how far the tet turns."""
    rows, values, curves = [], {}, {}
    for name, method in METHODS.items():
        torque, curves[name] = release(method, QUICK_STEPS if quick else STEPS)
        turn = float(curves[name].max())
        values.update({f"torque, {name}": torque, f"turn, {name}": turn})
        rows += _rows(name, torque, turn)
    return Result(rows, [_picture(curves)], values)


def release(method: FormulationSettings, count: int) -> tuple[float, Floats]:
    """Returns the largest net torque over the largest force and the edge, and how far it has turned by then [°]."""
    tet = body(CORNERS, np.array([[0, 1, 2, 3]], np.int32), Material(E, 0.3, 1000.0, 0.0, 0.005), method)
    simulated = make_simulation(tet, DT, held=PairForces(), gravity=(0.0, 0.0, 0.0), tolerance=1e-12)
    state, model = simulated.state, simulated.built.model
    asked, torques, spins = formulation(model, method), [], []

    def look(_: object) -> None:
        forces, arm = asked.forces(state.x), state.x - state.x.mean(axis=0)
        torques.append(np.linalg.norm(np.cross(arm, forces).sum(axis=0)) / np.linalg.norm(forces, axis=1).max())
        inertia = model.mass[0] * ((arm**2).sum() * np.eye(3) - arm.T @ arm)
        spins.append(np.linalg.solve(inertia, model.mass[0] * np.cross(arm, state.v).sum(axis=0)))

    take_steps(simulated, count, look)
    return float(max(torques)), np.degrees(np.linalg.norm(np.cumsum(spins, axis=0), axis=1) * DT)


def _rows(name: str, torque: float, turn: float) -> list[Row]:
    is_stale = name == "stale"
    is_so = (torque > 1e-3, turn > 5.0) if is_stale else (torque < ROUND_OFF, turn < 0.5)
    claims = ("not zero", "it starts to rotate") if is_stale else ("zero", "it does not")
    claims = (NO_PAPER_VALUE, NO_PAPER_VALUE) if name == "polar" else claims
    agrees = [None if claim == NO_PAPER_VALUE else bool(so) for claim, so in zip(claims, is_so, strict=True)]
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
        colour, line = LINE_STYLES[name]
        ax.plot((np.arange(len(curve)) + 1) * DT, curve, line, color=COLOURS[colour], label=name)
    ax.legend()
    return Picture("Turn of the tet under forces that make no torque, as in figure 3.", figure)


EXPERIMENT = Experiment(
    "NPF05",
    "Torque of a stale strain–displacement matrix (figure 3)",
    "An equilateral tet of 1 m, E = 10⁵ Pa, ν = 0.3, starts at rest. One pair of its nodes pulls and another pushes "
    f"with {PULL_FORCE:g} N along the line between them, which makes no torque whatever the shape. Its rotation comes "
    "from QR; the strain–displacement matrix is that of the rest shape (stale) or of the present shape (fresh). "
    f"Δt = 1 ms, {STEPS * DT:g} s.",
    run,
)
