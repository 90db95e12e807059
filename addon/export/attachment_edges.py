# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges of rows of attachments: their ends in the rest pose, what carries them where they end on no surface, and its
tracks.
"""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ..blender_data.rna_serialisation import Parts
from ..evaluation.evaluated_mesh import evaluated_mesh, loose_edges, positions
from ..evaluation.matrix_units import scale_to_metres, scale_translation, transform_points
from ..evaluation.scene_copy import SceneCopy
from ..objects.attachment_rows import edge_carrier, edge_rows, has_edges
from . import validation
from .participants import Participants
from .sampling_context import Sampling


def read_edges(
    scene_copy: SceneCopy, inputs: Participants, body: bpy.types.Object, row: bpy.types.PropertyGroup
) -> Floats:
    """Returns the ends of the edges of a row [m], world, (e, 2, 3), in the rest pose; (0, 2, 3) where it has none.

    Args:
        scene_copy: Evaluated there.
        inputs: What takes part.
        body: That has the row, or whose Wrap has it.
        row: Not evaluated.

    Raises:
        BadInput: The mesh of edges is not in the scene, is the body or its target, or has no loose edges.
    """
    if not has_edges(row):
        return np.zeros((0, 2, 3))
    obj, name = row.edges, row.id_data.name
    if obj in (body, row.id_data, row.target):
        raise BadInput("edges-of-itself", name=name, edges=obj.name)
    if obj not in inputs.followed_objects or obj.name not in inputs.scene.objects:
        raise BadInput("edges-missing", name=name, edges=obj.name)
    matrix = scale_to_metres(scene_copy.matrix(obj), inputs.unit)
    with evaluated_mesh(scene_copy.evaluated(obj)) as mesh:
        points, edges = positions(mesh), loose_edges(mesh)
    if not len(edges):
        raise BadInput("edges-none", name=name, edges=obj.name)
    validation.check_points(obj.name, points[edges].reshape(-1, 3))
    return transform_points(matrix, points)[edges]


def sample_edge_carriers(sampling: Sampling, obj: bpy.types.Object, key: str) -> None:
    """Adds to the tracks where the empties and bones are that carry the ends of edges of a body."""
    for number, row in edge_rows(obj):
        carrier = edge_carrier(row)
        if carrier is None:
            continue
        matrix = sampling.world_from_metres(carrier[0])
        if carrier[1]:
            rig = sampling.evaluated(carrier[0])
            posed = rig.pose.bones.get(carrier[1])
            if posed is None:
                raise BadInput("object-gone", name=carrier[1])
            matrix = scale_translation(rig.matrix_world @ posed.matrix, sampling.unit)
        sampling.add(f"body.{key}.attachment.{number}.matrix", matrix, "rigid")


def edge_parts(row: bpy.types.PropertyGroup, waiting: list[bpy.types.ID]) -> Parts:
    """Returns what the digest has of the edges of a row; their mesh and what carries them go into `waiting`."""
    if not has_edges(row):
        return []
    carrier = edge_carrier(row)
    waiting += [row.edges, *(carrier[:1] if carrier is not None else ())]
    return ["edges"]
