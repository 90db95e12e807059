# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps a running bake going from Blender's timers, whatever happens to windows and operators."""

from __future__ import annotations

import bpy

from . import bakes, overlay

INTERVAL = 0.05


def start() -> None:
    """Begins to beat, until the bake ends."""
    if not bpy.app.background and not bpy.app.timers.is_registered(_beat):
        bpy.app.timers.register(_beat, first_interval=0.0, persistent=True)


def stop() -> None:
    """Stops beating: the add-on is turned off."""
    if bpy.app.timers.is_registered(_beat):
        bpy.app.timers.unregister(_beat)


def _beat() -> float | None:
    windows = bpy.context.window_manager.windows
    with bpy.context.temp_override(window=windows[0] if windows else None):
        goes_on = bakes.tick()
        overlay.redraw()
    return INTERVAL if goes_on else None
