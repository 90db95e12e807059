# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that delete caches which no file plays any more, or put that off."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy.props import StringProperty

from ..baking.orphaned_caches_search import orphan_search
from ..cache.orphaned_caches import EXPIRY_DAYS
from ..runtime.quantity_text import size_text
from .error_reporting import reporting_errors


class SINEW_OT_delete_lost_caches(bpy.types.Operator):
    """Delete the caches of files that were never saved. No open Blender plays them"""

    bl_idname = "sinew.delete_lost_caches"
    bl_label = "Delete Old Caches"
    bl_options = {"INTERNAL"}

    folder: StringProperty(name="Folder", description="Only this one; empty: all", options={"SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Asks first."""
        many = len(self._folders())
        message = (
            f"{'One folder' if many == 1 else f'{many} folders'} of files that were never saved. This cannot be undone."
        )
        ask = context.window_manager.invoke_confirm
        return ask(self, event, title="Delete Caches?", message=message, confirm_text="Delete", icon="WARNING")

    @reporting_errors
    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Deletes them."""
        self.report({"INFO"}, f"Deleted {size_text(orphan_search.delete(self._folders()))}")
        return {"FINISHED"}

    def _folders(self) -> list[Path]:
        known = [orphan.folder for orphan in orphan_search.orphans]
        return [folder for folder in known if not self.folder or str(folder) == self.folder]


class SINEW_OT_put_off_lost_caches(bpy.types.Operator):
    bl_idname = "sinew.put_off_lost_caches"
    bl_label = "Not Now"
    bl_description = f"Hide this until Blender restarts. Caches are deleted after {EXPIRY_DAYS} days"
    bl_options = {"INTERNAL"}

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Puts it off."""
        orphan_search.is_dismissed = True
        return {"FINISHED"}


CLASSES = (SINEW_OT_delete_lost_caches, SINEW_OT_put_off_lost_caches)
