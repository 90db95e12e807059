# SPDX-License-Identifier: GPL-3.0-or-later
"""How stiff the contacts of pieces are: as those of a rigid body of the mass and the surface of each piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...contact.detection.contact_sample_points import STIFFNESS_FACTOR, ContactPoints, contact_points
from ...contact.detection.surface_materials import BODY_STIFFNESS_FACTOR
from ...mechanics.model import Model
from ...runtime.arrays import floats
from ..inertial_contact_modulus import SURFACE_STIFFNESS
from .body_in_pieces import BodyInPieces


def contact_stiffnesses(
    points: ContactPoints, model: Model, bodies: Sequence[BodyInPieces], dt: float, are_between_bodies: bool = False
) -> ContactPoints:
    """Returns contact points, those of brittle bodies as stiff as m / Δt² of their pieces asks for.

    Args:
        points: In the tets of pieces.
        model: Of these.
        bodies: The brittle bodies.
        dt: Δt [s].
        are_between_bodies: Whether they are the vertices of surfaces, which are stiffer
            (`contact/detection/surface_materials.py`).
    """
    elastic, heavy, mass = (
        values.copy() for values in (points.elastic_stiffness, points.weight_stiffness, points.mass)
    )
    for body in bodies:
        tets, size = model.bodies[body.number].tets, body.report.tet_size
        own = np.flatnonzero((points.tet >= tets.start) & (points.tet < tets.stop))
        piece, count = points.tet[own] - tets.start, tets.stop - tets.start
        area = np.maximum(np.bincount(piece, points.area[own], count), 1e-300)[piece]
        of_piece = np.array([each.mass for each in body.masses])[piece]
        made = contact_points(
            tet=points.tet[own],
            weights=points.weights[own],
            area=points.area[own],
            youngs_modulus=floats(SURFACE_STIFFNESS * of_piece / dt**2 * size / (STIFFNESS_FACTOR * area)),
            mass=floats(of_piece),
            weight=0.0,
            tet_size=size,
            surface=floats(area),
        )
        factor = BODY_STIFFNESS_FACTOR if are_between_bodies else 1.0
        elastic[own], heavy[own], mass[own] = factor * made.elastic_stiffness, 0.0, made.mass
    return replace(points, elastic_stiffness=elastic, weight_stiffness=heavy, mass=mass, distance_bounds={})
