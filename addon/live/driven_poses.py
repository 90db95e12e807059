# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses armatures in a live run as the bodies that drive their bones are.

The samples of a run say where vertices are. Those of a rigid body go from where they began to where they are by a
rotation and a translation, and its bone goes with them. The object of the body hangs on the bone, but its samples are
played in the space that it had, so it is held there. What moves with a driven bone is not sent to the run: that would
answer its own motion.
"""

from __future__ import annotations

from collections.abc import Mapping

import bpy
import numpy as np
from mathutils import Matrix

from ...solver.live.sample_files import SampleHead
from ...solver.mesh.rigid_alignment import fit_rigid_motions, stride_of_enough_points
from ...solver.runtime.arrays import floats
from ...solver.scene.scene import Scene
from ..baking.live_state import DrivenBone, HandledInput, LiveRun
from ..blender_data import held_transform
from ..blender_data.object_handle import ObjectHandle
from ..evaluation.matrix_units import transform_points
from ..objects import driven_bones
from .handled_inputs import MOVED


def begin(run: LiveRun, bodies: Mapping[bpy.types.Object, str], written: Scene, unit: float) -> None:
    """Notes where driven bones begin, and leaves out what moves with them of what the run hears of.

    Args:
        run: Gets them.
        bodies: The bodies of the run with their keys.
        written: What was written of its scene.
        unit: A Blender unit [m].
    """
    shapes = {body.key: body.vertices for body in written.bodies}
    for obj, key in bodies.items():
        if not driven_bones.is_driving_body(obj) or obj.parent.library is not None:
            continue
        stride = stride_of_enough_points(len(shapes[key]))
        bone = obj.parent.matrix_world @ obj.parent.pose.bones[obj.parent_bone].matrix
        run.driven.append(
            DrivenBone(
                body=key,
                rig=ObjectHandle.of(obj.parent),
                bone=obj.parent_bone,
                points=floats(shapes[key][::stride]) / unit,
                bone_matrix=floats(np.array(bone)),
                body_matrix=floats(np.array(obj.matrix_world)),
                stride=stride,
            )
        )
    run.inputs = [each for each in run.inputs if not _goes_along(run, each)]
    run.shapes = [each for each in run.shapes if not _bends_along(run, each.owner.find())]


def show(run: LiveRun, head: SampleHead) -> None:
    """Poses the driven bones as a sample has their bodies."""
    for driven in run.driven:
        rig, obj = driven.rig.find(), run.bodies[driven.body].find()
        if rig is None or obj is None or run.reader is None or driven.bone not in rig.pose.bones:
            continue
        held_transform.hold(obj, Matrix(driven.body_matrix))
        try:
            found = run.reader.positions(driven.body, head)
        except (OSError, ValueError):
            found = None
        if found is None or len(found[:: driven.stride]) != len(driven.points):
            continue
        now = transform_points(driven.body_matrix, found[:: driven.stride].astype(np.float64))
        motions = fit_rigid_motions(driven.points, now[None])
        if motions is not None:
            held_transform.hold_bone(rig, driven.bone, motions[0] @ driven.bone_matrix)


def _goes_along(run: LiveRun, given: HandledInput) -> bool:
    """Whether what an artist may move in a run is moved by driven bones."""
    obj = given.owner.find() if given.owner is not None and given.what in MOVED else None
    if obj is None or not run.driven:
        return False
    if obj.type == "ARMATURE" and given.of:
        return not _bones_above(obj.pose.bones[given.of]).isdisjoint(_driven_of(run, obj))
    while obj is not None:
        rig = obj.parent
        if rig is not None and obj.parent_type == "BONE" and rig.pose is not None and obj.parent_bone in rig.pose.bones:
            if not _bones_above(rig.pose.bones[obj.parent_bone]).isdisjoint(_driven_of(run, rig)):
                return True
        obj = rig
    return False


def _bends_along(run: LiveRun, obj: bpy.types.Object | None) -> bool:
    """Whether the mesh of an object follows an armature of which bodies drive bones."""
    rigs = {each.rig.uid for each in run.driven}
    targets = [getattr(modifier, "object", None) for modifier in obj.modifiers] if obj is not None else []
    return any(target is not None and target.session_uid in rigs for target in targets)


def _driven_of(run: LiveRun, rig: bpy.types.Object) -> set[str]:
    return {each.bone for each in run.driven if each.rig.uid == rig.session_uid}


def _bones_above(bone: bpy.types.PoseBone) -> set[str]:
    """Returns the names of a bone and of those above it."""
    return {bone.name, *(each.name for each in bone.parent_recursive)}
