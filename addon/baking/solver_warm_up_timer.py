# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles ahead and keeps a process ready while Blender has a window, as the preferences say."""

from __future__ import annotations

import atexit

import bpy

from ..objects import roles
from ..properties import preferences
from . import bake_timer
from .addon_session import session
from .solver_warm_up import solver_in_waiting

START_DELAY_SECONDS = 2.0  # Blender has enough to do while it starts
POLL_SECONDS = 0.5


def register() -> None:
    """Begins to look, where there is a window: what runs without one says itself when it compiles."""
    if not bpy.app.background:
        atexit.register(solver_in_waiting.close)
        bpy.app.timers.register(poll, first_interval=START_DELAY_SECONDS, persistent=True)


def unregister() -> None:
    """Ends what was begun."""
    if bpy.app.timers.is_registered(poll):
        bpy.app.timers.unregister(poll)
    atexit.unregister(solver_in_waiting.close)
    solver_in_waiting.close()


def poll() -> float:
    """Lets the processes be as the preferences and the file want them."""
    chosen = preferences.get_preferences()
    is_busy = session.bake is not None or session.frame_solve is not None or session.live is not None
    if chosen is not None and not is_busy:
        before = solver_in_waiting.is_compiling
        has_bodies = any(roles.bodies(scene) for scene in bpy.data.scenes)
        solver_in_waiting.update(chosen.compile_ahead, chosen.keep_ready and has_bodies)
        if solver_in_waiting.is_compiling != before:
            bake_timer.redraw()
    return POLL_SECONDS
