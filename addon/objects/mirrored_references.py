# SPDX-License-Identifier: GPL-3.0-or-later
"""What a muscle of the other side refers to: objects and bones there, found by their names, and mirrored directions.

What has no counterpart stays: a body in the middle is the same for both sides.
"""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.scene.settings.fibre_settings import FIBRE_OBJECTS
from ...solver.scene.settings.setting import VECTOR_ATTRIBUTE, WEIGHT_GROUP
from ...solver.scene.settings.tables import BODY, settings_of_role
from ..evaluation.vertex_weights import VECTOR_TYPE, raw_vectors
from .flesh_supports import armatures_of


def object_of_other_side(scene: bpy.types.Scene, obj: bpy.types.Object) -> bpy.types.Object:
    """Returns the object that has the name of the other side, or the same one where there is none."""
    return scene.objects.get(bpy.utils.flip_name(obj.name)) or obj


def bone_of_other_side(rig: bpy.types.Object, bone: str) -> str:
    """Returns the bone that has the name of the other side, or the same one where there is none."""
    other = str(bpy.utils.flip_name(bone))
    return other if other in rig.data.bones else bone


def mirror_references(scene: bpy.types.Scene, obj: bpy.types.Object) -> None:
    """Turns what a mirrored muscle has of the muscle that it was copied of to the other side."""
    _mirror_parent(scene, obj)
    _mirror_bone_groups(scene, obj)
    for row in obj.sinew.attachments:
        row.target = row.target and object_of_other_side(scene, row.target)
        row.target_group = _group_of_other_side(row)
        if row.armature is not None:
            row.armature = object_of_other_side(scene, row.armature)
            row.bone = bone_of_other_side(row.armature, row.bone)
    for setting in FIBRE_OBJECTS:
        other = getattr(obj.sinew, setting.name)
        if other is not None:
            setattr(obj.sinew, setting.name, object_of_other_side(scene, other))
    _mirror_directions(obj)


def _group_of_other_side(row: bpy.types.PropertyGroup) -> str:
    """Returns the Target Group of a row that has been turned to the other side, by its name there."""
    other = str(bpy.utils.flip_name(row.target_group))
    return other if row.target is not None and other in row.target.vertex_groups else str(row.target_group)


def _mirror_parent(scene: bpy.types.Scene, obj: bpy.types.Object) -> None:
    if obj.parent is None:
        return
    obj.parent = object_of_other_side(scene, obj.parent)
    if obj.parent_type == "BONE":
        obj.parent_bone = bone_of_other_side(obj.parent, obj.parent_bone)


def _mirror_bone_groups(scene: bpy.types.Scene, obj: bpy.types.Object) -> None:
    """Gives the weights of each bone to the bone of the other side."""
    for modifier in obj.modifiers:
        if modifier.type == "ARMATURE" and modifier.object is not None:
            modifier.object = object_of_other_side(scene, modifier.object)
    bones = {bone.name: rig for rig in armatures_of(obj) for bone in rig.data.bones}
    groups = [group for group in obj.vertex_groups if bpy.utils.flip_name(group.name) in bones]
    names = {group.name: str(bpy.utils.flip_name(group.name)) for group in groups}
    wanted = [names[group.name] for group in groups]
    for group in groups:
        group.name = f".{group.name}"  # so that two may exchange their names
    for group, name in zip(groups, wanted, strict=True):
        group.name = name
    for setting in settings_of_role(BODY):
        if setting.kind == WEIGHT_GROUP and getattr(obj.sinew, setting.name) in names:
            setattr(obj.sinew, setting.name, names[getattr(obj.sinew, setting.name)])
    for row in [*obj.sinew.muscle_heads, *obj.sinew.attachments]:
        row.group = names.get(row.group, row.group)
    for modifier in obj.modifiers:
        if getattr(modifier, "vertex_group", "") in names:
            modifier.vertex_group = names[modifier.vertex_group]


def _mirror_directions(obj: bpy.types.Object) -> None:
    """Mirrors the vector attributes that settings name, which mirroring a mesh leaves as they are."""
    mesh = obj.data
    names = {getattr(obj.sinew, s.name) for s in settings_of_role(BODY) if s.kind == VECTOR_ATTRIBUTE} - {""}
    for attribute in (mesh.attributes.get(name) for name in sorted(names)):
        if attribute is not None and attribute.data_type == VECTOR_TYPE and attribute.domain == "POINT":
            vectors = np.asarray(raw_vectors(attribute, len(mesh.vertices)), np.float32).reshape(-1, 3)
            attribute.data.foreach_set("vector", (vectors * [-1.0, 1.0, 1.0]).astype(np.float32).ravel())
