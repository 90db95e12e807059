# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives bodies that run live as many tets as keep up with the clock, and runs them anew."""

from __future__ import annotations

import bpy

from ..baking.addon_session import session
from ..live import real_time_tets, run_control
from .error_reporting import reporting_errors


class SINEW_OT_use_real_time_tets(bpy.types.Operator):
    """Give the bodies as many Preview Tets as this machine runs in real time, and run live anew"""

    bl_idname = "sinew.use_real_time_tets"
    bl_label = "Use Fewer Tets"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        """While a run says how many those are."""
        return session.live is not None and session.live.real_time_tets is not None

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Changes them, and begins again."""
        run = session.live
        wanted = None if run is None else run.real_time_tets
        if run is None or wanted is None:
            return {"CANCELLED"}
        expected = real_time_tets.ask_for(run, wanted)
        run_control.end()
        self.report({"INFO"}, f"Live begins again, with about {expected:,} tets. Undo gives the bodies their tets back")
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


CLASSES = (SINEW_OT_use_real_time_tets,)
