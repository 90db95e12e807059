# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the skins of colliders are during a step, as their tracks tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...runtime.arrays import Floats
from ...scene.tracks import TrackReader
from ..colliders.deforming_collider import DeformingCollider, is_active
from ..surfaces.collision_surfaces import CollisionSurfaces
from ..surfaces.vertex_positions import fill_collider_vertices
from .contact_set import ColliderPose


@dataclass(frozen=True, eq=False)
class PrescribedSurfaces:
    """Skins during one step.

    Attributes:
        skins: Without what is switched off meeting anything.
        start, end: Vertices of colliders at both ends of it [m], (v, 3); rows of bodies are not read.
        origins: About which torques on colliders are, at its end [m], (s, 3); rows of bodies are not read.
        corners_start, corners_end: `SharpEdges.rest` at both ends of it [m], (w, 3).
    """

    skins: CollisionSurfaces
    start: Floats
    end: Floats
    origins: Floats
    corners_start: Floats
    corners_end: Floats


def prescribe_surfaces(
    skins: CollisionSurfaces,
    places: Sequence[ColliderPose],
    deforming: Sequence[DeformingCollider],
    tracks: TrackReader,
    begin: float,
    end: float,
) -> PrescribedSurfaces:
    """Returns where the skins of colliders are from one time to another [s].

    Args:
        skins: All skins.
        places: Of the rigid colliders in that step.
        deforming: The colliders that deform.
        tracks: Of the scene.
        begin, end: The step [s].

    Raises:
        BadInput: A coordinate is not a number.
    """
    at, origins = (skins.rest.copy(), skins.rest.copy()), np.zeros((len(skins), 3))
    corners = skins.edges.rest if skins.edges else np.zeros((0, 3))
    of_corner, corners_at = skins.edges.skin_of_rest if skins.edges else np.zeros(0), (corners.copy(), corners.copy())
    rigid = {place.collider.key: place for place in places}
    soft = {collider.key: collider for collider in deforming}
    off = []
    for skin in np.flatnonzero(skins.body < 0).tolist():
        key = skins.names[skin]
        if not is_active(key, tracks, begin, end):
            off.append(skin)
        elif key in soft:
            for vertices, out in zip(soft[key].vertices_at_ends(tracks, begin, end), at, strict=True):
                fill_collider_vertices(skins, skin, vertices, out)
            origins[skin] = soft[key].origin(tracks, end)
        elif key in rigid:
            place, own = rigid[key], skins.vertices_of(skin)
            local, origins[skin] = skins.rest[own] @ place.collider.stretch.T, place.pose[7]
            theirs = of_corner == skin
            sharp = corners[theirs] @ place.collider.stretch.T
            for pose, out, out_corners in zip((place.pose[:4], place.pose[4:]), at, corners_at, strict=True):
                out[own] = local @ pose[:3].T + pose[3]
                out_corners[theirs] = sharp @ pose[:3].T + pose[3]
    if off:
        meets = skins.may_touch.copy()
        meets[off], meets[:, off] = False, False
        skins = replace(skins, may_touch=meets)
    return PrescribedSurfaces(skins, *at, origins, *corners_at)
