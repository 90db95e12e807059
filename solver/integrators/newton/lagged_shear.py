# SPDX-License-Identifier: GPL-3.0-or-later
"""Hybrid bodies that hold their rotations for some steps (`Method.rotations_every`): their shear is linear meanwhile.

With R held, what resists shear, μ |ε|² with ε = sym(RᵀF) − I, is quadratic in the positions. Its forces are those of a
corotated tet without λ, −2 V μ R ε g_a, and its part of the Jacobian is the constant

    V μ ((R g_b)(R g_a)ᵀ + (g_a·g_b) I)

So it is assembled once per step, and Newton's method looks at the pressure alone, λ/2 tr² E, all of whose derivative it
has. What breaks when R gets old is not the Jacobian but ε: of a body that has turned by θ since, it is that of a body
pressed by 1 − cos θ. Without holding, R is that of every iterate, and the law is one function of F.

Source: Hauth and Strasser 2004, who hold the frames and leave the derivative of pressure inaccurate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...mechanics.elements.assembly import assemble
from ...mechanics.elements.element_buffer import ElementArrays
from ...mechanics.elements.fill_element_buffer import method_of
from ...mechanics.elements.given_rotation_element import compute_records_with_rotations
from ...mechanics.elements.linear_force import add_linear_forces
from ...mechanics.hyperelastic.hyperelastic_element import Hyperelastic
from ...mechanics.model import BodyRange, Model
from ...runtime.arrays import Floats
from ...scene.formulation import HYBRID
from ..system.workspace import element_records, workspace
from .two_ring_tangent import row_blocks


def has_lagged_shear(model: Model, number: int) -> bool:
    """Whether the shear of a body is apart from its law."""
    method = method_of(model, number)
    return method.name == HYBRID and method.rotations_every > 1


def pressure_only(model: Model, law: Hyperelastic) -> Hyperelastic:
    """Returns what Newton's method sees of a model's tets: the law without shear of bodies that hold theirs."""
    own = [body for number, body in enumerate(model.bodies) if has_lagged_shear(model, number)]
    return replace(law, mu=_without_shear(law.mu, own)) if own else law


def _without_shear(mu: Floats, bodies: Sequence[BodyRange]) -> Floats:
    left = mu.copy()
    for body in bodies:
        left[body.tets] = 0.0
    return left


def add_lagged_shear(
    model: Model, number: int, held: Floats, about: Floats, x: Floats, dt: float, values: Floats, force: Floats
) -> None:
    """Adds the shear of a body to the system of a step of Δt = `dt` [s], linearised about a position.

    Args:
        model: The bodies.
        number: Of the body.
        held: Rotations of all tets, (m, 3, 3).
        about, x: Where it is linearised, and where the step begins [m], (n, 3) each.
        dt: Δt [s].
        values: Blocks of the system, (b, 9), in and out.
        force: Elastic forces at x, (n, 3), in and out.
    """
    pattern, warped, body = model.pattern, element_records(model), model.bodies[number]
    t, none = body.tets, np.zeros(body.tets.stop - body.tets.start)
    elements = ElementArrays(
        model.tets[t], model.Dm_inverse[t], model.volume[t], model.mu[t], none, none, np.zeros((0, 6))
    )
    compute_records_with_rotations(held[t], about, elements, warped[t])
    if about is not x:
        add_linear_forces(1.0, about - x, model.tets[t], warped[t])
    rows, own = row_blocks(pattern.row_start, body.nodes), workspace(pattern).values
    pull = np.empty((pattern.node_count, 3))
    assemble(dt * dt, 0.0, np.zeros(pattern.node_count), pattern, warped, own, pull, body.nodes)
    values[rows] += own[rows]
    force[body.nodes] += pull[body.nodes]
