# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that shows or hides the tets of the selected bodies."""

from __future__ import annotations

import bpy

from ..objects import roles
from .selected_objects import selected_or_active


class SINEW_OT_show_tets(bpy.types.Operator):
    """Show the tets of the selected bodies in the 3D view, or hide them where all of them are shown"""

    bl_idname = "sinew.show_tets"
    bl_label = "Show Tets"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for bodies."""
        if not selected_or_active(context, roles.bodies(context.scene)):
            cls.poll_message_set("Select a body")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Switches the setting Show Tets of all of them to the same value."""
        bodies = selected_or_active(context, roles.bodies(context.scene))
        is_shown = not all(obj.sinew.show_tets for obj in bodies)
        for obj in bodies:
            obj.sinew.show_tets = is_shown
        return {"FINISHED"}


CLASSES = (SINEW_OT_show_tets,)
