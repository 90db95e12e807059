# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the skins of colliders are during a step, as their tracks tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import Floats
from ..late_dataclass import dataclass
from ..skins.deforming import DeformingCollider, is_active
from ..skins.places import fill_collider
from ..skins.skin import Skins
from ..tracks import TrackReader
from .touching import Place


@dataclass(frozen=True, eq=False)
class Told:
    """Skins during one step.

    Attributes:
        skins: Without what is switched off meeting anything.
        start, end: Vertices of colliders at both ends of it [m], (v, 3); rows of bodies are not read.
        origins: About which torques on colliders are, at its end [m], (s, 3); rows of bodies are not read.
        corners_start, corners_end: `SharpEdges.rest` at both ends of it [m], (w, 3).
    """

    skins: Skins
    start: Floats
    end: Floats
    origins: Floats
    corners_start: Floats
    corners_end: Floats


def told(
    skins: Skins,
    places: Sequence[Place],
    deforming: Sequence[DeformingCollider],
    tracks: TrackReader,
    begin: float,
    end: float,
) -> Told:
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
            for vertices, out in zip(soft[key].ends(tracks, begin, end), at, strict=True):
                fill_collider(skins, skin, vertices, out)
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
        meets = skins.meets.copy()
        meets[off], meets[:, off] = False, False
        skins = replace(skins, meets=meets)
    return Told(skins, *at, origins, *corners_at)
