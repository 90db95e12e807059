# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders of a scene: what they are in the rest pose, and where they are over time.

A collider that only moves gives matrices. Once its mesh or scale changes, it gives vertices, for earlier moments too;
the matrix then gives only its origin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import BadInput
from ...solver.scene.matrix_interpolation import polar_decomposition
from ...solver.scene.scene import Collider, Scene
from ..blender_data.rna_serialisation import animated_paths
from ..evaluation.evaluated_mesh import evaluated_mesh, positions, triangles
from ..evaluation.matrix_units import scale_translation, transform_points
from ..evaluation.sample_times import SampleTime
from ..evaluation.scene_copy import SceneCopy
from ..objects.rigid_body_settings import counting_rigid_body, friction
from .buffered_track_writer import BufferedTrackWriter
from .collider_teleports import TeleportDetector, box_corners
from .deforming_mesh_check import DEFORMING_PARENTS
from .participants import Participants
from .sampling_context import Sampling
from .settings_to_scene import read_fields
from .validation import check_matrix, check_points, points_differ

STRETCH_TOLERANCE = 2.0e-4  # relative change of scale or shear from which a collider counts as changing its shape


def read_collider(scene_copy: SceneCopy, obj: bpy.types.Object, key: str, unit: float) -> Collider:
    """Returns a collider as it is in the rest pose, in its own space [m].

    Args:
        scene_copy: Evaluated there.
        obj: The collider.
        key: Its name in files.
        unit: Metres in a Blender unit.

    Raises:
        BadInput: The mesh has no faces, coordinates that are not numbers, or no size along an axis.
    """
    evaluated = scene_copy.evaluated(obj)
    settings = evaluated.sinew
    check_matrix(obj.name, scale_translation(scene_copy.matrix(obj), unit))
    points, faces = np.zeros((0, 3)), np.zeros((0, 3), np.int32)
    if settings.collider_shape == "MESH":
        points, faces = _faces(evaluated, obj.name)
    fields, rigid_body = read_fields(Collider, settings, unit), counting_rigid_body(evaluated)
    if rigid_body is not None:
        fields["friction"] = friction(rigid_body)
    return Collider(key=key, name=obj.name, vertices=points * unit, triangles=faces, **fields)


@dataclass
class _ColliderSamples:
    """What was seen of a collider: where it was [s], world [m] ← its space, whether it deforms, and until then the
    corners of its box in its own space [m], (8, 3)."""

    times: list[float] = field(default_factory=list)
    matrices: list[Floats] = field(default_factory=list)
    deforms: bool = False
    box: Floats | None = None

    def is_stretched(self, matrix: Floats) -> bool:
        """Whether it has another scale or shear than at the first moment."""
        usual, now = (polar_decomposition(m[:3, :3])[1] for m in (self.matrices[0], matrix))
        return bool(np.abs(now - usual).max() > STRETCH_TOLERANCE * np.abs(usual).max())


class ColliderSampler:
    """Takes where colliders are, moment by moment; nothing of Blender's data is kept."""

    def __init__(self, scene: Scene, track_writer: BufferedTrackWriter) -> None:
        self._scene, self._track_writer = scene, track_writer
        self._motions = {collider.key: _ColliderSamples() for collider in scene.colliders}
        self._cuts = TeleportDetector(track_writer)

    def sample(self, sampling: Sampling, inputs: Participants) -> None:
        """Adds to the tracks where all colliders are at a moment.

        Raises:
            BadInput: A collider is at no place that is a number, or its number of vertices has changed.
        """
        for obj, collider in self._pairs(inputs):
            if "sinew.use_collision" in animated_paths(obj):
                is_on = float(sampling.evaluated(obj).sinew.use_collision)
                sampling.add(f"collider.{collider.key}.active", is_on, "step")
            matrix, points = _read_at(sampling, obj, collider)
            if collider.shape == "plane":
                sampling.add(_matrix_track(collider), plane_matrix(matrix), "rigid")
            else:
                sampling.add(_matrix_track(collider), matrix, "rigid")
                motion = self._motions[collider.key]
                motion.deforms = motion.deforms or collider.key in inputs.deforming_colliders
                self._add(motion, collider, sampling.moment.time, matrix, points)
            self._cuts.add(collider.key, sampling.moment, self._tracked_points(collider, matrix, points))

    def _pairs(self, inputs: Participants) -> Iterator[tuple[bpy.types.Object, Collider]]:
        """Returns the objects with what was read of them; bodies of earlier passes come after these in the scene."""
        return zip(inputs.colliders, self._scene.colliders, strict=False)

    def halfway_time(self) -> SampleTime | None:
        """Returns a moment before the last one at which `sample_halfway` has something to see, if any."""
        return self._cuts.halfway_time()

    def sample_halfway(self, sampling: Sampling, inputs: Participants) -> None:
        """Looks at the moment half-way how colliders came to where they were last; raises as `sample`."""
        for obj, collider in self._pairs(inputs):
            if collider.key in self._cuts.pending:
                matrix, points = _read_at(sampling, obj, collider)
                self._cuts.add_halfway(collider.key, self._tracked_points(collider, matrix, points))

    def _tracked_points(self, collider: Collider, matrix: Floats, points: Floats) -> Floats:
        """Returns what tells how a collider moves [m], (k, 3), world: its vertices, or the corners of its box."""
        motion = self._motions[collider.key]
        if motion.deforms:
            return transform_points(matrix, points)
        if motion.box is None:
            motion.box = box_corners(collider.vertices)
        return transform_points(matrix, motion.box)

    def _add(self, motion: _ColliderSamples, collider: Collider, time: float, matrix: Floats, points: Floats) -> None:
        name = f"collider.{collider.key}.vertices"
        motion.times.append(time)
        motion.matrices.append(matrix)
        if not motion.deforms:
            motion.deforms = motion.is_stretched(matrix) or points_differ(points, collider.vertices)
            if motion.deforms:
                for before, place in zip(motion.times[:-1], motion.matrices[:-1], strict=True):
                    self._track_writer.add(name, before, transform_points(place, collider.vertices))
        if motion.deforms:
            self._track_writer.add(name, time, transform_points(matrix, points))

    def with_world_vertices(self) -> Scene:
        """Returns the scene, with the colliders that deform as they were in the world at the first moment."""
        return replace(self._scene, colliders=tuple(self._in_world(collider) for collider in self._scene.colliders))

    @property
    def has_deforming(self) -> bool:
        """Whether a collider has deformed so far."""
        return any(motion.deforms for motion in self._motions.values())

    def _in_world(self, collider: Collider) -> Collider:
        motion = self._motions[collider.key]
        if not motion.deforms:
            return collider
        matrix, faces = motion.matrices[0], collider.triangles
        if np.linalg.det(matrix[:3, :3]) < 0:  # mirrored: faces look outwards again when they are turned round
            faces = np.ascontiguousarray(faces[:, ::-1])
        return replace(collider, vertices=transform_points(matrix, collider.vertices), triangles=faces)


def _matrix_track(collider: Collider) -> str:
    return f"collider.{collider.key}.matrix"


def _faces(evaluated: bpy.types.Object, name: str) -> tuple[Floats, Indices]:
    with evaluated_mesh(evaluated) as mesh:
        points, faces = positions(mesh), triangles(mesh)
    if not len(faces):
        raise BadInput("mesh-empty", name=name)
    check_points(name, points)
    return points, faces


def _read_at(sampling: Sampling, obj: bpy.types.Object, collider: Collider) -> tuple[Floats, Floats]:
    """Returns where a collider is at a moment [m], world ← its space, and its vertices there; raises as `sample`."""
    matrix = sampling.world_from_metres(obj)
    if not np.isfinite(matrix).all():
        raise BadInput("collider-not-finite", name=obj.name, frame=sampling.moment.frame)
    if collider.shape == "plane":
        return matrix, collider.vertices
    return matrix, _vertices_at(sampling, obj, collider)


def _vertices_at(sampling: Sampling, obj: bpy.types.Object, collider: Collider) -> Floats:
    """Returns the vertices of a collider at a moment in its own space [m], (n, 3)."""
    if not (obj.modifiers or obj.data.shape_keys or obj.parent_type in DEFORMING_PARENTS):
        return collider.vertices
    with evaluated_mesh(sampling.evaluated(obj)) as mesh:
        points = positions(mesh) * sampling.unit
    first, now, frame = len(collider.vertices), len(points), sampling.moment.frame
    if first != now:
        raise BadInput("collider-vertices-change", name=obj.name, first=first, now=now, frame=frame)
    if not np.isfinite(points).all():
        raise BadInput("collider-not-finite", name=obj.name, frame=frame)
    return points


def plane_matrix(matrix: Floats) -> Floats:
    """Returns a rigid matrix (4, 4) with the origin and the normal of a plane that may be scaled and sheared."""
    if abs(np.linalg.det(matrix[:3, :3])) < 1e-300:
        return matrix
    normal = np.linalg.inv(matrix[:3, :3])[2]
    z = normal / np.linalg.norm(normal)
    x = matrix[:3, 0] - z * (z @ matrix[:3, 0])
    x /= np.linalg.norm(x)
    rigid = np.eye(4)
    rigid[:3, :3], rigid[:3, 3] = np.column_stack([x, np.cross(z, x), z]), matrix[:3, 3]
    return rigid
