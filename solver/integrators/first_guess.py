# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the linear solver starts: every free body moves on, changed by what pushes it as a whole.

The translation of a whole body is what block-Jacobi conjugate gradients find last, and what is known
before: internal forces sum to zero.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Bools, Floats
from ..model import Model
from .outside import Points


def first_guess(
    model: Model, v: Floats, impulse: Floats, drag: Floats, points: Points, coupling: Floats, is_free: Bools
) -> Floats:
    """Returns v plus one velocity per body without held nodes, the one that leaves no net residual.

    Args:
        model: The bodies.
        v: Velocities before the step [m/s], (n, 3).
        impulse: What outer forces on nodes and points give in the step [N s], (n, 3).
        drag: Mass with Δt times mass damping [kg], (n,).
        points: Springs and contacts.
        coupling: Δt² stiffness + Δt damping of the points [kg], (k, 3, 3).
        is_free: Nodes that are not held, (n,).
    """
    guess = v.copy()
    point_node = model.tets[points.tet, 0]
    point_v = points.positions(v, model.tets)
    for body in model.bodies:
        nodes = body.nodes
        if not is_free[nodes].all():
            continue
        mine = (point_node >= nodes.start) & (point_node < nodes.stop)
        mass = np.eye(3) * drag[nodes].sum() + coupling[mine].sum(axis=0)
        lacking = (impulse[nodes] - (drag - model.mass)[nodes, None] * v[nodes]).sum(axis=0)
        lacking -= np.einsum("kij,kj->i", coupling[mine], point_v[mine])
        if np.isfinite(mass).all():
            guess[nodes] += np.linalg.solve(mass, lacking)
    return guess
