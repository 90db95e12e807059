# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders that are around points all at once, since they have jumped there or were switched on: points are let out.

What is inside a skin has never come in through it, and would go on freely. All points of a whole body leave on one way,
as out of another body (`overlapped.py`): the nearest one may lead them around the collider. Rigid colliders need none
of this: points in them are found by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..skins.deforming import DeformingCollider
from ..skins.skin import Skins
from ..tracks import TrackReader
from .memory import Memory
from .overlapped import all_let_out, inside, leaving, way_out
from .skins_broken import together


def with_appearing(
    memory: Memory, skins: Skins, at: Floats, deforming: Sequence[DeformingCollider], tracks: TrackReader,
    begin: float, end: float, is_whole: bool, first: int,
) -> Memory:  # fmt: skip
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
            new = _inside(skins, skins.names.index(collider.key), at, is_whole, first)
            memory = together(memory, new.only(~np.isin(new.id, memory.id)))
    return memory


def _inside(skins: Skins, skin: int, at: Floats, is_whole: bool, first: int) -> Memory:
    """Returns contacts of all points of bodies inside the skin of a collider, to be let out gently."""
    found = []
    for body in np.flatnonzero(skins.meets[:, skin] & (skins.body >= 0)).tolist():
        inner = inside(skins, at, body, skin)
        if len(inner[0]):
            way = way_out(skins, at, body, skin, [inner, inside(skins, at, skin, body)]) if is_whole else None
            found.append(leaving(skins, at, inner[0], skin, way))
    return all_let_out(found, first)
