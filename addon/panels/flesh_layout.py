# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels about flesh and the bones that hold it."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.flesh_settings import BONE_HOLD_SETTINGS, BONE_SETTINGS, ELASTICITY_SETTINGS, POSE
from ..baking import bake_status
from ..evaluation.sample_times import rest_frame
from ..objects import flesh_supports, roles
from ..objects.attachment_rows import row_about_armature, row_about_bone
from ..runtime.name_text import few_names
from .hints import Fix, Hint
from .property_rows import draw_fold, draw_row, draw_settings, draw_weight_group, locked_column
from .text_rows import draw_wrapped

BONE_PANEL_SETTINGS = tuple(s for s in BONE_SETTINGS if s.changes_bake and s not in BONE_HOLD_SETTINGS)
NOT_HELD_NOTE = "Nothing holds this flesh yet. It needs a bone mesh inside it, the bones of its armature, or pins"
AUTOMATIC_RADIUS_NOTE = "Automatic: a third of the way to the skin"
NO_ARMATURE_NOTE = "No Armature modifier poses this mesh"
ARMATURE_ROW_NOTE = "The row Armature Bones in the panel Attachments says how"
BONE_ROWS_NOTE = "How it holds flesh is a row in the panel Attachments of each: {names}"
POSED_TWICE_NOTE = "The Armature modifier is below Sinew's, so it poses the result a second time"
ESTIMATE_NOTE = "An estimate, until it is baked"
FALLS_NOTE = "Nothing holds this flesh: it falls"


def attachment_hints(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[Hint]:
    """Returns what is missing where nothing holds flesh, or an armature poses it twice, and the shortest ways to it."""
    if not roles.is_flesh(obj):
        return []
    hints = []
    if flesh_supports.armatures_below(obj):
        hints.append(Hint("twice", POSED_TWICE_NOTE, (Fix("sinew.move_below_armature", icon="TRIA_DOWN_BAR"),)))
    if not flesh_supports.is_held(scene, obj):
        fixes = [Fix("sinew.add_bone", icon="BONE_DATA")]
        if flesh_supports.armatures_of(obj):
            fixes.insert(0, Fix("use_armature_bones", "Hold by Armature", "ARMATURE_DATA"))
        words = NOT_HELD_NOTE if obj.sinew.motion == POSE else FALLS_NOTE
        hints.append(Hint("loose", words, tuple(fixes), refusal=flesh_supports.not_held_kind(obj)))
    return hints


def draw_held_by(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what holds the flesh."""
    obj, settings, scene = context.object, context.object.sinew, context.scene
    bones = flesh_supports.bones_of(scene, obj)
    armatures = flesh_supports.armatures_of(obj)
    hooks = flesh_supports.hooks_of(obj) if settings.use_muscle else []
    text = _attachment_text(bones, armatures if flesh_supports.uses_armature(obj) else [], hooks)
    layout.label(text=text, icon="BONE_DATA")
    column = locked_column(layout, context)
    if settings.use_armature_bones or row_about_armature(obj) is None:
        row = column.row()
        row.active = bool(armatures)
        row.prop(settings, "use_armature_bones")
    if flesh_supports.uses_armature(obj):
        if not armatures:
            draw_wrapped(column, NO_ARMATURE_NOTE, "INFO", context)
        if row_about_armature(obj) is not None:
            draw_wrapped(column, ARMATURE_ROW_NOTE, "INFO", context)
        if flesh_supports.armature_radius(obj) == 0.0:
            draw_wrapped(column, AUTOMATIC_RADIUS_NOTE, "INFO", context)
    folded = draw_fold(layout, "bones")
    if folded is not None:
        draw_weight_group(locked_column(folded, context), obj, "attachment_group")
        draw_attachment_display(folded, context, obj)


def _attachment_text(
    bones: list[bpy.types.Object], armatures: list[bpy.types.Object], hooks: list[bpy.types.Modifier]
) -> str:
    """Returns which bones may hold flesh, those of hooks among them; the bake finds out which are in reach."""
    of_armatures = [f"those of {armature.name}" for armature in dict.fromkeys(armatures)]
    hooked = [hook.subtarget or hook.object.name for hook in hooks]
    names = list(dict.fromkeys([*of_armatures, *hooked, *(bone.name for bone in bones)]))
    if not names:
        return "No bones yet"
    return f"Bones: {few_names(names)}"


def draw_flesh(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how flesh resists and moves, and where it differs."""
    obj, settings = context.object, context.object.sinew
    column = locked_column(layout, context)
    # Time Integration only where it counts
    shown = (each for each in ELASTICITY_SETTINGS if each.counts(lambda name: getattr(settings, name)))
    for setting in shown:
        row = column.row()
        row.active = setting.name != "rest_from_keys" or obj.data.shape_keys is not None
        draw_row(row, obj, setting)


def draw_bone(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws which flesh follows a bone, and how strictly."""
    obj = context.object
    column = locked_column(layout, context)
    draw_settings(column, obj, BONE_PANEL_SETTINGS)
    flesh = [body for body in roles.bodies(context.scene) if roles.is_flesh(body)]
    attached = [body.name for body in flesh if row_about_bone(body, obj) is not None]
    if attached:
        draw_wrapped(layout, BONE_ROWS_NOTE.format(names=few_names(attached)), "INFO", context)
    if not flesh:
        draw_wrapped(layout, "There is no flesh yet: select a mesh and press Make Flesh", "INFO", context)
    draw_attachment_display(layout, context, obj)


def draw_attachment_display(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Draws what of it is seen in the viewport."""
    column = layout.column(heading="Viewport Display")
    column.prop(obj.sinew, "show_attachment")
    if obj.sinew.show_attachment and bake_status.status(context.scene).frame is None:
        rest = rest_frame(context.scene)
        is_there = context.scene.frame_current == rest
        column.label(text=ESTIMATE_NOTE if is_there else f"Shown at frame {rest} until it is baked", icon="INFO")
