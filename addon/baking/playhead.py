# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the playhead go along with the frames of a running bake, until the artist moves it or plays the animation."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from .addon_session import RunningBake


def follow(scene: bpy.types.Scene, bake: RunningBake, windows: Iterable[bpy.types.Window]) -> None:
    """Moves the playhead of a scene to the last baked frame where it is still where the bake has put it.

    Args:
        scene: That is baked.
        bake: Remembers where the playhead was put; its first frame takes the playhead from wherever it is.
        windows: Of Blender, in which the animation may play.
    """
    frame = bake.driver.job.frame
    if frame is None or bake.is_playhead_taken or not scene.sinew.follow_bake:
        return
    was_moved = bake.playhead is not None and scene.frame_current != bake.playhead
    if was_moved or any(window.screen.is_animation_playing for window in windows):
        bake.is_playhead_taken = True
        return
    # an assignment instead of `frame_set`: viewports follow when Blender draws next
    scene.frame_current = bake.playhead = frame
