# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that makes the selected vertices the pin group."""

from __future__ import annotations

import bpy

from ...solver.runtime.errors import BadInput
from .error_reporting import reporting_errors
from .selected_objects import active_mesh

GROUP_NAME = "Pin"


class SINEW_OT_pin_selected(bpy.types.Operator):
    """Hold the vertices selected in Edit Mode. They become the Pin Group, with weight 1"""

    bl_idname = "sinew.pin_selected"
    bl_label = "Pin Selected Vertices"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Writes the selection of the active mesh into its pin group."""
        pin_selected(active_mesh(context))
        return {"FINISHED"}


def pin_selected(obj: bpy.types.Object) -> None:
    """Gives the selected vertices weight 1 in the pin group of `obj`, and all others 0.

    Raises:
        BadInput: No vertex is selected.
    """
    editing = obj.mode == "EDIT"
    if editing:
        bpy.ops.object.mode_set(mode="OBJECT")
    try:
        chosen = [v.index for v in obj.data.vertices if v.select]
        if not chosen:
            raise BadInput("no-vertices-selected", name=obj.name)
        group = obj.vertex_groups.get(obj.sinew.pin_group) or obj.vertex_groups.new(name=GROUP_NAME)
        group.remove(list(range(len(obj.data.vertices))))
        group.add(chosen, 1.0, "REPLACE")
        obj.sinew.pin_group = group.name
    finally:
        if editing:
            bpy.ops.object.mode_set(mode="EDIT")


CLASSES = (SINEW_OT_pin_selected,)
