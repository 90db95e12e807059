# SPDX-License-Identifier: GPL-3.0-or-later
"""Quick Jelly, Quick Clay and Quick Flesh on Armature, in Object › Quick Effects."""

from __future__ import annotations

import bpy

from ..objects import quick_scene
from ..objects.initial_settings import JELLY_BY_SIZE
from .selected_objects import selected_unshared_meshes
from .simulate import BakingOperator, push_undo_step


class QuickOperator(BakingOperator):
    """What the quick effects share: they make a scene in one undo step, and bake it."""

    def make(self, context: bpy.types.Context) -> str:
        """Makes the scene and returns what was done.

        Raises:
            BadInput: The selection does not suit; nothing was changed.
        """
        raise NotImplementedError

    def prepare(self, context: bpy.types.Context) -> None:
        """Makes the scene; raises as `make`."""
        self._message = self.make(context)
        push_undo_step(self.bl_label)  # type: ignore[attr-defined]
        self.report({"INFO"}, self._message)  # type: ignore[attr-defined]


class SINEW_OT_quick_jelly(QuickOperator, bpy.types.Operator):
    """Make the selected meshes jelly that stands and wobbles at their size, add a ground, and bake them"""

    bl_idname = "sinew.quick_jelly"
    bl_label = "Quick Jelly"
    bl_options = {"UNDO"}

    def make(self, context: bpy.types.Context) -> str:
        """Makes the bodies and the ground; raises as `selected_unshared_meshes`."""
        return quick_scene.make_bodies(context, selected_unshared_meshes(context), JELLY_BY_SIZE)


class SINEW_OT_quick_clay(QuickOperator, bpy.types.Operator):
    """Make the selected meshes clay that a fall dents at their size, add a ground, and bake them"""

    bl_idname = "sinew.quick_clay"
    bl_label = "Quick Clay"
    bl_options = {"UNDO"}

    def make(self, context: bpy.types.Context) -> str:
        """Makes the bodies and the ground; raises as `selected_unshared_meshes`."""
        return quick_scene.make_bodies(context, selected_unshared_meshes(context), "CLAY_BY_SIZE")


class SINEW_OT_quick_flesh(QuickOperator, bpy.types.Operator):
    """Make the selected meshes flesh that swings on the bones of their Armature modifiers, and bake them"""

    bl_idname = "sinew.quick_flesh"
    bl_label = "Quick Flesh on Armature"
    bl_options = {"UNDO"}

    def make(self, context: bpy.types.Context) -> str:
        """Makes the flesh; raises as `quick_scene.make_flesh_on_armature`."""
        return quick_scene.make_flesh_on_armature(context, selected_unshared_meshes(context))


CLASSES = (SINEW_OT_quick_jelly, SINEW_OT_quick_clay, SINEW_OT_quick_flesh)


def draw_menu_entries(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Adds the entries to Object › Quick Effects."""
    self.layout.separator()
    for each in CLASSES:
        self.layout.operator(each.bl_idname)
