# SPDX-License-Identifier: GPL-3.0-or-later
"""Bars of 765 tets at steps of 10 ms, as MDMJC02 has them: Newton's method against one solve per step; BDF2's order.

python -m pytest -s tests/validate_nonlinear_bodies.py
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.tet_meshes import bar
from harness.formulations import formulation
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.scene.formulation import EULER, FormulationSettings
from sinew.solver.scene.scene import Material, Settings
from test_bdf2 import METHODS, NAMES, ends, model_of

SECTION = "Newton's method and BDF2"
CELLS, STEP, STEPS, G = (17, 3, 3), 0.01, 200, 9.81
SIZES, STIFFNESSES = (0.05, 0.1), (3e4, 1e5, 3e5, 1e6)  # of a cell [m]; E [Pa]


@dataclass(frozen=True)
class Swing:
    """How a bar swung from one end: most energy above its start, over m g L; steps not converged; largest speed."""

    gained: float
    lost: int
    first_lost: int
    fastest: float


def swing(method: FormulationSettings, size: float, E: float) -> Swing:
    """Lets a bar without damping go."""
    nodes, tets = bar(CELLS, tuple(size * cell for cell in CELLS))
    material = Material(E, 0.33, 1000.0, 0.0, 0.0)
    model = make_model([Part("bar", nodes, tets, np.ones(len(tets)), material, method=method)])
    asked, held = formulation(model, method), model.X[:, 0] < 1e-9
    state, gained, lost, fastest = State(model.X.copy(), np.zeros_like(model.X)), -np.inf, [], 0.0
    for number in range(STEPS):
        report = step(model, state, ExternalForces(np.array([0.0, 0.0, -G]), held, model.X), STEP, Settings())
        if not report.converged:
            lost.append(number)
        moving = 0.5 * np.sum(model.mass[:, None] * state.v**2)
        fallen = G * np.sum(model.mass * (state.x - model.X)[:, 2])
        gained = max(gained, asked.energy(state.x) + moving + fallen)
        fastest = max(fastest, float(np.abs(state.v).max()))
    return Swing(gained / (model.mass.sum() * G * size * CELLS[0]), len(lost), min(lost, default=-1), fastest)


@pytest.mark.parametrize("name", ["green", "hybrid"])
def test_long_bars(name):
    cases = [(size, E) for size in SIZES for E in STIFFNESSES]
    full = [swing(FormulationSettings(name), *case) for case in cases]
    once = [swing(FormulationSettings(name, one_step=True), *case) for case in cases]
    print(
        f"\n{name}: cell [m], E [Pa]; Newton and one solve: energy gained / m g L, steps not converged, top speed [m/s]"
    )
    for (size, E), a, b in zip(cases, full, once, strict=True):
        told = "  ".join(f"{s.gained:10.1e} {s.lost:3d} {s.fastest:9.1f}" for s in (a, b))
        print(f"  {size:.2f} {E:7.0e}  {told}")
    most = max(s.gained for s in full)
    reach(SECTION, f"{name}: bars gain no energy by Newton's method", f"{most:.1e}", "0 m g L", most <= 0.0)
    lost = sum(s.lost for s in full)
    reach(SECTION, f"{name}: its steps converge", f"{lost} of {len(full) * STEPS} not", "2", lost <= 2)
    grown = [s for s in once if s.gained > 0.1]
    silent = sum(s.lost == 0 for s in grown)
    line = f"{name}: bars that one solve per step makes diverge without saying so"
    reach(SECTION, line, f"{silent} of {len(grown)}", "0", len(grown) > 0 and silent == 0)


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_order(method):
    for held in (True, False) if method.name != "linear" else (True,):
        reference = ends(model_of(method), 0.16 / 1280, 0.16, held)
        errors = np.array(
            [np.linalg.norm(ends(model_of(method), 0.16 / n, 0.16, held) - reference) for n in (20, 40, 80, 160)]
        )
        plain = np.linalg.norm(ends(model_of(replace(method, scheme=EULER)), 0.16 / 40, 0.16, held) - reference)
        order, how = np.log2(errors[-2] / errors[-1]), "swinging" if held else "spinning"
        print(f"\n{method.name}, {how}: errors {errors}, of implicit Euler {plain:.2e} in 40 steps")
        reach(SECTION, f"BDF2, {method.name}, {how}: order", f"{order:.2f}", "1.9 … 2.1", 1.9 < order < 2.1)
        share = errors[1] / plain
        reach(SECTION, f"BDF2, {method.name}, {how}: error over implicit Euler's", f"{share:.3f}", "0.1", share < 0.1)
