# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scene has of bodies that drive bones: joints at the heads of bones, and flesh that is fixed to the bodies.

The frame of a joint has the axes that the bone has without its basis, and the second end has those of the bone. So the
angles of the joint are those of the basis, as the limits of the bone are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import bpy
import numpy as np
from mathutils import Matrix

from ...solver.runtime.arrays import Floats
from ...solver.scene.attachment import FIXED as FIXED_ATTACHMENT
from ...solver.scene.attachment import Attachment
from ...solver.scene.joint import AXIS_COUNT, FIXED_JOINT, GENERIC_JOINT, POINT_JOINT, UNLIMITED, Joint
from ...solver.scene.scene import Body
from ...solver.scene.settings.rigid_body_settings import FIXED, FREE, LIMITED
from ..blender_data.rna_serialisation import Parts
from ..evaluation.evaluated_mesh import evaluated_mesh
from ..evaluation.matrix_units import scale_to_metres
from ..evaluation.scene_copy import SceneCopy
from ..evaluation.vertex_weights import weights
from ..objects import driven_bones
from .participants import Participants
from .sampling_context import Sampling

REACH_SIZES = 2.0  # of a body, within which its skin is: flesh around a bone is fixed to it however thick it is
FREE_SHARE = 0.15  # of the length of a bone, at either end, where it holds no flesh that has to bend there


def read_bone_joints(scene_copy: SceneCopy, inputs: Participants) -> tuple[Joint, ...]:
    """Returns the joints of the bodies that drive bones, evaluated in the rest pose."""
    found = (_read_joint(scene_copy, inputs, obj, key) for obj, key in inputs.bodies.items())
    return tuple(joint for joint in found if joint is not None)


def passing_bones(inputs: Participants) -> list[tuple[str, str]]:
    """Returns the pairs of keys of bodies on neighbouring bones, which overlap where their bones meet.

    These are a bone and those above it and beside it, and the one above that.
    """
    found = {
        obj: driven_bones.driving_body_above(obj, inputs.scene)
        for obj in inputs.bodies
        if driven_bones.is_driving_body(obj)
    }
    pairs = set()
    for obj, leader in found.items():
        near = {leader, found.get(leader)} if leader is not None else set()
        near |= {other for other, above in found.items() if above is not None and above == leader}
        pairs |= {
            tuple(sorted((inputs.bodies[obj], inputs.bodies[o]))) for o in near - {obj, None} if o in inputs.bodies
        }
    return sorted((first, second) for first, second in pairs)


def joint_key(body_key: str) -> str:
    """Returns the key of the joint at the head of the bone of a body."""
    return f"{body_key}-bone"


def sample_bone_joint(sampling: Sampling, obj: bpy.types.Object, joint: Joint) -> None:
    """Adds to the tracks where the bone above is, on which the body of the top one of some bones hangs."""
    if not joint.first:
        posed = _evaluated_rig(sampling.scene_copy, obj).pose.bones[obj.parent_bone]
        frame, _ = _joint_frames(sampling.scene_copy, obj, posed, sampling.unit)
        sampling.add(f"joint.{joint.key}.matrix", frame, "rigid")


def with_held_flesh(
    scene_copy: SceneCopy, inputs: Participants, bodies: Mapping[bpy.types.Object, Body]
) -> dict[bpy.types.Object, Body]:
    """Returns bodies of which those that drive bones are fixed to the flesh around them."""
    made = dict(bodies)
    for obj, body in bodies.items():
        rows = []
        for held in driven_bones.held_flesh(obj, inputs.scene) if driven_bones.is_driving_body(obj) else ():
            flesh = bodies.get(held.flesh)
            painted = np.zeros(0) if flesh is None else _group_weights(scene_copy, held)
            if flesh is not None and painted.any():
                size = float(np.ptp(flesh.vertices, axis=0).max())
                paint = _free_ends(scene_copy, inputs, obj, body)
                rows.append(
                    Attachment(
                        flesh.key,
                        FIXED_ATTACHMENT,
                        REACH_SIZES * size,
                        paint=paint,
                        target_paint=painted.clip(0.0, 1.0),
                    )
                )
        if rows:
            made[obj] = replace(body, attachments=(*body.attachments, *rows))
    return made


def bone_parts(obj: bpy.types.Object, scene: bpy.types.Scene) -> Parts:
    """Returns what the digest has of the bone that a body drives."""
    if not driven_bones.is_driving_body(obj):
        return []
    posed, leader = obj.parent.pose.bones[obj.parent_bone], driven_bones.driving_body_above(obj, scene)
    limits = [side.tolist() for side in driven_bones.bone_angle_limits(posed)]
    held = sorted(each.flesh.name for each in driven_bones.held_flesh(obj, scene))
    return [f"drives {obj.parent_bone} {limits} {'' if leader is None else leader.parent_bone} {held}"]


def _read_joint(scene_copy: SceneCopy, inputs: Participants, obj: bpy.types.Object, key: str) -> Joint | None:
    if not driven_bones.is_driving_body(obj) or obj.sinew.bone_joint == FREE:
        return None
    posed = _evaluated_rig(scene_copy, obj).pose.bones[obj.parent_bone]
    leader = driven_bones.driving_body_above(obj, inputs.scene)
    first, turn = "" if leader is None else inputs.bodies.get(leader, ""), np.zeros((0, 3))
    frame, own = _joint_frames(scene_copy, obj, posed, inputs.unit)
    lower, upper = np.zeros(AXIS_COUNT), np.zeros(AXIS_COUNT)
    low, high = driven_bones.bone_angle_limits(posed)
    kind = FIXED_JOINT if obj.sinew.bone_joint == FIXED else POINT_JOINT
    if obj.sinew.bone_joint == LIMITED and (np.isfinite(low) | np.isfinite(high)).any():
        kind, turn = GENERIC_JOINT, frame[:3, :3].T @ own[:3, :3]
        lower[3:], upper[3:] = np.maximum(low, -UNLIMITED), np.minimum(high, UNLIMITED)
    name = f"{obj.parent.name}: {obj.parent_bone}"
    return Joint(first, key, kind, frame, joint_key(key), name, lower, upper, second_turn=turn)


def _joint_frames(
    scene_copy: SceneCopy, obj: bpy.types.Object, posed: bpy.types.PoseBone, unit: float
) -> tuple[Floats, Floats]:
    """Returns world [m] ← a frame at the head of a bone without its basis, and as it is, (4, 4) each, without scale."""
    rig = _evaluated_rig(scene_copy, obj)
    bone, parent = posed.bone, posed.parent
    above = {} if parent is None else {"parent_matrix": parent.matrix, "parent_matrix_local": parent.bone.matrix_local}
    straight = bone.convert_local_to_pose(Matrix(), bone.matrix_local, **above)
    place = (rig.matrix_world @ posed.matrix).translation * unit
    return _frame(rig.matrix_world @ straight, place), _frame(rig.matrix_world @ posed.matrix, place)


def _frame(matrix: Matrix, place: Floats) -> Floats:
    return scale_to_metres(Matrix.LocRotScale(place, matrix.decompose()[1], None), 1.0)


def _evaluated_rig(scene_copy: SceneCopy, obj: bpy.types.Object) -> bpy.types.Object:
    """Returns the armature of a body's bone, which the body depends on."""
    return obj.parent.evaluated_get(scene_copy.depsgraph)


def _group_weights(scene_copy: SceneCopy, held: driven_bones.HeldFlesh) -> Floats:
    """Returns the weights of a bone at the vertices of flesh, (n,)."""
    evaluated = scene_copy.evaluated(held.flesh)
    with evaluated_mesh(evaluated) as mesh:
        return weights(evaluated, mesh, held.group, held.flesh.name, "Armature")


def _free_ends(scene_copy: SceneCopy, inputs: Participants, obj: bpy.types.Object, body: Body) -> Floats:
    """Returns 1 at the vertices of a body beside the middle of its bone, and 0 at others, (n,); 1 if none are."""
    rig = _evaluated_rig(scene_copy, obj)
    posed = rig.pose.bones[obj.parent_bone]
    head, tail = (np.array(rig.matrix_world @ end) * inputs.unit for end in (posed.head, posed.tail))
    along = (body.vertices - head) @ (tail - head) / float((tail - head) @ (tail - head))
    is_beside = (along >= FREE_SHARE) & (along <= 1.0 - FREE_SHARE)
    return is_beside.astype(np.float64) if is_beside.any() else np.ones(len(along))
