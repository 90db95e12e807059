# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's time remapping: modifiers, nodes and drivers get remapped time instead of timeline frames."""

from __future__ import annotations

import bpy


def time_stretch(obj: bpy.types.Object) -> float:
    """Returns frames of the timeline per frame of the remapped time."""
    scenes = obj.users_scene
    render = scenes[0].render if scenes else bpy.context.scene.render
    return render.frame_map_new / render.frame_map_old
