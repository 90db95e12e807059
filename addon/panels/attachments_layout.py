# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel with the list of a body's attachments."""

from __future__ import annotations

import bpy

from .property_rows import locked_column
from .ui_list_base import RowList

KIND_ICONS = {"SLIDING": "MOD_SMOOTH", "SPRING": "FORCE_HARMONIC"}
LIST_ROWS = 3
NAME_SHARE = 0.65  # of a row; names are longer than kinds


class SINEW_UL_attachments(RowList, bpy.types.UIList):
    """The target and the kind of each attachment, and whether it is on."""

    def draw_row(self, layout: bpy.types.UILayout, row: bpy.types.PropertyGroup) -> None:
        """Draws one row."""
        name = layout.split(factor=NAME_SHARE)
        name.active = row.is_on
        name.alert = row.target is None
        name.label(text=row.target.name if row.target else "No Target", icon=KIND_ICONS[row.kind])
        name.label(text=row.bl_rna.properties["kind"].enum_items[row.kind].name)
        layout.prop(row, "is_on", text="")


def draw_attachments(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the list, and the settings of the row that is chosen."""
    obj = context.object
    settings, column = obj.sinew, locked_column(layout, context)
    row = column.row()
    row.template_list(
        "SINEW_UL_attachments", "", settings, "attachments", settings, "attachments_index", rows=LIST_ROWS
    )
    buttons = row.column(align=True)
    buttons.operator("sinew.add_attachment", text="", icon="ADD")
    part = buttons.column(align=True)
    part.enabled = bool(len(settings.attachments))
    part.operator("sinew.remove_attachment", text="", icon="REMOVE")
    if not 0 <= settings.attachments_index < len(settings.attachments):
        return
    chosen = settings.attachments[settings.attachments_index]
    rows = column.column()
    rows.active = chosen.is_on
    rows.prop(chosen, "target")
    rows.prop(chosen, "kind")
    numbers = rows.column(align=True)
    numbers.prop(chosen, "reach")
    keyed = numbers.row(align=True)
    keyed.use_property_decorate = True
    keyed.prop(chosen, "strength")
    rows.prop_search(chosen, "group", obj, "vertex_groups", results_are_suggestions=True)
