# SPDX-License-Identifier: GPL-3.0-or-later
"""The pie menu of the 3D view: what an artist presses most while a scene is simulated, changed and simulated again."""

from __future__ import annotations

import bpy

from ..baking import bake_status
from ..objects.roles import bodies, roles_of
from ..properties.role_definitions import BODY, COLLIDER, ROLE_BY_KEY
from .bake_layout import draw_simulate_operator
from .main_layout import draw_simulate_selected_operator
from .pie_menu_key import MENU
from .role_menus import MAKE_OPERATORS


class SINEW_MT_pie(bpy.types.Menu):
    """Simulate, roles, settings and the bake, around the mouse"""

    bl_idname = MENU
    bl_label = "Sinew"

    def draw(self, context: bpy.types.Context) -> None:
        """Draws the slots in Blender's order: left, right, bottom, top, then the corners from the top left."""
        pie = self.layout.menu_pie()
        status = bake_status.status(context.scene)
        pie.menu("SINEW_MT_add", icon="ADD")
        draw_simulate_entry(pie, context)
        pie.operator("sinew.show_tets", icon="MESH_ICOSPHERE")
        pie.operator("sinew.copy_settings", icon="COPYDOWN")
        for role in (BODY, COLLIDER):
            pie.operator(MAKE_OPERATORS[role], icon=ROLE_BY_KEY[role].icon)
        if status.frame is not None or status.problem is not None:
            pie.operator("sinew.delete_bake", icon="TRASH")
        else:
            pie.separator()  # the others stay in their places
        pie.operator("sinew.new_take", icon="DUPLICATE")


def draw_simulate_entry(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the button of the panel: that of the scene, or that which makes the selected meshes bodies first."""
    obj, status = context.object, bake_status.status(context.scene)
    is_new = obj is not None and obj.type == "MESH" and not roles_of(obj) and obj.sinew.result_of is None
    if status.is_running or (bodies(context.scene) and not is_new):
        draw_simulate_operator(layout, status)
    else:
        draw_simulate_selected_operator(layout, context.scene)


CLASSES = (SINEW_MT_pie,)
