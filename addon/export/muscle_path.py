# SPDX-License-Identifier: GPL-3.0-or-later
"""The path of a muscle over time: from its origin through its via points to its insertion.

Each end is the middle of its vertices and moves as what holds it: pinned vertices as the animated mesh, others with the
armature bone that has the largest weight there, or with the nearest bone mesh. An end that nothing holds moves as the
animated mesh does.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ...solver.runtime.arrays import Bools, Floats, Indices
from ...solver.runtime.errors import BadInput
from ...solver.scene.muscle import END_WEIGHT
from ..evaluation.evaluated_mesh import evaluated_mesh, positions, triangles
from ..evaluation.matrix_units import scale_to_metres, transform_points
from ..evaluation.scene_copy import SceneCopy
from ..evaluation.vertex_weights import weights
from ..objects.flesh_supports import may_hold
from .activation_inputs import via_objects
from .armature_bones import bone_matrix, bone_weights
from .deforming_mesh_check import may_deform
from .participants import Participants
from .validation import check_points
from .weight_reader import WeightReader

FOLLOWED_VERTICES = 12  # of a bone mesh that deforms, the nearest ones to the end


@dataclass(frozen=True)
class PathEnd:
    """An end of a path and what it follows.

    Attributes:
        bone: The key of the bone that holds it; "": the animated mesh of the muscle.
        local: The end in the space of a bone that moves as a whole [Blender units], (3,); None: it follows vertices.
        vertices: Which ones of the mesh, (k,).
        offset: From their middle to the end in the rest pose [m], (3,).
    """

    bone: str
    local: Floats | None
    vertices: Indices
    offset: Floats


@dataclass(frozen=True)
class MusclePath:
    """The path of a muscle: its origin and its insertion."""

    origin: PathEnd
    insertion: PathEnd

    def points(self, scene_copy: SceneCopy, obj: bpy.types.Object, inputs: Participants) -> Floats:
        """Returns the points of the path [m], world, at the moment of the scene's copy, (n, 3).

        Raises:
            BadInput: A mesh has lost vertices, or a coordinate is not a number.
        """
        between = [np.array(scene_copy.matrix(each).translation) * inputs.unit for each in via_objects(obj)]
        ends = [_position(end, scene_copy, obj, inputs) for end in (self.origin, self.insertion)]
        found = np.array([ends[0], *between, ends[1]])
        check_points(obj.name, found)
        return found


def find_muscle_path(scene_copy: SceneCopy, obj: bpy.types.Object, inputs: Participants) -> MusclePath:
    """Returns the path of a muscle, found in the rest pose, in which the scene's copy is.

    Raises:
        BadInput: An end has no vertices.
    """
    evaluated = scene_copy.evaluated(obj)
    with evaluated_mesh(evaluated) as mesh:
        points = transform_points(scale_to_metres(scene_copy.matrix(obj), inputs.unit), positions(mesh))
        groups = WeightReader(obj, evaluated, mesh)
        ends = {name: groups.weights_of(f"{name}_group") > END_WEIGHT for name in ("origin", "insertion")}
        is_pinned = _pinned_vertices(evaluated, mesh, obj)
    for name, is_end in ends.items():
        if not is_end.any():
            raise BadInput("muscle-end-missing", name=obj.name, end=name)
    made = [_find_end(scene_copy, obj, inputs, points, (is_end, is_pinned)) for is_end in ends.values()]
    return MusclePath(*made)


def _pinned_vertices(evaluated: bpy.types.Object, mesh: bpy.types.Mesh, obj: bpy.types.Object) -> Bools:
    """Returns which vertices follow the animated mesh: those of the Pin Group, and those outside Simulated Group."""
    settings, found = obj.sinew, np.zeros(len(mesh.vertices), np.bool_)
    if settings.pin_group:
        found |= weights(evaluated, mesh, settings.pin_group, obj.name, "Pin Group") > 0.0
    if settings.affect_group:
        found |= weights(evaluated, mesh, settings.affect_group, obj.name, "Simulated Group") < 1.0
    return found


def _find_end(
    scene_copy: SceneCopy,
    obj: bpy.types.Object,
    inputs: Participants,
    points: Floats,
    masks: tuple[Bools, Bools],
) -> PathEnd:
    """Returns an end at the vertices of a mask that follows what holds them; `points` are all vertices [m], world."""
    is_end, is_pinned = masks
    mine = np.flatnonzero(is_end & is_pinned)
    if len(mine):
        return PathEnd("", None, mine.astype(np.int32), np.zeros(3))
    middle = points[is_end].mean(axis=0)
    return (
        _armature_end(scene_copy, obj, inputs, is_end, middle)
        or _bone_mesh_end(scene_copy, obj, inputs, middle)
        or PathEnd("", None, np.flatnonzero(is_end).astype(np.int32), np.zeros(3))
    )


def _armature_end(
    scene_copy: SceneCopy, obj: bpy.types.Object, inputs: Participants, is_end: Bools, middle: Floats
) -> PathEnd | None:
    """Returns an end that moves with the armature bone of the largest weight; None where no bone has any."""
    holding = [bone for bone in inputs.armature_bones if bone.body == obj]
    if not holding:
        return None
    painted = bone_weights(scene_copy, obj, holding)[:, is_end].sum(axis=1)
    if not painted.any():
        return None
    bone = holding[int(painted.argmax())]
    return _rigid_end(bone.key, bone_matrix(scene_copy, bone, inputs.unit), middle)


def _bone_mesh_end(
    scene_copy: SceneCopy, obj: bpy.types.Object, inputs: Participants, middle: Floats
) -> PathEnd | None:
    """Returns an end that moves with the nearest bone mesh; None where none holds the muscle."""
    nearest, bone = np.inf, None
    for other in inputs.bones:
        if not may_hold(other, obj):
            continue
        points, faces = _bone_mesh(scene_copy, other, inputs.unit)
        distance = BVHTree.FromPolygons(points.tolist(), faces.tolist()).find_nearest(Vector(middle))[3]
        if distance is not None and distance < nearest:
            nearest, bone = distance, other
    if bone is None:
        return None
    if not may_deform(bone):
        return _rigid_end(inputs.bones[bone], scale_to_metres(scene_copy.matrix(bone), inputs.unit), middle)
    points, _ = _bone_mesh(scene_copy, bone, inputs.unit)
    order = np.argsort(np.linalg.norm(points - middle, axis=1), kind="stable")[:FOLLOWED_VERTICES]
    return PathEnd(inputs.bones[bone], None, order.astype(np.int32), middle - points[order].mean(axis=0))


def _rigid_end(key: str, matrix: Floats, middle: Floats) -> PathEnd:
    local = np.linalg.inv(matrix) @ np.append(middle, 1.0)
    return PathEnd(key, local[:3], np.zeros(0, np.int32), np.zeros(3))


def _position(end: PathEnd, scene_copy: SceneCopy, obj: bpy.types.Object, inputs: Participants) -> Floats:
    """Returns where an end is [m], world, (3,)."""
    followed = next((bone for bone, key in inputs.bones.items() if key == end.bone), obj)
    if end.local is not None:
        held = next((bone for bone in inputs.armature_bones if bone.key == end.bone), None)
        if held is not None:
            matrix = bone_matrix(scene_copy, held, inputs.unit)
        else:
            matrix = scale_to_metres(scene_copy.matrix(followed), inputs.unit)
        return transform_points(matrix, end.local[None])[0]
    points, _ = _bone_mesh(scene_copy, followed, inputs.unit)
    if end.vertices.max() >= len(points):
        raise BadInput("path-vertices-gone", name=obj.name, other=followed.name)
    return points[end.vertices].mean(axis=0) + end.offset


def _bone_mesh(scene_copy: SceneCopy, obj: bpy.types.Object, unit: float) -> tuple[Floats, Indices]:
    """Returns the vertices [m], world, (n, 3), and triangles of an evaluated mesh."""
    with evaluated_mesh(scene_copy.evaluated(obj)) as mesh:
        return transform_points(scale_to_metres(scene_copy.matrix(obj), unit), positions(mesh)), triangles(mesh)
