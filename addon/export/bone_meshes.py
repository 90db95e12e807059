# SPDX-License-Identifier: GPL-3.0-or-later
"""Bone meshes of a scene: what they are in the rest pose, and where they are over time.

A mesh that only its object moves gives a matrix; one that a modifier or shape keys may deform gives its vertices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ...solver.scene.attachment import NOTHING
from ...solver.scene.flesh import Bone
from ..evaluation.evaluated_mesh import evaluated_mesh, positions, triangles
from ..evaluation.matrix_units import scale_to_metres, transform_points
from ..evaluation.scene_copy import SceneCopy
from ..objects import roles
from ..objects.attachment_rows import (
    attachment_owners,
    attachment_targets,
    counting_rows,
    has_edges,
    is_about,
    is_attached_to_all_bones,
    row_about_bone,
)
from ..objects.flesh_supports import may_hold
from . import validation
from .sampling_context import Sampling
from .settings_to_scene import read_fields
from .weight_reader import WeightReader


@dataclass(frozen=True)
class RestTransform:
    """World [m] ← the space of a bone [Blender units] in the rest pose, and the other way round, (4, 4) each."""

    matrix: Floats
    inverse: Floats

    @staticmethod
    def from_matrix(matrix: Floats) -> RestTransform:
        """Returns the place that a matrix says."""
        return RestTransform(matrix, np.linalg.inv(matrix))

    def motion_to(self, now: Floats) -> Floats:
        """Returns world now ← world in the rest pose, (4, 4): the unit matrix where nothing has moved."""
        return np.eye(4) if np.array_equal(now, self.matrix) else now @ self.inverse


def bones_that_hold(scene: bpy.types.Scene, bodies: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns the bone meshes that may hold any of these bodies, or that rows of their attachments are about."""
    every = list(bodies)
    flesh = [obj for obj in every if roles.is_flesh(obj)]
    named = {target for obj in every for target in attachment_targets(obj)}
    to_all = [obj for obj in every if is_attached_to_all_bones(obj)]
    return [
        bone
        for bone in roles.bones(scene)
        if bone in named
        or any(may_hold(bone, obj) for obj in flesh)
        or any(bone.sinew.bone_body in (None, obj) for obj in to_all)
    ]


def read_bone(
    scene_copy: SceneCopy, obj: bpy.types.Object, key: str, unit: float, bodies: Mapping[bpy.types.Object, str]
) -> Bone:
    """Returns a bone mesh as it is in the rest pose.

    Args:
        scene_copy: Evaluated there.
        obj: The bone.
        key: Its name in files.
        unit: Metres in a Blender unit.
        bodies: The bodies with their keys.

    Raises:
        BadInput: The mesh has no faces, or coordinates that are not numbers, or its mask is not there.
    """
    evaluated = scene_copy.evaluated(obj)
    settings = obj.sinew
    matrix = scale_to_metres(scene_copy.matrix(obj), unit)
    validation.check_matrix(obj.name, matrix)
    with evaluated_mesh(evaluated) as mesh:
        points, faces = positions(mesh), triangles(mesh)
        fields = read_fields(Bone, settings, unit, WeightReader(obj, evaluated, mesh))
    if not len(faces):
        raise BadInput("mesh-empty", name=obj.name)
    validation.check_points(obj.name, points)
    if np.linalg.det(matrix[:3, :3]) < 0:  # mirrored: faces look outwards again when they are turned round
        faces = faces[:, ::-1]
    return Bone(
        key=key,
        name=obj.name,
        vertices=transform_points(matrix, points),
        triangles=np.ascontiguousarray(faces),
        bodies=_bodies_of(obj, bodies) if settings.bone_body is not None else _bodies_without_others(obj, bodies),
        **fields,
    )


def _bodies_of(bone: bpy.types.Object, bodies: Mapping[bpy.types.Object, str]) -> tuple[str, ...]:
    """Returns the keys of the bodies of a bone that is of one body only: that one, and those that name the bone."""
    only = bone.sinew.bone_body
    own = tuple(key for obj, key in bodies.items() if (obj == only and roles.is_flesh(obj)) or _names(obj, bone))
    # of these alone, none: a Wrap is tied to it; where edges alone end on it, it holds nobody
    return own or tuple(key for obj, key in bodies.items() if _owners_name(obj, bone)) or (NOTHING,)


def _bodies_without_others(bone: bpy.types.Object, bodies: Mapping[bpy.types.Object, str]) -> tuple[str, ...]:
    """Returns the keys of the bodies that a bone may hold or link, () for all: some flesh has no row about it."""
    without = {
        obj for obj in bodies if roles.is_flesh(obj) and obj.sinew.bones_are_rows and not row_about_bone(obj, bone)
    }
    if not without:
        return ()
    return tuple(key for obj, key in bodies.items() if obj not in without) or (NOTHING,)


def _names(obj: bpy.types.Object, bone: bpy.types.Object) -> bool:
    return any(is_about(row, bone) and not has_edges(row) for _, row in counting_rows(obj, obj.sinew))


def _owners_name(obj: bpy.types.Object, bone: bpy.types.Object) -> bool:
    """Whether rows without edges of a body or its Wrap are about a bone mesh."""
    return any(_names(owner, bone) for owner, _ in attachment_owners(obj))


def sample_bone(sampling: Sampling, obj: bpy.types.Object, bone: Bone, rest: RestTransform | None) -> None:
    """Adds to the tracks where a bone is at a moment.

    Args:
        sampling: The moment.
        obj: The bone.
        bone: What was read of it.
        rest: Where it was in the rest pose; None: it deforms.

    Raises:
        BadInput: Its number of vertices changed, or a coordinate is not a number.
    """
    matrix = sampling.world_from_units(obj)
    validation.check_matrix(obj.name, matrix)
    if rest is not None:
        sampling.add(f"bone.{bone.key}.matrix", rest.motion_to(matrix), "rigid")
        return
    with evaluated_mesh(sampling.evaluated(obj)) as mesh:
        points = positions(mesh)
    if len(points) != len(bone.vertices):
        first, now, frame = len(bone.vertices), len(points), sampling.moment.frame
        raise BadInput("bone-vertices-change", name=obj.name, frame=frame, first=first, now=now)
    validation.check_points(obj.name, points)
    sampling.add(f"bone.{bone.key}.vertices", transform_points(matrix, points))
