# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that selects all objects of a role."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty

from ...solver.runtime.errors import BadInput
from ..objects import roles
from ..properties.role_definitions import BODY, ROLE_BY_KEY, ROLES
from .error_reporting import reporting_errors


class SINEW_OT_select_role(bpy.types.Operator):
    """Select all objects of a role"""

    bl_idname = "sinew.select_role"
    bl_label = "Select by Role"
    bl_options = {"REGISTER", "UNDO"}

    role: EnumProperty(
        name="Role",
        description="What the objects are to Sinew",
        items=[(role.key, role.label, role.tooltip, role.icon, role.number) for role in ROLES],
        default=BODY,
    )
    extend: BoolProperty(name="Extend", description="Keep what is selected", default=False, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only in Object Mode, as for Blender's own selections of objects."""
        return context.mode == "OBJECT"

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        """Returns the tooltip, with the role."""
        return f"Select all objects of the role {ROLE_BY_KEY[properties.role].label}. Shift keeps what is selected"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Keeps the selection with Shift."""
        self.extend = self.extend or event.shift
        return self.execute(context)

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Selects the visible ones, and makes one of them active, unless the active object is one."""
        candidates = [o for o in context.view_layer.objects if roles.has_role(o, self.role)]
        found = [o for o in candidates if o.visible_get() and not o.hide_select]
        if not found:
            raise BadInput("no-object-of-role", role=ROLE_BY_KEY[self.role].label)
        if not self.extend:
            for obj in context.view_layer.objects:
                obj.select_set(False)
        for obj in found:
            obj.select_set(True)
        if context.view_layer.objects.active not in found:
            context.view_layer.objects.active = found[0]
        return {"FINISHED"}


CLASSES = (SINEW_OT_select_role,)
