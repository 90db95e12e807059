# SPDX-License-Identifier: GPL-3.0-or-later
"""Where new edges of a row of attachments begin and end: at selected vertices of the body, and nearest to these."""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ...solver.scene.settings.surface_attachment_settings import TO_BONE, TO_OBJECT
from ..evaluation.matrix_units import transform_points
from ..objects.attachment_rows import row_surfaces
from ..objects.new_attachment_edges import nearest_places
from .rest_frame_meshes import modeled_meshes


def new_edge_ends(scene: bpy.types.Scene, obj: bpy.types.Object, row: bpy.types.PropertyGroup) -> tuple[Floats, Floats]:
    """Returns the ends of an edge from each selected vertex of a body, world [Blender units], (k, 3) each.

    The other one is at the nearest place of the target: of its surface, of the line of a bone, or at an empty.

    Raises:
        BadInput: No vertex is selected, or the row is about no one object or bone.
    """
    if row.target_type not in (TO_OBJECT, TO_BONE):
        raise BadInput("edges-to-armature", name=obj.name)
    if obj.mode == "EDIT":
        obj.update_from_editmode()
    chosen = np.array([vertex.index for vertex in obj.data.vertices if vertex.select and not vertex.hide], np.int32)
    if not len(chosen):
        raise BadInput("edges-from-nothing", name=obj.name)
    surfaces = [each for each in row_surfaces(row) if each.type == "MESH"][:1]
    meshes = modeled_meshes(scene, [obj, *surfaces], need_faces=False)
    placed = [(vertices / scene.unit_settings.scale_length, faces) for vertices, faces in meshes]
    vertices, faces = placed[0]
    if len(vertices) == len(obj.data.vertices):
        begins = vertices[chosen]
    else:  # modifiers make other vertices
        modeled = np.array([obj.data.vertices[number].co for number in chosen.tolist()], np.float64)
        begins = nearest_places(transform_points(np.array(obj.matrix_world, np.float64), modeled), vertices, faces)
    if surfaces:
        return begins, nearest_places(begins, *placed[1])
    if row.target_type == TO_OBJECT:
        return begins, np.tile(np.array(row.target.matrix_world.translation, np.float64), (len(begins), 1))
    posed, matrix = row.armature.pose.bones[row.bone], np.array(row.armature.matrix_world, np.float64)
    head, tail = transform_points(matrix, np.array([posed.head, posed.tail], np.float64))
    axis = tail - head
    along = np.clip((begins - head) @ axis / max(float(axis @ axis), 1.0e-30), 0.0, 1.0)
    return begins, head + along[:, None] * axis
