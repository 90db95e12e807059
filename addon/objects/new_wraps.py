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
GROUP_PREFIX = "On "  # of the vertex groups of what is nearest to one object
FIXED, SLIDING, SPRING = "FIXED", "SLIDING", "SPRING"
REACH_WIDTHS = 1.0  # reach of the attachments of a new wrap, in its Width
STRENGTH = 1.0  # of them: ten times as much draws fat into every groove that opens between muscles


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
    """Lets each vertex of a Wrap slide on the muscle right below it, or ties it to the bone there.

    Each row has a vertex group of what is nearest to its target, so that rows do not fight over one place: two muscles
    side by side move against each other, and what slides on both stops them or is torn. Bone meshes fix the surface of
    the Wrap alone, since fat under it that is fixed to the depth of Reach could not move over bone. Colliders, which
    muscles slide on, hold it by springs that let go: Fixed to them, the fat of an arm turned inside out as it was drawn
    back. Rows of the list that there are for one of the objects stay as they are; their groups that were made here are
    painted anew.

    Args:
        obj: The Wrap.
        wrapped: The objects, numbered as in `nearest`.
        nearest: Which of them is nearest to each vertex, (n,).
        width: Of the grooves that are bridged [Blender units].
    """
    is_mesh = np.array([roles.has_role(each, BONE) for each in wrapped], bool)
    is_bone = is_mesh | np.array([roles.has_role(each, COLLIDER) for each in wrapped], bool)
    rows = list(obj.sinew.attachments)
    if any(row.group == BONE_GROUP for row in rows):  # Wraps made earlier have one group for all bones
        _paint(obj, BONE_GROUP, is_bone[nearest])
    for number, target in enumerate(wrapped):
        own, present = nearest == number, [row for row in rows if row.target == target]
        for row in present:
            if row.group.startswith(GROUP_PREFIX):
                _paint(obj, row.group, own)
        if present or not own.any() or not (is_bone[number] or target.sinew.role == BODY):
            continue  # where nothing is nearest to it, it lies under others all around
        row = add_attachment(obj, target)
        row.reach, row.strength = REACH_WIDTHS * width, STRENGTH
        row.kind = FIXED if is_mesh[number] else SPRING if is_bone[number] else SLIDING
        row.surface_only = bool(is_mesh[number])
        row.group = _paint(obj, f"{GROUP_PREFIX}{target.name}", own)


def _paint(obj: bpy.types.Object, name: str, is_in: np.ndarray) -> str:
    """Paints vertices, (n,), into a vertex group of a name, and returns the name that it got."""
    group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
    group.remove(list(range(len(is_in))))
    group.add(np.flatnonzero(is_in).tolist(), 1.0, "REPLACE")
    return str(group.name)
