# SPDX-License-Identifier: GPL-3.0-or-later
"""NPF05 figure 5: a rabbit without stiffness is crushed on the ground, then its stiffness comes back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness.plots import COLOURS, boundary_triangles, plot_bodies
from harness.result import Picture, Result
from papers.ellipsoid_bodies import rabbit
from papers.experiment import NO_PAPER_VALUE, Experiment, Row
from papers.simulation_setup import GRAVITY, body, make_simulation, rigid_misfit, take_step
from sinew.solver.constraints.force import Force, ForceStep
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.runtime.errors import SolveFailed
from sinew.solver.scene.formulation import HIGHAM, FormulationSettings
from sinew.solver.scene.scene import Material

METHODS = {
    "QR": FormulationSettings("qr"),
    "polar, nearest rotation": FormulationSettings("polar"),
    "polar, Higham's iteration": FormulationSettings("polar", rotation=HIGHAM),
    "vertex-warp": FormulationSettings("vertex-warp"),
}
E, DT = 1.0e6, 0.01
CRUSHED_SECONDS, RECOVERY_SECONDS, WEIGHTED_SECONDS = (
    1.0,
    4.0,
    1.0,
)  # without stiffness, after it has come back, and of that with its weight [s]
RISE_SECONDS = (0.0, 2.0, 8.0)  # time in which it comes back [s]
DIVISIONS = 12  # divisions of the rabbit
RECOVERY_TOLERANCE = 0.005  # of its size
GROUND_STIFFNESS, TANGENTIAL_STIFFNESS_RATIO = (
    100.0,
    0.01,
)  # stiffness of the ground over m / Δt², and along it over that across
END_LABEL = "at the end"


def run(quick: bool) -> Result:
    """Returns who gets up again."""
    nodes, tets = rabbit(8 if quick else DIVISIONS)
    rows, values, pictures = [], {}, []
    for rise in RISE_SECONDS[:1] if quick else RISE_SECONDS:
        for name, method in METHODS.items():
            if quick and name != "QR":
                continue
            shapes, flat, inverted, end, worst = crush(nodes, tets, method, rise)
            recovers = end < RECOVERY_TOLERANCE and inverted == 0
            values[f"recovers, {name}, {rise:g}"] = float(recovers)
            values[f"misfit, {name}, {rise:g}"] = end
            rows.append(_row(name, rise, recovers, f"{end:.2%} off, {inverted} tets inside out (at most {worst})"))
            if (name, rise) == ("QR", RISE_SECONDS[0]):
                pictures.append(_picture(shapes, tets))
    return Result(rows, pictures, values, NOTES)


def _row(name: str, rise: float, recovers: bool, numbers: str) -> Row:
    when = f"within {rise:g} s" if rise else "at once"
    ours = f"{'recovers' if recovers else 'does not recover'}: {numbers}"
    if name == "QR":
        why = "" if recovers else "pressed by its weight while it is soft, an ear stays drawn through the body"
        return Row(f"{name}, stiffness back {when}", "recovers", ours, recovers, why)
    if "Higham" in name:
        why = "" if not recovers else "no tet was inverted when the rotations became reflections"
        return Row(f"{name}, stiffness back {when}", "converges to a reversed shape", ours, not recovers, why)
    return Row(f"{name}, stiffness back {when}", NO_PAPER_VALUE, ours)


def _picture(shapes: dict[str, Floats], tets: Indices) -> Picture:
    faces = [boundary_triangles(x, tets) for x in shapes.values()]
    figure = plot_bodies(list(shapes), faces, [COLOURS["qr"]] * len(shapes), view=(10.0, -50.0))
    return Picture(
        "The rabbit by QR, as in figure 5: at rest, crushed, on its way back, at the end, off the ground without "
        "weight.",
        figure,
    )


class PenaltyGround(Force):
    """What no node goes through: under z = 0, or on its way there, a node feels a stiff spring to where it came in.

    Contacts of a bake are points of the surface; the inside of a body without stiffness would fall through them.
    """

    kind = "penalty ground"

    def __init__(self, mass: Floats, tets: Indices) -> None:
        self.mass, self.tets = mass, tets
        corner = np.unique(tets.ravel(), return_index=True)[1]
        self.tet, self.weights = (corner // 4).astype(np.int32), np.eye(4)[corner % 4]

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns the springs of the nodes that come in."""
        state = step.state
        down = np.flatnonzero(state.x[:, 2] + DT * np.minimum(state.v[:, 2] - 9.81 * DT, 0.0) < 0.0)
        k = (self.mass[down] * GROUND_STIFFNESS / DT**2)[:, None, None] * np.diag(
            [TANGENTIAL_STIFFNESS_RATIO, TANGENTIAL_STIFFNESS_RATIO, 1.0]
        )
        away = np.column_stack([np.zeros((len(down), 2)), -state.x[down, 2]])
        force = np.einsum("kij,kj->ki", k, away)
        return PointForces(self.tet[down], self.weights[down], force, k, np.zeros_like(k))


def crush(nodes: Floats, tets: Indices, method: FormulationSettings, rise: float):
    """Returns shapes by moment, least height over that at rest, and of the end inverted tets, misfit; most inverted."""
    ends = CRUSHED_SECONDS + rise + WEIGHTED_SECONDS
    weight = [0.0, ends, ends + DT], np.array([GRAVITY, GRAVITY, (0.0, 0.0, 0.0)])
    simulated = make_simulation(
        body(nodes, tets, Material(E, 0.33, 1000.0, 0.0, 0.03), method), DT, tracks={"gravity": weight},
        tolerance=1e-5, max_iterations=500,
    )  # fmt: skip
    whole = simulated.built.model
    simulated.built = replace(simulated.built, forces=(PenaltyGround(whole.mass, whole.tets),))
    moments = {"at rest": 0.0, "crushed": CRUSHED_SECONDS, "on its way": CRUSHED_SECONDS + 0.5 * rise + 0.04}
    shapes: dict[str, Floats] = {}
    worst, flat = 0, 1.0
    for number in range(round((CRUSHED_SECONDS + rise + RECOVERY_SECONDS) / DT)):
        past = number * DT - CRUSHED_SECONDS
        share = float(np.clip(past / rise, 0.0, 1.0)) if rise else float(past >= 0.0)
        simulated.built = replace(simulated.built, model=replace(whole, mu=share * whole.mu, lam=share * whole.lam))
        for moment, when in moments.items():
            if number == round(when / DT):
                shapes[moment] = simulated.state.x.copy()
        try:
            report = take_step(simulated)
        except SolveFailed:
            return shapes, flat, -1, np.inf, worst
        worst = max(worst, report.inverted_tets)
        flat = min(flat, float(np.ptp(simulated.state.x[:, 2]) / np.ptp(nodes[:, 2])))
    shapes[END_LABEL] = simulated.state.x.copy()
    return shapes, flat, report.inverted_tets, rigid_misfit(simulated.state.x, nodes), worst


NOTES = (
    "The ground crushes the body completely: every node lies on it, with no height left. The deviation is that of the "
    "node farthest from its position at rest, over the body's size.",
)
EXPERIMENT = Experiment(
    "NPF05",
    "A crushed body gets up again (figure 5)",
    f"A rabbit of 3090 tets, a metre long, lies {CRUSHED_SECONDS:g} s on the ground under its weight without any "
    f"stiffness. Then Young's modulus returns to {E:g} Pa, at once or slowly; the weight is removed "
    f"{WEIGHTED_SECONDS:g} s after the stiffness is back, so that the body does not sag, and {RECOVERY_SECONDS:g} s "
    "after it is back its shape is compared with that at rest. ν = 0.33, 1000 kg/m³, damping 0.03 s, Δt = 10 ms. The "
    "paper gives none of these numbers.",
    run,
)
