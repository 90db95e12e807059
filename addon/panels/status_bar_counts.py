# SPDX-License-Identifier: GPL-3.0-or-later
"""Sinew's counts in the status bar, beside Blender's, and in the header of the Outliner, where a click selects."""

from __future__ import annotations

import bpy

from ..baking.scene_counts import scene_counts

OUTLINER_MODES = {"VIEW_LAYER", "SCENES"}  # those that show objects


def draw_status_bar(self: bpy.types.Header, context: bpy.types.Context) -> None:
    """Adds the counts to the status bar, if it shows the statistics of the scene."""
    if not context.preferences.view.show_statusbar_stats:
        return
    found = scene_counts(context.scene, context.view_layer)
    if found.rows:
        row = self.layout.row()
        row.alignment = "RIGHT"
        row.label(text=found.line)


def draw_outliner_header(self: bpy.types.Header, context: bpy.types.Context) -> None:
    """Adds the number of objects of each role, a button that selects them."""
    if context.space_data.display_mode not in OUTLINER_MODES:
        return
    row = self.layout.row(align=True)
    for each in scene_counts(context.scene, context.view_layer).rows:
        if each.role:
            row.operator("sinew.select_role", text=f"{each.total:,}", icon=each.icon).role = each.role
