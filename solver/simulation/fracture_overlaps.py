# SPDX-License-Identifier: GPL-3.0-or-later
"""What overlaps where skins have just changed: it is remembered as contacts, so that it goes no deeper."""

from __future__ import annotations

import numpy as np

from ..contact.detection.collider_poses import collider_poses
from ..contact.detection.persistent_contacts import PersistentContacts
from ..contact.detection.prescribed_surfaces import prescribe_surfaces
from ..contact.detection.remap_contacts import merge_contacts, resolving_contacts
from ..contact.surfaces.backface_points import find_backside_points
from ..contact.surfaces.vertex_positions import interpolate_vertices
from ..runtime.arrays import Bools
from .simulated_scene import SimulatedScene


def add_backside_contacts(
    memory: PersistentContacts, simulation: SimulatedScene, has_broken: Bools
) -> PersistentContacts:
    """Returns what contacts remember, and what is a little behind a skin of bodies that have just broken, (b,)."""
    built, state, tracks = simulation.built, simulation.state, simulation.tracks
    assert built.skins is not None
    places = collider_poses(built.colliders, tracks, state.time, state.time)
    where = prescribe_surfaces(built.skins.skins, places, built.deforming, tracks, state.time, state.time)
    skins, at = where.skins, where.end.copy()
    interpolate_vertices(state.x, skins.nodes, skins.weights, at)
    piece = np.searchsorted(built.model.pattern.island_start, skins.nodes[:, 0], side="right").astype(np.int32) - 1
    is_asked = (skins.body >= 0) & has_broken[np.maximum(skins.body, 0)]
    id, triangle, depth = find_backside_points(skins, at, piece, is_asked)
    first, wide = len(built.colliders) * max(len(built.contact_points), 1), len(skins) * skins.vertex_count
    of_skins = memory.id[np.searchsorted(memory.id, first) :] - first
    of_skins = of_skins[of_skins < skins.point_id_count]
    is_new = ~np.isin(id, of_skins % wide)
    return merge_contacts(memory, resolving_contacts(id[is_new] + first, triangle[is_new], depth[is_new]))
