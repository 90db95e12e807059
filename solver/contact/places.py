# SPDX-License-Identifier: GPL-3.0-or-later
"""Where rigid colliders are during a step, and which of them are felt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import Floats
from ..skins import jumps
from ..skins.deforming import is_active
from ..tracks import TrackReader
from .colliders import STILL, BuiltCollider, track_of
from .touching import Place

UP = np.array([0.0, 0.0, 1.0])


def places_of(colliders: Sequence[BuiltCollider], tracks: TrackReader, begin: float, end: float) -> list[Place]:
    """Returns where all colliders are at both ends of a step [s], in their order.

    What is switched off has its place too, since contacts are numbered by it, but as a plane out of reach. What
    jumps stays at one place for a step, and does not hit what lies between.

    Raises:
        BadInput: A collider changes its scale or shear, or is at no place that is a number.
    """
    return [_place(collider, tracks, begin, end) for collider in colliders]


def _place(collider: BuiltCollider, tracks: TrackReader, begin: float, end: float) -> Place:
    first, last = _ends(collider, tracks, begin, end)
    at_end = collider.rows(last, end)
    at_start = at_end if first is last else collider.rows(first, begin)
    felt = collider if is_active(collider.key, tracks, begin, end) else _out_of_reach(collider)
    return Place(felt, np.concatenate([at_start, at_end]))


def _ends(collider: BuiltCollider, tracks: TrackReader, begin: float, end: float) -> tuple[Floats, Floats]:
    name = track_of(collider.key)
    if not tracks.has(name):
        return STILL, STILL
    return jumps.ends_of_step(tracks, name, begin, end, 1.0 / collider.settings.fps, collider.size, collider.moved)


def arrives(collider: BuiltCollider, tracks: TrackReader, begin: float, end: float) -> bool:
    """Whether a collider is elsewhere all at once in a step."""
    name, span = track_of(collider.key), 1.0 / collider.settings.fps
    return tracks.has(name) and jumps.arrives(tracks, name, begin, end, span, collider.size, collider.moved)


def _out_of_reach(collider: BuiltCollider) -> BuiltCollider:
    return replace(collider, bvh=None, normal=UP, thickness=-np.inf)
