# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps a live run going from Blender's timers, also while another operator moves something."""

from __future__ import annotations

import traceback

import bpy

from ..baking import bake_timer
from ..baking.addon_session import session
from . import run_control

INTERVAL_SECONDS = 1.0 / 120.0  # half of what a sample takes: none waits for long


def start() -> None:
    """Begins to beat, until the run has ended."""
    if not bpy.app.background and not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=0.0, persistent=True)


def stop() -> None:
    """Stops beating: the add-on is turned off."""
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)


def _tick() -> float | None:
    run = session.live
    before = _shown(run)
    try:
        goes_on = run_control.poll()
    except Exception:
        # an artist whose run stops for a reason that nobody has thought of has their file back
        traceback.print_exc()
        run_control.end()
        goes_on = False
    if not goes_on or _shown(run) != before:
        bake_timer.redraw()
    return INTERVAL_SECONDS if goes_on else None


def _shown(run: object) -> object:
    """Returns what the panel says of a run."""
    live = session.live
    return (
        None
        if live is None or live is not run
        else (live.driver.job.phase, live.step >= 0, live.status, live.note, live.later, live.has_trembled)
    )
