# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that add and remove the rows of the list of attachments."""

from __future__ import annotations

import bpy

from ..properties.table_editing import add_row
from .error_reporting import reporting_errors
from .selected_objects import active_mesh
from .table_rows import remove_chosen_row


class SINEW_OT_add_attachment(bpy.types.Operator):
    """Let the active body slide along another surface. With two meshes selected, the other one is the target"""

    bl_idname = "sinew.add_attachment"
    bl_label = "Add Attachment"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Adds a row, and chooses it."""
        obj = active_mesh(context)
        row = add_row(obj.sinew.attachments)
        others = [each for each in context.selected_objects if each.type == "MESH" and each != obj]
        if len(others) == 1:
            row.target = others[0]
        obj.sinew.attachments_index = len(obj.sinew.attachments) - 1
        return {"FINISHED"}


class SINEW_OT_remove_attachment(bpy.types.Operator):
    """Remove the chosen attachment"""

    bl_idname = "sinew.remove_attachment"
    bl_label = "Remove Attachment"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Removes the row; the one above it is chosen next."""
        remove_chosen_row(active_mesh(context), "attachments", "attachment-linked")
        return {"FINISHED"}


CLASSES = (SINEW_OT_add_attachment, SINEW_OT_remove_attachment)
