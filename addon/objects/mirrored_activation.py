# SPDX-License-Identifier: GPL-3.0-or-later
"""What activates a muscle of the other side: its poses are turns of the other side's bones, and so are its via points.

A bone mirrored by name has mirrored axes, so of its turns against its rest position only the signs of y and z change,
as where Blender pastes a pose flipped.
"""

from __future__ import annotations

import bpy

from .mirrored_references import object_of_other_side


def mirror_activation(scene: bpy.types.Scene, obj: bpy.types.Object) -> None:
    """Turns what a mirrored muscle has of the muscle that it was copied of to the other side."""
    for pose in obj.sinew.activation_poses:
        for joint in pose.rotations:
            w, x, y, z = joint.rotation
            joint.name, joint.rotation = bpy.utils.flip_name(joint.name), (w, x, -y, -z)
    for row in obj.sinew.via_points:
        row.object = row.object and object_of_other_side(scene, row.object)
