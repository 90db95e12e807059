# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the supports of flesh: bones, armatures, pins, and the part that is not simulated."""

from __future__ import annotations

import bpy

from ...solver.runtime.errors import BadInput
from ...solver.scene.settings.flesh_settings import POSE
from ...solver.scene.settings.surface_attachment_settings import FIXED, SPRING
from ..blender_data import sinew_modifier
from ..properties.role_definitions import BONE
from . import roles
from .attachment_rows import (
    counting_rows,
    holds_material,
    is_about_line,
    row_about_armature,
    row_about_bone,
    row_surfaces,
)


def may_hold(bone: bpy.types.Object, body: bpy.types.Object) -> bool:
    """Whether the bone mesh `bone` may hold `body`: as a row of its attachments says.

    Flesh of earlier versions that was not converted is held without one, if the bone itself says so.
    """
    row = row_about_bone(body, bone)
    if row is not None:
        return holds_material(row)
    return not body.sinew.bones_are_rows and bone.sinew.bone_body in (None, body)


def is_bone_of(bone: bpy.types.Object, body: bpy.types.Object) -> bool:
    """Whether `bone` is a bone mesh that may hold the flesh `body`."""
    return roles.has_role(bone, BONE) and roles.is_flesh(body) and may_hold(bone, body)


def bones_of(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns the bone meshes that may hold `obj`: those of its attachments, its own ones, and those of all flesh."""
    return [bone for bone in roles.bones(scene) if may_hold(bone, obj)]


def armatures_of(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns the armatures of the Armature modifiers above Sinew's place."""
    return _armatures(list(obj.modifiers)[: sinew_modifier.input_modifier_count(obj)])


def uses_armature(obj: bpy.types.Object) -> bool:
    """Whether the bones of armatures hold a body, if it has an armature."""
    by_setting = obj.sinew.use_armature_bones and not obj.sinew.bones_are_rows
    return roles.is_flesh(obj) and (by_setting or row_about_armature(obj) is not None)


def armature_radius(obj: bpy.types.Object) -> float:
    """Returns how far around armature bones flesh is held [Blender units]; 0: to be found."""
    row = row_about_armature(obj)
    return float(obj.sinew.armature_bone_radius if row is None else row.reach)


def hooks_of(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """Returns the Hook modifiers above Sinew's place that follow an object, as Make Muscle adds them."""
    above = list(obj.modifiers)[: sinew_modifier.input_modifier_count(obj)]
    return [m for m in above if m.type == "HOOK" and m.object is not None]


def rigs_of(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns the armatures that pose a body: of its modifiers, its hooks, and those that carry what hooks follow."""
    hooked = [each for hook in hooks_of(obj) for each in (hook.object, hook.object.parent)]
    found = [*armatures_of(obj), *(each for each in hooked if each is not None and each.type == "ARMATURE")]
    return list(dict.fromkeys(found))


def armatures_below(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns the armatures of the Armature modifiers below Sinew's place, which pose the flesh a second time."""
    return _armatures(sinew_modifier.posing_modifiers_below(obj))


def _armatures(stack: list[bpy.types.Modifier]) -> list[bpy.types.Object]:
    return [m.object for m in stack if m.type == "ARMATURE" and m.object is not None]


def is_held(scene: bpy.types.Scene, obj: bpy.types.Object) -> bool:
    """Whether anything may hold `obj`; the bake finds out what of it is in reach."""
    settings = obj.sinew
    by_armature = uses_armature(obj) and bool(armatures_of(obj))
    is_tied = any(map(_is_tied, (obj, settings.wrap)))
    return bool(bones_of(scene, obj) or by_armature or settings.pin_group or settings.affect_group or is_tied)


def _is_tied(obj: bpy.types.Object | None) -> bool:
    """Whether an object, a body or its Wrap, is fixed to another or tied to it by springs."""
    rows = counting_rows(obj, obj.sinew) if obj is not None else ()
    return any(row.kind in (FIXED, SPRING) and (row_surfaces(row) or is_about_line(row)) for _, row in rows)


def falls(scene: bpy.types.Scene, obj: bpy.types.Object) -> bool:
    """Whether nothing holds a body, flesh or not."""
    settings = obj.sinew
    if settings.use_goal and settings.motion != POSE and settings.goal_strength > 0.0:
        return False
    if roles.is_flesh(obj):
        return not is_held(scene, obj)
    has_core = settings.use_core and (settings.core_hinge is not None or settings.core_pull is not None)
    return not (settings.pin_group or settings.affect_group or has_core)


def check_held(scene: bpy.types.Scene) -> None:
    """Makes sure that all flesh of a scene that is to follow a pose has one.

    Raises:
        BadInput: Nothing holds one of them.
    """
    for obj in roles.bodies(scene):
        if obj.sinew.motion == POSE and not is_held(scene, obj):
            raise BadInput(not_held_kind(obj), name=obj.name)


def not_held_kind(obj: bpy.types.Object) -> str:
    """Returns the kind of the error that nothing holds flesh."""
    return "muscle-on-no-bone" if obj.sinew.use_muscle else "flesh-not-held"
