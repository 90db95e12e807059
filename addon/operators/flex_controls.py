# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that puts controls for groups of muscles on their rig."""

from __future__ import annotations

import bpy
from bpy.props import StringProperty

from ...solver.runtime.errors import BadInput
from ..export.activation_inputs import is_muscle
from ..objects import flex_controls
from ..objects.role_checks import check_changeable
from .error_reporting import reporting_errors
from .selected_objects import selected_and_active


class SINEW_OT_add_flex_controls(bpy.types.Operator):
    """Add a custom property to the rig for each group of the selected muscles, 0 to 1, which drives their Activation"""

    bl_idname = "sinew.add_flex_controls"
    bl_label = "Add Flex Controls"
    bl_options = {"REGISTER", "UNDO"}

    group: StringProperty(
        name="Group",
        description="Name of one group of all selected muscles. Empty: a group for each collection, and one for each "
        "muscle in the collection of the scene",
    )

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Adds the properties and drivers for all selected muscles, or for none."""
        scene, chosen = context.scene, selected_and_active(context)
        muscles = [obj for obj in chosen if is_muscle(obj)]
        if not muscles:
            raise BadInput("no-muscles-selected")
        for obj in muscles:
            check_changeable(obj)
            flex_controls.check_flex(obj)
        rig = next((obj for obj in chosen if obj.type == "ARMATURE"), None) or flex_controls.find_rig(scene, muscles)
        check_changeable(rig)
        groups: dict[str, list[bpy.types.Object]] = {}
        for obj in muscles:
            groups.setdefault(self.group or flex_controls.group_name(scene, obj), []).append(obj)
        added = [flex_controls.add_flex_control(rig, name, group) for name, group in groups.items()]
        self.report({"INFO"}, f'"{rig.name}" has {", ".join(added)} (Object Properties, Custom Properties)')
        return {"FINISHED"}


CLASSES = (SINEW_OT_add_flex_controls,)
