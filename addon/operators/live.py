# SPDX-License-Identifier: GPL-3.0-or-later
"""Live: runs the bodies in the viewport from the present frame on, and stops."""

from __future__ import annotations

import bpy

from ..baking import bake_timer
from ..baking.addon_session import RunningBake, session
from ..baking.live_state import LiveRun
from ..live import final_bake, keep_run, kept_shape, key_hints, live_timer, run_control
from ..objects import roles
from .error_reporting import reporting_errors
from .simulate import BakingOperator, push_undo_step


class SINEW_OT_live(bpy.types.Operator):
    """Run the bodies in the viewport from this frame on, without a bake, to be grabbed and pushed. Esc stops"""

    bl_idname = "sinew.live"
    bl_label = "Live"
    bl_options: set[str] = set()  # no undo step: the file is the same before and after

    _run: LiveRun | None = None

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Where there are bodies, and nothing is being baked."""
        return session.live is None and session.bake is None and bool(roles.bodies(context.scene))

    @reporting_errors
    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Begins, and stays to listen for Escape."""
        if bpy.app.background:
            return self.execute(context)
        self._run = run_control.start(context.scene)
        live_timer.start()
        context.window_manager.modal_handler_add(self)
        bake_timer.redraw()
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Lets everything through but Escape; ends with the run, which `live_timer.py` keeps going."""
        run = self._run
        if run is None or session.live is not run:
            return {"CANCELLED", "PASS_THROUGH"}
        if run.driver.job.phase != "cancelling":
            key_hints.show(context, run)
        if event.type == "ESC" and event.value == "PRESS" and run.driver.job.phase != "cancelling":
            run_control.stop()
            bake_timer.redraw()
            return {"CANCELLED"}
        return {"PASS_THROUGH"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Begins; a script, or a Blender without a window, calls `run_control.poll`."""
        run_control.start(context.scene)
        live_timer.start()
        return {"FINISHED"}


class SINEW_OT_stop_live(bpy.types.Operator):
    """Stop, and show the bodies as they were (Esc)"""

    bl_idname = "sinew.stop_live"
    bl_label = "Stop"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        """While a scene runs live."""
        return session.live is not None

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Asks it to stop."""
        run_control.stop()
        bake_timer.redraw()
        return {"FINISHED"}


class SINEW_OT_toggle_live(bpy.types.Operator):
    """Run the bodies in the viewport, or stop"""

    bl_idname = "sinew.toggle_live"
    bl_label = "Live or Stop"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Where a run could begin, or be stopped."""
        return session.live is not None or SINEW_OT_live.poll(context)

    def invoke(self, _context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Presses the button that there is."""
        (bpy.ops.sinew.live if session.live is None else bpy.ops.sinew.stop_live)("INVOKE_DEFAULT")
        return {"FINISHED"}


class SINEW_OT_keep_live(BakingOperator, bpy.types.Operator):
    """Keep what has run live as a take, and what the hand did as keys, empties and colliders. No bake is replaced"""

    bl_idname = "sinew.keep_live"
    bl_label = "Keep"
    bl_options = {"UNDO"}

    _run: LiveRun | None = None

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """While a scene runs live, and afterwards until the next run."""
        return keep_run.can_keep(context.scene)

    @reporting_errors
    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Ends the run, and begins when its child has written all that came."""
        if bpy.app.background:
            return self.execute(context)
        self._run = keep_run.end_run(context.scene)
        if not self._run.driver.is_ending:
            return super().invoke(context, event)
        self.listen(context)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Waits for the end of the run, where Escape leaves it at that, and then does as every bake."""
        if self._bake is not None:
            return super().modal(context, event)
        if self._run is not None and self._run.driver.is_ending:
            if event.type == "ESC" and event.value == "PRESS":
                self.cancel(context)
                return {"CANCELLED"}
            return {"PASS_THROUGH"}
        begun = self._begin(context, event)
        if self._bake is None:
            self.cancel(context)
        return begun

    @reporting_errors
    def _begin(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        self.begin(context)
        return {"RUNNING_MODAL"}

    def _start(self, context: bpy.types.Context) -> RunningBake:
        bake = keep_run.start(context.scene)
        push_undo_step(self.bl_label)  # what the hand did is in the scene
        return bake


class SINEW_OT_bake_at_final(BakingOperator, bpy.types.Operator):
    """Bake the frames of the kept run with the final tets, and what the hand did in it, into a new take"""

    bl_idname = "sinew.bake_at_final"
    bl_label = "Bake at Final"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Where a run plays that was kept."""
        return final_bake.can_bake(context.scene)

    def _start(self, context: bpy.types.Context) -> RunningBake:
        return final_bake.start(context.scene)


class SINEW_OT_keep_shape(bpy.types.Operator):
    """Write the shape that the selected bodies, or else all, have in the live run into their meshes as a shape key"""

    bl_idname = "sinew.keep_shape"
    bl_label = "Keep Shape"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """While a scene runs live, and afterwards until the next run."""
        return kept_shape.can_keep(context.scene)

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Adds the key, whose value is 0: what is seen stays as it is."""
        kept = kept_shape.keep(context.scene)
        names = ", ".join(f'"{obj.name}"' for obj in kept)
        self.report({"INFO"}, f"{kept_shape.KEY_NAME} is a shape key of {names}")
        return {"FINISHED"}


CLASSES = (
    SINEW_OT_live,
    SINEW_OT_stop_live,
    SINEW_OT_toggle_live,
    SINEW_OT_keep_live,
    SINEW_OT_bake_at_final,
    SINEW_OT_keep_shape,
)
