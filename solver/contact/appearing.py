# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders that are around points all at once, since they have jumped there or were switched on: points are let out.

What is inside a skin has never come in through it, and would go on freely. Rigid colliders need none of this: points in
them are found by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..geometry.bvh import build_bvh
from ..geometry.closest import closest_points
from ..geometry.winding import winding_numbers
from ..skins.deforming import DeformingCollider
from ..skins.skin import Skins
from ..tracks import TrackReader
from .memory import Memory
from .skins_broken import let_out, together


def with_appearing(
    memory: Memory, skins: Skins, at: Floats, deforming: Sequence[DeformingCollider], tracks: TrackReader,
    begin: float, end: float, first: int,
) -> Memory:  # fmt: skip
    """Returns what contacts remember, and what is inside colliders that were not there in the step before.

    Args:
        memory: At the start of the step.
        skins: Of the step.
        at: Where their vertices are then [m], (v, 3).
        deforming: The colliders that deform.
        tracks: Of the scene.
        begin, end: The step [s].
        first: By how much ids are larger than those of skins.
    """
    for collider in deforming:
        if collider.is_solid and collider.key in skins.names and collider.appears(tracks, begin, end):
            inside = _inside(skins, skins.names.index(collider.key), at, first)
            is_new = ~np.isin(inside.id, memory.id)
            memory = together(memory, inside.only(is_new))
    return memory


def _inside(skins: Skins, skin: int, at: Floats, first: int) -> Memory:
    """Returns contacts of all points inside the skin of a collider, to be let out gently."""
    bvh = build_bvh(at, skins.triangles[skins.triangles_of(skin)])
    box = bvh.boxes[0]
    point = np.flatnonzero(skins.meets[skins.skin_of, skin] & (skins.tet >= 0))
    point = point[((at[point] > box[:3]) & (at[point] < box[3:])).all(axis=1)]
    point = point[np.abs(winding_numbers(bvh, at[point])) > 0.5] if len(point) else point
    near = closest_points(bvh, at[point])
    id = first + skin * skins.vertex_count + point.astype(np.int64)
    return let_out(id, near.triangle + np.int32(skins.triangle_start[skin]), near.distance)
