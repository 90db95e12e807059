# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes and curves along which bodies are weaker, as part of a scene."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np

from ...solver.runtime.arrays import Indices
from ...solver.runtime.errors import BadInput
from ...solver.scene.crack_guide import CrackGuide
from ...solver.scene.settings.fracture_settings import CRACK_GUIDE
from ..blender_data.rna_serialisation import Parts
from ..evaluation.evaluated_mesh import evaluated_mesh, positions, triangles
from ..evaluation.matrix_units import scale_to_metres, transform_points
from ..evaluation.scene_copy import SceneCopy
from .fibre_objects import shape_parts

GUIDE_TYPES = frozenset({"MESH", "CURVE", "FONT", "SURFACE", "META"})


def guide_objects(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns the objects that guide the cracks of a body, those of its scenes that have a shape, each once."""
    own = obj.sinew
    if not CRACK_GUIDE.counts(lambda name: getattr(own, name)):
        return []
    chosen = [] if own.crack_guide is None else [own.crack_guide]
    members = [] if own.crack_guides is None else list(own.crack_guides.all_objects)
    scenes = obj.users_scene
    return [
        each
        for each in dict.fromkeys([*chosen, *members])
        if each != obj and each.type in GUIDE_TYPES and any(each.name in scene.objects for scene in scenes)
    ]


def find_guide_objects(bodies: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns the objects that guide the cracks of bodies, each once."""
    return list(dict.fromkeys(other for obj in bodies for other in guide_objects(obj)))


def check_guides(obj: bpy.types.Object) -> None:
    """Raises BadInput where an object that guides the cracks of a body is being edited."""
    for other in guide_objects(obj):
        if other.mode == "EDIT":
            raise BadInput("in-edit-mode", name=other.name)


def guide_parts(obj: bpy.types.Object) -> Parts:
    """Returns what the digest has of the shapes of curves that guide cracks, beside what it has of any object."""
    return [part for other in guide_objects(obj) for part in shape_parts(other.data)]


def read_guides(scene_copy: SceneCopy, obj: bpy.types.Object, unit: float) -> tuple[CrackGuide, ...]:
    """Returns the crack guides of a body in the rest pose; those without faces and edges are left out.

    Args:
        scene_copy: Evaluated there.
        obj: The body.
        unit: Metres in a Blender unit.
    """
    guides = []
    for other in guide_objects(obj):
        matrix = scale_to_metres(scene_copy.matrix(other), unit)
        with evaluated_mesh(scene_copy.evaluated(other)) as mesh:
            faces = triangles(mesh)
            edges = _edges(mesh) if not len(faces) else np.zeros((0, 2), np.int32)
            if len(faces) or len(edges):
                guides.append(CrackGuide(transform_points(matrix, positions(mesh)), faces, edges, other.name))
    return tuple(guides)


def _edges(mesh: bpy.types.Mesh) -> Indices:
    edges = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", edges)
    return edges.reshape(-1, 2)
