# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a Wrap of a surface that was found: the object, where it lies on bone, and what it is attached to."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats, Indices
from ..playback import mesh_cache
from ..properties.role_definitions import BODY, BONE, COLLIDER
from . import roles
from .new_attachments import add_attachment

NAME, BONE_GROUP = "Wrap", "Bone"
SLIDING, SPRING = "SLIDING", "SPRING"
REACH_WIDTHS = 1.0  # reach of the attachments of a new wrap, in its Width
# of them: a muscle that bulges under fat then hardly parts from it (`validate_layers.py`)
STRENGTH = 10.0


def make_wrap(
    context: bpy.types.Context, earlier: bpy.types.Object | None, vertices: Floats, quads: Indices
) -> bpy.types.Object:
    """Returns a Wrap with a new mesh in world space.

    Args:
        context: The collection that is active gets it.
        earlier: A Wrap that gets the mesh, and keeps all else; None: a new object does.
        vertices: [Blender units], (n, 3).
        quads: (q, 4).
    """
    mesh = bpy.data.meshes.new(NAME)
    mesh.from_pydata(vertices.tolist(), [], quads.tolist())
    mesh.shade_smooth()
    if earlier is None:
        obj = bpy.data.objects.new(NAME, mesh)
        context.collection.objects.link(obj)
        obj.display_type, obj.hide_render = "WIRE", True
        roles.make_wrap(obj)
        return obj
    mesh_cache.detach(earlier)
    former, earlier.data = earlier.data, mesh
    earlier.matrix_world.identity()
    if former.users == 0:
        bpy.data.meshes.remove(former)
    return earlier


def attach_wrap(obj: bpy.types.Object, wrapped: Sequence[bpy.types.Object], nearest: Indices, width: float) -> None:
    """Lets a Wrap slide on muscles, and ties it to bones where these are right below it.

    Bones are bone meshes, and colliders, which muscles slide on. Rows of the list that there are for one of the objects
    stay as they are.

    Args:
        obj: The Wrap.
        wrapped: The objects, numbered as in `nearest`.
        nearest: Which of them is nearest to each vertex, (n,).
        width: Of the grooves that are bridged [Blender units].
    """
    is_bone = np.array([roles.has_role(each, BONE) or roles.has_role(each, COLLIDER) for each in wrapped], bool)
    _paint(obj, is_bone[nearest])
    has_row = {row.target for row in obj.sinew.attachments}
    for number, target in enumerate(wrapped):
        if target in has_row or not (is_bone[number] or target.sinew.role == BODY):
            continue
        if is_bone[number] and not (nearest == number).any():
            continue  # it lies under muscles all around
        row = add_attachment(obj, target)
        row.reach, row.strength = REACH_WIDTHS * width, STRENGTH
        row.kind = SPRING if is_bone[number] else SLIDING
        row.group = BONE_GROUP if is_bone[number] else ""


def _paint(obj: bpy.types.Object, is_bone: np.ndarray) -> None:
    """Gives the vertices that lie on bone a vertex group."""
    group = obj.vertex_groups.get(BONE_GROUP) or obj.vertex_groups.new(name=BONE_GROUP)
    group.remove(list(range(len(is_bone))))
    group.add(np.flatnonzero(is_bone).tolist(), 1.0, "REPLACE")
