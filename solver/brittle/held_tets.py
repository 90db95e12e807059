# SPDX-License-Identifier: GPL-3.0-or-later
"""Divides the held tets of a body among the parts that cracks have made of what is between them.

Held tets have no stress, so cracks end at them, and a pane in a frame would stay one piece whatever happens inside.
But nothing there holds its parts together: each is held by itself. So where free tets have fallen into parts, each
held tet goes with the part that is nearest to it across faces, and cracks run on between those of different parts.
"""

from __future__ import annotations

import numpy as np

from ..mesh.geometry.connected_components import connected_components
from ..runtime.arrays import Bools, Indices, indices
from .cracked_mesh import CrackedMesh


def divide_held_tets(cracked: CrackedMesh) -> CrackedMesh:
    """Returns a body with cracks between the held tets that go with different parts of its free tets."""
    body = cracked.body
    if not body.is_held.any() or body.is_held.all():
        return cracked
    across = np.where((body.neighbours.tet >= 0) & ~cracked.is_parted, body.neighbours.tet, -1)
    part = _nearest_parts(_free_parts(across, body.is_held), across)
    other = np.where(across >= 0, part[np.maximum(across, 0)], part[:, None])
    is_small = np.bincount(part, body.coarse_volume) < body.min_fragment_volume
    rigid = ~body.is_breakable
    keeps = is_small[part][:, None] | is_small[other] | body.is_bonded | (rigid[:, None] & rigid[np.maximum(across, 0)])
    is_divided = (other != part[:, None]) & ~keeps
    return CrackedMesh(body, cracked.is_parted | is_divided) if is_divided.any() else cracked


def _free_parts(across: Indices, is_held: Bools) -> Indices:
    """Returns the connected part of each free tet, (m,), and −1 of held ones."""
    inner = (across >= 0) & ~is_held[:, None] & ~is_held[np.maximum(across, 0)]
    tet, face = np.nonzero(inner)
    return indices(np.where(is_held, -1, connected_components(tet, across[tet, face], len(across))))


def _nearest_parts(part: Indices, across: Indices) -> Indices:
    """Returns the part of each tet, (m,): of those without one the nearest by faces, the first of some as near.

    Tets that no free one reaches are a part of their own.
    """
    found, none = part.copy(), int(part.max(initial=-1)) + 1
    while True:
        left = np.flatnonzero(found < 0)
        near = np.where(across[left] >= 0, found[across[left]], -1)
        nearest = np.where(near >= 0, near, none).min(axis=1, initial=none)
        reached = nearest < none
        if not reached.any():
            found[left] = none
            return found
        found[left[reached]] = nearest[reached]
