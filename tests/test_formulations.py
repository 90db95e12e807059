# SPDX-License-Identifier: GPL-3.0-or-later
"""What every formulation has to do, and where one of them does not: see the papers' claims."""

import numpy as np
import pytest

from meshes import bar
from sinew.solver.formulations import formulation
from sinew.solver.method import EDGES, HIGHAM, SPRINGS, Method
from sinew.solver.model import Part, make_model
from sinew.solver.scene import Material

METHODS = [
    Method("linear"),
    Method("polar"),
    Method("polar", rotation=HIGHAM),
    Method("qr"),
    Method("qr", is_stale=True),
    Method("green"),
    Method("hybrid"),
    Method("hierarchical"),
    Method("vertex-warp"),
    Method("vertex-warp", rotation_field=EDGES),
    Method("vertex-warp", network=SPRINGS),
]
NAMES = [
    "linear",
    "polar",
    "polar, Higham",
    "QR",
    "QR, stale",
    "green",
    "hybrid",
    "hierarchical",
    *(f"vertices{of}" for of in ("", ", edges", ", springs")),
]


def bar_model(nu=0.3):
    nodes, tets = bar((4, 2, 2), (2.0, 1.0, 1.0))
    return make_model([Part("bar", nodes, tets, np.ones(len(tets)), Material(1.0e5, nu, stiffness_damping=0.0))])


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_no_force_at_rest(method):
    model = bar_model()
    asked = formulation(model, method)
    assert np.abs(asked.forces(model.X)).max() < 1e-9 * 1.0e5
    assert asked.energy(model.X) in (None, pytest.approx(0.0, abs=1e-12))
