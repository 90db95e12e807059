# SPDX-License-Identifier: GPL-3.0-or-later
"""From where an object has to be to the values of its properties that bring it there.

Blender has, with P of the parent, the delta transform d and the own transform of location l, rotation R and scale s:

    world = P · T(l + l_d) · R_d · R · diag(s s_d)

and constraints after it. The motion is in the delta transform, so the artist's location, rotation and scale stay what
they are, keyed or not. What has no delta in Blender, a rotation by axis and angle, is set itself. Constraints get an
influence of 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion

from ...solver.runtime.arrays import Floats
from ..blender_data import motion_track
from ..blender_data.motion_track import MotionChannel
from ..blender_data.rna_serialisation import animated_paths
from ..evaluation.scene_copy import SceneCopy

TRANSFORM_PATHS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")
DELTA_PATHS = ("delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale")
MAX_SHEAR = 1.0e-5  # of what is left of a rotation, beyond which an object would be sheared
SAME_SCALE = 1.0e-6


def motion_channels(
    scene: bpy.types.Scene, wanted: Mapping[bpy.types.Object, tuple[Floats, Floats]]
) -> dict[bpy.types.Object, list[MotionChannel] | None]:
    """Returns what brings objects to where they have to be; None for one that would have to be sheared.

    Args:
        scene: The scene. Baked motion of others plays, such as of parents.
        wanted: Frames of the timeline, (k,), and world ← object space there [Blender units], (k, 4, 4), of each.
    """
    values = {obj: _Collected(obj, *wanted[obj]) for obj in wanted}
    with SceneCopy(scene, dict.fromkeys(wanted, 0), plays_motion=True) as scene_copy:
        for obj in wanted:
            copy = scene_copy.copy_of(obj)
            copy.constraints.clear()
            motion_track.remove_from_copy(copy)
        for frame in sorted({frame for each in values.values() for frame in each.frames_to_evaluate}):
            scene_copy.set_frame(int(np.floor(frame)), frame - np.floor(frame))
            for obj, each in values.items():
                each.add(scene_copy.evaluated(obj), frame)
    return {obj: each.channels() for obj, each in values.items()}


def driven_paths(obj: bpy.types.Object) -> set[str]:
    """Returns the data paths that motion would set, and that a driver sets, which acts after it."""
    data = obj.animation_data
    driven = {driver.data_path for driver in data.drivers} if data is not None else set()
    own = {*DELTA_PATHS, *(_influence_path(each) for each in obj.constraints)}
    if obj.rotation_mode == "AXIS_ANGLE":
        own.add("rotation_axis_angle")
    return driven & own


def _influence_path(constraint: bpy.types.Constraint) -> str:
    return f'constraints["{bpy.utils.escape_identifier(constraint.name)}"].influence'


@dataclass(frozen=True)
class _OwnTransform:
    """The transform of an evaluated object without its delta.

    Attributes:
        local_from_world: Inverse of P, (4, 4).
        location, rotation, scale: l, R and s, (3,), (3, 3) and (3,).
        signs: Of the scale with its delta, (3,).
    """

    local_from_world: Floats
    location: Floats
    rotation: Floats
    scale: Floats
    signs: Floats

    @staticmethod
    def of(evaluated: bpy.types.Object) -> _OwnTransform:
        """Returns that of an object."""
        scale = np.array(evaluated.scale, np.float64)
        parent = np.array(evaluated.matrix_world, np.float64) @ np.linalg.pinv(np.array(evaluated.matrix_basis))
        return _OwnTransform(
            np.linalg.pinv(parent),
            np.array(evaluated.location, np.float64),
            np.array(_own_rotation(evaluated), np.float64),
            scale,
            np.where(scale * np.array(evaluated.delta_scale) < 0.0, -1.0, 1.0),
        )


class _Collected:
    """The values of one object, frame by frame."""

    def __init__(self, obj: bpy.types.Object, frames: Floats, matrices: Floats) -> None:
        self._obj, self._mode = obj, obj.rotation_mode
        self._wanted = {float(frame): matrix for frame, matrix in zip(frames, matrices, strict=True)}
        self._is_still = obj.parent is None and not animated_paths(obj) & {*TRANSFORM_PATHS, *DELTA_PATHS}
        self._locations: list[Floats] = []
        self._rotations: list[list[float]] = []
        self._scales: list[Floats] = []
        self._before: Euler | Quaternion | None = None
        self._is_sheared = False

    @property
    def frames_to_evaluate(self) -> list[float]:
        """The frames at which the object has to be evaluated: one of them where it stands still."""
        return [*self._wanted][:1] if self._is_still else [*self._wanted]

    def add(self, evaluated: bpy.types.Object, frame: float) -> None:
        """Adds a frame, at which the object was evaluated without constraints and without its own motion."""
        matrix = self._wanted.get(frame)
        if matrix is None or (self._is_still and self._locations):
            return
        own = _OwnTransform.of(evaluated)
        for wanted in self._wanted.values() if self._is_still else [matrix]:
            self._add_matrix(own, wanted)

    def _add_matrix(self, own: _OwnTransform, matrix: Floats) -> None:
        local = own.local_from_world @ matrix
        sizes = np.linalg.norm(local[:3, :3], axis=0)
        turn = local[:3, :3] / np.where(sizes > 0.0, sizes, 1.0) * own.signs
        is_rotation = np.abs(turn.T @ turn - np.eye(3)).max() <= MAX_SHEAR and np.linalg.det(turn) > 0.0
        self._is_sheared = self._is_sheared or not is_rotation
        self._locations.append(local[:3, 3] - own.location)
        self._scales.append(
            np.where(own.scale != 0.0, own.signs * sizes / np.where(own.scale != 0.0, own.scale, 1.0), 1.0)
        )
        self._add_rotation(turn, own.rotation)

    def _add_rotation(self, turn: Floats, own: Floats) -> None:
        matrix = Matrix(turn) if self._mode == "AXIS_ANGLE" else Matrix(turn @ own.T)
        if self._mode in {"QUATERNION", "AXIS_ANGLE"}:
            quaternion = matrix.to_quaternion()
            if self._before is not None:
                quaternion.make_compatible(self._before)
            self._before = quaternion
            axis, angle = quaternion.to_axis_angle()
            self._rotations.append([*quaternion] if self._mode == "QUATERNION" else [angle, *axis])
        else:
            euler = matrix.to_euler(self._mode) if self._before is None else matrix.to_euler(self._mode, self._before)
            self._before = euler
            self._rotations.append([*euler])

    def channels(self) -> list[MotionChannel] | None:
        """Returns the values of all frames."""
        if self._is_sheared:
            return None
        name = {"QUATERNION": "delta_rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
        found = [
            MotionChannel("delta_location", np.array(self._locations)),
            MotionChannel(name.get(self._mode, "delta_rotation_euler"), np.array(self._rotations)),
        ]
        scales = np.array(self._scales)
        if np.abs(scales - scales[0]).max() > SAME_SCALE or np.abs(scales[0] - self._rest_scale()).max() > SAME_SCALE:
            found.append(MotionChannel("delta_scale", scales))
        return [*found, *self._influences(len(scales))]

    def _rest_scale(self) -> Floats:
        return np.array(motion_track.unmoved_values(self._obj).get("delta_scale", self._obj.delta_scale[:]), np.float64)

    def _influences(self, count: int) -> Iterator[MotionChannel]:
        for constraint in self._obj.constraints:
            if not constraint.mute:
                yield MotionChannel(_influence_path(constraint), np.zeros((count, 1)))


def _own_rotation(evaluated: bpy.types.Object) -> Matrix:
    """Returns the rotation of an object without its delta, (3, 3)."""
    if evaluated.rotation_mode == "QUATERNION":
        return evaluated.rotation_quaternion.normalized().to_matrix()
    if evaluated.rotation_mode == "AXIS_ANGLE":
        angle, *axis = evaluated.rotation_axis_angle
        return Matrix.Rotation(angle, 3, axis)
    return evaluated.rotation_euler.to_matrix()
