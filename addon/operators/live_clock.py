# SPDX-License-Identifier: GPL-3.0-or-later
"""How time passes in a live run: pause, step by step, and as many tets as keep up with the clock."""

from __future__ import annotations

import bpy

from ..baking import bake_timer
from ..baking.addon_session import session
from ..live import real_time_tets, run_control
from .error_reporting import reporting_errors


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


class SINEW_OT_use_real_time_tets(_OfRun, bpy.types.Operator):
    """Give the bodies as many Preview Tets as this machine runs in real time, and run live anew"""

    bl_idname = "sinew.use_real_time_tets"
    bl_label = "Use Fewer Tets"
    bl_options = {"UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Changes them, and begins again."""
        run = session.live
        wanted = None if run is None else real_time_tets.in_real_time(run)
        if run is None or wanted is None:
            return {"CANCELLED"}
        real_time_tets.ask_for(run, wanted)
        run_control.end()
        if bpy.app.background:
            run_control.start(context.scene)
            return {"FINISHED"}
        # not called at once: an operator that stays begins after this one has ended
        bpy.app.timers.register(_begin_again, first_interval=0.0)
        return {"FINISHED"}


def _begin_again() -> None:
    window = bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window):
        if bpy.ops.sinew.live.poll():
            bpy.ops.sinew.live("INVOKE_DEFAULT")


CLASSES = (SINEW_OT_pause_live, SINEW_OT_step_live, SINEW_OT_use_real_time_tets)
