# SPDX-License-Identifier: GPL-3.0-or-later
"""Sinew in the context menu of the Outliner: what acts on the selected objects, and what selects others."""

from __future__ import annotations

import bpy

from ..baking.scene_counts import scene_counts
from ..objects.roles import roles_of
from ..properties.role_definitions import BODY, ROLE_BY_KEY
from .pie_menu import draw_simulate_entry
from .role_menus import draw_roles
from .solved_frame_layout import draw_simulate_chosen


class SINEW_MT_outliner(bpy.types.Menu):
    """Roles, settings and selection of objects that Sinew simulates"""

    bl_idname = "SINEW_MT_outliner"
    bl_label = "Sinew"

    def draw(self, context: bpy.types.Context) -> None:
        """Draws what acts on the selected objects, then one entry per role that selects its objects."""
        layout, obj = self.layout, context.object
        layout.operator_context = "INVOKE_DEFAULT"
        draw_roles(layout, obj)
        draw_simulate_entry(layout, context)
        draw_simulate_chosen(layout, context)
        layout.operator("sinew.show_tets", icon="MESH_ICOSPHERE")
        layout.operator("sinew.copy_settings", icon="COPYDOWN")
        if obj is not None and roles_of(obj):
            layout.operator("sinew.remove", icon="X")
        layout.separator()
        for row in scene_counts(context.scene, context.view_layer).rows:
            if row.role:
                layout.operator("sinew.select_role", text=f"Select {row.label}", icon=row.icon).role = row.role


def draw_menu_entry(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Adds Sinew's menu to the context menu of an object."""
    self.layout.separator()
    self.layout.menu(SINEW_MT_outliner.bl_idname, icon=ROLE_BY_KEY[BODY].icon)


CLASSES = (SINEW_MT_outliner,)
