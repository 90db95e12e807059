# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's force fields as parts of a scene, and the tracks of where they are and of their animated settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import bpy
import numpy as np

from ...solver.runtime.errors import BadInput
from ...solver.scene.force_fields import TEXTURE, ForceField
from ...solver.scene.scene import Body
from ..blender_data.rna_serialisation import animated_paths
from ..evaluation.evaluated_mesh import evaluated_mesh, positions, triangles
from ..evaluation.matrix_units import scale_translation, transform_points
from ..evaluation.scene_copy import SceneCopy
from ..objects.field_objects import FIELD_KINDS, MESH_SHAPES
from . import validation
from .deforming_mesh_check import may_deform
from .sampling_context import Sampling
from .texture_grid import read_texture

# Blender's property → the field of `ForceField`, for what is copied as it is
NUMBERS: Mapping[str, str] = MappingProxyType(
    {
        "strength": "strength",
        "flow": "flow",
        "harmonic_damping": "damping",  # one number of Blender's with `quadratic_drag`
        "size": "size",  # the same of `rest_length`
        "noise": "noise",
        "falloff_power": "power",
        "distance_min": "distance_min",
        "distance_max": "distance_max",
        "radial_falloff": "radial_power",
        "radial_min": "radial_min",
        "radial_max": "radial_max",
        "wind_factor": "wind_factor",
    }
)
# other names under which Blender animates a number
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "linear_drag": "strength",
        "quadratic_drag": "harmonic_damping",
        "rest_length": "size",
        "inflow": "flow",
        "guide_minimum": "strength",
    }
)
SWITCHES: Mapping[str, str] = MappingProxyType(
    {
        "use_min_distance": "use_distance_min",
        "use_max_distance": "use_distance_max",
        "use_radial_min": "use_radial_min",
        "use_radial_max": "use_radial_max",
        "use_gravity_falloff": "has_gravitation",
        "use_global_coords": "is_global",
        "use_object_coords": "is_object_space",
        "use_2d_force": "is_2d",
        "use_absorption": "is_absorbed",
    }
)
SHAPELESS_MODIFIERS = ("COLLISION", "PARTICLE_SYSTEM", "SURFACE")  # leave the mesh as it is


def read_field(
    scene_copy: SceneCopy, obj: bpy.types.Object, key: str, unit: float, bodies: Sequence[Body]
) -> ForceField:
    """Returns a force field as it is in the rest pose.

    Args:
        scene_copy: Evaluated there.
        obj: The object with the field.
        key: Its name in files.
        unit: Metres in a Blender unit.
        bodies: Around which a texture is read.

    Raises:
        BadInput: The mesh has coordinates that are not numbers.
    """
    evaluated = scene_copy.evaluated(obj)
    field = evaluated.field
    matrix = scale_translation(scene_copy.matrix(obj), unit)
    validation.check_matrix(obj.name, matrix)
    vertices, faces = np.zeros((0, 3)), np.zeros((0, 3), np.int32)
    if field.shape in MESH_SHAPES:
        with evaluated_mesh(evaluated) as mesh:
            vertices, faces = positions(mesh) * unit, triangles(mesh)
        validation.check_points(obj.name, vertices)
    kind = FIELD_KINDS[field.type]
    return ForceField(
        key=key,
        name=obj.name,
        kind=kind,
        shape=field.shape.lower(),
        falloff=field.falloff_type.lower(),
        z_direction=field.z_direction.lower(),
        seed=field.seed,
        unit=unit,
        texture=read_texture(field, matrix, unit, bodies) if kind == TEXTURE else None,
        vertices=vertices,
        triangles=faces,
        **{name: getattr(field, blender) for blender, name in (*NUMBERS.items(), *SWITCHES.items())},
    )


def animated_properties(obj: bpy.types.Object) -> set[str]:
    """Returns the properties of an object's force field that are animated or driven, under one name each."""
    paths = (path.removeprefix("field.") for path in animated_paths(obj) if path.startswith("field."))
    return {ALIASES.get(path, path) for path in paths}


def sample_field(sampling: Sampling, obj: bpy.types.Object, own: ForceField) -> None:
    """Adds to the tracks where a force field is, and its animated settings.

    Raises:
        BadInput: The number of vertices of its mesh changed.
    """
    matrix = sampling.world_from_metres(obj)
    sampling.add(f"field.{own.key}.matrix", matrix, "rigid")
    evaluated = sampling.evaluated(obj)
    for blender in sorted(animated_properties(obj) & NUMBERS.keys()):
        sampling.add(f"field.{own.key}.{NUMBERS[blender]}", getattr(evaluated.field, blender))
    if len(own.vertices) and may_deform(obj, SHAPELESS_MODIFIERS):
        with evaluated_mesh(evaluated) as mesh:
            points = positions(mesh) * sampling.unit
        if len(points) != len(own.vertices):
            first, frame = len(own.vertices), sampling.moment.frame
            raise BadInput("field-vertices-change", name=obj.name, first=first, now=len(points), frame=frame)
        sampling.add(f"field.{own.key}.vertices", transform_points(matrix, points))
