# SPDX-License-Identifier: GPL-3.0-or-later
"""Heat sources as parts of a scene, and the tracks of their position and temperature."""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.runtime.errors import BadInput
from ...solver.scene.scene import HeatSource
from ..blender_data.rna_serialisation import animated_paths, stepped_paths
from ..evaluation.evaluated_mesh import evaluated_mesh, positions, triangles
from ..evaluation.matrix_units import scale_translation
from ..evaluation.scene_copy import SceneCopy
from . import validation
from .sampling_context import Sampling
from .settings_to_scene import read_fields


def read_heat_source(scene_copy: SceneCopy, obj: bpy.types.Object, key: str, unit: float) -> HeatSource:
    """Returns a heat source as it is at the first frame: an empty is a point, a mesh its evaluated surface.

    Raises:
        BadInput: The mesh has no faces, or coordinates that are not numbers.
    """
    evaluated = scene_copy.evaluated(obj)
    settings = evaluated.sinew
    points, faces = np.zeros((0, 3)), np.zeros((0, 3), np.int32)
    if obj.type == "MESH":
        validation.check_matrix(obj.name, scale_translation(scene_copy.matrix(obj), unit))
        with evaluated_mesh(evaluated) as mesh:
            points, faces = positions(mesh), triangles(mesh)
        if not len(faces):
            raise BadInput("mesh-empty", name=obj.name)
        validation.check_points(obj.name, points)
    return HeatSource(
        key=key,
        name=obj.name,
        **read_fields(HeatSource, settings, unit),
        vertices=points * unit,
        triangles=faces,
    )


def sample_heat_source(sampling: Sampling, obj: bpy.types.Object, source: HeatSource) -> None:
    """Adds to the tracks where the source is, and how hot where that is animated.

    Raises:
        BadInput: The shape of its mesh changed.
    """
    sampling.add(f"heat.{source.key}.matrix", sampling.world_from_metres(obj), "rigid")
    evaluated = sampling.evaluated(obj)
    animated, stepped = animated_paths(obj), stepped_paths(obj)
    if "sinew.source_temperature" in animated:
        sampling.add(f"heat.{source.key}.temperature", evaluated.sinew.source_temperature)
    if (path := "sinew.source_exchange") in animated:
        kind = "step" if path in stepped else "linear"
        sampling.add(f"heat.{source.key}.exchange", evaluated.sinew.source_exchange, kind)
    if len(source.vertices) and (obj.modifiers or obj.data.shape_keys):
        with evaluated_mesh(evaluated) as mesh:
            points = positions(mesh) * sampling.unit
        if validation.points_differ(points, source.vertices):
            raise BadInput("heat-source-deforms", name=obj.name, frame=sampling.moment.frame)
