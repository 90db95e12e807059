# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that add, remove and move rows of the tables of a muscle, and how a row of any table is removed."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, StringProperty

from ...solver.runtime.errors import BadInput
from ...solver.scene.settings.activation_settings import ACTIVATION_POSES, MUSCLE_HEADS, RESPONSE_POINTS, VIA_POINTS
from ..blender_data.animation_curves import shift_row_curves
from ..objects.role_checks import check_changeable
from ..properties.table_editing import add_row, remove_row
from .error_reporting import reporting_errors
from .selected_objects import active_mesh

WORDS = {
    MUSCLE_HEADS.name: ("Add a head of the muscle", "Remove this head with its keyframes"),
    VIA_POINTS.name: (
        "Add a via point: the selected objects that are no meshes, or an empty row",
        "Remove this via point",
    ),
    RESPONSE_POINTS.name: ("Add a point of the curve; in an empty list, both ends of a line", "Remove this point"),
    ACTIVATION_POSES.name: ("Store the pose of the rig", "Remove this pose"),
}


def remove_chosen_row(obj: bpy.types.Object, table: str, linked_error: str) -> None:
    """Removes the chosen row of a table of settings with its keyframes and chooses the row above.

    Keyframes and drivers of later rows stay theirs.

    Raises:
        BadInput: `linked_error`: the row is that of the file that an override is linked from.
    """
    rows, index = getattr(obj.sinew, table), getattr(obj.sinew, f"{table}_index")
    if index < len(rows):
        if not remove_row(rows, index):
            raise BadInput(linked_error, name=obj.name)
        shift_row_curves(obj, f"sinew.{table}", index)
    setattr(obj.sinew, f"{table}_index", max(index - 1, 0))


class _RowOperator:
    """The table that an operator is for, which its tooltip names."""

    table: StringProperty(name="Table", options={"HIDDEN", "SKIP_SAVE"})
    words_index = 0

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        """Returns the tooltip for the table."""
        return WORDS[properties.table][cls.words_index]


class SINEW_OT_add_table_row(_RowOperator, bpy.types.Operator):
    """Add a row to the list"""

    bl_idname = "sinew.add_table_row"
    bl_label = "Add Row"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Adds rows below the last one and chooses the new one."""
        obj = active_mesh(context)
        table = getattr(obj.sinew, self.table)
        if self.table == VIA_POINTS.name:
            chosen = [other for other in context.selected_objects if other.type != "MESH"]
            for other in chosen or [None]:
                add_row(table).object = other
        elif self.table == RESPONSE_POINTS.name and not len(table):
            for end in (0.0, 1.0):
                row = add_row(table)
                row.share = row.activation = end
        else:
            add_row(table)
        setattr(obj.sinew, f"{self.table}_index", len(table) - 1)
        return {"FINISHED"}


class SINEW_OT_remove_table_row(_RowOperator, bpy.types.Operator):
    """Remove the chosen row of the list"""

    bl_idname = "sinew.remove_table_row"
    bl_label = "Remove Row"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}
    words_index = 1

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Removes the row; the one above it is chosen next."""
        remove_chosen_row(active_mesh(context), self.table, "row-linked-whole")
        return {"FINISHED"}


class SINEW_OT_move_via_point(bpy.types.Operator):
    """Move the chosen via point along the path"""

    bl_idname = "sinew.move_via_point"
    bl_label = "Move Via Point"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    direction: EnumProperty(
        name="Direction",
        items=(("UP", "Up", "Towards the origin"), ("DOWN", "Down", "Towards the insertion")),
        options={"HIDDEN", "SKIP_SAVE"},
    )

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Exchanges the objects of two rows, which library overrides allow, too."""
        obj = active_mesh(context)
        check_changeable(obj)
        table, index = obj.sinew.via_points, obj.sinew.via_points_index
        other = index + (-1 if self.direction == "UP" else 1)
        if not (0 <= index < len(table) and 0 <= other < len(table)):
            return {"CANCELLED"}
        table[index].object, table[other].object = table[other].object, table[index].object
        obj.sinew.via_points_index = other
        return {"FINISHED"}


CLASSES = (SINEW_OT_add_table_row, SINEW_OT_remove_table_row, SINEW_OT_move_via_point)
