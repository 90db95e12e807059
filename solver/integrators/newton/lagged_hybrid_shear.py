# SPDX-License-Identifier: GPL-3.0-or-later
"""The shear of hybrid bodies with lagged rotations (`FormulationSettings.rotations_every`), linear while R is held.

With R constant the energy of shear, μ |ε|² with ε = sym(RᵀF) − I, is quadratic in the positions. Its forces are those
of a corotated tet without λ, −2 V μ R ε g_a, and its part of the Jacobian is the constant

    V μ ((R g_b)(R g_a)ᵀ + (g_a·g_b) I)

So it is assembled once per step, and Newton's method evaluates the pressure alone, λ/2 tr² E, with its whole
derivative. An old R does not spoil the Jacobian but ε: in a body that has rotated by θ since, ε is that of a body
compressed by 1 − cos θ. Without lag, R is that of every iterate, and the law is one function of F.

Source: Hauth and Strasser 2004, who keep the frames and leave the derivative of pressure inaccurate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...mechanics.elements.element_records import method_of
from ...mechanics.elements.given_rotation_element import compute_records_with_rotations
from ...mechanics.elements.linearised_forces import add_linear_forces
from ...mechanics.elements.record_layout import ElementArrays
from ...mechanics.hyperelastic.hyperelastic_bodies import Hyperelastic
from ...mechanics.model import BodyRange, Model
from ...runtime.arrays import Floats
from ...scene.formulation import HYBRID


def has_lagged_shear(model: Model, number: int) -> bool:
    """Whether the shear of a body is not in its law but in the constant terms."""
    method = method_of(model, number)
    return method.name == HYBRID and method.rotations_every > 1


def pressure_only(model: Model, law: Hyperelastic) -> Hyperelastic:
    """Returns the law of a model's tets for Newton's method: without the shear of bodies with lagged rotations."""
    own = [body for number, body in enumerate(model.bodies) if has_lagged_shear(model, number)]
    return replace(law, mu=_without_shear(law.mu, own)) if own else law


def _without_shear(mu: Floats, bodies: Sequence[BodyRange]) -> Floats:
    left = mu.copy()
    for body in bodies:
        left[body.tets] = 0.0
    return left


def write_shear_records(
    model: Model, number: int, rotations: Floats, linearisation_point: Floats, x: Floats, records: Floats
) -> None:
    """Writes the records of a body's tets with shear alone, linearised about a position.

    Args:
        model: The bodies.
        number: Of the body.
        rotations: Rotations of all tets, (m, 3, 3).
        linearisation_point: Where it is linearised [m], (n, 3).
        x: Start of the step, where its forces are those of the records [m], (n, 3).
        records: Of all tets, (m, …), out.
    """
    t = model.bodies[number].tets
    none = np.zeros(t.stop - t.start)
    elements = ElementArrays(
        model.tets[t], model.Dm_inverse[t], model.volume[t], model.mu[t], none, none, np.zeros((0, 6))
    )
    compute_records_with_rotations(rotations[t], linearisation_point, elements, records[t])
    if linearisation_point is not x:
        add_linear_forces(1.0, linearisation_point - x, model.tets[t], records[t])
