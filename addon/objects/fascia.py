# SPDX-License-Identifier: GPL-3.0-or-later
"""Fascia around muscles: what lets them slide along the bones beside them, and keeps them there as joints bend.

Without it the ends alone hold a muscle. One that is taut then leaves its bones as the string leaves a bow, and one that
is slack gets past them to their other side. Beside a joint it stays free: what slid on both bones there would be torn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ...solver.runtime.arrays import Bools, Floats, Indices
from ...solver.runtime.errors import BadInput
from ..properties.role_definitions import BONE, COLLIDER
from . import roles
from .attachment_rows import has_edges
from .muscle_setup import write_group
from .new_attachments import add_attachment
from .new_wraps import GROUP_PREFIX

SLIDING = "SLIDING"
END_SHARE = 0.1  # of the length of a muscle at each end, which the bone there holds anyway
JOINT_SHARE = 0.1  # of the length of a bone at each end, beside which nothing slides on it
REACH_THICKNESSES = 1.0  # reach of a new row, in thicknesses of the muscle


@dataclass(frozen=True)
class PlacedMesh:
    """An object as it was modeled: vertices in the world [Blender units], (n, 3), and triangles, (t, 3)."""

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

    A muscle gets a row for each bone that is less than its thickness away from a part between its ends, with a vertex
    group of the places that lie beside the bone's shaft. Rows that there are for one of them stay as they are.

    Raises:
        BadInput: "fascia-no-bones": a muscle has no bone beside it. Nothing was changed.
    """
    shafts, found = [_shaft(bone) for bone in bones], []
    for muscle in muscles:
        is_between, thickness = _measure(muscle)
        reach = REACH_THICKNESSES * thickness
        beside = [is_between & shaft.is_beside(muscle.vertices, reach) for shaft in shafts]
        if not any(each.any() for each in beside):
            raise BadInput("fascia-no-bones", name=muscle.obj.name, distance=f"{reach:.3g}")
        found.append((muscle.obj, reach, beside))
    added = 0
    for obj, reach, beside in found:
        present = [row.target for row in obj.sinew.attachments if not has_edges(row)]
        for bone, places in zip(bones, beside, strict=True):
            if places.any() and bone.obj not in present:
                _add_row(obj, bone.obj, reach, places)
                added += 1
    return added


@dataclass(frozen=True)
class _Shaft:
    """A bone without its ends: its surface, a unit vector along it, and where along that its shaft begins and ends."""

    tree: BVHTree
    axis: Floats
    first: float
    last: float

    def is_beside(self, points: Floats, distance: float) -> Bools:
        """Returns which points, (n, 3), are beside the shaft and less than a distance from the bone, (n,)."""
        along = points @ self.axis
        found = (along > self.first) & (along < self.last)
        for place in np.flatnonzero(found):
            found[place] = self.tree.find_nearest(Vector(points[place].tolist()), distance)[0] is not None
        return found


def _shaft(bone: PlacedMesh) -> _Shaft:
    from_middle = bone.vertices - bone.vertices.mean(axis=0)
    axis = np.linalg.svd(from_middle, full_matrices=False)[2][0]
    along = bone.vertices @ axis
    first, last = float(along.min()), float(along.max())
    margin = JOINT_SHARE * (last - first)
    tree = BVHTree.FromPolygons(bone.vertices.tolist(), bone.triangles.tolist())
    return _Shaft(tree, axis, first + margin, last - margin)


def _measure(muscle: PlacedMesh) -> tuple[Bools, float]:
    """Returns which vertices of a muscle are between its ends, (n,), and its thickness in the middle."""
    from ...solver.mesh.geometry.longitudinal_profile import elongated_surface  # loads SciPy

    surface = elongated_surface(muscle.vertices, muscle.triangles)
    return (surface.along > END_SHARE) & (surface.along < 1.0 - END_SHARE), surface.thickness()


def _add_row(obj: bpy.types.Object, bone: bpy.types.Object, reach: float, places: Bools) -> None:
    row, group = add_attachment(obj, bone), f"{GROUP_PREFIX}{bone.name}"
    write_group(obj, group, places)
    row.kind, row.reach, row.group, row.target_group = SLIDING, reach, group, ""
