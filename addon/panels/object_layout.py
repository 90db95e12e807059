# SPDX-License-Identifier: GPL-3.0-or-later
"""The main panel, and those about an object's material, tets, pins and start."""

from __future__ import annotations

import bpy

from ...solver.scene.formulation import refinement_factor
from ...solver.scene.settings.body import (
    DISPLAY_SETTINGS,
    FILL,
    GRAVITY_IN_SHAPE,
    INTERIOR_SIZE,
    PIN_GROUP,
    PIN_SETTINGS,
    PIN_STIFFNESS,
    SHOW_TETS,
    SIMULATED_SIZE,
    START_SETTINGS,
    TET_SETTINGS,
    USE_SIMULATED_SIZE,
)
from ...solver.scene.settings.material import MASS_DAMPING, MATERIAL_SETTINGS, STIFFNESS_DAMPING
from ..baking import bake_status
from ..export import formulation, tet_file
from ..objects import collision_filter, roles, self_weight, tet_estimate
from ..properties.object_roles import BODY, BONE, COLLIDER, FLESH, HEAT_SOURCE, ROLE_BY_KEY, ROLES
from .bake_layout import draw_cache, draw_simulate, draw_solver, draw_wrapped
from .collision_layout import draw_collider, draw_collision
from .flesh_layout import draw_bone, draw_flesh, draw_held_by, draw_offers_to_hold
from .formulation_layout import draw_advanced, draw_incompatible
from .material_layout import draw_attributes, draw_defects, draw_fracture, draw_heat, draw_heat_source, draw_plasticity
from .property_rows import draw_row, draw_settings
from .rigid_core_layout import draw_core

__all__ = [
    "draw_advanced",
    "draw_attributes",
    "draw_bone",
    "draw_cache",
    "draw_collider",
    "draw_collision",
    "draw_core",
    "draw_flesh",
    "draw_fracture",
    "draw_heat",
    "draw_heat_source",
    "draw_held_by",
    "draw_main",
    "draw_material",
    "draw_motion",
    "draw_pins",
    "draw_plasticity",
    "draw_solver",
    "draw_tets",
]


DAMPING_SETTINGS = (STIFFNESS_DAMPING, MASS_DAMPING)
GRAVITY_IN_SHAPE_NOTE = "Flesh sags from its modeled shape: model it as it would be without weight, or stiffen it"
BONE_COLLIDER_NOTE = "The flesh that this bone mesh may hold passes through it. Other bodies collide with it"
HANGING_NOTE = "So soft that it may hang far off its bones or pins: stiffen it, or let bones hold more of it"


def draw_main(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what the object is, and the one big button."""
    obj = context.object
    offered: dict[str, str] = {}
    _draw_role(layout, context, obj)
    if obj is not None and obj.type == "MESH" and obj.sinew.role == BODY:
        row = layout.row()
        row.enabled = not bake_status.status(context.scene).is_locked
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
        _draw_self_weight_fix_all(layout, context.scene)
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
    row = layout.row(align=True)
    row.enabled = not bake_status.status(context.scene).is_locked
    for role in ROLES:
        if role.is_combinable and role.key != obj.sinew.role:
            row.prop_enum(obj.sinew, "extra_roles", role.key, text=f"Also {role.label}")
    if any(collision_filter.grows_on(body, obj) for body in roles.bodies(context.scene)):
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
    if not roles.has_few_vertices(obj) or (obj.sinew.use_fracture and not obj.sinew.use_plasticity):
        return
    box = layout.box().column(align=True)
    box.label(text=f"Only {len(obj.data.vertices)} vertices: it cannot bend", icon="INFO")
    box.operator("sinew.subdivide", icon="MOD_SUBSURF")


def draw_material(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what the body is made of."""
    settings = context.object.sinew
    layout.enabled = not bake_status.status(context.scene).is_locked
    layout.prop(settings, "preset")
    draw_settings(layout, context.object, (each for each in MATERIAL_SETTINGS if each not in DAMPING_SETTINGS))
    column = layout.column()
    column.active = settings.motion != "POSE"  # at rest nothing swings
    draw_settings(column, context.object, DAMPING_SETTINGS)
    if self_weight.collapses(context.object, context.scene):
        _draw_self_weight_fixes(layout.box().column(align=True), context.object, context.scene)
    elif self_weight.is_too_soft_to_hang(context.object, context.scene):
        _draw_hanging_fix(layout.box().column(align=True), context)


def _draw_self_weight_fixes(layout: bpy.types.UILayout, obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    layout.label(text="Too soft to stand at this size", icon="INFO")
    stiffness = self_weight.standing_stiffness(obj, scene)
    layout.operator("sinew.stiffen", text=f"Stiffen to {stiffness:,.0f} Pa", icon="MOD_THICKNESS")
    text = f"Simulate as if {_standing_values(obj, scene)} Long"
    layout.operator("sinew.stand_up", text=text, icon="FULLSCREEN_EXIT")


def _draw_self_weight_fix_all(layout: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    """Draws what lets all bodies stand that are too soft, selected or not, while they can still be changed."""
    soft = self_weight.collapsing_bodies(roles.bodies(scene), scene)
    if not soft or bake_status.status(scene).is_locked:
        return
    box = layout.box().column(align=True)
    if len(soft) == 1:
        box.label(text=f"{soft[0].name} is too soft to stand at its size", icon="INFO")
        stiffness, size = f"{self_weight.standing_stiffness(soft[0], scene):,.0f} Pa", _standing_values(soft[0], scene)
        texts = f"Stiffen to {stiffness}", f"Simulate as if {size} Long"
    else:
        box.label(text=f"{len(soft)} bodies are too soft to stand at their size", icon="INFO")
        texts = "Stiffen Them", "Simulate Them as if Small"
    box.operator("sinew.stiffen", text=texts[0], icon="MOD_THICKNESS").every = True
    box.operator("sinew.stand_up", text=texts[1], icon="FULLSCREEN_EXIT").every = True


def _standing_values(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    return length_text(self_weight.standing_size(obj, scene), scene)


def _draw_hanging_fix(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    draw_wrapped(layout, HANGING_NOTE, "INFO", context)
    stiffness = self_weight.standing_stiffness(context.object, context.scene)
    layout.operator("sinew.stiffen", text=f"Stiffen to {stiffness:,.0f} Pa", icon="MOD_THICKNESS")


def length_text(units: float, scene: bpy.types.Scene) -> str:
    """Returns a length as Blender writes it in this scene: "5 cm"."""
    settings = scene.unit_settings
    if settings.system == "NONE":
        return f"{units:.2g}"
    metres = units * settings.scale_length
    return bpy.utils.units.to_string(settings.system, "LENGTH", metres, precision=2, compatible_unit=False)


def draw_tets(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how finely the body is filled, and how many tets that makes."""
    obj, scene = context.object, context.scene
    settings = obj.sinew
    column = layout.column()
    column.enabled = not bake_status.status(scene).is_locked
    for setting in TET_SETTINGS:
        if setting.counts(lambda name: getattr(settings, name)) and not (
            setting == INTERIOR_SIZE and settings.use_fracture
        ):
            draw_row(column, obj, setting)
        if setting == FILL and settings.use_fracture and settings.method == "SMOOTH":
            column.label(text="Bodies with Fracture get Robust tets", icon="INFO")
    words, *refined = _tet_count_text(obj, scene).split("\n")
    layout.label(text=words, icon="MESH_ICOSPHERE")
    for line in refined:  # behind the others it would be cut off in the sidebar
        layout.label(text=line, icon="BLANK1")
    column = layout.column(heading="Viewport Display")
    draw_settings(column, obj, (SHOW_TETS,))
    if settings.show_tets and bake_status.tet_count(scene, obj) is None:
        column.label(text="Press Simulate to see them", icon="INFO")
    draw_settings(column, obj, (each for each in DISPLAY_SETTINGS if each != SHOW_TETS))


def _tet_count_text(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    known = bake_status.tet_count(scene, obj)
    if known is not None and not bake_status.status(scene).outdated:
        return f"{known:,} tets"
    times = refinement_factor(formulation.read_formulation(obj.sinew))
    if obj.sinew.method == "GIVEN":
        return _tet_file_text(tet_file.tet_count(obj), times)
    count = tet_estimate.tet_count(obj, scene.unit_settings.scale_length)
    if count < 2:
        return "Hardly a tet fits: choose smaller ones" if count else "No tets: the mesh has no size"
    rounded = round(count, -max(len(str(count)) - 2, 0))
    return f"About {rounded:,} tets{_refined_text(rounded, times)}"


def _refined_text(count: int, times: int) -> str:
    return f"\nRefined: {count * times:,} tets" if times > 1 else ""


def _tet_file_text(found: int | str | None, times: int) -> str:
    """Returns what is said of a file: its number of tets, what is wrong with it, or that it is large."""
    if found is None:
        return "The tets of a large file"
    return found if isinstance(found, str) else f"{found:,} tets{_refined_text(found, times)}"


def draw_pins(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what holds the body to its animated mesh."""
    obj = context.object
    column = layout.column()
    column.enabled = not bake_status.status(context.scene).is_locked
    draw_settings(column, obj, (PIN_GROUP, PIN_STIFFNESS))
    if obj.mode == "EDIT":
        column.operator("sinew.pin_selected", icon="PINNED")
    draw_settings(column, obj, (each for each in PIN_SETTINGS if each not in (PIN_GROUP, PIN_STIFFNESS)))


def draw_motion(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how large the body seems to the physics, and how it starts."""
    settings = context.object.sinew
    layout.enabled = not bake_status.status(context.scene).is_locked
    row = layout.row(heading="Simulated Size")
    row.prop(settings, "use_simulated_size", text="")
    part = row.row()
    part.enabled = settings.use_simulated_size
    part.prop(settings, "simulated_size", text="")
    row = layout.row()
    # what is on can be switched off, also where it should never have been on
    row.enabled = settings.gravity_in_shape or not roles.is_flesh(context.object)
    row.prop(settings, "gravity_in_shape")
    if roles.is_flesh(context.object):
        draw_wrapped(layout, GRAVITY_IN_SHAPE_NOTE, "INFO", context)
    special = (USE_SIMULATED_SIZE, SIMULATED_SIZE, GRAVITY_IN_SHAPE)
    draw_settings(layout, context.object, (each for each in START_SETTINGS if each not in special))
