# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve This Frame, and showing the bake again."""

from __future__ import annotations

from typing import Any

import bpy

from ..baking import bake_timer, frame_solve, undo_step
from ..baking.addon_session import FrameSolve, session
from ..objects import roles
from ..playback import solved_frame
from .error_reporting import reporting_errors
from .modal_timer import ModalTimerOperator

TIMER_SECONDS = 0.02


class SINEW_OT_solve_frame(ModalTimerOperator, bpy.types.Operator):
    """Bring the selected flesh, or all of it, to rest in the pose of this frame, without a bake. Esc stops"""

    bl_idname = "sinew.solve_frame"
    bl_label = "Solve This Frame"
    bl_options = {"UNDO"}

    _solve: FrameSolve | None = None
    _drawn: Any = None  # the iteration that the panels show

    @reporting_errors
    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Begins, and stays to listen for Escape."""
        if bpy.app.background:
            return self.execute(context)
        self._solve = frame_solve.start(context.scene, _chosen_bodies(context))
        self.listen(context, TIMER_SECONDS)
        bake_timer.redraw()
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Lets everything through but Escape."""
        solve = self._solve
        if solve is None or session.frame_solve is not solve:
            self.cancel(context)  # another file is open
            return {"CANCELLED"}
        if event.type == "ESC" and event.value == "PRESS" and solve.driver.job.is_running:
            solve.driver.cancel()
            return {"RUNNING_MODAL"}
        if event.type == "TIMER" and solve.driver.job.newton_event is not self._drawn:
            self._drawn = solve.driver.job.newton_event
            bake_timer.redraw()
        # what is shown is part of an undo step of the whole file, which other modes do not have
        if event.type != "TIMER" or frame_solve.poll() or not undo_step.can_push():
            return {"PASS_THROUGH"}
        self._stop_listening(context)
        return self._end(solve)

    def cancel(self, context: bpy.types.Context) -> None:
        """Stops: the window was closed, or another file is open."""
        self._stop_listening(context)
        if self._solve is not None and session.frame_solve is self._solve:
            session.end_frame_solve()

    def _stop_listening(self, context: bpy.types.Context) -> None:
        super().cancel(context)
        bake_timer.redraw()

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Solves to the end and then returns: for scripts, and for Blender without a window."""
        solve = frame_solve.start(context.scene, _chosen_bodies(context))
        frame_solve.wait()
        return self._end(solve)

    def _end(self, solve: FrameSolve) -> set[str]:
        level, line = frame_solve.finish(solve)
        self.report({level}, line)
        return {"FINISHED"} if solve.driver.job.phase == "done" else {"CANCELLED"}


def _chosen_bodies(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Returns the selected flesh, or all of it where none is selected."""
    bodies = [obj for obj in roles.bodies(context.scene) if roles.is_flesh(obj)]
    return [obj for obj in bodies if obj.select_get()] or bodies


class SINEW_OT_cancel_solve(bpy.types.Operator):
    """Stop solving this frame (Esc)"""

    bl_idname = "sinew.cancel_solve"
    bl_label = "Cancel"
    bl_options = {"INTERNAL"}

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Asks it to stop."""
        if session.frame_solve is not None:
            session.frame_solve.driver.cancel()
        return {"FINISHED"}


class SINEW_OT_hide_solved_frame(bpy.types.Operator):
    """Show the bake again instead of the frame that was solved"""

    bl_idname = "sinew.hide_solved_frame"
    bl_label = "Hide Solved Frame"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Removes what shows it."""
        return {"FINISHED"} if solved_frame.remove(roles.bodies(context.scene)) else {"CANCELLED"}


CLASSES = (SINEW_OT_solve_frame, SINEW_OT_cancel_solve, SINEW_OT_hide_solved_frame)
