# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel with the list of a body's attachments."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.surface_attachment_settings import FIXED, SLIDING, SPRING, TO_BONE, TO_OBJECT
from ..objects import flesh_supports, roles
from ..objects.attachment_rows import (
    bodies_at_wrap,
    has_edges,
    holds_material,
    is_about_line,
    is_between_bodies,
    is_hook,
    is_to_bone,
    is_without_target,
    may_be_exact,
    may_break,
    row_about_bone,
    row_label,
    row_number,
    row_surfaces,
)
from ..overlays import attachment_load_overlay
from ..properties.role_definitions import BODY, WRAP
from ..runtime.name_text import few_names
from ..runtime.quantity_text import quantity_text
from .flesh_layout import draw_attachment_display
from .property_rows import draw_keyed, locked_column
from .text_rows import draw_wrapped
from .ui_list_base import RowList

KIND_ICONS = {FIXED: "PINNED", SLIDING: "MOD_SMOOTH", SPRING: "FORCE_HARMONIC"}
LIST_ROWS = 3
COLOUR_SHARE, NAME_SHARE = 0.08, 0.65  # of a row; names are longer than kinds
LINE_NOTE = "No bone mesh rides on this bone: the line from its head to its tail holds"
NO_SURFACE_NOTE = "No bone mesh or collider rides on this bone: choose Fixed, or Spring with a Spring Stiffness"
HOOK_NOTE = "An empty pulls the points of Group, or within Reach, from where they are when its Strength rises from 0"
WRAP_NOTE = "Links to the Wrap inside of {names}"
OWN_WRAP_NOTE = "This body ends at the Wrap, which moves with it anyway: remove the row"
FREE_WRAP_NOTE = "No body ends at this Wrap, so nothing moves it: choose it in the panel Layers of the fat"
SURFACES_NOTE = "On this bone: {names}"
EDGES_ON_BONE_NOTE = "No bone mesh or collider rides on this bone: it carries the ends of the edges itself"
EDGES_ON_EMPTY_NOTE = "The empty carries the ends of the edges as they are at rest"
EDGES_SLIDE_NOTE = "Edges do not slide: choose Spring or Fixed"
OTHER_BONES_NOTE = "Held as in the file of an earlier version, until you press List Bones: {names}"


class SINEW_UL_attachments(RowList, bpy.types.UIList):
    """The target and the kind of each attachment, and whether it is on."""

    def draw_row(self, layout: bpy.types.UILayout, row: bpy.types.PropertyGroup) -> None:
        """Draws one row."""
        parts = layout.split(factor=COLOUR_SHARE)
        parts.prop(row, "color", text="")
        name = parts.split(factor=NAME_SHARE)
        name.active = row.is_on
        name.alert = is_without_target(row)
        name.label(text=_short_label(row), icon=KIND_ICONS[row.kind])
        name.label(text=row.bl_rna.properties["kind"].enum_items[row.kind].name)
        layout.prop(row, "is_on", text="")


def _short_label(row: bpy.types.PropertyGroup) -> str:
    """Returns what a row is about: of one bone its own name first, since the list is narrow."""
    if row.target_type == TO_BONE and row.armature is not None and row.bone:
        return f"{row.bone} ({row.armature.name})"
    return row_label(row)


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
    is_flesh = roles.is_flesh(obj)
    if is_flesh:
        buttons.operator("sinew.list_bone_attachments", text="", icon="BONE_DATA")
        others = [b.name for b in flesh_supports.bones_of(context.scene, obj) if row_about_bone(obj, b) is None]
        if others:
            draw_wrapped(column, OTHER_BONES_NOTE.format(names=few_names(others)), "INFO", context)
    if is_flesh and settings.use_muscle:
        column.operator("sinew.add_fascia", icon=KIND_ICONS[SLIDING])
    if len(settings.attachments):
        draw_attachment_display(layout, context, obj)
    if not 0 <= settings.attachments_index < len(settings.attachments):
        return
    chosen = settings.attachments[settings.attachments_index]
    rows = column.column()
    rows.active = chosen.is_on
    rows.prop(chosen, "target_type")
    if chosen.target_type == TO_OBJECT:
        rows.prop(chosen, "target")
        if is_hook(chosen):
            draw_wrapped(rows, HOOK_NOTE, "INFO", context)
        elif has_edges(chosen) and chosen.target is not None and chosen.target.type == "EMPTY":
            draw_wrapped(rows, EDGES_ON_EMPTY_NOTE, "INFO", context)
        elif chosen.target is not None and roles.has_role(chosen.target, WRAP):
            draw_wrapped(rows, _wrap_note(obj, chosen.target), "INFO", context)
    elif chosen.target_type == TO_BONE:
        _draw_bone(rows, context, chosen)
    of_edges = has_edges(chosen)
    if chosen.target_type in (TO_OBJECT, TO_BONE):
        _draw_edges(rows, context, chosen)
    rows.prop(chosen, "kind")
    numbers = rows.column(align=True)
    numbers.prop(chosen, "reach")
    if is_flesh and chosen.kind == SPRING and is_to_bone(chosen) and not of_edges:
        numbers.prop(chosen, "stiffness")
    elif chosen.kind == SPRING and not is_hook(chosen):
        numbers.prop(chosen, "spring_constant")
        if is_between_bodies(chosen) or of_edges:
            numbers.prop(chosen, "damping")
    draw_keyed(numbers, chosen, "strength")
    if may_break(chosen):
        numbers.prop(chosen, "breaking_force")
    load = _load_of(context.scene, obj, chosen)
    if load is not None:
        rows.label(text=f"Carries {quantity_text(load, 'N')}", icon="FORCE_FORCE")
    if is_flesh and holds_material(chosen) and chosen.target_type in (TO_OBJECT, TO_BONE):
        rows.prop(chosen, "may_miss")
    if holds_material(chosen) and is_to_bone(chosen):
        rows.prop(chosen, "surface_only")
    if is_between_bodies(chosen) and not of_edges:
        if chosen.kind == FIXED and (may_be_exact(chosen) or chosen.is_exact):
            rows.prop(chosen, "is_exact")
        rows.prop(chosen, "collides")
    rows.prop_search(chosen, "group", obj, "vertex_groups", results_are_suggestions=True)
    if chosen.target_type == TO_OBJECT and chosen.target is not None and not is_hook(chosen):
        rows.prop_search(chosen, "target_group", chosen.target, "vertex_groups", results_are_suggestions=True)
    rows.prop(chosen, "color")


def _load_of(scene: bpy.types.Scene, obj: bpy.types.Object, row: bpy.types.PropertyGroup) -> float | None:
    """Returns what a row of a body carries at the playhead [N], where a bake says it."""
    number = row_number(obj, row) if obj.sinew.role == BODY else None
    return None if number is None else attachment_load_overlay.loads_of(scene, obj).get(number, [None])[0]


def _wrap_note(obj: bpy.types.Object, wrap: bpy.types.Object) -> str:
    """Returns what a row of an object about a Wrap links to."""
    bodies = bodies_at_wrap(wrap)
    if obj in bodies:
        return OWN_WRAP_NOTE
    return WRAP_NOTE.format(names=few_names([each.name for each in bodies])) if bodies else FREE_WRAP_NOTE


def _draw_edges(layout: bpy.types.UILayout, context: bpy.types.Context, row: bpy.types.PropertyGroup) -> None:
    """Draws the mesh of edges of a row, and the button that makes one."""
    line = layout.row(align=True)
    line.prop(row, "edges")
    line.operator("sinew.make_edges", text="", icon="MOD_WIREFRAME")
    if has_edges(row) and row.kind == SLIDING:
        draw_wrapped(layout, EDGES_SLIDE_NOTE, "ERROR", context)


def _draw_bone(layout: bpy.types.UILayout, context: bpy.types.Context, row: bpy.types.PropertyGroup) -> None:
    """Draws the one bone that a row is about, and what it is taken for."""
    layout.prop(row, "armature")
    if row.armature is None:
        return
    layout.prop_search(row, "bone", row.armature.data, "bones")
    surfaces = row_surfaces(row)
    if surfaces:
        draw_wrapped(layout, SURFACES_NOTE.format(names=few_names([each.name for each in surfaces])), "INFO", context)
    elif has_edges(row) and not is_without_target(row):
        draw_wrapped(layout, EDGES_ON_BONE_NOTE, "INFO", context)
    elif not is_without_target(row):
        draw_wrapped(layout, LINE_NOTE if is_about_line(row) else NO_SURFACE_NOTE, "INFO", context)
