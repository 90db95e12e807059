# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about a body whose faces are its elements."""

from __future__ import annotations

import bpy
from mathutils import Vector

from ...solver.scene.material import Material
from ...solver.scene.settings.seam_settings import SEAM_SETTINGS
from ...solver.scene.settings.sheet_settings import SHEET_SETTINGS
from ...solver.scene.sheet import Sheet, wrinkle_width
from ..export.settings_to_scene import read_fields
from ..objects.cloth_settings import cloth_modifier
from .property_rows import draw_settings, locked_column


def draw_sheet(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how thick and stiff the sheet is, how it is sewn and how wide its wrinkles are; offers Copy from Cloth."""
    column = locked_column(layout, context)
    draw_settings(column, context.object, (*SHEET_SETTINGS, *SEAM_SETTINGS))
    if context.scene.use_gravity and Vector(context.scene.gravity).length > 0.0:
        column.label(text=_wrinkle_text(context.object, context.scene), icon="INFO")
    if cloth_modifier(context.object) is not None:
        column.operator("sinew.copy_from_cloth", icon="MOD_CLOTH")


def _wrinkle_text(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Returns how wide its wrinkles will be."""
    settings, unit = obj.sinew, scene.unit_settings.scale_length
    material, sheet = Material(**read_fields(Material, settings)), Sheet(**read_fields(Sheet, settings, unit))
    width = wrinkle_width(material, sheet, Vector(scene.gravity).length * unit)
    return f"Wrinkles about {1000.0 * width:.3g} mm wide"
