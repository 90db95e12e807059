# SPDX-License-Identifier: GPL-3.0-or-later
"""Where everything is in the rest pose, kept while frames are read: arrays alone, none of Blender's data."""

from __future__ import annotations

from dataclasses import dataclass

from ...solver.arrays import Floats
from ...solver.scene import Scene
from . import armature_bones, bone_shape
from .input_bones import RestPlace
from .input_mesh import in_metres
from .input_stage import Stage
from .inputs import Inputs


@dataclass(frozen=True)
class RestPose:
    """Where everything is, by key.

    Attributes:
        bodies: World [m] ← object space [Blender units] of bodies, (4, 4).
        bones: Of bones that move as a whole; those that deform are left out.
    """

    bodies: dict[str, Floats]
    bones: dict[str, RestPlace]


def rest_pose(stage: Stage, inputs: Inputs, scene: Scene) -> RestPose:
    """Returns where the objects are that `scene` was read of, on a stage in the rest pose."""
    unit = inputs.unit
    bodies = {key: in_metres(stage.matrix(obj), unit) for obj, key in inputs.bodies.items()}
    bones = {
        key: RestPlace.of(in_metres(stage.matrix(obj), unit))
        for obj, key in inputs.bones.items()
        if not bone_shape.deforms(obj)
    }
    used = {bone.key for bone in scene.bones}
    for bone in inputs.armature_bones:
        if bone.key in used:
            bones[bone.key] = RestPlace.of(armature_bones.place(stage, bone, unit))
    return RestPose(bodies, bones)
