# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep as Start: lets bodies begin as they are in a live run; and Remove Start."""

from __future__ import annotations

import time as clock

import bpy

from ..baking.live_state import LiveRun
from ..blender_data import start_property
from ..live import kept_shape, kept_start, run_control
from ..objects import role_checks
from .error_reporting import reporting_errors
from .modal_timer import ModalTimerOperator

WAIT_SECONDS, INTERVAL_SECONDS = 10.0, 0.02  # that a script waits for the child; between two looks


class SINEW_OT_keep_start(ModalTimerOperator, bpy.types.Operator):
    """Let the selected bodies, or else all, begin as they are in the live run, with the dents that they have taken"""

    bl_idname = "sinew.keep_start"
    bl_label = "Keep as Start"
    bl_options = {"UNDO"}

    _run: LiveRun | None = None

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """While a scene runs live, and afterwards until the next run."""
        return kept_shape.can_keep(context.scene)

    @reporting_errors
    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Asks the run, and goes on once it has answered."""
        if bpy.app.background:
            return self.execute(context)
        self._run = kept_start.ask(context.scene)
        self.listen(context, INTERVAL_SECONDS)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Lets everything through until the run has answered."""
        if self._run is None or not kept_start.is_written(self._run):
            return {"PASS_THROUGH"}
        self.cancel(context)
        return self._keep(context, event)

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Asks the run, and waits for its answer."""
        self._run, end = kept_start.ask(context.scene), clock.monotonic() + WAIT_SECONDS
        while not kept_start.is_written(self._run) and clock.monotonic() < end:
            run_control.poll()
            clock.sleep(INTERVAL_SECONDS)
        return self._keep(context, None)

    @reporting_errors
    def _keep(self, _context: bpy.types.Context, _event: bpy.types.Event | None) -> set[str]:
        assert self._run is not None
        names = ", ".join(f'"{obj.name}"' for obj in kept_start.keep(self._run))
        self.report({"INFO"}, f"From now on, this is the start of {names}")
        return {"FINISHED"}


class SINEW_OT_remove_start(bpy.types.Operator):
    """Let the selected bodies begin in the shape of their meshes again"""

    bl_idname = "sinew.remove_start"
    bl_label = "Remove Start"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Where a selected body has one."""
        return any(map(start_property.has, context.selected_objects))

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Removes it of all selected bodies that have one."""
        for obj in filter(start_property.has, context.selected_objects):
            role_checks.check_changeable(obj)
            start_property.remove(obj)
        return {"FINISHED"}


CLASSES = (SINEW_OT_keep_start, SINEW_OT_remove_start)
