# SPDX-License-Identifier: GPL-3.0-or-later
"""The main panel: what an object is, what keeps it from being baked, and the Simulate button."""

from __future__ import annotations

import bpy

from ..baking import bake_status
from ..objects import coarse_mesh_subdivision, flesh_supports, roles
from ..properties.role_definitions import BODY, COLLIDER, FLESH, ROLE_BY_KEY, ROLES
from .bake_layout import draw_messages, draw_simulate
from .flesh_layout import attachment_hints
from .formulation_layout import incompatible_hints
from .fracture_layout import defect_hints
from .hints import Fix, Hint, draw_hints
from .live_layout import draw_live, draw_live_messages
from .property_rows import locked_column
from .self_weight_hints import hints_of_all_bodies
from .solved_frame_layout import draw_simulate_chosen, draw_solve_frame
from .text_rows import draw_wrapped

# of bodies that are more than their role says
MUSCLE_LABEL, FAT_LABEL = "Muscle", "Fat"
LIGHT_NOTE = "To heat with it, press Add Heat Source in the menu Add and parent the empty to it"
GROUND_NOTE = "There is nothing to fall on"
BONE_COLLIDER_NOTE = "The flesh that this bone mesh may hold passes through it. Other bodies collide with it"


def draw_main(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what the object is, the one big button, and under it, where it moves nothing, what is missing."""
    obj, scene = context.object, context.scene
    _draw_role(layout, context, obj)
    hints = main_hints(scene, obj)
    if obj is not None and obj.type == "MESH" and obj.sinew.role == BODY:
        locked_column(layout, context).row().prop(obj.sinew, "motion")
    if not roles.bodies(scene):
        return
    offered = {hint.refusal: obj.name for hint in hints if hint.refusal and obj is not None}
    draw_simulate(layout, context)
    draw_live(layout, context)
    draw_solve_frame(layout, context)
    draw_simulate_chosen(layout, context)
    draw_live_messages(layout, context)
    draw_messages(layout, context, offered)
    draw_hints(layout, context, "main", hints)


def main_hints(scene: bpy.types.Scene, obj: bpy.types.Object | None) -> list[Hint]:
    """Returns what is missing to a good bake: of all bodies, and of the active object."""
    hints = hints_of_all_bodies(scene)
    bodies = roles.bodies(scene)
    if obj is not None and obj in bodies:
        hints += [*attachment_hints(scene, obj), *incompatible_hints(obj), *_subdivision_hints(obj)]
        if obj.sinew.use_fracture and bake_status.status(scene).frame is None:
            hints += defect_hints(obj)  # here too: presets switch Fracture on while its panel is closed
    is_falling = any(flesh_supports.falls(scene, body) for body in bodies)
    if is_falling and not roles.colliders(scene) and bake_status.status(scene).frame is None:
        hints.append(Hint("ground", GROUND_NOTE, (Fix("sinew.add_ground", icon="MESH_PLANE"),), is_locked=False))
    return hints


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
            _draw_simulate_selected(column, context)
        elif obj.type == "ARMATURE":
            column.label(text="Draw a muscle on it, or select a mesh", icon="INFO")
        elif obj.type != "EMPTY":
            column.label(text=f"{obj.name} is not a mesh: select one", icon="INFO")
            if obj.type == "LIGHT":
                draw_wrapped(column, LIGHT_NOTE, "INFO", context)
    else:
        row = column.row(align=True)
        icon = FLESH.icon if roles.is_flesh(obj) else ROLE_BY_KEY[obj.sinew.role].icon
        row.label(text=f"{obj.name}: {role_names(obj)}", icon=icon)
        row.operator("sinew.remove", text="", icon="X")
        _draw_extra_roles(column, context, obj)
    column.menu("SINEW_MT_add", icon="ADD")


def _draw_simulate_selected(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the one click that makes a mesh a body and bakes it."""
    row = layout.row()
    row.scale_y = 1.0 if roles.bodies(context.scene) else 1.8
    row.enabled = not bake_status.status(context.scene).is_locked
    draw_simulate_selected_operator(row, context.scene)


def draw_simulate_selected_operator(layout: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    """Draws what makes the selected meshes bodies and bakes them."""
    words = "Simulate This Too" if roles.bodies(scene) else "Simulate"
    layout.operator("sinew.simulate_selected", text=words, icon="PLAY")


def _draw_extra_roles(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Draws the roles that an object may have beside its own."""
    if obj.type != "MESH" or not ROLE_BY_KEY[obj.sinew.role].is_combinable:
        return
    # one below the other: beside each other their names are cut off in a sidebar as wide as Blender opens it
    column = locked_column(layout, context).column(align=True)
    for role in ROLES:
        if role.is_combinable and role.key != obj.sinew.role:
            column.prop_enum(obj.sinew, "extra_roles", role.key, text=f"Also {role.label}")
    if any(flesh_supports.is_bone_of(obj, body) for body in roles.bodies(context.scene)):
        if roles.has_role(obj, COLLIDER):
            draw_wrapped(layout, BONE_COLLIDER_NOTE, "INFO", context)


def role_names(obj: bpy.types.Object) -> str:
    """Returns the roles of an object as the panel names them: "Bone Mesh, Collider"."""
    if roles.has_role(obj, BODY) and obj.sinew.wrap is not None:
        return FAT_LABEL
    if roles.is_flesh(obj):
        return MUSCLE_LABEL if obj.sinew.use_muscle else FLESH.label
    is_ground = obj.sinew.collider_shape == "PLANE"
    names = {COLLIDER: "Ground"} if is_ground else {}
    return ", ".join(names.get(key, ROLE_BY_KEY[key].label) for key in roles.roles_of(obj))


def _subdivision_hints(obj: bpy.types.Object) -> list[Hint]:
    # what is brittle hardly bends, and is cut where it breaks
    if not coarse_mesh_subdivision.has_few_vertices(obj) or (obj.sinew.use_fracture and not obj.sinew.use_plasticity):
        return []
    sentence = f"Only {len(obj.data.vertices)} vertices: it cannot bend"
    return [Hint("few", sentence, (Fix("sinew.subdivide", icon="MOD_SUBSURF"),), is_locked=False)]
