# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that finds the fibres of muscles and shows them, before a bake."""

from __future__ import annotations

import bpy

from ..baking import fibre_preview, last_failure
from ..objects import roles
from .error_reporting import reporting_errors
from .selected_objects import selected_or_active


def _chosen_muscles(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Returns the selected muscles, or the active one where none is selected."""
    bodies = roles.bodies(context.scene)
    return selected_or_active(context, (obj for obj in bodies if roles.is_flesh(obj) and obj.sinew.use_muscle))


class SINEW_OT_build_fibres(bpy.types.Operator):
    """Find the fibres of all muscles by the present settings, and show those of the selected ones at the Rest Frame"""

    bl_idname = "sinew.build_fibres"
    bl_label = "Build Fibres"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for muscles."""
        if not _chosen_muscles(context):
            cls.poll_message_set("Select a muscle")
            return False
        return True

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Begins to find them, and without a window waits for them."""
        fibre_preview.start(context.scene)
        for obj in _chosen_muscles(context):
            obj.sinew.show_fibres = True
        if bpy.app.background:
            fibre_preview.wait()
            problem = last_failure.failure_text(context.scene)
            if problem:
                self.report({"ERROR"}, problem)
                return {"CANCELLED"}
        return {"FINISHED"}


CLASSES = (SINEW_OT_build_fibres,)
