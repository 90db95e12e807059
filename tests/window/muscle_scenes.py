# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parts about muscles start from, made by Blender's own operators: two bones that bend, a mesh beside them."""

from __future__ import annotations

import math

import bpy
from mathutils import Matrix

LAST_FRAME, BEND = 25, 70.0  # [degrees]
VIEW_MIDDLE, VIEW_DISTANCE = (0.45, 0.0, 1.0), 3.3  # [m]


def two_bones() -> bpy.types.Object:
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    lower = rig.data.edit_bones["Bone"]
    upper = rig.data.edit_bones.new("Bone.001")
    upper.head, upper.tail, upper.parent = lower.tail, (0.0, 0.0, 2.0), lower
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def spindle() -> bpy.types.Object:
    bpy.ops.mesh.primitive_uv_sphere_add(location=(0.3, 0.0, 1.0), scale=(0.18, 0.18, 0.75))
    bpy.ops.object.transform_apply(location=False, rotation=False)
    return bpy.context.object


def bend(rig: bpy.types.Object, last: int = LAST_FRAME, most: float = BEND) -> None:
    """Keys the turn of the upper bone, from none at frame 1 to `most` [degrees] at the frame `last`."""
    bone, rest = rig.pose.bones["Bone.001"], rig.data.bones["Bone.001"].matrix_local.to_3x3()
    for frame, degrees in ((1, 0.0), (last, most)):
        turn = Matrix.Rotation(math.radians(degrees), 3, "Y")
        bone.rotation_quaternion = (rest.inverted() @ turn @ rest).to_quaternion()
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def look_from_front() -> None:
    """Lets the view look along y from the front, beside the sidebar, at both bones: the elbow bends in its plane."""
    space = next(a for a in bpy.context.window_manager.windows[0].screen.areas if a.type == "VIEW_3D").spaces.active
    view = space.region_3d
    view.view_rotation, view.view_perspective = (2**-0.5, 2**-0.5, 0.0, 0.0), "ORTHO"
    view.view_location, view.view_distance = VIEW_MIDDLE, VIEW_DISTANCE


def width_at(obj: bpy.types.Object, frame: int) -> float:
    """Returns how wide the muscle is across its bend as it is shown [m]."""
    bpy.context.scene.frame_set(frame)
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    across = [vertex.co[1] for vertex in mesh.vertices]
    shown.to_mesh_clear()
    return round(max(across) - min(across), 3)
