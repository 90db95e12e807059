# SPDX-License-Identifier: GPL-3.0-or-later
"""Make It a Sheet, and Copy from Cloth."""

from __future__ import annotations

import bpy

from ..objects import role_checks
from ..objects.cloth_settings import cloth_modifier, copy_from_cloth
from ..properties.role_definitions import BODY
from .error_reporting import reporting_errors


class SINEW_OT_make_sheet(bpy.types.Operator):
    """Let the faces of this body stretch and bend as cloth does, instead of filling the mesh with tets"""

    bl_idname = "sinew.make_sheet"
    bl_label = "Make It a Sheet"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for a body."""
        return context.object is not None and context.object.sinew.role == BODY

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Chooses the Fill Sheet, which gives a new sheet the preset Cotton."""
        role_checks.check_object(context.object)
        context.object.sinew.method = "SHEET"
        return {"FINISHED"}


class SINEW_OT_copy_from_cloth(bpy.types.Operator):
    """Take stiffness, bending, mass, pins and pressure of the Cloth modifier of this body, and switch that off"""

    bl_idname = "sinew.copy_from_cloth"
    bl_label = "Copy from Cloth"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for a body with a Cloth modifier."""
        obj = context.object
        return obj is not None and obj.sinew.role == BODY and cloth_modifier(obj) is not None

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes the body a sheet with these settings, and says which."""
        role_checks.check_object(context.object)
        self.report({"INFO"}, copy_from_cloth(context.object, context.scene.unit_settings.scale_length))
        return {"FINISHED"}


CLASSES = (SINEW_OT_make_sheet, SINEW_OT_copy_from_cloth)
