# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the muscles and bone meshes inside of a character mesh, and makes the mesh the fat around them."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector

from ..evaluation.evaluated_mesh import positions
from ..evaluation.matrix_units import transform_points
from ..properties.role_definitions import BODY, BONE, COLLIDER, WRAP
from . import flesh_supports, initial_settings, roles

TETS_ACROSS = 2.0  # of the thickness of fat in the middle
MAX_TETS_ALONG = 80.0  # of the longest side


def is_anatomy(obj: bpy.types.Object) -> bool:
    """Whether an object is a muscle or a bone mesh, or a Wrap around these."""
    is_muscle = roles.is_flesh(obj) and obj.sinew.use_muscle
    return obj.type == "MESH" and (is_muscle or roles.has_role(obj, BONE) or roles.has_role(obj, WRAP))


def anatomy_inside(scene: bpy.types.Scene, skin: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns the muscles and bone meshes of a scene whose middles are in the box around a character mesh.

    Beside muscles, colliders whose whole is in the box count as bones, on which muscles slide.
    """
    corners = _box(skin)
    low, high = corners.min(axis=0), corners.max(axis=0)
    found = [o for o in scene.objects if is_anatomy(o) and not roles.has_role(o, WRAP) and o != skin]
    places = [(obj, _box(obj).mean(axis=0)) for obj in found]
    colliders = (o for o in scene.objects if o.type == "MESH" and roles.has_role(o, COLLIDER) and not is_anatomy(o))
    if muscles_of(found):
        places += [(obj, _box(obj)) for obj in colliders if obj != skin]
    return sorted((obj for obj, p in places if ((low <= p) & (p <= high)).all()), key=lambda o: o.name)


def make_fat(skin: bpy.types.Object, wrap: bpy.types.Object | None, muscles: list[bpy.types.Object]) -> None:
    """Makes a mesh flesh that ends at a Wrap, in a pass after some muscles; on its armature where there is no Wrap."""
    initial_settings.make_new_flesh(skin)
    if wrap is None:
        skin.sinew.use_armature_bones = True
        return
    skin.sinew.wrap = wrap
    if muscles:
        skin.sinew.bake_pass = max(obj.sinew.bake_pass for obj in muscles) + 1
    thickness, longest = fat_thickness(skin, wrap), float(max(skin.dimensions))
    skin.sinew.sizing = "SIZE"
    skin.sinew.tet_size = max(thickness / TETS_ACROSS, longest / MAX_TETS_ALONG)


def fat_thickness(skin: bpy.types.Object, wrap: bpy.types.Object) -> float:
    """Returns the median distance of the vertices of a skin from its Wrap [Blender units]."""
    inverse, scale = wrap.matrix_world.inverted_safe(), wrap.matrix_world.median_scale
    places = transform_points(np.array(inverse @ skin.matrix_world), positions(skin.data))
    distances = [wrap.closest_point_on_mesh(place)[1] - Vector(place) for place in places.tolist()]
    return float(np.median([each.length for each in distances])) * scale


def has_support(skin: bpy.types.Object) -> bool:
    """Whether an armature poses a mesh."""
    return bool(flesh_supports.armatures_of(skin))


def muscles_of(anatomy: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns the muscles among muscles and bone meshes."""
    return [obj for obj in anatomy if obj.sinew.role == BODY]


def _box(obj: bpy.types.Object) -> np.ndarray:
    """Returns the corners of the box around an object in the world [Blender units], (8, 3)."""
    return np.array([obj.matrix_world @ Vector(corner) for corner in obj.bound_box])
