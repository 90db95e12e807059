# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds a live run, lets it go on, and takes it on step by step."""

from __future__ import annotations

import bpy

from ..baking import bake_timer
from ..baking.addon_session import session


class _OfRun:
    """An operator for a run that shows samples."""

    bl_options: set[str] = {"INTERNAL"}

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        """While a scene runs live."""
        return session.live is not None and session.live.is_moving


def _command(name: str) -> set[str]:
    """Tells the run to "pause", "resume" or "step"; but for "resume" it is held then."""
    run = session.live
    if run is None:
        return {"CANCELLED"}
    run.is_paused, run.held_at = name != "resume", None
    run.send({"command": name})
    bake_timer.redraw()
    return {"FINISHED"}


class SINEW_OT_pause_live(_OfRun, bpy.types.Operator):
    """Hold the live run where it is, or let it go on. What is grabbed stays grabbed"""

    bl_idname = "sinew.pause_live"
    bl_label = "Pause"

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Pauses a run that goes on, and the other way round."""
        run = session.live
        is_paused = run is not None and run.is_paused
        return _command("resume" if is_paused else "pause")


class SINEW_OT_step_live(_OfRun, bpy.types.Operator):
    """Take one step of the live run, a sixtieth of a second or less, and pause"""

    bl_idname = "sinew.step_live"
    bl_label = "Step"

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Asks for one step."""
        return _command("step")


CLASSES = (SINEW_OT_pause_live, SINEW_OT_step_live)
