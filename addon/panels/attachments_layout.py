# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel with the list of a body's attachments."""

from __future__ import annotations

import bpy

from .property_rows import locked_column

KIND_ICONS = {"SLIDING": "MOD_SMOOTH", "SPRING": "FORCE_HARMONIC"}
LIST_ROWS = 3


class SINEW_UL_attachments(bpy.types.UIList):
    """The target and the kind of each attachment, and whether it is on."""

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        _data: bpy.types.PropertyGroup,
        item: bpy.types.PropertyGroup,
        _icon: int,
        _active: bpy.types.PropertyGroup,
        _property: str,
    ) -> None:
        """Draws one row."""
        name = layout.row()
        name.active = item.is_on
        name.alert = item.target is None
        name.label(text=item.target.name if item.target else "No Target", icon=KIND_ICONS[item.kind])
        name.label(text=item.bl_rna.properties["kind"].enum_items[item.kind].name)
        layout.prop(item, "is_on", text="")


def draw_attachments(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the list, and the settings of the row that is chosen."""
    obj = context.object
    settings, column = obj.sinew, locked_column(layout, context)
    row = column.row()
    row.template_list("SINEW_UL_attachments", "", settings, "attachments", settings, "attachment_index", rows=LIST_ROWS)
    buttons = row.column(align=True)
    buttons.operator("sinew.add_attachment", text="", icon="ADD")
    part = buttons.column(align=True)
    part.enabled = bool(len(settings.attachments))
    part.operator("sinew.remove_attachment", text="", icon="REMOVE")
    if not 0 <= settings.attachment_index < len(settings.attachments):
        return
    chosen = settings.attachments[settings.attachment_index]
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
