# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a scene in the world, those of armatures and bone meshes alike: how far points are from each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import bpy
import numpy as np
from mathutils import Matrix, Vector
from mathutils.bvhtree import BVHTree

from ...solver.runtime.arrays import Floats
from ..evaluation.evaluated_mesh import evaluated_mesh, positions, triangles
from ..evaluation.matrix_units import transform_points
from . import roles


@dataclass(frozen=True)
class SkeletonBone:
    """A bone mesh, or a bone of an armature.

    Attributes:
        obj: The bone mesh, or the object of the armature.
        bone: Name of the bone in the armature, or "".
        depth: Number of its ancestors.
        surface: World space, of a bone mesh.
        line: Head and tail in world space, (2, 3), of a bone of an armature.
        is_at_rest: Whether the line is that of the rest pose, instead of the present one.
    """

    obj: bpy.types.Object
    bone: str
    depth: int
    surface: BVHTree | None = None
    line: Floats | None = None
    is_at_rest: bool = False

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self.bone or str(self.obj.name)

    def distances(self, points: Floats) -> Floats:
        """Returns how far points (n, 3) in world space are from its surface or its line, (n,)."""
        return np.linalg.norm(points - self.nearest(points), axis=1)

    def nearest(self, points: Floats) -> Floats:
        """Returns the places of its surface or its line that are nearest to points in world space, (n, 3)."""
        if self.line is not None:
            head, tail = self.line
            along, from_head = tail - head, points - head
            share = np.clip(from_head @ along / max(float(along @ along), 1e-30), 0.0, 1.0)
            return head + share[:, None] * along
        assert self.surface is not None
        return np.array([self.surface.find_nearest(Vector(point))[0] for point in points.tolist()], np.float64)


def skeleton_bones(context: bpy.types.Context, without: set[bpy.types.Object]) -> list[SkeletonBone]:
    """Returns the bone meshes of a scene and the deforming bones of its visible armatures, where they are now."""
    depsgraph = context.evaluated_depsgraph_get()
    found = [
        SkeletonBone(obj, "", _object_depth(obj), surface=surface)
        for obj in roles.bones(context.scene)
        if obj not in without and (surface := _surface(obj.evaluated_get(depsgraph))) is not None
    ]
    for rig in context.scene.objects:
        if rig.type == "ARMATURE" and rig.visible_get():
            posed = rig.evaluated_get(depsgraph)
            for bone in rig.data.bones:
                if bone.use_deform:
                    depth = _object_depth(rig) + len(bone.parent_recursive)
                    found.append(SkeletonBone(rig, bone.name, depth, line=_line(posed, bone.name)))
    return found


def world_matrix(bone: SkeletonBone) -> Matrix:
    """Returns where a bone is, world ← its own space: now, or in the rest pose where it is to be there."""
    if bone.is_at_rest:
        return rest_matrix(bone)
    if not bone.bone:
        return bone.obj.matrix_world
    return bone.obj.matrix_world @ bone.obj.pose.bones[bone.bone].matrix


def rest_matrix(bone: SkeletonBone) -> Matrix:
    """Returns where a bone of an armature is in the rest pose, and a bone mesh now, world ← its own space."""
    known = bone.obj.data.bones.get(bone.bone) if bone.bone else None
    return bone.obj.matrix_world @ known.matrix_local if known is not None else bone.obj.matrix_world


def at_rest(bone: SkeletonBone) -> SkeletonBone:
    """Returns a bone of an armature as it is in the rest pose."""
    matrix, known = bone.obj.matrix_world, bone.obj.data.bones[bone.bone]
    return replace(bone, line=np.array([matrix @ known.head_local, matrix @ known.tail_local]), is_at_rest=True)


def carrier_of(bone: SkeletonBone) -> tuple[bpy.types.Object, str]:
    """Returns an object and the name of its bone: itself, or the armature bone that a bone mesh is parented to."""
    if not bone.bone and _is_on_bone(bone.obj):
        return bone.obj.parent, bone.obj.parent_bone
    return bone.obj, bone.bone


def chain_to_root(bone: SkeletonBone) -> list[tuple[bpy.types.Object, str]]:
    """Returns a bone and what it hangs on, up to the last parent: each an object and the name of its bone, or ""."""
    obj, found = bone.obj, [(bone.obj, bone.bone)]
    if bone.bone:
        found += [(obj, parent.name) for parent in obj.data.bones[bone.bone].parent_recursive]
    while obj.parent is not None:
        is_on_bone, name = _is_on_bone(obj), obj.parent_bone
        obj = obj.parent
        if is_on_bone:
            found += [(obj, name), *((obj, parent.name) for parent in obj.data.bones[name].parent_recursive)]
        else:
            found.append((obj, ""))
    return found


def _is_on_bone(obj: bpy.types.Object) -> bool:
    parent = obj.parent
    is_rigged = parent is not None and parent.type == "ARMATURE" and obj.parent_type == "BONE"
    return is_rigged and obj.parent_bone in parent.data.bones


def _line(posed: bpy.types.Object, name: str) -> Floats:
    bone, matrix = posed.pose.bones[name], posed.matrix_world
    return np.array([matrix @ bone.head, matrix @ bone.tail])


def _surface(evaluated: bpy.types.Object) -> BVHTree | None:
    with evaluated_mesh(evaluated) as mesh:
        points, faces = positions(mesh), triangles(mesh)
    if not len(faces):
        return None
    world = transform_points(np.array(evaluated.matrix_world), points)
    return BVHTree.FromPolygons(world.tolist(), faces.tolist(), all_triangles=True)


def _object_depth(obj: bpy.types.Object) -> int:
    depth = 0
    while obj.parent is not None:
        depth += 1
        if obj.parent_type == "BONE" and obj.parent.type == "ARMATURE":
            bone = obj.parent.data.bones.get(obj.parent_bone)
            depth += len(bone.parent_recursive) if bone is not None else 0
        obj = obj.parent
    return depth
