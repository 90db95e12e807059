# SPDX-License-Identifier: GPL-3.0-or-later
"""What a muscle of the other side refers to: objects and bones there, and mirrored directions.

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
from .mirror_symmetry import MirrorSymmetry


def mirror_references(sides: MirrorSymmetry, obj: bpy.types.Object) -> None:
    """Turns what a mirrored muscle has of the muscle that it was copied of to the other side."""
    _mirror_parent(sides, obj)
    _mirror_bone_groups(sides, obj)
    for row in obj.sinew.attachments:
        row.target = row.target and sides.object(row.target)
        row.target_group = _group_of_other_side(row)
        row.edges = row.edges and sides.object(row.edges)
        if row.armature is not None:
            row.bone = sides.bone(row.armature, row.bone)
            row.armature = sides.object(row.armature)
    for setting in FIBRE_OBJECTS:
        other = getattr(obj.sinew, setting.name)
        if other is not None:
            setattr(obj.sinew, setting.name, sides.object(other))
    _mirror_directions(obj)


def _group_of_other_side(row: bpy.types.PropertyGroup) -> str:
    """Returns the Target Group of a row that has been turned to the other side, by its name there."""
    other = str(bpy.utils.flip_name(row.target_group))
    return other if row.target is not None and other in row.target.vertex_groups else str(row.target_group)


def _mirror_parent(sides: MirrorSymmetry, obj: bpy.types.Object) -> None:
    if obj.parent is None:
        return
    if obj.parent_type == "BONE":
        obj.parent_bone = sides.bone(obj.parent, obj.parent_bone)
    obj.parent = sides.object(obj.parent)


def _mirror_bone_groups(sides: MirrorSymmetry, obj: bpy.types.Object) -> None:
    """Gives the weights of each bone to the bone of the other side."""
    names = _bone_groups_of_other_side(sides, obj)
    for modifier in obj.modifiers:
        if modifier.type == "ARMATURE" and modifier.object is not None:
            modifier.object = sides.object(modifier.object)
    groups = [group for group in obj.vertex_groups if group.name in names]
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


def _bone_groups_of_other_side(sides: MirrorSymmetry, obj: bpy.types.Object) -> dict[str, str]:
    """Returns the names of the vertex groups of bones, and of the bones of the other side that they are to be for."""
    names: dict[str, str] = {}
    for rig in armatures_of(obj):
        other = sides.object(rig)
        for group in obj.vertex_groups:
            if group.name in rig.data.bones or bpy.utils.flip_name(group.name) in other.data.bones:
                names.setdefault(group.name, sides.bone(rig, group.name))
    return names


def _mirror_directions(obj: bpy.types.Object) -> None:
    """Mirrors the vector attributes that settings name, which mirroring a mesh leaves as they are."""
    mesh = obj.data
    names = {getattr(obj.sinew, s.name) for s in settings_of_role(BODY) if s.kind == VECTOR_ATTRIBUTE} - {""}
    for attribute in (mesh.attributes.get(name) for name in sorted(names)):
        if attribute is not None and attribute.data_type == VECTOR_TYPE and attribute.domain == "POINT":
            vectors = np.asarray(raw_vectors(attribute, len(mesh.vertices)), np.float32).reshape(-1, 3)
            attribute.data.foreach_set("vector", (vectors * [-1.0, 1.0, 1.0]).astype(np.float32).ravel())
