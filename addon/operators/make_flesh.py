# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that makes flesh."""

from __future__ import annotations

import bpy

from ..objects import initial_settings
from .error_reporting import reporting_errors
from .selected_objects import selected_unshared_meshes


class SINEW_OT_make_flesh(bpy.types.Operator):
    """Make the selected meshes flesh, which follows its bones, bulges and folds"""

    bl_idname = "sinew.make_flesh"
    bl_label = "Make Flesh"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes every selected mesh flesh, or none."""
        for obj in selected_unshared_meshes(context):
            initial_settings.make_new_flesh(obj)
        return {"FINISHED"}


CLASSES = (SINEW_OT_make_flesh,)
