# SPDX-License-Identifier: GPL-3.0-or-later
"""Where adaptive tets of a body are small: its painted group, and near the objects of a collection."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats, Indices, floats
from ...solver.scene.fine_regions import FineRegions
from ..evaluation.evaluated_mesh import evaluated_mesh, positions, triangles
from ..evaluation.matrix_units import scale_to_metres, transform_points
from ..evaluation.scene_copy import SceneCopy
from ..objects import roles
from .settings_to_scene import read_fields
from .weight_reader import WeightReader

POINTS_PER_BONE = 33  # of an armature, from head to tail


def find_fine_objects(bodies: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns the objects near which tets of bodies are small, each once: those of their scenes."""
    found = [other for obj in bodies if roles.is_adaptive(obj) for other in _objects_of(obj)]
    return list(dict.fromkeys(found))


def read_fine_regions(
    scene_copy: SceneCopy, settings: bpy.types.PropertyGroup, weights: WeightReader, unit: float
) -> FineRegions | None:
    """Returns where adaptive tets of a body are small in the rest pose; None where nothing says so.

    Args:
        scene_copy: Evaluated there.
        settings: The settings of the body.
        weights: The group that they name.
        unit: Metres in a Blender unit.

    Raises:
        BadInput: The painted group is not there, or 0 everywhere.
    """
    if not roles.is_adaptive(weights.owner):
        return None
    surfaces = [_surface(scene_copy, other, unit) for other in _objects_of(weights.owner)]
    fields = read_fields(FineRegions, settings, unit, weights)
    if not surfaces and not len(fields["paint"]):
        return None
    first = np.cumsum([0, *(len(points) for points, _ in surfaces)], dtype=np.int32)
    places = np.concatenate([np.zeros((0, 3)), *(points for points, _ in surfaces)])
    faces = [np.zeros((0, 3), np.int32), *(own + start for (_, own), start in zip(surfaces, first[:-1], strict=True))]
    return FineRegions(**fields, places=places, triangles=np.concatenate(faces))


def _objects_of(obj: bpy.types.Object) -> list[bpy.types.Object]:
    collection = obj.sinew.fine_collection
    members = collection.all_objects if collection is not None else ()
    scenes = obj.users_scene
    return [each for each in members if each != obj and any(each.name in scene.objects for scene in scenes)]


def _surface(scene_copy: SceneCopy, obj: bpy.types.Object, unit: float) -> tuple[Floats, Indices]:
    """Returns points of an object [m], (k, 3), and its faces, (t, 3)."""
    evaluated, matrix = scene_copy.evaluated(obj), scale_to_metres(scene_copy.matrix(obj), unit)
    if obj.type == "ARMATURE":
        bones = evaluated.pose.bones
        ends = np.array([(bone.head, bone.tail) for bone in bones], np.float64).reshape(-1, 2, 3)
        shares = np.linspace(0.0, 1.0, POINTS_PER_BONE)[:, None]
        points = floats((ends[:, :1] + shares * np.diff(ends, axis=1)).reshape(-1, 3))
        return transform_points(matrix, points), np.zeros((0, 3), np.int32)
    if obj.type == "MESH":
        with evaluated_mesh(evaluated) as mesh:
            if len(mesh.vertices):
                return transform_points(matrix, positions(mesh)), triangles(mesh)
    return matrix[None, :3, 3].copy(), np.zeros((0, 3), np.int32)
