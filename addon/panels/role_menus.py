# SPDX-License-Identifier: GPL-3.0-or-later
"""The menu of everything that can be added: roles for the active object, and new objects with a role."""

from __future__ import annotations

import bpy

from ..objects.rigid_body_settings import rigid_body_world_meshes
from ..objects.roles import roles_of
from ..properties.role_definitions import BODY, BONE, COLLIDER, FLESH, HEAT_SOURCE, ROLE_BY_KEY
from .live_layout import draw_live_entries
from .solved_frame_layout import draw_simulate_chosen, draw_solve_frame

# the role that each operator gives an object, in the order of the entries
MADE_ROLES = {
    "sinew.make_body": BODY,
    "sinew.make_rigid": BODY,
    "sinew.make_flesh": FLESH.key,
    "sinew.make_muscle": FLESH.key,
    "sinew.make_bone": BONE,
    "sinew.make_collider": COLLIDER,
    "sinew.make_heat_source": HEAT_SOURCE,
}
ICONS = {"sinew.make_rigid": "RIGID_BODY"}  # of those that have another one than their role
# the first one of each role
MAKE_OPERATORS = {role: operator for operator, role in reversed(MADE_ROLES.items())}


class SINEW_MT_add(bpy.types.Menu):
    """Make the selected objects part of the simulation, or add new ones"""

    bl_idname = "SINEW_MT_add"
    bl_label = "Add"

    def draw(self, context: bpy.types.Context) -> None:
        """Draws the roles that the active object may get, then new objects."""
        draw_roles(self.layout, context.object)
        if next(rigid_body_world_meshes(context.scene), None) is not None:
            world = self.layout.operator("sinew.make_rigid", text="Rigid Body World", icon="RIGID_BODY")
            world.is_whole_world = True
        if context.object is not None and context.object.type == "ARMATURE":
            self.layout.operator("sinew.make_ragdoll", icon="ARMATURE_DATA")
        self.layout.operator("sinew.draw_muscle", icon="GREASEPENCIL")
        self.layout.operator("sinew.make_wrap", icon="MOD_SHRINKWRAP")
        self.layout.operator("sinew.add_ground", icon="MESH_PLANE")
        self.layout.operator("sinew.add_heat_source", icon="OUTLINER_OB_FORCE_FIELD")
        self.layout.operator("sinew.import_tets", text="Import Tets…", icon="IMPORT")
        self.layout.separator()
        self.layout.operator("sinew.copy_settings", icon="COPYDOWN")
        self.layout.operator("sinew.attach", icon="PINNED")
        # here Blender's search finds them
        draw_live_entries(self.layout, context)
        draw_solve_frame(self.layout, context)
        draw_simulate_chosen(self.layout, context)


class SINEW_MT_make(bpy.types.Menu):
    """Make the selected objects part of the simulation"""

    bl_idname = "SINEW_MT_make"
    bl_label = "Sinew"

    def draw(self, context: bpy.types.Context) -> None:
        """Draws the roles that the active object may get."""
        draw_roles(self.layout, context.object)


def draw_roles(layout: bpy.types.UILayout, obj: bpy.types.Object | None) -> None:
    """Draws what makes an object without a role a body, flesh, a bone mesh, a collider or a heat source."""
    if obj is None or obj.type not in {"MESH", "EMPTY"} or roles_of(obj) or obj.sinew.result_of is not None:
        return
    for operator, key in MADE_ROLES.items():
        if obj.type == "MESH" or key == HEAT_SOURCE:
            layout.operator(operator, icon=ICONS.get(operator, ROLE_BY_KEY[key].icon))
    layout.separator()


CLASSES = (SINEW_MT_add, SINEW_MT_make)
