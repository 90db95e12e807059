# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks whether bodies and colliders start inside each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...mesh.geometry.closedness import has_inside
from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.triangle_bvh import Bvh, build_bvh
from ...mesh.geometry.triangle_surface import Surface
from ...mesh.geometry.winding_number import winding_numbers
from ...runtime.arrays import Floats
from ...runtime.errors import BadInput
from ..colliders.deforming_collider import DeformingCollider
from ..colliders.rigid_colliders import BuiltCollider
from ..detection.surface_materials import ContactMaterials


def check_initial_penetration(
    name: str, surface: Surface, points: Floats, allowed: float, collider: BuiltCollider, pose: Floats
) -> None:
    """Checks whether a body and a collider start inside each other; contacts push out depths up to `allowed`.

    Args:
        name: Of the body.
        surface: Its render mesh in the world [m].
        points: Its contact points that may move [m], (k, 3).
        allowed: Accepted depth [m].
        collider: The collider.
        pose: Its rotation and translation at the first frame, (4, 3).

    Raises:
        BadInput: "body-in-collider" or "collider-in-body".
    """
    if not len(points):
        return
    local = (points - pose[3]) @ pose[:3]
    if collider.bvh is None:
        deepest = float(-(local @ collider.normal).min())
    else:
        deepest = _penetration_depth(collider.bvh, local) if collider.is_closed else 0.0
    if deepest > allowed:
        raise BadInput("body-in-collider", name=name, collider=collider.name, depth=round(deepest, 4))
    if collider.bvh is None or not has_inside(surface.vertices, surface.triangles):
        return
    corners = collider.bvh.corners.reshape(-1, 3) @ pose[:3].T + pose[3]
    low, high = surface.bounds
    within = corners[((corners > low) & (corners < high)).all(axis=1)]
    if len(within) and _penetration_depth(build_bvh(surface.vertices, surface.triangles), within) > allowed:
        raise BadInput("collider-in-body", name=name, collider=collider.name)


def check_enclosed_colliders(
    deforming: Sequence[DeformingCollider],
    materials: ContactMaterials | None,
    names: Sequence[str],
    surfaces: Sequence[Surface],
) -> None:
    """Checks whether a collider that deforms starts wholly inside a body: then no contact could resolve the overlap.

    Args:
        deforming: The colliders, at the start.
        materials: Of the surfaces that may touch; None: none.
        names, surfaces: Of the bodies: names, and render meshes in the world [m].

    Raises:
        BadInput: "collider-in-body".
    """
    if materials is None:
        return
    own = materials.surfaces
    for collider in deforming:
        for number, (name, surface) in enumerate(zip(names, surfaces, strict=True)):
            if collider.key not in own.names or not own.may_touch[number, own.names.index(collider.key)]:
                continue
            low, high = surface.bounds
            points = collider.vertices[np.unique(collider.triangles)]
            if not ((points > low) & (points < high)).all() or not has_inside(surface.vertices, surface.triangles):
                continue
            if (np.abs(winding_numbers(build_bvh(surface.vertices, surface.triangles), points)) > 0.5).all():
                raise BadInput("collider-in-body", name=name, collider=collider.name)


def _penetration_depth(bvh: Bvh, points: Floats) -> float:
    """Returns the largest depth of `points` [m] inside a closed mesh [m], 0 if none is inside."""
    box = bvh.boxes[0]
    near = points[((points > box[:3]) & (points < box[3:])).all(axis=1)]
    if not len(near):
        return 0.0
    inside = near[np.abs(winding_numbers(bvh, near)) > 0.5]
    return float(closest_points(bvh, inside).distance.max(initial=0.0))
