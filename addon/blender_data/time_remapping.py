# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's remapping of time, which modifiers, nodes and drivers are given instead of frames of the timeline."""

from __future__ import annotations

import bpy


def time_stretch(obj: bpy.types.Object) -> float:
    """Returns frames of the timeline per frame of the remapped time."""
    scenes = obj.users_scene
    render = scenes[0].render if scenes else bpy.context.scene.render
    return render.frame_map_new / render.frame_map_old
