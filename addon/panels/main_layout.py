# SPDX-License-Identifier: GPL-3.0-or-later
"""The main panel: what an object is, what keeps it from being baked, and the Simulate button."""

from __future__ import annotations

import bpy

from ..baking import bake_status
from ..objects import flesh_supports, roles, subdivision
from ..properties.object_roles import BODY, BONE, COLLIDER, FLESH, HEAT_SOURCE, ROLE_BY_KEY, ROLES
from .bake_layout import draw_simulate
from .flesh_layout import draw_offers_to_hold
from .formulation_layout import draw_incompatible
from .fracture_layout import draw_defects
from .property_rows import locked_column
from .self_weight_layout import draw_fixes_for_all_bodies
from .text_rows import draw_wrapped

LIGHT_NOTE = "To heat with it, press Add Heat Source in the panel Heat of a body and parent the empty to it"
BONE_COLLIDER_NOTE = "The flesh that this bone mesh may hold passes through it. Other bodies collide with it"


def draw_main(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what the object is, and the one big button."""
    obj = context.object
    offered: dict[str, str] = {}
    _draw_role(layout, context, obj)
    if obj is not None and obj.type == "MESH" and obj.sinew.role == BODY:
        row = locked_column(layout, context).row()
        row.prop(obj.sinew, "motion")
        if draw_offers_to_hold(layout, context, obj):
            offered["flesh-not-held"] = obj.name
        if draw_incompatible(layout, context, obj):
            offered["method-combined"] = obj.name
        _draw_offer_to_subdivide(layout, obj)
        if obj.sinew.use_fracture and bake_status.status(context.scene).frame is None:
            # here too: presets switch Fracture on while its panel is closed
            if draw_defects(layout, context, obj):
                offered["breaks-open"] = obj.name
    if roles.bodies(context.scene):
        draw_fixes_for_all_bodies(layout, context.scene)
        draw_simulate(layout, context, offered)


def _draw_role(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object | None) -> None:
    column = layout.column(align=True)
    column.enabled = not bake_status.status(context.scene).is_running
    if obj is None:
        column.label(text="Select a mesh to make it a soft body", icon="INFO")
    elif obj.sinew.result_of is not None:
        column.label(text=f"{obj.name}: made of {obj.sinew.result_of.name}", icon="MOD_EXPLODE")
        column.operator("sinew.activate_body", icon=ROLE_BY_KEY[BODY].icon)
    elif not roles.roles_of(obj):
        if obj.type == "MESH":
            row = column.row(align=True)
            row.operator("sinew.make_body", icon=ROLE_BY_KEY[BODY].icon)
            row.operator("sinew.make_flesh", icon=FLESH.icon)
            # side by side, the sidebar would cut these names off
            column.operator("sinew.make_bone", icon=ROLE_BY_KEY[BONE].icon)
            column.operator("sinew.make_collider", icon=ROLE_BY_KEY[COLLIDER].icon)
        elif obj.type != "EMPTY":
            column.label(text=f"{obj.name} is not a mesh: select one", icon="INFO")
            if obj.type == "LIGHT":
                draw_wrapped(column, LIGHT_NOTE, "INFO", context)
        if obj.type in {"MESH", "EMPTY"}:
            column.operator("sinew.make_heat_source", icon=ROLE_BY_KEY[HEAT_SOURCE].icon)
    else:
        row = column.row(align=True)
        icon = FLESH.icon if roles.is_flesh(obj) else ROLE_BY_KEY[obj.sinew.role].icon
        row.label(text=f"{obj.name}: {role_names(obj)}", icon=icon)
        row.operator("sinew.remove", text="", icon="X")
        _draw_extra_roles(column, context, obj)
    column.operator("sinew.add_ground", icon="MESH_PLANE")
    column.operator("sinew.import_tets", text="Import Tets…", icon="IMPORT")


def _draw_extra_roles(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Draws the roles that an object may have beside its own."""
    if obj.type != "MESH" or not ROLE_BY_KEY[obj.sinew.role].is_combinable:
        return
    row = locked_column(layout, context).row(align=True)
    for role in ROLES:
        if role.is_combinable and role.key != obj.sinew.role:
            row.prop_enum(obj.sinew, "extra_roles", role.key, text=f"Also {role.label}")
    if any(flesh_supports.is_bone_of(obj, body) for body in roles.bodies(context.scene)):
        if roles.has_role(obj, COLLIDER):
            draw_wrapped(layout, BONE_COLLIDER_NOTE, "INFO", context)


def role_names(obj: bpy.types.Object) -> str:
    """Returns the roles of an object as the panel names them: "Bone Mesh, Collider"."""
    if roles.is_flesh(obj):
        return FLESH.label
    is_ground = obj.sinew.collider_shape == "PLANE"
    names = {COLLIDER: "Ground"} if is_ground else {}
    return ", ".join(names.get(key, ROLE_BY_KEY[key].label) for key in roles.roles_of(obj))


def _draw_offer_to_subdivide(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    # what is brittle hardly bends, and is cut where it breaks
    if not subdivision.has_few_vertices(obj) or (obj.sinew.use_fracture and not obj.sinew.use_plasticity):
        return
    box = layout.box().column(align=True)
    box.label(text=f"Only {len(obj.data.vertices)} vertices: it cannot bend", icon="INFO")
    box.operator("sinew.subdivide", icon="MOD_SUBSURF")
