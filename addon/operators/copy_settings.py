# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy Settings to Selected."""

from __future__ import annotations

import bpy

from ...solver.runtime.errors import BadInput, SinewError
from ..baking.error_messages import error_text
from ..objects.copy_settings import animated_settings, copy_settings
from ..objects.roles import roles_of
from .error_reporting import reporting_errors


class SINEW_OT_copy_settings(bpy.types.Operator):
    """Copy Sinew's settings of the active object to the selected objects of the same role"""

    bl_idname = "sinew.copy_settings"
    bl_label = "Copy Settings to Selected"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for an active object with a role."""
        return context.object is not None and bool(roles_of(context.object))

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Copies values, as Blender's Copy to Selected does, and names those that keyframes of the targets set."""
        source = context.object
        others = [obj for obj in context.selected_objects if obj != source and obj.library is None]
        count = sum(copy_settings(source, obj) for obj in others)
        if not count:
            raise BadInput("nothing-to-copy-to", name=source.name)
        self.report({"INFO"}, f"Copied settings to {count} {'object' if count == 1 else 'objects'}")
        for obj in others:
            if animated := animated_settings(source, obj):
                names = ", ".join(setting.label for setting in animated)
                self.report({"WARNING"}, error_text(SinewError("copied-onto-keys", name=obj.name, settings=names)))
        return {"FINISHED"}


CLASSES = (SINEW_OT_copy_settings,)
