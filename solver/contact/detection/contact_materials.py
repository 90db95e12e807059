# SPDX-License-Identifier: GPL-3.0-or-later
"""How stiff the skins of bodies are to each other, and how they rub."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...mechanics.linear_elasticity import youngs_modulus
from ...mechanics.model import Model
from ...mesh.embedding import bind
from ...runtime.arrays import Floats, Indices, floats, indices
from ...scene.scene import Scene
from ..surfaces.collision_surfaces import CollisionSurfaces
from .contact_points import ContactPoints, contact_points

# Stiffness of contacts between bodies over that with rigid colliders: what is soft is pressed in before its neighbours
# push back. In single runs of ten bodies in a bowl 8 let vertices in by a third of what 1 did, and 30 left steps
# unsettled.
BODY_STIFFNESS_FACTOR = 3.0

NO_SUPPORT_TETS = np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class ContactMaterials:
    """Skins with what their contacts need to push and rub.

    Attributes:
        skins: All skins.
        points: Their vertices: tets −1, stiffness and mass without bound where they are told.
        friction: μ of every skin, (s,).
        under: The tet that bears each triangle, (t,), −1 of colliders; (0,): not looked for, as in what broke.
    """

    skins: CollisionSurfaces
    points: ContactPoints
    friction: Floats
    support_tet: Indices = field(default_factory=lambda: NO_SUPPORT_TETS)


def make_contact_materials(
    skins: CollisionSurfaces | None, scene: Scene, model: Model, gravity: Floats
) -> ContactMaterials | None:
    """Returns the skins of a scene ready to push and rub; None where there are none.

    Args:
        skins: All skins.
        scene: What is asked for.
        model: All bodies, whole or in pieces.
        gravity: At the first frame [m/s²], (3,).
    """
    if skins is None:
        return None
    pull, parts = float(np.linalg.norm(gravity)), []
    for skin in range(len(skins)):
        own, number = skins.vertices_of(skin), int(skins.body[skin])
        parts.append(_collider_points(skins, own) if number < 0 else _body_points(skins, own, model, number, pull))
    return ContactMaterials(
        skins, ContactPoints.concatenate(parts), floats(_frictions(skins, scene)), _support_tets(skins, model)
    )


def _support_tets(skins: CollisionSurfaces, model: Model) -> Indices:
    """Returns the tets that hold the middles of triangles at rest, or are nearest to them, −1 in colliders, (t,)."""
    under = np.full(len(skins.triangles), -1, np.int32)
    for skin in np.flatnonzero(skins.body >= 0).tolist():
        body, own = model.bodies[int(skins.body[skin])], skins.triangles_of(skin)
        tets = indices(model.tets[body.tets] - body.nodes.start)
        middles = skins.rest[skins.triangles[own]].mean(axis=1)
        under[own] = bind(model.X[body.nodes], tets, middles).tet + body.tets.start
    return under


def _body_points(skins: CollisionSurfaces, own: slice, model: Model, number: int, pull: float) -> ContactPoints:
    body, tet = model.bodies[number], skins.tet[own]
    mass = float(model.mass[body.nodes].sum())
    points = contact_points(
        tet=tet,
        weights=skins.weights[own],
        area=skins.area[own],
        youngs_modulus=youngs_modulus(model.mu[tet], model.lam[tet]),
        mass=mass,
        weight=mass * pull * float(model.gravity_scale[body.nodes.start]),
        tet_size=skins.size[own],
    )
    return replace(points, stiffness=BODY_STIFFNESS_FACTOR * points.stiffness)


def _collider_points(skins: CollisionSurfaces, own: slice) -> ContactPoints:
    endless = np.full(own.stop - own.start, np.inf)
    return ContactPoints(skins.tet[own], skins.weights[own], skins.area[own], endless, endless, skins.size[own])


def _frictions(skins: CollisionSurfaces, scene: Scene) -> Sequence[float]:
    return [
        scene.bodies[body].collision.friction if body >= 0 else scene.colliders[collider].friction
        for body, collider in zip(skins.body.tolist(), skins.collider.tolist(), strict=True)
    ]
