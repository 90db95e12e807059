# SPDX-License-Identifier: GPL-3.0-or-later
"""Dents as a start keeps them (`scene/start.py`): places in the material at rest, whatever the particles are then."""

from __future__ import annotations

import numpy as np

from ...mechanics.state import State
from ...mesh.embedding import bind
from ...runtime.arrays import Floats, floats, indices
from ...scene.start import Start
from .particles import DetailBody, ParticleTargets, depths

REACH = 0.75  # around a particle, over the distance to the nearest other one: half the diagonal of a square has 0.71
MIN_DEPTH = 1.0e-9  # of a dent that is kept, over the deepest that may be


def keep_dents(body: DetailBody, state: State) -> dict[str, Floats]:
    """Returns `dented`, `dents` and `dent_reach` of a start [m]; {} where there are no dents."""
    from scipy.spatial import cKDTree

    targets, rest = ParticleTargets.from_state(body, state), body.part.rest
    rows = indices(np.flatnonzero(depths(body, targets) > MIN_DEPTH * body.max_depth[targets.particle]))
    if not len(rows):
        return {}
    dented = rest[targets.particle[rows]]
    nearest = cKDTree(rest).query(dented, 2)[0][:, 1]
    return {"dented": dented, "dents": targets.rest_positions(body, rows), "dent_reach": REACH * nearest}


def begin_with_dents(body: DetailBody, start: Start, state: State) -> None:
    """Gives particles the dents of a start: each that of the nearest particle that had one, within its reach.

    Dents end at the depth that they may have now.
    """
    from scipy.spatial import cKDTree

    if start.dented is None or start.dents is None or start.dent_reach is None:
        return
    rest = body.part.rest
    distance, source = cKDTree(start.dented).query(rest)
    particle = indices(np.flatnonzero(distance <= start.dent_reach[source]))
    if not len(particle):
        return
    source = source[particle]
    dent = start.dents[source] - start.dented[source]
    depth = np.linalg.norm(dent, axis=1)
    share = np.minimum(1.0, body.max_depth[particle] / np.maximum(depth, 1.0e-300))
    found = bind(body.nodes, body.tets, floats(rest[particle] + share[:, None] * dent, -1, 3))
    ParticleTargets(particle, found.tet, found.weights, np.zeros((len(particle), 3))).store_in(body, state)
