# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles ahead and keeps a process ready while Blender has a window, as the preferences say."""

from __future__ import annotations

import atexit

import bpy

from .. import preferences, roles
from . import bakes, pulse
from .ahead import ahead

FIRST_SECONDS = 2.0  # Blender has enough to do while it starts
SECONDS = 0.5


def register() -> None:
    """Begins to look, where there is a window: what runs without one says itself when it compiles."""
    if not bpy.app.background:
        atexit.register(ahead.close)
        bpy.app.timers.register(look, first_interval=FIRST_SECONDS, persistent=True)


def unregister() -> None:
    """Ends what was begun."""
    if bpy.app.timers.is_registered(look):
        bpy.app.timers.unregister(look)
    atexit.unregister(ahead.close)
    ahead.close()


def look() -> float:
    """Lets the processes be as the preferences and the file want them."""
    chosen = preferences.chosen()
    if chosen is not None and bakes.running() is None:
        before = ahead.is_compiling
        has_bodies = any(roles.bodies(scene) for scene in bpy.data.scenes)
        ahead.look(chosen.compile_ahead, chosen.keep_ready and has_bodies)
        if ahead.is_compiling != before:
            pulse.redraw()
    return SECONDS
