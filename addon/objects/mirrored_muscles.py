# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles of the other side of a character, mirrored at the plane x = 0 of the world.

Names that end in .L and .R, as Blender mirrors bones, name the muscle and the bones there. A bone without a side is the
same for both.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy
from mathutils import Matrix

from ...solver.runtime.errors import BadInput
from ..blender_data import modifier_stack
from .new_muscles import INSERTION, ORIGIN, hook_to_bone
from .skeleton import SkeletonBone

MIRROR = Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))


def mirror_muscles(context: bpy.types.Context, muscles: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """Makes the muscles of the other side, in place of those that have their names; returns them.

    Raises:
        BadInput: "muscles-none-selected"; "muscle-no-side": one has no side in its name. Nothing was changed.
    """
    if not muscles:
        raise BadInput("muscles-none-selected")
    for obj in muscles:
        if bpy.utils.flip_name(obj.name) == obj.name:
            raise BadInput("muscle-no-side", name=obj.name)
    return [_mirror(context, obj) for obj in muscles]


def _mirror(context: bpy.types.Context, obj: bpy.types.Object) -> bpy.types.Object:
    name = bpy.utils.flip_name(obj.name)
    former = context.scene.objects.get(name)
    if former is not None:
        bpy.data.objects.remove(former)
    made, made.data = obj.copy(), obj.data.copy()
    made.name = name
    made.data.name = bpy.utils.flip_name(obj.data.name)
    played = modifier_stack.find_modifier(made)
    if played is not None:
        made.modifiers.remove(played)  # it plays the bake of the other side
    for collection in obj.users_collection:
        collection.objects.link(made)
    # mirror the vertices instead of the object: a negative scale would turn the mesh inside out
    made.matrix_world = MIRROR @ obj.matrix_world @ MIRROR
    made.data.transform(MIRROR, shape_keys=True)
    made.data.flip_normals()
    for end in (ORIGIN, INSERTION):
        hook = made.modifiers.get(end)
        if hook is not None and hook.type == "HOOK" and hook.object is not None:
            hook_to_bone(made, end, _other_side(context, hook.object, hook.subtarget))
    return made


def _other_side(context: bpy.types.Context, obj: bpy.types.Object, bone: str) -> SkeletonBone:
    """Returns the bone of the other side, or the same one where there is none."""
    if bone:
        other = bpy.utils.flip_name(bone)
        return SkeletonBone(obj, other if other in obj.data.bones else bone, 0)
    return SkeletonBone(context.scene.objects.get(bpy.utils.flip_name(obj.name)) or obj, "", 0)
