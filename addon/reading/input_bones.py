# SPDX-License-Identifier: GPL-3.0-or-later
"""Bone meshes of a scene: what they are in the rest pose, and where they are over time.

A mesh that only its object moves gives a matrix; one that a modifier or shape keys may deform gives its vertices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import bpy
import numpy as np

from ...solver.anatomy import Bone
from ...solver.arrays import Floats
from ...solver.errors import BadInput
from .. import roles
from . import input_checks
from .input_mesh import in_metres, mesh_of, positions, to_world, triangles, weights
from .input_stage import Stage
from .moments import Moment
from .track_recorder import TrackRecorder


@dataclass(frozen=True)
class RestPlace:
    """World [m] ← the space of a bone [Blender units] in the rest pose, and the other way round, (4, 4) each."""

    matrix: Floats
    inverse: Floats

    @staticmethod
    def of(matrix: Floats) -> RestPlace:
        """Returns the place that a matrix says."""
        return RestPlace(matrix, np.linalg.inv(matrix))

    def moved(self, now: Floats) -> Floats:
        """Returns world now ← world in the rest pose, (4, 4): the unit matrix where nothing has moved."""
        return np.eye(4) if np.array_equal(now, self.matrix) else now @ self.inverse


def bones_of(scene: bpy.types.Scene, bodies: Mapping[bpy.types.Object, str]) -> list[bpy.types.Object]:
    """Returns the bone meshes that hold some of these bodies."""
    held = {obj for obj in bodies if roles.is_flesh(obj)}
    return [o for o in roles.bones(scene) if held and (o.sinew.bone_body is None or o.sinew.bone_body in held)]


def read_bone(
    stage: Stage, obj: bpy.types.Object, key: str, unit: float, bodies: Mapping[bpy.types.Object, str]
) -> Bone:
    """Returns a bone mesh as it is in the rest pose.

    Args:
        stage: Evaluated there.
        obj: The bone.
        key: Its name in files.
        unit: Metres in a Blender unit.
        bodies: The bodies with their keys.

    Raises:
        BadInput: The mesh has no faces, or coordinates that are not numbers, or its mask is not there.
    """
    evaluated = stage.evaluated(obj)
    own = obj.sinew
    matrix = in_metres(stage.matrix(obj), unit)
    input_checks.check_matrix(obj.name, matrix)
    mask = np.zeros(0)
    with mesh_of(evaluated) as mesh:
        points, faces = positions(mesh), triangles(mesh)
        if own.bone_mask_group:
            label = own.bl_rna.properties["bone_mask_group"].name
            mask = weights(evaluated, mesh, own.bone_mask_group, obj.name, label)
            if not mask.any():
                raise BadInput("group-empty", name=obj.name, group=own.bone_mask_group, field=label)
    if not len(faces):
        raise BadInput("mesh-empty", name=obj.name)
    input_checks.check_points(obj.name, points)
    if np.linalg.det(matrix[:3, :3]) < 0:  # mirrored: faces look outwards again when they are turned round
        faces = faces[:, ::-1]
    return Bone(
        key=key,
        name=obj.name,
        vertices=to_world(matrix, points),
        triangles=np.ascontiguousarray(faces),
        distance=own.bone_distance * unit,
        stiffness=own.bone_stiffness if own.use_bone_spring else None,
        bodies=() if own.bone_body is None else (bodies[own.bone_body],),
        mask=mask,
    )


def sample_bone(
    stage: Stage,
    obj: bpy.types.Object,
    bone: Bone,
    rest: RestPlace | None,
    moment: Moment,
    to: TrackRecorder,
    unit: float,
) -> None:
    """Adds to the tracks where a bone is at a moment.

    Args:
        stage: Evaluated then.
        obj: The bone.
        bone: What was read of it.
        rest: Where it was in the rest pose; None: it deforms.
        moment: Which one.
        to: Where tracks are written.
        unit: Metres in a Blender unit.

    Raises:
        BadInput: Its number of vertices changed, or a coordinate is not a number.
    """
    matrix = in_metres(stage.matrix(obj), unit)
    input_checks.check_matrix(obj.name, matrix)
    if rest is not None:
        to.add(f"bone.{bone.key}.matrix", moment.time, rest.moved(matrix), "rigid")
        return
    with mesh_of(stage.evaluated(obj)) as mesh:
        points = positions(mesh)
    if len(points) != len(bone.vertices):
        raise BadInput(
            "bone-vertices-change", name=obj.name, frame=moment.frame, first=len(bone.vertices), now=len(points)
        )
    input_checks.check_points(obj.name, points)
    to.add(f"bone.{bone.key}.vertices", moment.time, to_world(matrix, points))
