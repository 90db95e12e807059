# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that makes the selected vertices the pin group, of every body in Edit Mode."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...solver.runtime.errors import BadInput
from .error_reporting import reporting_errors
from .selected_objects import active_mesh_and_selected_bodies

GROUP_NAME = "Pin"


class SINEW_OT_pin_selected(bpy.types.Operator):
    """Hold the vertices selected in Edit Mode, of one body or several. They become the Pin Group, with weight 1"""

    bl_idname = "sinew.pin_selected"
    bl_label = "Pin Selected Vertices"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Writes the selection of the meshes into their pin groups."""
        active, *others = active_mesh_and_selected_bodies(context)
        pin_selected([active, *(obj for obj in others if obj.mode == active.mode == "EDIT")])
        return {"FINISHED"}


def pin_selected(objects: Sequence[bpy.types.Object]) -> None:
    """Gives the selected vertices weight 1 in the pin group of each object, and all others 0.

    Args:
        objects: The active one first; those without a selected vertex stay as they are.

    Raises:
        BadInput: No vertex is selected.
    """
    editing = objects[0].mode == "EDIT"
    if editing:
        bpy.ops.object.mode_set(mode="OBJECT")
    try:
        chosen = {obj: [v.index for v in obj.data.vertices if v.select] for obj in objects}
        if not any(chosen.values()):
            raise BadInput("no-vertices-selected", name=objects[0].name)
        for obj, vertices in chosen.items():
            if vertices:
                _write_group(obj, vertices)
    finally:
        if editing:
            bpy.ops.object.mode_set(mode="EDIT")


def _write_group(obj: bpy.types.Object, vertices: list[int]) -> None:
    group = obj.vertex_groups.get(obj.sinew.pin_group) or obj.vertex_groups.new(name=GROUP_NAME)
    group.remove(list(range(len(obj.data.vertices))))
    group.add(vertices, 1.0, "REPLACE")
    obj.sinew.pin_group = group.name


CLASSES = (SINEW_OT_pin_selected,)
