# SPDX-License-Identifier: GPL-3.0-or-later
"""Bone meshes and colliders that ride on one bone of an armature: they are its surface."""

from __future__ import annotations

from collections.abc import Collection

import bpy

from ..properties.role_definitions import COLLIDER
from . import roles

FOLLOWING_CONSTRAINTS = {"CHILD_OF", "COPY_TRANSFORMS"}


def meshes_on_bone(
    owner: bpy.types.Object, rig: bpy.types.Object, bone: str, wanted: Collection[str]
) -> list[bpy.types.Object]:
    """Returns the meshes with one of some roles that ride on a bone, by name, in the scenes of an object."""
    objects = {obj for scene in owner.users_scene for obj in scene.objects}
    found = (o for o in objects if o != owner and has_surface(o, wanted) and rides_on(o, rig, bone))
    return sorted(found, key=lambda o: o.name)


def has_surface(obj: bpy.types.Object, wanted: Collection[str]) -> bool:
    """Whether an object is a mesh that takes part in a bake with one of some roles."""
    found = set(roles.roles_of(obj)).intersection(wanted) if obj.type == "MESH" else set()
    return bool(found - {COLLIDER}) or (COLLIDER in found and roles.is_ever_collider(obj))


def rides_on(obj: bpy.types.Object, rig: bpy.types.Object, bone: str) -> bool:
    """Whether an object moves as a bone does: as its child, by a constraint, or with the weights of this bone alone."""
    if obj.parent == rig and obj.parent_type == "BONE" and obj.parent_bone == bone:
        return True
    if any(_follows(each, rig, bone) for each in obj.constraints if not each.mute and each.influence > 0.0):
        return True
    weighs = any(
        m.type == "ARMATURE" and m.object == rig and m.show_viewport and m.use_vertex_groups for m in obj.modifiers
    )
    return weighs and [group.name for group in obj.vertex_groups if group.name in rig.data.bones] == [bone]


def _follows(constraint: bpy.types.Constraint, rig: bpy.types.Object, bone: str) -> bool:
    if constraint.type in FOLLOWING_CONSTRAINTS:
        return bool(constraint.target == rig and constraint.subtarget == bone)
    if constraint.type != "ARMATURE":
        return False
    targets = [each for each in constraint.targets if each.weight > 0.0]
    return bool(targets) and all(each.target == rig and each.subtarget == bone for each in targets)
