# SPDX-License-Identifier: GPL-3.0-or-later
"""Quick Fat and Skin, in Object › Quick Effects."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...solver.runtime.errors import BadInput
from ..baking.error_messages import error_text
from ..objects import quick_fat
from .make_wrap import WrapSizes, wrap_objects
from .quick import QuickOperator


class SINEW_OT_quick_fat(QuickOperator, bpy.types.Operator):
    """Make the selected character fat around the muscles and bone meshes inside, or on its armature, and bake it"""

    bl_idname = "sinew.quick_fat"
    bl_label = "Quick Fat and Skin"
    bl_options = {"UNDO"}

    def make(self, context: bpy.types.Context, meshes: Sequence[bpy.types.Object]) -> str:
        """Makes Wraps and fat.

        Raises:
            BadInput: "quick-fat-nothing": there is nothing inside of one of the meshes, and no armature poses it.
        """
        skins = [obj for obj in meshes if not quick_fat.is_anatomy(obj)]
        if not skins:
            raise BadInput("quick-fat-no-skin", name=meshes[0].name)
        inside = {skin: quick_fat.anatomy_inside(context.scene, skin) for skin in skins}
        for skin, anatomy in inside.items():
            if not anatomy and not quick_fat.has_support(skin):
                raise BadInput("quick-fat-nothing", name=skin.name)
        return ". ".join(self._make_fat(context, skin, anatomy) for skin, anatomy in inside.items())

    def _make_fat(self, context: bpy.types.Context, skin: bpy.types.Object, anatomy: list[bpy.types.Object]) -> str:
        if not anatomy:
            quick_fat.make_fat_on_armature(skin)
            return f'Made "{skin.name}" fat on the bones of its armature'
        wrap, doubts = wrap_objects(context, anatomy, None, WrapSizes())
        for doubt in doubts:
            self.report({"WARNING"}, error_text(doubt))
        unit = context.scene.unit_settings.scale_length
        sizing = quick_fat.make_fat(skin, wrap, quick_fat.muscles_of(anatomy), unit)
        return f'Made "{skin.name}" fat around "{wrap.name}", in pass {skin.sinew.bake_pass}: {sizing.text}'


CLASSES = (SINEW_OT_quick_fat,)


def draw_menu_entry(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Adds the entry to Object › Quick Effects."""
    self.layout.operator(SINEW_OT_quick_fat.bl_idname)
