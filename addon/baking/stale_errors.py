# SPDX-License-Identifier: GPL-3.0-or-later
"""What a refusal depended on: once any of it has changed, the sentence may be wrong and leaves the panel."""

from __future__ import annotations

import time as clock

import bpy

from ..evaluation import sample_times
from ..export import input_digest
from ..objects import roles

# looking takes at most one part of the time in so many
POLL_INTERVAL_RATIO = 20.0

# when to look again at each scene
_next_polls: dict[int, float] = {}


def stamp(scene: bpy.types.Scene) -> str:
    """Returns what changes with all that a bake of `scene` reads, and with what else it can be refused for."""
    own = scene.sinew
    more = (
        own.protect,
        own.cache_path,
        sample_times.frame_range(scene),
        sorted(o.session_uid for o in roles.bodies(scene)),
    )
    return f"{input_digest.settings_digest(scene)} {more}"


def has_changed(scene: bpy.types.Scene, refused: str) -> bool:
    """Whether `refused`, a stamp, is that of another state; looked up seldom where that is slow."""
    begun = clock.monotonic()
    if begun < _next_polls.get(scene.session_uid, 0.0):
        return False
    found = stamp(scene)
    now = clock.monotonic()
    _next_polls[scene.session_uid] = now + POLL_INTERVAL_RATIO * (now - begun)
    return found != refused


def invalidate() -> None:
    """Makes the next look a fresh one."""
    _next_polls.clear()
