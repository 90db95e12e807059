# SPDX-License-Identifier: GPL-3.0-or-later
"""The linear system of a bent bar, held at one end, for benchmarks and tests of multigrid."""

from __future__ import annotations

import numpy as np

from sinew.solver.mechanics.elements.corotational_element import MAX_RECORD_LENGTH, compute_corotational_records
from sinew.solver.mechanics.elements.edge_assembly import assemble
from sinew.solver.mechanics.elements.record_layout import element_arrays
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.runtime.arrays import Bools, Floats
from sinew.solver.scene.scene import Material

BEND_RADIUS = 8.0  # [m]


def bent_bar(across: int, nu: float) -> tuple[Model, Floats, Floats, Bools]:
    """Returns model, matrix, right-hand side, free nodes of a 1 × 1 × 4 m bar of 20 `across`³ tets held at one end."""
    cells, lengths = (across, across, 4 * across), (1.0, 1.0, 4.0)
    X, tets = box_tets(cells, lengths)
    inner = ((X > 1e-9) & (X < np.array(lengths) - 1e-9)).all(axis=1)
    X = X + np.random.default_rng(1).uniform(-0.15, 0.15, X.shape) / across * inner[:, None]
    model = make_model([Part("b", X, tets, np.ones(len(tets)), Material(1.0e6, nu, 1000.0))])
    arm, angle = X[:, 0] - 0.5 + BEND_RADIUS, X[:, 2] / BEND_RADIUS
    x = np.stack([arm * np.cos(angle) - BEND_RADIUS + 0.5, X[:, 1], arm * np.sin(angle)], axis=1)
    p = model.pattern
    records, values = np.empty((model.tet_count, MAX_RECORD_LENGTH)), np.empty((p.block_count, 9))
    force = np.empty((model.node_count, 3))
    compute_corotational_records(x, element_arrays(model), records)
    assemble(1.0, 0.0, np.zeros(model.node_count), p, records, values, force)
    return model, values, force + model.mass[:, None] * [0.3, 0.2, -9.81], X[:, 2] > 1e-9
