# SPDX-License-Identifier: GPL-3.0-or-later
"""What overlaps where skins have just changed: it is remembered as contacts, so that it goes no deeper."""

from __future__ import annotations

import numpy as np

from .arrays import Bools
from .contact.memory import Memory
from .contact.places import places_of
from .contact.skins_broken import let_out, together
from .contact.told import told
from .simulation import Simulation
from .skins.behind import points_behind
from .skins.places import place_vertices


def with_behind(memory: Memory, simulation: Simulation, has_broken: Bools) -> Memory:
    """Returns what contacts remember, and what is a little behind a skin of bodies that have just broken, (b,)."""
    built, state, tracks = simulation.built, simulation.state, simulation.tracks
    assert built.skins is not None
    places = places_of(built.colliders, tracks, state.time, state.time)
    where = told(built.skins.skins, places, built.deforming, tracks, state.time, state.time)
    skins, at = where.skins, where.end.copy()
    place_vertices(state.x, skins.nodes, skins.weights, at)
    piece = np.searchsorted(built.model.pattern.island_start, skins.nodes[:, 0], side="right").astype(np.int32) - 1
    is_asked = (skins.body >= 0) & has_broken[np.maximum(skins.body, 0)]
    id, triangle, depth = points_behind(skins, at, piece, is_asked)
    first, wide = len(built.colliders) * max(len(built.contact_points), 1), len(skins) * skins.vertex_count
    of_skins = memory.id[np.searchsorted(memory.id, first) :] - first
    of_skins = of_skins[of_skins < skins.point_ids]
    is_new = ~np.isin(id, of_skins % wide)
    return together(memory, let_out(id[is_new] + first, triangle[is_new], depth[is_new]))
