# SPDX-License-Identifier: GPL-3.0-or-later
"""What activates a muscle of the other side: its poses are turns of the other side's bones, and so are its via points.

A bone mirrored by name has mirrored axes, so of its turns against its rest position only the signs of y and z change,
as where Blender pastes a pose flipped. One that is found by its place may have any axes.
"""

from __future__ import annotations

import bpy
from mathutils import Quaternion

from .flesh_supports import rigs_of
from .mirror_symmetry import MirrorSymmetry
from .muscle_via_points import mirror_via_point


def mirror_activation(sides: MirrorSymmetry, obj: bpy.types.Object, made: bpy.types.Object) -> None:
    """Turns what a mirrored muscle, `made`, has of the muscle that it was copied of, `obj`, to the other side."""
    rig = obj.sinew.pose_rig or next(iter(rigs_of(obj)), None)
    for pose in made.sinew.activation_poses:
        for joint in pose.rotations:
            _mirror_joint(sides, rig, joint)
    made.sinew.pose_rig = made.sinew.pose_rig and sides.object(made.sinew.pose_rig)
    _mirror_via_points(sides, obj, made)


def _mirror_via_points(sides: MirrorSymmetry, obj: bpy.types.Object, made: bpy.types.Object) -> None:
    """Makes those anew that were found for the muscle, and finds those that an artist has made on the other side."""
    for former in [each for each in bpy.data.objects if each.sinew.via_point_of == made]:
        bpy.data.objects.remove(former)  # of a muscle whose place the mirror image has taken
    for row in made.sinew.via_points:
        if row.object is not None and row.object.sinew.via_point_of == obj and row.object.parent is not None:
            row.object = mirror_via_point(sides, made, row.object)
        else:
            row.object = row.object and sides.object(row.object)


def _mirror_joint(sides: MirrorSymmetry, rig: bpy.types.Object | None, joint: bpy.types.PropertyGroup) -> None:
    turn = sides.rotation_turn(rig, joint.name) if rig is not None else None
    w, x, y, z = joint.rotation
    if rig is None or turn is None:
        joint.name, joint.rotation = bpy.utils.flip_name(joint.name), (w, x, -y, -z)
        return
    joint.name = sides.bone(rig, joint.name)
    joint.rotation = (turn @ Quaternion((w, x, y, z)).to_matrix() @ turn.transposed()).to_quaternion()
