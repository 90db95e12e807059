# SPDX-License-Identifier: GPL-3.0-or-later
"""How stiff the skins of bodies are to each other, and how they rub."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from ..arrays import Floats, Indices, floats, indices
from ..embedding import bind
from ..late_dataclass import dataclass
from ..materials.elastic import youngs_modulus
from ..model import Model
from ..scene import Scene
from ..skins.skin import Skins
from .points import ContactPoints, contact_points

# Stiffness of contacts between bodies over that with rigid colliders: what is soft is pressed in before its neighbours
# push back. In single runs of ten bodies in a bowl 8 let vertices in by a third of what 1 did, and 30 left steps
# unsettled.
HARDER = 3.0

NOT_LOOKED_FOR = np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class SkinSurfaces:
    """Skins with what their contacts need to push and rub.

    Attributes:
        skins: All skins.
        points: Their vertices: tets −1, stiffness and mass without bound where they are told.
        friction: μ of every skin, (s,).
        under: The tet that bears each triangle, (t,), −1 of colliders; (0,): not looked for, as in what broke.
    """

    skins: Skins
    points: ContactPoints
    friction: Floats
    under: Indices = field(default_factory=lambda: NOT_LOOKED_FOR)


def skin_surfaces(skins: Skins | None, scene: Scene, model: Model, gravity: Floats) -> SkinSurfaces | None:
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
        parts.append(_told(skins, own) if number < 0 else _of_body(skins, own, model, number, pull))
    return SkinSurfaces(skins, ContactPoints.together(parts), floats(_frictions(skins, scene)), _under(skins, model))


def _under(skins: Skins, model: Model) -> Indices:
    """Returns the tets that hold the middles of triangles at rest, or are nearest to them, −1 in colliders, (t,)."""
    under = np.full(len(skins.triangles), -1, np.int32)
    for skin in np.flatnonzero(skins.body >= 0).tolist():
        body, own = model.bodies[int(skins.body[skin])], skins.triangles_of(skin)
        tets = indices(model.tets[body.tets] - body.nodes.start)
        middles = skins.rest[skins.triangles[own]].mean(axis=1)
        under[own] = bind(model.X[body.nodes], tets, middles).tet + body.tets.start
    return under


def _of_body(skins: Skins, own: slice, model: Model, number: int, pull: float) -> ContactPoints:
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
    return replace(points, stiffness=HARDER * points.stiffness)


def _told(skins: Skins, own: slice) -> ContactPoints:
    endless = np.full(own.stop - own.start, np.inf)
    return ContactPoints(skins.tet[own], skins.weights[own], skins.area[own], endless, endless, skins.size[own])


def _frictions(skins: Skins, scene: Scene) -> Sequence[float]:
    return [
        scene.bodies[body].collision.friction if body >= 0 else scene.colliders[collider].friction
        for body, collider in zip(skins.body.tolist(), skins.collider.tolist(), strict=True)
    ]
