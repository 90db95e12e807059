# SPDX-License-Identifier: GPL-3.0-or-later
"""The artist's own materials, saved and deleted by + and − as Blender's presets are."""

from __future__ import annotations

import bpy
from bl_operators.presets import AddPresetBase

from ...solver.scene.settings.fracture_settings import BREAKING_STRESS, TOUGHNESS, USE_FRACTURE, USE_TOUGHNESS
from ...solver.scene.settings.heat_settings import HEAT_SETTINGS
from ...solver.scene.settings.material_settings import MATERIAL_SETTINGS
from ...solver.scene.settings.plasticity_settings import PLASTICITY_SETTINGS
from ...solver.scene.settings.setting import CHOICE, INTEGER, NUMBER, SWITCH, TABLE
from ..objects import roles

FOLDER = "sinew/material"
SAVED_KINDS = (NUMBER, INTEGER, SWITCH, CHOICE, TABLE)  # not names of groups, which another object need not have
_SETTINGS = (
    *MATERIAL_SETTINGS,
    *PLASTICITY_SETTINGS,
    *HEAT_SETTINGS,
    USE_FRACTURE,
    BREAKING_STRESS,
    USE_TOUGHNESS,
    TOUGHNESS,
)


class SINEW_MT_material_presets(bpy.types.Menu):
    """Materials that you have saved, for all selected bodies"""

    bl_idname = "SINEW_MT_material_presets"
    bl_label = "My Materials"
    preset_subdir = FOLDER
    preset_operator = "script.execute_preset"
    draw = bpy.types.Menu.draw_preset

    @staticmethod
    def post_cb(context: bpy.types.Context, filepath: str) -> None:
        """Gives the material to the other selected bodies, too, after Blender has given it to the active one."""
        for obj in roles.bodies(context.scene):
            if obj.select_get() and obj != context.object:
                with context.temp_override(object=obj):  # what the file of the preset changes
                    bpy.utils.execfile(filepath)


class SINEW_OT_material_preset_add(AddPresetBase, bpy.types.Operator):
    """Save the material of this body under a name, or delete the one that is chosen"""

    bl_idname = "sinew.material_preset_add"
    bl_label = "Save Material"
    bl_options = {"REGISTER", "UNDO"}

    preset_menu = SINEW_MT_material_presets.bl_idname
    preset_subdir = FOLDER
    preset_defines = ("own = bpy.context.object.sinew",)
    preset_values = tuple(f"own.{each.name}" for each in _SETTINGS if each.kind in SAVED_KINDS)


def draw_material_presets(layout: bpy.types.UILayout) -> None:
    """Draws the menu of saved materials with + and −."""
    row = layout.row(align=True)
    row.menu(SINEW_MT_material_presets.bl_idname, text=SINEW_MT_material_presets.bl_label)
    row.operator("sinew.material_preset_add", text="", icon="ADD")
    row.operator("sinew.material_preset_add", text="", icon="REMOVE").remove_active = True


CLASSES = (SINEW_MT_material_presets, SINEW_OT_material_preset_add)
