# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds scenes again after an undo, which moves them in memory: Sinew stores only their session ids."""

from __future__ import annotations

import bpy


def find_scene(uid: int) -> bpy.types.Scene | None:
    """Returns the scene with a session id, or None if it was deleted."""
    return next((scene for scene in bpy.data.scenes if scene.session_uid == uid), None)
