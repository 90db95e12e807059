# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate, also what is no body yet, and Cancel."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, IntProperty

from ..baking import bake_control, bake_summary, bake_timer
from ..baking.addon_session import Note, RunningBake, session
from ..baking.bake_request import DEFAULT_REQUEST, BakeRequest
from ..objects import quick_scene
from .error_reporting import reporting_errors
from .modal_timer import ModalTimerOperator
from .selected_objects import selected_unshared_meshes

# no frame of Blender's has this number
UNSET_FRAME = -(2**31)
ALL_PASSES = 0


def push_undo_step(message: str) -> None:
    """Ends the undo step of what an operator has made before it bakes; without a window there are none."""
    if not bpy.app.background:
        bpy.ops.ed.undo_push(message=message)


class BakingOperator(ModalTimerOperator):
    """What operators share that bake: they start the bake and stay to listen for Escape.

    There is no REGISTER among their options: the panel that adjusts the last operation would bake again at every
    change.
    """

    _bake: RunningBake | None = None
    _message = ""

    def request(self) -> BakeRequest:
        """Returns what is to be baked."""
        return DEFAULT_REQUEST

    def prepare(self, _context: bpy.types.Context) -> None:
        """Makes the scene ready to be baked; `_message` is what the panel says of it.

        Raises:
            BadInput: It cannot be; nothing was changed.
        """

    def _start(self, context: bpy.types.Context) -> RunningBake:
        if session.bake is None:
            self.prepare(context)
        bake = bake_control.start(context.scene, self.request())
        if self._message:
            session.messages(context.scene).notes.insert(0, Note(self._message))
        return bake

    @reporting_errors
    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Starts the bake and stays to listen for Escape."""
        if bpy.app.background:
            return self.execute(context)
        self.begin(context)
        self.listen(context)
        return {"RUNNING_MODAL"}

    def begin(self, context: bpy.types.Context) -> None:
        """Starts the bake, which goes on by itself."""
        self._bake = self._start(context)
        bake_timer.start()

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Lets everything through but Escape; ends with the bake, which bake_timer.py keeps going."""
        if self._bake is not None:
            self._bake = self._bake.latest
        if self._bake is None or not self._bake.driver.job.is_running:
            self.cancel(context)
            if self._bake is not None:
                self._end(self._bake)
            return {"CANCELLED"}  # undo_step.py pushes the undo step
        if event.type == "ESC" and event.value == "PRESS":
            session.cancel()
            return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Bakes to the end and then returns: for scripts, and for Blender without a window."""
        bake = self._start(context)
        bake_control.wait()
        return self._end(bake.latest)

    def _end(self, bake: RunningBake) -> set[str]:
        job = bake.driver.job
        level, line = bake_summary.ending_message(job, bake.is_dropped)
        self.report({level}, line)  # type: ignore[attr-defined]
        # finished also when it was cancelled: frames stay, so there is something to undo
        return {"FINISHED"} if job.frame is not None and not bake.is_dropped else {"CANCELLED"}


class SINEW_OT_simulate(BakingOperator, bpy.types.Operator):
    """Bake all bodies of the scene to the timeline. Esc stops the bake and keeps the baked frames"""

    bl_idname = "sinew.simulate"
    bl_label = "Simulate"
    bl_options = {"UNDO"}

    resume: BoolProperty(
        name="Resume",
        description="Continue after the last baked frame",
        default=False,
        options={"SKIP_SAVE"},
    )

    from_frame: IntProperty(
        name="From Frame",
        description="With Resume: keep frames up to this one. If it cannot be resumed there, an earlier one is used",
        default=UNSET_FRAME,
        options={"SKIP_SAVE"},
    )

    only_cuts: BoolProperty(
        name="Only Cut",
        description="Bake no frames. Only cut the meshes of broken bodies in the baked frames",
        default=False,
        options={"SKIP_SAVE"},
    )

    bake_pass: IntProperty(
        name="Pass",
        description="Bake this pass alone. 0: all that are missing or out of date",
        default=ALL_PASSES,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        """Returns the tooltip."""
        if properties.bake_pass != ALL_PASSES:
            return "Bake the bodies of this pass alone. They follow earlier passes as these are baked"
        if properties.only_cuts:
            return "Cut the meshes of broken bodies in the baked frames, so that they can be rendered"
        if properties.resume:
            return "Continue the bake with the current settings. Later frames are replaced"
        return cls.__doc__ or ""

    def request(self) -> BakeRequest:
        """Returns what is to be baked."""
        from_frame = None if self.from_frame == UNSET_FRAME else self.from_frame
        bake_pass = None if self.bake_pass == ALL_PASSES else self.bake_pass
        return BakeRequest(self.resume, from_frame, only_cuts=self.only_cuts, bake_pass=bake_pass)


class SINEW_OT_simulate_selected(BakingOperator, bpy.types.Operator):
    """Make the selected meshes soft bodies, add a ground where there is nothing to fall on, and bake them"""

    bl_idname = "sinew.simulate_selected"
    bl_label = "Simulate"
    bl_options = {"UNDO"}

    def prepare(self, context: bpy.types.Context) -> None:
        """Makes bodies that can bend, and a ground, in an undo step of their own.

        Raises:
            BadInput: A selected mesh cannot be a body; nothing was changed.
        """
        self._message = quick_scene.make_bodies(context, selected_unshared_meshes(context))
        push_undo_step(self.bl_label)


class SINEW_OT_cancel(bpy.types.Operator):
    """Stop the bake and keep the baked frames (Esc)"""

    bl_idname = "sinew.cancel"
    bl_label = "Cancel"
    bl_options = {"INTERNAL"}

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Asks the bake to stop."""
        session.cancel()
        return {"FINISHED"}


CLASSES = (SINEW_OT_simulate, SINEW_OT_simulate_selected, SINEW_OT_cancel)
