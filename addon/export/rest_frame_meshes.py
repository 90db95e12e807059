# SPDX-License-Identifier: GPL-3.0-or-later
"""The meshes of objects as they are at the Rest Frame, at Sinew's place in their modifiers."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import BadInput
from ..evaluation.evaluated_mesh import evaluated_mesh, positions, triangles
from ..evaluation.matrix_units import scale_to_metres, transform_points
from ..evaluation.sample_times import rest_frame
from ..evaluation.scene_copy import SceneCopy, input_modifier_counts
from ..objects import roles
from . import validation


def modeled_meshes(
    scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], need_faces: bool = True
) -> list[tuple[Floats, Indices]]:
    """Returns world vertices [m], (n, 3), and triangles, (t, 3), of objects; without `need_faces` also of wires.

    Raises:
        BadInput: One has no faces, or coordinates that are not numbers.
    """
    bodies = set(roles.bodies(scene))
    cuts = input_modifier_counts(
        [obj for obj in objects if obj in bodies], [obj for obj in objects if obj not in bodies]
    )
    found, unit = [], scene.unit_settings.scale_length
    with SceneCopy(scene, cuts) as scene_copy:
        scene_copy.set_frame(rest_frame(scene))
        for obj in objects:
            with evaluated_mesh(scene_copy.evaluated(obj)) as mesh:
                points, faces = positions(mesh), triangles(mesh)
            if need_faces and not len(faces):
                raise BadInput("mesh-empty", name=obj.name)
            validation.check_points(obj.name, points)
            found.append((transform_points(scale_to_metres(scene_copy.matrix(obj), unit), points), faces))
    return found
