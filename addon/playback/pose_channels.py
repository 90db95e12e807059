# SPDX-License-Identifier: GPL-3.0-or-later
"""From where bones have to be to the values of their channels.

With M of a bone and of its parent in the space of the armature, Blender's `convert_local_to_pose` has M = F(M of the
parent) basis, which it can invert itself, with all kinds of inherited rotation and scale. What no body drives keeps its
own channels. Constraints of driven bones, and IK that would move these, get an influence of 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion

from ...solver.runtime.arrays import Floats
from ..blender_data import motion_track
from ..blender_data.motion_track import MotionChannel
from ..evaluation.scene_copy import SceneCopy

ROTATION_NAMES = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
SAME_SCALE = 1.0e-5


@dataclass
class _BoneValues:
    """The values of the channels of one bone, frame by frame."""

    mode: str
    locations: list[list[float]] = field(default_factory=list)
    rotations: list[list[float]] = field(default_factory=list)
    scales: list[list[float]] = field(default_factory=list)
    before: Euler | Quaternion | None = None

    def add(self, basis: Matrix) -> None:
        """Adds a frame."""
        location, quaternion, scale = basis.decompose()
        self.locations.append([*location])
        self.scales.append([*scale])
        if self.mode in ROTATION_NAMES:
            if self.before is not None:
                quaternion.make_compatible(self.before)
            self.before = quaternion
            axis, angle = quaternion.to_axis_angle()
            self.rotations.append([*quaternion] if self.mode == "QUATERNION" else [angle, *axis])
            return
        matrix = quaternion.to_matrix()
        euler = matrix.to_euler(self.mode) if self.before is None else matrix.to_euler(self.mode, self.before)
        self.before = euler
        self.rotations.append([*euler])

    def channels(self, path: str, scale: Floats) -> Iterator[MotionChannel]:
        """Yields the channels of the bone at a data path, whose scale without motion is `scale`, (3,)."""
        yield MotionChannel(f"{path}.location", np.array(self.locations))
        yield MotionChannel(f"{path}.{ROTATION_NAMES.get(self.mode, 'rotation_euler')}", np.array(self.rotations))
        if np.abs(np.array(self.scales) - scale).max() > SAME_SCALE:
            yield MotionChannel(f"{path}.scale", np.array(self.scales))


def bone_offsets(scene: bpy.types.Scene, drivers: Mapping[str, bpy.types.Object], frame: float) -> dict[str, Floats]:
    """Returns, by bone, the space of the bone ← that of the object of the body that drives it, (4, 4)."""
    found = {}
    with SceneCopy(scene, dict.fromkeys(drivers.values(), 0)) as scene_copy:
        scene_copy.set_frame(int(np.floor(frame)), frame - np.floor(frame))
        for bone, obj in drivers.items():
            rig = obj.parent.evaluated_get(scene_copy.depsgraph)
            posed = np.array(rig.matrix_world @ rig.pose.bones[bone].matrix, np.float64)
            found[bone] = np.linalg.inv(posed) @ np.array(scene_copy.matrix(obj), np.float64)
    return found


def pose_channels(
    scene: bpy.types.Scene, rig: bpy.types.Object, frames: Floats, wanted: Mapping[str, Floats]
) -> list[MotionChannel]:
    """Returns what brings bones of an armature to where they have to be.

    Args:
        scene: The scene. Baked motion of others plays, such as of what the armature is a child of.
        rig: The armature.
        frames: Of the timeline, (k,).
        wanted: World ← bone there [Blender units], (k, 4, 4), by the names of the bones.
    """
    values = {bone.name: _BoneValues(bone.rotation_mode) for bone in rig.pose.bones if bone.name in wanted}
    with SceneCopy(scene, {rig: None}, plays_motion=True) as scene_copy:
        motion_track.remove_from_copy(scene_copy.copy_of(rig))
        for number, frame in enumerate(frames):
            scene_copy.set_frame(int(np.floor(frame)), frame - np.floor(frame))
            evaluated = scene_copy.evaluated(rig)
            inverse = np.linalg.inv(np.array(evaluated.matrix_world, np.float64))
            placed = dict[str, Matrix]()
            for posed in _parents_first(evaluated):
                if posed.name in wanted:
                    placed[posed.name] = Matrix(inverse @ wanted[posed.name][number])
                    values[posed.name].add(_basis(posed, placed[posed.name], placed))
                elif posed.parent is not None and posed.parent.name in placed:
                    placed[posed.name] = _follow(posed, placed[posed.parent.name])
    unmoved, channels = motion_track.unmoved_values(rig), list[MotionChannel]()
    for name, found in values.items():
        path = f'pose.bones["{bpy.utils.escape_identifier(name)}"]'
        scale = np.array(unmoved.get(f"{path}.scale", rig.pose.bones[name].scale[:]), np.float64)
        channels += found.channels(path, scale)
    return [*channels, *_influences(rig, wanted, len(frames))]


def _parents_first(rig: bpy.types.Object) -> Iterator[bpy.types.PoseBone]:
    waiting = [bone for bone in rig.pose.bones if bone.parent is None]
    while waiting:
        bone = waiting.pop(0)
        yield bone
        waiting += bone.children


def _basis(posed: bpy.types.PoseBone, matrix: Matrix, placed: Mapping[str, Matrix]) -> Matrix:
    """Returns what the channels of a bone have to make, where its parent is as placed, or as it is animated."""
    bone, above = posed.bone, {}
    if posed.parent is not None:
        parent = placed.get(posed.parent.name, posed.parent.matrix)
        above = {"parent_matrix": parent, "parent_matrix_local": posed.parent.bone.matrix_local}
    return bone.convert_local_to_pose(matrix, bone.matrix_local, invert=True, **above)


def _follow(posed: bpy.types.PoseBone, parent: Matrix) -> Matrix:
    """Returns where a bone that nothing drives is, which keeps its channels below a parent at a place."""
    bone = posed.bone
    return bone.convert_local_to_pose(
        posed.matrix_basis, bone.matrix_local, parent_matrix=parent, parent_matrix_local=posed.parent.bone.matrix_local
    )


def _influences(rig: bpy.types.Object, wanted: Mapping[str, Floats], count: int) -> Iterator[MotionChannel]:
    """Yields influences of 0 of what would move driven bones."""
    for posed in rig.pose.bones:
        for constraint in posed.constraints:
            if not constraint.mute and (posed.name in wanted or _chain(posed, constraint) & {*wanted}):
                bone, name = (bpy.utils.escape_identifier(each) for each in (posed.name, constraint.name))
                yield MotionChannel(f'pose.bones["{bone}"].constraints["{name}"].influence', np.zeros((count, 1)))


def _chain(posed: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> set[str]:
    """Returns the names of the bones that an IK constraint moves; of others none."""
    if constraint.type not in {"IK", "SPLINE_IK"}:
        return set()
    bones = [posed, *posed.parent_recursive]
    return {bone.name for bone in (bones[: constraint.chain_count] if constraint.chain_count else bones)}
