# SPDX-License-Identifier: GPL-3.0-or-later
"""Transforms of all objects in the rest pose, as arrays without references to Blender's data."""

from __future__ import annotations

from dataclasses import dataclass

from ...solver.runtime.arrays import Floats
from ...solver.scene.scene import Scene
from ..evaluation.matrix_units import metres_matrix
from ..evaluation.scene_copy import SceneCopy
from . import armature_bones, deforming_mesh_check
from .bone_meshes import RestTransform
from .participants import Participants


@dataclass(frozen=True)
class RestPose:
    """Where everything is, by key.

    Attributes:
        bodies: World [m] ← object space [Blender units] of bodies, (4, 4).
        bones: Of bones that move as a whole; those that deform are left out.
    """

    bodies: dict[str, Floats]
    bones: dict[str, RestTransform]


def read_rest_pose(scene_copy: SceneCopy, inputs: Participants, scene: Scene) -> RestPose:
    """Returns where the objects are that `scene` was read of, on a copy of the scene in the rest pose."""
    unit = inputs.unit
    bodies = {key: metres_matrix(scene_copy.matrix(obj), unit) for obj, key in inputs.bodies.items()}
    bones = {
        key: RestTransform.from_matrix(metres_matrix(scene_copy.matrix(obj), unit))
        for obj, key in inputs.bones.items()
        if not deforming_mesh_check.may_deform(obj)
    }
    used = {bone.key for bone in scene.bones}
    for bone in inputs.armature_bones:
        if bone.key in used:
            bones[bone.key] = RestTransform.from_matrix(armature_bones.bone_matrix(scene_copy, bone, unit))
    return RestPose(bodies, bones)
