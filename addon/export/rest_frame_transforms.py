# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the transforms of all objects at the Rest Frame, as arrays without references to Blender's data."""

from __future__ import annotations

from dataclasses import dataclass

from ...solver.runtime.arrays import Floats
from ...solver.scene.scene import Scene
from ..evaluation.matrix_units import scale_to_metres
from ..evaluation.scene_copy import SceneCopy
from . import armature_bones, deforming_mesh_check
from .bone_meshes import RestTransform
from .joints import carrier_transforms
from .participants import Participants


@dataclass(frozen=True)
class RestFrameTransforms:
    """The transforms at the Rest Frame, by key.

    Attributes:
        bodies: World [m] ← object space [Blender units] of bodies, (4, 4).
        bones: Of bones that move as a whole; those that deform are left out.
        carriers: Of what ends of joints that are no bodies move with, by the keys of the joints.
    """

    bodies: dict[str, Floats]
    bones: dict[str, RestTransform]
    carriers: dict[str, RestTransform]


def read_rest_frame_transforms(scene_copy: SceneCopy, inputs: Participants, scene: Scene) -> RestFrameTransforms:
    """Returns the transforms of the objects of `scene`, from a copy of the scene at the Rest Frame."""
    unit = inputs.unit
    bodies = {key: scale_to_metres(scene_copy.matrix(obj), unit) for obj, key in inputs.bodies.items()}
    bones = {
        key: RestTransform.from_matrix(scale_to_metres(scene_copy.matrix(obj), unit))
        for obj, key in inputs.bones.items()
        if not deforming_mesh_check.may_deform(obj)
    }
    used = {bone.key for bone in scene.bones}
    for bone in inputs.armature_bones:
        if bone.key in used:
            bones[bone.key] = RestTransform.from_matrix(armature_bones.bone_matrix(scene_copy, bone, unit))
    return RestFrameTransforms(bodies, bones, carrier_transforms(scene_copy, inputs.joints, unit))
