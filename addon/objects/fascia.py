# SPDX-License-Identifier: GPL-3.0-or-later
"""Fascia around muscles: what lets them slide along the bones beside them, and keeps them there as joints bend.

Without it the ends alone hold a muscle. One that is taut then leaves its bones as the string leaves a bow, and one that
is slack gets past them to their other side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import BadInput
from ..properties.role_definitions import BONE, COLLIDER
from . import roles
from .new_attachments import add_attachment

SLIDING = "SLIDING"
END_SHARE = 0.1  # of the length at each end, which the bone there holds anyway
REACH_THICKNESSES = 1.0  # reach of a new row, in thicknesses of the muscle


@dataclass(frozen=True)
class PlacedMesh:
    """An object and its mesh as it was modeled: vertices in the world [Blender units], (n, 3), and triangles, (t, 3)."""

    obj: bpy.types.Object
    vertices: Floats
    triangles: Indices


def bones_beside_muscles(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Returns what muscles may slide on: the bone meshes of a scene, and its colliders that are meshes."""
    meshes = sorted((obj for obj in scene.objects if obj.type == "MESH"), key=lambda obj: obj.name)
    return [
        obj
        for obj in meshes
        if roles.has_role(obj, BONE) or (roles.has_role(obj, COLLIDER) and obj.sinew.collider_shape == "MESH")
    ]


def slide_on_bones(muscles: Sequence[PlacedMesh], bones: Sequence[PlacedMesh]) -> int:
    """Lets muscles slide along the bones beside them; returns how many rows were added.

    A muscle gets a row for each bone that is less than its thickness away from a part between its ends. Rows that there
    are for one of them stay as they are.

    Raises:
        BadInput: "fascia-no-bones": a muscle has no bone beside it. Nothing was changed.
    """
    trees = [BVHTree.FromPolygons(each.vertices.tolist(), each.triangles.tolist()) for each in bones]
    found = []
    for muscle in muscles:
        belly, thickness = _measure(muscle)
        reach = REACH_THICKNESSES * thickness
        near = [bone.obj for bone, tree in zip(bones, trees, strict=True) if _is_within(tree, belly, reach)]
        if not near:
            raise BadInput("fascia-no-bones", name=muscle.obj.name, distance=f"{reach:.3g}")
        found.append((muscle.obj, near, reach))
    return sum(_add_rows(*each) for each in found)


def _measure(muscle: PlacedMesh) -> tuple[Floats, float]:
    """Returns the vertices between the ends of a muscle, (k, 3), and its thickness in the middle."""
    from ...solver.mesh.geometry.longitudinal_profile import elongated_surface  # loads SciPy

    surface = elongated_surface(muscle.vertices, muscle.triangles)
    between = (surface.along > END_SHARE) & (surface.along < 1.0 - END_SHARE)
    return muscle.vertices[between], surface.thickness()


def _is_within(tree: BVHTree, points: Floats, distance: float) -> bool:
    """Whether one of some points is less than a distance away from a surface."""
    return any(tree.find_nearest(Vector(point), distance)[0] is not None for point in points.tolist())


def _add_rows(obj: bpy.types.Object, bones: Sequence[bpy.types.Object], reach: float) -> int:
    present = [row.target for row in obj.sinew.attachments]
    missing = [bone for bone in bones if bone not in present]
    for bone in missing:
        row = add_attachment(obj, bone)
        row.kind, row.reach, row.group, row.target_group = SLIDING, reach, "", ""  # of the whole surface
    return len(missing)
