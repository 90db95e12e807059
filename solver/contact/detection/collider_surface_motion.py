# SPDX-License-Identifier: GPL-3.0-or-later
"""Positions of the surfaces of colliders during a step, which their tracks prescribe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...runtime.arrays import Floats
from ...scene.tracks import TrackReader
from ..colliders.deforming_collider import DeformingCollider, is_active
from ..surfaces.collision_surfaces import CollisionSurfaces, fill_collider_vertices
from .rigid_collider_contacts import ColliderPose


@dataclass(frozen=True, eq=False)
class PrescribedSurfaces:
    """Surfaces during one step.

    Attributes:
        surfaces: All of them; inactive colliders touch nothing.
        start, end: Vertices of colliders at both ends of it [m], (v, 3); rows of bodies are not read.
        origins: Reference points of torques on colliders at its end [m], (s, 3); rows of bodies are not read.
        corners_start, corners_end: `SharpEdges.rest` at both ends of it [m], (w, 3).
    """

    surfaces: CollisionSurfaces
    start: Floats
    end: Floats
    origins: Floats
    corners_start: Floats
    corners_end: Floats


def prescribe_surfaces(
    surfaces: CollisionSurfaces,
    poses: Sequence[ColliderPose],
    deforming: Sequence[DeformingCollider],
    tracks: TrackReader,
    begin: float,
    end: float,
) -> PrescribedSurfaces:
    """Returns the positions of the surfaces of colliders from one time to another [s].

    Args:
        surfaces: All surfaces.
        poses: Of the rigid colliders in that step.
        deforming: The colliders that deform.
        tracks: Of the scene.
        begin, end: The step [s].

    Raises:
        BadInput: A coordinate is not finite.
    """
    positions, origins = (surfaces.rest.copy(), surfaces.rest.copy()), np.zeros((len(surfaces), 3))
    corners = surfaces.edges.rest if surfaces.edges else np.zeros((0, 3))
    surface_of_corner = surfaces.edges.surface_of_rest if surfaces.edges else np.zeros(0)
    corner_positions = corners.copy(), corners.copy()
    rigid = {pose.collider.key: pose for pose in poses}
    soft = {collider.key: collider for collider in deforming}
    inactive = []
    for surface in np.flatnonzero(surfaces.body < 0).tolist():
        key = surfaces.names[surface]
        if not is_active(key, tracks, begin, end):
            inactive.append(surface)
        elif key in soft:
            for vertices, out in zip(soft[key].vertices_at_ends(tracks, begin, end), positions, strict=True):
                fill_collider_vertices(surfaces, surface, vertices, out)
            origins[surface] = soft[key].origin(tracks, end)
        elif key in rigid:
            pose, own = rigid[key].pose, surfaces.vertices_of(surface)
            stretch, origins[surface] = rigid[key].collider.stretch, pose[7]
            local, own_corners = surfaces.rest[own] @ stretch.T, surface_of_corner == surface
            local_corners = corners[own_corners] @ stretch.T
            for at_end, out, out_corners in zip((pose[:4], pose[4:]), positions, corner_positions, strict=True):
                out[own] = local @ at_end[:3].T + at_end[3]
                out_corners[own_corners] = local_corners @ at_end[:3].T + at_end[3]
    if inactive:
        may_touch = surfaces.may_touch.copy()
        may_touch[inactive], may_touch[:, inactive] = False, False
        surfaces = replace(surfaces, may_touch=may_touch)
    return PrescribedSurfaces(surfaces, *positions, origins, *corner_positions)
