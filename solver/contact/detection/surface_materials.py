# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact materials of collision surfaces: stiffness and friction of the contacts of each vertex."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ...mechanics.elastic_moduli import youngs_modulus
from ...mechanics.model import Model
from ...mesh.embedding import bind
from ...runtime.arrays import Floats, Indices, floats, indices
from ...scene.scene import Scene
from ...scene.surface_detail import SurfaceDetail
from ..surfaces.collision_surfaces import CollisionSurfaces
from .contact_sample_points import ContactPoints, contact_points, with_soft_bindings

# Stiffness of contacts between bodies over that with rigid colliders: a soft contact sinks in before its neighbours
# push back. In single runs of ten bodies in a bowl, 8 let vertices in by a third of what 1 did, and 30 left steps
# without convergence.
BODY_STIFFNESS_FACTOR = 3.0
NO_SUPPORT_TETS = np.zeros(0, np.int32)


class ContactMaterialArrays(NamedTuple):
    """The arrays of `ContactMaterials` that kernels take."""

    friction: Floats
    support_tet: Indices
    stiffness: Floats
    mass: Floats
    tet_size: Floats
    binding_stiffness: Floats
    yield_length: Floats


@dataclass(frozen=True, eq=False)
class ContactMaterials:
    """Surfaces with the stiffness and friction of their contacts.

    Attributes:
        surfaces: All surfaces.
        points: Their vertices; those of colliders have tet −1, and infinite stiffness and mass.
        friction: μ of every surface, (s,).
        support_tet: The tet under the middle of each triangle, −1 for colliders, (t,); (0,) after bodies broke.
    """

    surfaces: CollisionSurfaces
    points: ContactPoints
    friction: Floats
    support_tet: Indices = field(default_factory=lambda: NO_SUPPORT_TETS)

    @functools.cached_property
    def arrays(self) -> ContactMaterialArrays:
        """The materials as kernels take them."""
        points = self.points
        return ContactMaterialArrays(
            self.friction,
            self.support_tet,
            points.stiffness,
            points.mass,
            points.tet_size,
            points.binding_stiffness,
            points.yield_length,
        )


def make_contact_materials(
    surfaces: CollisionSurfaces | None, scene: Scene, model: Model, gravity: Floats
) -> ContactMaterials | None:
    """Returns the contact materials of the surfaces of a scene; None if it has no surfaces.

    Args:
        surfaces: All surfaces.
        scene: Has the settings of contact.
        model: All bodies, whole or in pieces.
        gravity: At the first frame [m/s²], (3,).
    """
    if surfaces is None:
        return None
    pull, parts = float(np.linalg.norm(gravity)), []
    for surface in range(len(surfaces)):
        own, number = surfaces.vertices_of(surface), int(surfaces.body[surface])
        parts.append(
            _collider_points(surfaces, own)
            if number < 0
            else _body_points(surfaces, own, model, number, pull, scene.bodies[number].surface_detail)
        )
    return ContactMaterials(
        surfaces, ContactPoints.concatenate(parts), floats(_frictions(surfaces, scene)), _support_tets(surfaces, model)
    )


def _support_tets(surfaces: CollisionSurfaces, model: Model) -> Indices:
    """Returns the tets that contain the middles of triangles at rest or are nearest to them, the hinges that have all
    three corners in sheets, and −1 in colliders, (t,).
    """
    support = np.full(len(surfaces.triangles), -1, np.int32)
    for surface in np.flatnonzero(surfaces.body >= 0).tolist():
        body, own = model.bodies[int(surfaces.body[surface])], surfaces.triangles_of(surface)
        if model.sheets is not None and not surfaces.is_one_sided[surface]:
            support[own] = model.sheets.hinges_of(surfaces.nodes[surfaces.triangles[own], 0], model.tets)
            continue
        tets = indices(model.tets[body.tets] - body.nodes.start)
        middles = surfaces.rest[surfaces.triangles[own]].mean(axis=1)
        support[own] = bind(model.X[body.nodes], tets, middles).tet + body.tets.start
    return support


def _body_points(
    surfaces: CollisionSurfaces, own: slice, model: Model, number: int, pull: float, detail: SurfaceDetail | None
) -> ContactPoints:
    body, tet = model.bodies[number], surfaces.tet[own]
    modulus = youngs_modulus(model.mu[tet], model.lam[tet])
    mass = float(model.mass[body.nodes].sum())
    points = contact_points(
        tet=tet,
        weights=surfaces.weights[own],
        area=surfaces.area[own],
        youngs_modulus=modulus,
        mass=mass,
        weight=mass * pull * float(model.gravity_scale[body.nodes.start]),
        tet_size=surfaces.size[own],
    )
    if detail is not None:
        points = with_soft_bindings(points, modulus, detail, float(surfaces.size[own.start]))
    return replace(
        points,
        elastic_stiffness=BODY_STIFFNESS_FACTOR * points.elastic_stiffness,
        weight_stiffness=BODY_STIFFNESS_FACTOR * points.weight_stiffness,
    )


def _collider_points(surfaces: CollisionSurfaces, own: slice) -> ContactPoints:
    infinite = np.full(own.stop - own.start, np.inf)
    of_points = surfaces.tet[own], surfaces.weights[own], surfaces.area[own]
    return ContactPoints(*of_points, infinite, infinite, infinite, surfaces.size[own], infinite, infinite)


def _frictions(surfaces: CollisionSurfaces, scene: Scene) -> Sequence[float]:
    return [
        scene.bodies[body].collision.friction if body >= 0 else scene.colliders[collider].friction
        for body, collider in zip(surfaces.body.tolist(), surfaces.collider.tolist(), strict=True)
    ]
