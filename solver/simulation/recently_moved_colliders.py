# SPDX-License-Identifier: GPL-3.0-or-later
"""Which colliders move, jump or are switched on, or have done so a moment ago: they may squeeze bodies without limit.

A collider that jumps into a body, or becomes active there, is at rest in the next step, and what it has come to lie in
is let out over many steps, with energy that no step had before.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..contact.colliders.deforming_collider import DeformingCollider, is_active
from ..contact.colliders.rigid_colliders import BuiltCollider
from ..scene.tracks import TrackReader
from .assembled_scene import AssembledScene
from .simulated_scene import SimulatedScene

SECONDS_AFTER_MOVING = 0.5  # in which a collider lets out what it has come to lie in
MOMENTS = 61  # at which it is looked where it was


def has_moved_colliders(built: AssembledScene, tracks: TrackReader, begin: float, end: float) -> bool:
    """Returns whether a collider moves or bends in a step [s], or has done so or become active shortly before."""
    moments = np.append(
        np.linspace(end - SECONDS_AFTER_MOVING, end, MOMENTS), begin
    )  # tracks hold their first value before
    for one in built.colliders:
        now = one.pose(tracks, end)
        if any((one.pose(tracks, time) != now).any() for time in moments) or _was_off(one.key, tracks, moments):
            return True
    for bent in built.deforming:
        at_end = bent.vertices_at(tracks, end)
        if any((bent.vertices_at(tracks, time) != at_end).any() for time in moments):
            return True
        if _was_off(bent.key, tracks, moments):
            return True
    return False


def find_jumped_colliders(simulation: SimulatedScene, frame: int) -> Iterator[str]:
    """Yields the names of colliders that have jumped or become active in the frame, or in the one before it."""
    built, settings, tracks = simulation.built, simulation.scene.settings, simulation.tracks
    before, middle, end = (settings.time(frame - back) for back in (2, 1, 0))
    colliders: list[BuiltCollider | DeformingCollider] = [*built.colliders, *built.deforming]
    for one in colliders:
        was_off = _was_off(one.key, tracks, np.linspace(before, end, MOMENTS)) and is_active(one.key, tracks, end, end)
        if was_off or one.teleports(tracks, before, middle) or one.teleports(tracks, middle, end):
            yield one.name


def _was_off(key: str, tracks: TrackReader, moments: np.ndarray) -> bool:
    return tracks.has(f"collider.{key}.active") and not all(is_active(key, tracks, t, t) for t in moments)
