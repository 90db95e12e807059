# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds errors that are stale because an input of the refused bake has changed."""

from __future__ import annotations

import bpy

from ..evaluation import sample_times
from ..export import input_digest
from ..objects import roles
from ..runtime.memo import Throttle

DIGEST_TIME_SHARE = 0.05  # of the time that digests of the settings may take while panels ask for them
MAX_SCENES = 100  # that are remembered

_stamps: Throttle[str] = Throttle(MAX_SCENES, 0.0, DIGEST_TIME_SHARE)


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
    return _stamps.result(scene.session_uid, lambda: stamp(scene)) != refused


def invalidate() -> None:
    """Makes the next look a fresh one."""
    _stamps.clear()
