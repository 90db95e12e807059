# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes rigid bodies for the bones of an armature, which drive them: what rides on a bone already, or capsules."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np
from mathutils import Matrix

from ...solver.runtime.errors import BadInput
from ...solver.scene.settings.rigid_body_settings import FREE, LIMITED
from ..properties.role_definitions import BODY, BONE, COLLIDER
from . import driven_bones, initial_settings, role_checks, roles

RADIUS_SHARE = 0.12  # of a capsule, of the length of its bone
SEGMENTS, END_RINGS, MIDDLE_RINGS = 12, 4, 7
ROLES_ON_BONES = (BODY, BONE, COLLIDER)


def make_ragdoll(
    context: bpy.types.Context, rig: bpy.types.Object, bones: Iterable[bpy.types.Bone]
) -> list[bpy.types.Object]:
    """Makes a rigid body drive each of some bones of an armature, and returns those of bones that had none.

    Raises:
        BadInput: A bone has no length.
    """
    scene = context.scene
    lacking = [bone for bone in bones if bone.name not in driven_bones.driven_bones(scene, rig)]
    for bone in lacking:
        if bone.length < driven_bones.MIN_LENGTH:
            raise BadInput("bone-without-length", name=f"{rig.name}: {bone.name}")
    made = []
    for bone in lacking:
        obj = _mesh_on_bone(scene, rig, bone.name) or _add_capsule(context, rig, bone)
        initial_settings.make_new_rigid_body(obj)
        obj.sinew.drives_bone = True
        made.append(obj)
    for obj in made:
        if not obj.sinew.is_property_set("bone_joint"):
            obj.sinew.bone_joint = FREE if driven_bones.driving_body_above(obj, scene) is None else LIMITED
    return made


def chosen_bones(context: bpy.types.Context, rig: bpy.types.Object) -> list[bpy.types.Bone]:
    """Returns the selected bones in Pose Mode, and else all that deform.

    Raises:
        BadInput: There are none.
    """
    if rig.mode == "POSE":
        found = [posed.bone for posed in context.selected_pose_bones or () if posed.id_data == rig]
    else:
        found = [bone for bone in rig.data.bones if bone.use_deform]
    if not found:
        raise BadInput("ragdoll-no-bones", name=rig.name)
    return found


def _mesh_on_bone(scene: bpy.types.Scene, rig: bpy.types.Object, bone: str) -> bpy.types.Object | None:
    """Returns a mesh that is a child of a bone and has a role, such as a bone mesh or a collider, or None."""
    for obj in sorted(scene.objects, key=lambda each: each.name):
        is_child = obj.type == "MESH" and obj.parent == rig and obj.parent_type == "BONE" and obj.parent_bone == bone
        if is_child and set(roles.roles_of(obj)) & {*ROLES_ON_BONES}:
            role_checks.check_object(obj)
            return obj
    return None


def _add_capsule(context: bpy.types.Context, rig: bpy.types.Object, bone: bpy.types.Bone) -> bpy.types.Object:
    """Returns a new capsule along a bone, its child, which is shown as wire and is in no render."""
    mesh = bpy.data.meshes.new(f"{rig.name} {bone.name}")
    _fill_capsule(mesh, bone.length, RADIUS_SHARE * bone.length)
    obj = bpy.data.objects.new(mesh.name, mesh)
    for collection in rig.users_collection or (context.scene.collection,):
        if collection.library is None and collection.override_library is None:
            collection.objects.link(obj)
            break
    else:
        context.scene.collection.objects.link(obj)
    obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", bone.name
    obj.matrix_parent_inverse = Matrix.Translation((0.0, -bone.length, 0.0))  # a child of a bone is at its tail
    obj.display_type, obj.hide_render = "WIRE", True
    context.view_layer.update()
    return obj


def _fill_capsule(mesh: bpy.types.Mesh, length: float, radius: float) -> None:
    """Makes a mesh a capsule from the origin along Y [Blender units]: two poles, and rings from end to end."""
    bend = 0.5 * np.pi * np.arange(1, END_RINGS + 1, dtype=np.float64) / END_RINGS
    end = np.stack([radius * (1.0 - np.cos(bend)), radius * np.sin(bend)], axis=1)
    middle = np.linspace(radius, length - radius, MIDDLE_RINGS + 2)[1:-1]
    other = np.stack([length - end[::-1, 0], end[::-1, 1]], axis=1)
    profile = np.concatenate([end, np.stack([middle, np.full(len(middle), radius, np.float64)], axis=1), other])
    around = 2.0 * np.pi * np.arange(SEGMENTS, dtype=np.float64) / SEGMENTS
    rings = np.stack([np.outer(profile[:, 1], np.cos(around)), np.outer(profile[:, 1], np.sin(around))], axis=-1)
    along = np.broadcast_to(profile[:, :1], rings.shape[:2])
    points = np.stack([rings[..., 0], along, rings[..., 1]], axis=-1).reshape(-1, 3)
    faces: list[tuple[int, ...]] = []
    for ring in range(len(profile) - 1):
        for n in range(SEGMENTS):
            a, b = ring * SEGMENTS + n, ring * SEGMENTS + (n + 1) % SEGMENTS
            faces.append((a, a + SEGMENTS, b + SEGMENTS, b))
    first, last = len(points), len(points) + 1
    top = (len(profile) - 1) * SEGMENTS
    for n in range(SEGMENTS):
        after = (n + 1) % SEGMENTS
        faces += [(first, n, after), (last, top + after, top + n)]
    mesh.from_pydata([*points.tolist(), [0.0, 0.0, 0.0], [0.0, length, 0.0]], [], faces)
    mesh.validate()
