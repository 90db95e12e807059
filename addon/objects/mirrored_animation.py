# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation of a muscle of the other side: its drivers read the bones and flex controls there, and its transform is
mirrored.

A reflection at x = 0 turns the sense of rotations about y and z. Of a bone there, whose axes are mirrored, a driver
that reads such a rotation gets the opposite sign; what it makes of that is up to its expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import bpy
from mathutils import Matrix

from ..blender_data.animation_curves import action_curves
from . import flex_controls
from .mirror_symmetry import MirrorSymmetry

# data path → indices that change their sign
MIRRORED_CHANNELS = {
    "location": (0,),
    "rotation_euler": (1, 2),
    "rotation_quaternion": (2, 3),
    "rotation_axis_angle": (2, 3),
    "delta_location": (0,),
    "delta_rotation_euler": (1, 2),
    "delta_rotation_quaternion": (2, 3),
}
QUOTED_NAME = re.compile(r'\["((?:[^"\\]|\\.)*)"\]')


def mirror_drivers(sides: MirrorSymmetry, obj: bpy.types.Object) -> None:
    """Turns the drivers of a mirrored muscle, and of its shape keys, to the other side."""
    for owner in (obj, obj.data.shape_keys):
        data = owner.animation_data if owner is not None else None
        for curve in data.drivers if data is not None else ():
            for variable in curve.driver.variables:
                for target in variable.targets:
                    _mirror_target(sides, target)
            curve.driver.expression = curve.driver.expression  # a driver that found no property tries again


def _mirror_target(sides: MirrorSymmetry, target: bpy.types.DriverTarget) -> None:
    if not isinstance(target.id, bpy.types.Object):
        return
    owner = target.id
    if target.bone_target:
        target.bone_target = sides.bone(owner, target.bone_target)
    path = QUOTED_NAME.sub(lambda found: _mirrored_name(sides, owner, target.data_path, found), target.data_path)
    target.id = sides.object(owner)
    target.data_path = path


def _mirrored_name(sides: MirrorSymmetry, owner: bpy.types.Object, path: str, found: re.Match[str]) -> str:
    """Returns a name in a data path as the other side has it: of a bone, or of a property of the owner."""
    name = bpy.utils.unescape_identifier(found[1])
    other = str(bpy.utils.flip_name(name))
    if found.start() == 0:
        there = sides.object(owner)
        if other != name and name.startswith(flex_controls.PREFIX):
            flex_controls.ensure_control(there, other)
        name = other if other in there else name
    elif owner.type == "ARMATURE" and path.startswith("pose.bones"):
        name = sides.bone(owner, name)
    return f'["{bpy.utils.escape_identifier(name)}"]'


def has_animated_transform(obj: bpy.types.Object) -> bool:
    """Whether keys move, turn or scale an object."""
    paths = {curve.data_path for curve in _curves(obj)}
    return bool(paths & {*MIRRORED_CHANNELS, "scale", "delta_scale"})


def mirror_transform(obj: bpy.types.Object, made: bpy.types.Object, mirror: Matrix) -> None:
    """Lets the animated transform of a copy be the mirror image of that of the muscle, on all frames.

    With W = P I B, where P comes from the parent, I is the parent inverse and B the object's own animated transform,
    it makes B' = M B M and P' I' = M P I M.

    Args:
        obj: The muscle.
        made: Its copy, whose parent is that of the other side.
        mirror: M.
    """
    for strip in _strips(made):
        strip.action = strip.action.copy()
    for curve in _curves(made):
        if curve.array_index in MIRRORED_CHANNELS.get(curve.data_path, ()):
            _negate(curve)
    own = obj.matrix_basis.copy()
    to_world = obj.matrix_world @ own.inverted_safe()
    made.matrix_basis = mirror @ own @ mirror
    if made.parent is not None:
        bpy.context.view_layer.update()
        parent = made.matrix_world @ made.matrix_basis.inverted_safe() @ made.matrix_parent_inverse.inverted_safe()
        made.matrix_parent_inverse = parent.inverted_safe() @ mirror @ to_world @ mirror


def _negate(curve: bpy.types.FCurve) -> None:
    for point in curve.keyframe_points:
        for name in ("co", "handle_left", "handle_right"):
            x, y = getattr(point, name)
            setattr(point, name, (x, -y))
    curve.update()


def _strips(obj: bpy.types.Object) -> Iterator[bpy.types.NlaStrip]:
    data = obj.animation_data
    for track in data.nla_tracks if data is not None else ():
        yield from (strip for strip in track.strips if strip.action is not None)


def _curves(obj: bpy.types.Object) -> Iterator[bpy.types.FCurve]:
    """Yields the F-curves of the action of an object and of its NLA strips."""
    data = obj.animation_data
    if data is not None:
        yield from action_curves(data.action, data.action_slot)
    for strip in _strips(obj):
        yield from action_curves(strip.action, strip.action_slot)
