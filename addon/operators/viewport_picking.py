# SPDX-License-Identifier: GPL-3.0-or-later
"""What is under the mouse in the 3D view: a bone and a place on it, or a place on any surface or in the air."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector, geometry

from ...solver.runtime.arrays import Floats
from ..objects.skeleton import SkeletonBone

NEAR_PIXELS = 12.0  # from the line of a bone of an armature
BONE_RADIUS_SHARE = 0.08  # of the length of such a bone, as its octahedron has


@dataclass(frozen=True, eq=False)
class Pick:
    """A place under the mouse.

    Attributes:
        place: In world space, (3,).
        bone: The bone that it is on, or None.
    """

    place: Floats
    bone: SkeletonBone | None


def pick(
    context: bpy.types.Context,
    view: tuple[bpy.types.Region, bpy.types.RegionView3D],
    mouse: Sequence[float],
    bones: Iterable[SkeletonBone],
    last: Floats | None,
) -> Pick | None:
    """Returns what is under the mouse, or None where that has no place.

    Bone meshes come first, then bones of armatures, then other surfaces. In the air, a place is as deep in the view as
    `last`.

    Args:
        context: Blender's.
        view: The region of the 3D view and its view.
        mouse: In pixels of that region.
        bones: Those that may be picked.
        last: The point before, (3,).
    """
    start = view3d_utils.region_2d_to_origin_3d(*view, mouse)
    direction = view3d_utils.region_2d_to_vector_3d(*view, mouse)
    chosen = list(bones)
    found = _nearest_mesh(chosen, start, direction) or _nearest_line(view, mouse, chosen, (start, direction))
    if found is not None:
        return found
    depsgraph = context.evaluated_depsgraph_get()
    is_hit, place, *_ = context.scene.ray_cast(depsgraph, start, direction)
    if is_hit:
        return Pick(np.array(place, np.float64), None)
    if last is None:
        return None
    return Pick(np.array(view3d_utils.region_2d_to_location_3d(*view, mouse, Vector(last)), np.float64), None)


def _nearest_mesh(bones: list[SkeletonBone], start: Vector, direction: Vector) -> Pick | None:
    best, best_depth = None, np.inf
    for bone in bones:
        if bone.surface is None or not bone.obj.visible_get():
            continue
        place, _, _, depth = bone.surface.ray_cast(start, direction)
        if place is not None and depth < best_depth:
            best, best_depth = Pick(np.array(place, np.float64), bone), depth
    return best


def _nearest_line(
    view: tuple[bpy.types.Region, bpy.types.RegionView3D],
    mouse: Sequence[float],
    bones: list[SkeletonBone],
    ray: tuple[Vector, Vector],
) -> Pick | None:
    best, best_distance = None, np.inf
    for bone in bones:
        if bone.line is None:
            continue
        ends = [view3d_utils.location_3d_to_region_2d(*view, Vector(end)) for end in bone.line]
        if ends[0] is None or ends[1] is None:
            continue
        nearest, share = geometry.intersect_point_line(Vector(mouse), *ends)
        nearest = ends[0] if share < 0.0 else ends[1] if share > 1.0 else nearest
        distance = (Vector(mouse) - nearest).length
        if distance < best_distance and distance <= max(NEAR_PIXELS, BONE_RADIUS_SHARE * (ends[1] - ends[0]).length):
            best, best_distance = Pick(_place_on_line(bone.line, ray), bone), distance
    return best


def _place_on_line(line: Floats, ray: tuple[Vector, Vector]) -> Floats:
    """Returns the place of a bone that is nearest to the ray through the mouse, (3,)."""
    head, tail = (Vector(end) for end in line)
    found = geometry.intersect_line_line(head, tail, ray[0], ray[0] + ray[1])
    along = tail - head
    at = 0.5 if found is None else (found[0] - head).dot(along) / max(along.length_squared, 1.0e-30)
    return np.array(head + min(max(at, 0.0), 1.0) * along, np.float64)
