# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps a running bake going from Blender's timers, whatever happens to windows and operators."""

from __future__ import annotations

import time as clock

import bpy

from . import bake_control, undo_step
from .addon_session import session

INTERVAL_SECONDS = 0.05
# where panels are, and marks of frames that did not converge
REDRAWN_REGIONS = {("VIEW_3D", "UI"), ("PROPERTIES", "WINDOW"), ("DOPESHEET_EDITOR", "WINDOW")}


def start() -> None:
    """Begins to beat, until the bake has ended and has its undo step."""
    if not bpy.app.background and not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=0.0, persistent=True)


def stop() -> None:
    """Stops beating: the add-on is turned off."""
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)


def _tick() -> float | None:
    windows = bpy.context.window_manager.windows
    with bpy.context.temp_override(window=windows[0] if windows else None):
        goes_on = bake_control.poll()
        undo_step.push_when_possible()
    _redraw_panels()
    return INTERVAL_SECONDS if goes_on or undo_step.is_due() else None


def _redraw_panels() -> None:
    """Draws the panels again when they have something new to say; viewports follow their objects by themselves."""
    job = session.bake.driver.job if session.bake is not None else None
    left = job.seconds_left(clock.monotonic()) if job is not None else None
    now = job and (
        job.phase,
        job.frame,
        int(100 * job.exported),
        int(100 * job.fraction),
        job.stage,
        job.body,
        job.prerolled,
        job.newton_event,
        job.crack_event,
        left and int(left),
    )
    if now == session.shown_progress and now is not None:
        return
    session.shown_progress = now
    redraw()


def redraw() -> None:
    """Draws the panels again."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            for region in area.regions:
                if (area.type, region.type) in REDRAWN_REGIONS:
                    region.tag_redraw()
