# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that makes bodies of selected meshes."""

from __future__ import annotations

import bpy

from ..objects import initial_settings
from .error_reporting import reporting_errors
from .selected_objects import selected_unshared_meshes


class SINEW_OT_make_body(bpy.types.Operator):
    """Make the selected meshes soft bodies, which Sinew fills with tets, simulates and bakes together"""

    bl_idname = "sinew.make_body"
    bl_label = "Make Body"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes every selected mesh a body, or none."""
        for obj in selected_unshared_meshes(context):
            initial_settings.make_new_body(obj)
        return {"FINISHED"}


CLASSES = (SINEW_OT_make_body,)
