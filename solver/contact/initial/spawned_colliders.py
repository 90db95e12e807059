# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders that are around points all at once, since they have jumped there or were switched on: points are let out.

What is inside a skin has never come in through it, and would go on freely. All points of a whole body leave on one way,
as out of another body (`resolve_overlap.py`): the nearest one may lead them around the collider. Rigid colliders need
none of this: points in them are found by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...runtime.arrays import Floats
from ...scene.tracks import TrackReader
from ..colliders.deforming_collider import DeformingCollider
from ..detection.persistent_contacts import PersistentContacts
from ..detection.remap_contacts import merge_contacts
from ..surfaces.collision_surfaces import CollisionSurfaces
from .resolve_overlap import exit_direction, exit_triangles, overlap_contacts, penetrating_vertices


def add_spawned_collider_contacts(
    memory: PersistentContacts,
    skins: CollisionSurfaces,
    at: Floats,
    deforming: Sequence[DeformingCollider],
    tracks: TrackReader,
    begin: float,
    end: float,
    is_whole: bool,
    first: int,
) -> PersistentContacts:
    """Returns what contacts remember, and what is inside colliders that were not there in the step before.

    Args:
        memory: At the start of the step.
        skins: Of the step.
        at: Where their vertices are then [m], (v, 3).
        deforming: The colliders that deform.
        tracks: Of the scene.
        begin, end: The step [s].
        is_whole: Whether no body has broken: pieces may lie on all sides of what appears.
        first: By how much ids are larger than those of skins.
    """
    for collider in deforming:
        if collider.is_solid and collider.key in skins.names and collider.appears(tracks, begin, end):
            new = _contacts_inside(skins, skins.names.index(collider.key), at, is_whole, first)
            memory = merge_contacts(memory, new.select(~np.isin(new.id, memory.id)))
    return memory


def _contacts_inside(skins: CollisionSurfaces, skin: int, at: Floats, is_whole: bool, first: int) -> PersistentContacts:
    """Returns contacts of all points of bodies inside the skin of a collider, to be let out gently."""
    found = []
    for body in np.flatnonzero(skins.may_touch[:, skin] & (skins.body >= 0)).tolist():
        inner = penetrating_vertices(skins, at, body, skin)
        if len(inner[0]):
            way = (
                exit_direction(skins, at, body, skin, [inner, penetrating_vertices(skins, at, skin, body)])
                if is_whole
                else None
            )
            found.append(exit_triangles(skins, at, inner[0], skin, way))
    return overlap_contacts(found, first)
