# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles of the other side of a character, mirrored at the plane x = 0 of the world.

Names that end in .L and .R, as Blender mirrors bones, name the muscle and the bones there. Where there is no such name,
what is at the mirrored place counts. A bone without a counterpart is the same for both.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...solver.runtime.errors import BadInput
from ..blender_data import sinew_modifier
from ..playback import solved_frame
from . import roles
from .drawn_muscles import mirror_shape
from .mirror_symmetry import MIRROR, MirrorSymmetry
from .mirrored_activation import mirror_activation
from .mirrored_animation import has_animated_transform, mirror_drivers, mirror_transform
from .mirrored_references import mirror_references
from .skeleton import SkeletonBone, rest_matrix


def mirror_muscles(context: bpy.types.Context, muscles: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """Makes the muscles of the other side, in place of those that have their names; returns them.

    Raises:
        BadInput: "muscles-none-selected"; "muscle-no-side": one is its own mirror image, and its name has no side;
            "muscle-both-sides"; "mirror-name-taken": by something else than a muscle; "leave-edit-mode". Nothing was
            changed.
    """
    if not muscles:
        raise BadInput("muscles-none-selected")
    context.view_layer.update()  # places are those of now
    sides = MirrorSymmetry(context.scene)
    formers = [_former(sides, obj) for obj in muscles]
    for obj, former in zip(muscles, formers, strict=True):
        if former is not None and former in muscles:
            raise BadInput("muscle-both-sides", name=obj.name, other=former.name)
        if obj.mode == "EDIT":
            raise BadInput("leave-edit-mode", name=obj.name)
    # first all of them, since they may refer to each other
    made = [_copy(obj, former) for obj, former in zip(muscles, formers, strict=True)]
    for obj, other in zip(muscles, made, strict=True):
        sides.pair(obj, other)
    for obj, other in zip(muscles, made, strict=True):
        _mirror(sides, obj, other)
    return made


def _former(sides: MirrorSymmetry, obj: bpy.types.Object) -> bpy.types.Object | None:
    """Returns the muscle that is in the place of the mirror image of one, by its name or where it is; None: nothing.

    Raises:
        BadInput: The muscle is its own mirror image, or something else has its name.
    """
    former, name = sides.find_object(obj), bpy.utils.flip_name(obj.name)
    if former == obj and name == obj.name:
        raise BadInput("muscle-no-side", name=obj.name)
    if former is None or former == obj:
        return None
    if _is_muscle(former):
        return former
    if former.name == name:
        raise BadInput("mirror-name-taken", name=obj.name, other=name)
    return None


def _is_muscle(obj: bpy.types.Object) -> bool:
    return roles.is_flesh(obj) and bool(obj.sinew.use_muscle)


def _copy(obj: bpy.types.Object, former: bpy.types.Object | None) -> bpy.types.Object:
    """Returns a copy of a muscle with the name of the other side, in place of the one that was there."""
    name = former.name if former is not None else bpy.utils.flip_name(obj.name)
    made, made.data = obj.copy(), obj.data.copy()
    made.data.name = bpy.utils.flip_name(obj.data.name)
    played = sinew_modifier.find_modifier(made)
    if played is not None:
        made.modifiers.remove(played)  # it plays the bake of the other side
    solved_frame.remove([made])
    for collection in (former or obj).users_collection:
        collection.objects.link(made)
    if made.animation_data is not None and made.animation_data.action is not None:
        made.animation_data.action = made.animation_data.action.copy()
    if former is not None:
        former.user_remap(made)  # attachments, bones and drivers keep the muscle
        bpy.data.objects.remove(former)
    if name != obj.name:  # else Blender has numbered it
        made.name = name
    return made


def _mirror(sides: MirrorSymmetry, obj: bpy.types.Object, made: bpy.types.Object) -> None:
    """Makes the copy of a muscle its mirror image."""
    mirror_references(sides, made)
    mirror_activation(sides, obj, made)
    mirror_drivers(sides, made)
    # mirror the vertices instead of the object: a negative scale would turn the mesh inside out
    if has_animated_transform(obj):
        mirror_transform(obj, made, MIRROR)
    else:
        made.matrix_world = MIRROR @ obj.matrix_world @ MIRROR
    mirror_shape(sides, obj, made, MIRROR)
    made.data.transform(MIRROR, shape_keys=True)
    made.data.flip_normals()
    for hook in made.modifiers:
        if hook.type == "HOOK" and hook.object is not None:
            _mirror_hook(sides, hook)


def _mirror_hook(sides: MirrorSymmetry, hook: bpy.types.Modifier) -> None:
    """Lets a hook follow the bone of the other side, and be in the rest pose the mirror image of what it was there."""
    other = sides.object(hook.object)
    bone = sides.bone(hook.object, hook.subtarget) if hook.subtarget else ""
    placed = rest_matrix(SkeletonBone(hook.object, hook.subtarget, 0)) @ hook.matrix_inverse
    hook.object, hook.subtarget = other, bone
    hook.matrix_inverse = rest_matrix(SkeletonBone(other, bone, 0)).inverted_safe() @ MIRROR @ placed @ MIRROR
