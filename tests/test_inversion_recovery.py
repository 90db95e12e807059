# SPDX-License-Identifier: GPL-3.0-or-later
"""What the menu says of bodies that are flat, mirrored or tangled: which methods bring them back, and which do not."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.tet_meshes import bar
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.scene import Material, Settings

pytestmark = pytest.mark.slow

STEPS, DT = 150, 0.01
NODES, TETS = bar((4, 3, 3), (1.3, 1.0, 1.0))
STARTS = {
    "flat": NODES * [1.0, 1.0, 0.0],
    "mirrored": NODES * [1.0, 1.0, -1.0],
    "tangled": np.random.default_rng(3).uniform(0.0, 1.0, NODES.shape),
}


def left_after(method: FormulationSettings, start: str) -> tuple[int, float]:
    """Returns how many tets are inside out after 1.5 s, and by which share edges are too long or short at most."""
    material = Material(1.0e5, 0.35, stiffness_damping=0.01)
    model = make_model([Part("bar", NODES, TETS, np.ones(len(TETS)), material, method=method)])
    state = State(STARTS[start].copy(), np.zeros_like(NODES))
    for _ in range(STEPS):
        report = step(model, state, ExternalForces(), DT, Settings())
    lengths = [np.linalg.norm(x[TETS[:, 1:]] - x[TETS[:, :1]], axis=2) for x in (state.x, NODES)]
    return report.inverted_tets, float(np.abs(lengths[0] / lengths[1] - 1.0).max())


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", ["linear", "vertex-warp", "polar", "hybrid"])
def test_these_come_back_from_everything(name: str, start: str) -> None:
    inverted, off = left_after(FormulationSettings(name), start)
    assert inverted == 0 and off < 0.1


def test_qr_comes_back_from_flat_and_less_surely_from_a_tangle() -> None:
    inverted, off = left_after(FormulationSettings("qr"), "flat")
    assert inverted == 0 and off < 0.01
    _, polar = left_after(FormulationSettings("polar"), "tangled")
    _, off = left_after(FormulationSettings("qr"), "tangled")
    assert off > 10.0 * polar


def test_higham_and_green_stay_as_they_are_mirrored() -> None:
    for method in (FormulationSettings("polar", rotation="higham"), FormulationSettings("green")):
        inverted, off = left_after(method, "mirrored")
        assert inverted == len(TETS) and off < 1e-6
