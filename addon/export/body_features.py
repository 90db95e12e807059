# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the optional features of a body, such as plasticity, heat, fracture, flesh, a goal, a pressure or seams."""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.runtime.arrays import Indices
from ...solver.runtime.errors import BadInput
from ...solver.scene.flesh import Flesh
from ...solver.scene.goal import Goal
from ...solver.scene.muscle import Muscle, MuscleHead
from ...solver.scene.pressure import Pressure
from ...solver.scene.scene import Fracture, Heat, Plasticity
from ...solver.scene.seams import Seams
from ...solver.scene.settings.activation_settings import HEAD_GROUP
from ...solver.scene.settings.flesh_settings import BRITTLE, ELASTIC, JIGGLE, POSE
from ...solver.scene.settings.seam_settings import USE_SEAMS
from ...solver.scene.stretch_limit import StretchLimit
from ...solver.scene.surface_detail import SurfaceDetail
from ..blender_data.rna_serialisation import animated_paths
from ..evaluation.evaluated_mesh import have_faces, loose_edges
from ..evaluation.scene_copy import SceneCopy
from ..objects import roles
from .crack_guides import read_guides
from .fibre_objects import read_fibres
from .settings_to_scene import read_fields
from .weight_reader import WeightReader


def read_plasticity(settings: bpy.types.PropertyGroup, weights: WeightReader) -> Plasticity | None:
    """Returns the plasticity of a body, or None."""
    return Plasticity(**read_fields(Plasticity, settings, weights=weights)) if settings.use_plasticity else None


def read_surface_detail(settings: bpy.types.PropertyGroup) -> SurfaceDetail | None:
    """Returns the surface detail of a body, or None."""
    return SurfaceDetail(**read_fields(SurfaceDetail, settings)) if settings.use_surface_detail else None


def read_heat(settings: bpy.types.PropertyGroup) -> Heat | None:
    """Returns the heat settings of a body, or None."""
    return Heat(**read_fields(Heat, settings)) if settings.use_heat else None


def read_fracture(
    scene_copy: SceneCopy, settings: bpy.types.PropertyGroup, weights: WeightReader, unit: float
) -> Fracture | None:
    """Returns the fracture settings of a body with its crack guides in the rest pose, or None."""
    if not settings.use_fracture:
        return None
    guides = read_guides(scene_copy, weights.owner, unit)
    return Fracture(**read_fields(Fracture, settings, unit, weights), guides=guides)


def read_flesh(settings: bpy.types.PropertyGroup, weights: WeightReader) -> Flesh | None:
    """Returns the flesh settings of a body, or None.

    Raises:
        BadInput: A vertex group or attribute is not there, or 0 everywhere.
    """
    if settings.motion in (ELASTIC, BRITTLE):
        return None
    return Flesh(**read_fields(Flesh, settings, weights=weights), keeps_volume=settings.motion == JIGGLE)


def read_pressure(settings: bpy.types.PropertyGroup) -> Pressure | None:
    """Returns the pressure in a body, or None."""
    if not settings.use_pressure or settings.motion == POSE:
        return None
    return Pressure(**read_fields(Pressure, settings))


def is_ever_sewn(obj: bpy.types.Object) -> bool:
    """Whether the seams of a body pull now, or its keys may let them."""
    return obj.sinew.use_seams or f"sinew.{USE_SEAMS.name}" in animated_paths(obj)


def read_seams(obj: bpy.types.Object, settings: bpy.types.PropertyGroup, mesh: bpy.types.Mesh) -> Seams | None:
    """Returns the seams of a sheet that is sewn now or by its keys, or None.

    Raises:
        BadInput: The mesh has no edges without faces.
    """
    if not roles.is_sheet(obj) or not is_ever_sewn(obj):
        return None
    edges = loose_edges(mesh)
    edges = edges[have_faces(mesh, edges)]
    if not len(edges):
        raise BadInput("seams-without-edges", name=obj.name)
    return Seams(edges, **read_fields(Seams, settings))


def read_strands(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> Indices:
    """Returns the two vertices of each edge of a sheet that is a string, (e, 2): without faces, and no seam.

    In a sheet with seams, edges between vertices that both have faces are those.
    """
    if not roles.is_sheet(obj):
        return np.zeros((0, 2), np.int32)
    edges = loose_edges(mesh)
    return edges[~have_faces(mesh, edges)] if is_ever_sewn(obj) else edges


def read_goal(settings: bpy.types.PropertyGroup, weights: WeightReader) -> Goal | None:
    """Returns what pulls a body towards its animated mesh, or None; raises as `read_flesh`."""
    if not settings.use_goal or settings.motion == POSE:
        return None
    return Goal(**read_fields(Goal, settings, weights=weights))


def read_muscle(
    scene_copy: SceneCopy, settings: bpy.types.PropertyGroup, weights: WeightReader, unit: float
) -> Muscle | None:
    """Returns the muscle in a body in the rest pose, or None where it is none, or no flesh; raises as `read_flesh`."""
    if not settings.use_muscle or settings.motion in (ELASTIC, BRITTLE):
        return None
    return Muscle(
        **read_fields(Muscle, settings, unit, weights),
        heads=_read_heads(settings, weights),
        fibres=read_fibres(scene_copy, weights, unit),
    )


def _read_heads(settings: bpy.types.PropertyGroup, weights: WeightReader) -> tuple[MuscleHead, ...]:
    """Returns the heads of a muscle; the solver refuses one without a group."""
    label = HEAD_GROUP.label
    return tuple(
        MuscleHead(weights.weights_named(row.group, label), row.activation) if row.group else MuscleHead()
        for row in settings.muscle_heads
    )


def _never_stretches(settings: bpy.types.PropertyGroup) -> bool:
    obj = settings.id_data
    return roles.is_rigid(obj) or roles.is_sheet(obj) or roles.is_brittle(obj)


def read_stretch_limit(settings: bpy.types.PropertyGroup, weights: WeightReader) -> StretchLimit | None:
    """Returns how far a body stretches before it stiffens, or None; raises as `read_flesh`.

    New bodies have a limit, which is nothing that the artist asked of a rigid or brittle one or of a sheet.
    """
    if not settings.use_stretch_limit or _never_stretches(settings):
        return None
    return StretchLimit(**read_fields(StretchLimit, settings, weights=weights))
