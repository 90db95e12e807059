# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact of flesh at rest at full size: `make validate`, or

python -m pytest -s tests/validate_flesh_contact.py
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.flesh_contact_scenes import (
    RADIUS,
    Scene,
    arm,
    asymmetry,
    bent,
    bones,
    fists,
    passed_through,
    pressed_together,
    squeezed,
    squeezed_limb,
)
from sinew.solver.quasistatic.contact import (
    ContactEquilibrium,
    ContactPenalty,
    contact_penalty_at_poses,
    solve_in_contact,
)
from sinew.solver.quasistatic.contact_stiffness_blocks import CoupledPattern
from sinew.solver.quasistatic.equilibrium import solve
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.quasistatic.initial_guesses import scattered

SECTION = "Contact of flesh at rest"
DIAMETER = 2.0 * RADIUS
BOUND = 0.02  # of a limb's diameter


def deepest(scene: Scene, found: ContactEquilibrium) -> float:
    """Returns how deep surfaces are in each other, as the solver says or as found without it, whichever is more."""
    seen = passed_through(scene, found.equilibrium.x, 0.002 * DIAMETER, 0.2 * DIAMETER)
    return max(found.max_depth, seen) / DIAMETER


@pytest.fixture(scope="module")
def limb() -> Scene:
    return arm(tet_size=0.4 * RADIUS)


def row(scene: Scene, line: str, found: ContactEquilibrium) -> None:
    depth, at = deepest(scene, found), found.equilibrium
    value = f"{depth:.2%} of the diameter, residual {at.residual:.1e} after {at.newton_iterations} iterations"
    reach(SECTION, line, value, f"{BOUND:.0%}, 1e-3", depth < BOUND and at.converged)


@pytest.mark.parametrize("tet_size", [0.4, 0.25])
def test_elbow_over_frames(tet_size):
    scene = arm(tet_size=tet_size * RADIUS)
    x, worst, iterations, arrived = scene.X, 0.0, [], True
    for degrees in range(10, 151, 10):
        found = bent(scene, float(degrees), x)
        x, worst = found.equilibrium.x, max(worst, deepest(scene, found))
        iterations.append(found.equilibrium.newton_iterations)
        arrived &= found.equilibrium.converged
    value = f"{worst:.2%} of the diameter, {np.median(iterations):.0f} iterations a frame, {max(iterations)} at most"
    line = f"elbow bent to 150° in 15 frames, {scene.model.tet_count} tets: deepest of all frames"
    reach(SECTION, line, value, f"{BOUND:.0%}, all at rest", worst < BOUND and arrived)


def test_elbow_in_one_go(limb):
    row(limb, "elbow bent to 150° in one go", bent(limb, 150.0, limb.X))
    plain = solve(EquilibriumProblem(limb.model, limb.law, bones(limb.X, np.radians(150.0))), limb.X, 1e-3)
    through = passed_through(limb, plain.x, 0.002 * DIAMETER, DIAMETER) / DIAMETER
    reach(SECTION, "the same without contact, which passes through", f"{through:.0%}", "more than 20 %", through > 0.2)


def test_bad_frame(limb):
    good = bent(limb, 120.0, limb.X)
    held = bones(limb.X, np.radians(300.0))
    wild = FixedNodes(held.nodes, held.positions * [2.5, 0.3, 1.0])
    bad = solve_in_contact(
        EquilibriumProblem(limb.model, limb.law, wild),
        good.equilibrium.x,
        contact_penalty_at_poses(limb.contact, []),
        1e-3,
        20,
    )
    row(limb, "the frame after a bad frame", bent(limb, 120.0, bad.equilibrium.x))
    start = scattered(limb.X, bones(limb.X, np.radians(120.0)), 2.0, 1)
    row(limb, "the same frame from a random scatter", bent(limb, 120.0, start))


def test_fists():
    scene, before = fists(0.35 * RADIUS), None
    for by in (0.2, 0.4):
        before = pressed_together(scene, by, scene.X if before is None else before.equilibrium.x)
        row(scene, f"two fists pressed together by {by:.0%} of their radius each", before)
    off = asymmetry(scene, before.equilibrium.x)
    reach(SECTION, "fists from each other's mirror images; tets are not mirrored", f"{off:.2%}", "10 %", off < 0.1)


def test_cylinders():
    scene, found = squeezed_limb(0.35 * RADIUS), None
    for by in (0.2, 0.4, 0.6, 0.7):
        found = squeezed(scene, by, scene.X if found is None else found.equilibrium.x)
    row(scene, "limb squeezed to 30 % of its thickness by two cylinders", found)
    row(scene, "the same in one go", squeezed(scene, 0.7, scene.X))


@pytest.mark.timed
def test_cost(monkeypatch):
    scene = arm(tet_size=0.36 * RADIUS)
    spent = {"all": 0.0, "contact": 0.0}

    def timed(cls: type, before: Callable) -> None:
        def run(*args, **more):
            began = time.perf_counter()
            try:
                return before(*args, **more)
            finally:
                spent["contact"] += time.perf_counter() - began

        monkeypatch.setattr(cls, before.__name__, run)

    bent(scene, 120.0, bent(scene, 100.0, scene.X).equilibrium.x)  # compiled
    for method in (ContactPenalty.energies, ContactPenalty.add):
        timed(ContactPenalty, method)
    timed(CoupledPattern, CoupledPattern.extend)
    x, iterations = scene.X, 0
    for degrees in range(10, 151, 10):
        began = time.perf_counter()
        found = bent(scene, float(degrees), x).equilibrium
        spent["all"] += time.perf_counter() - began
        x, iterations = found.x, iterations + found.newton_iterations
    share = spent["contact"] / (spent["all"] - spent["contact"])
    each = 1e3 * spent["all"] / iterations
    value = f"{share:.0%} ({each:.0f} ms per iteration, load {os.getloadavg()[0]:.1f})"
    line = f"cost of contact against the rest of the solves, {scene.model.tet_count} tets"
    reach(SECTION, line, value, "200 %", share < 2.0)
