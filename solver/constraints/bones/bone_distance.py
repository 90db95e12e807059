# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a bone reaches: inside its closed mesh, and as far from its surface or line as its distance says."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from ...mesh.geometry.closedness import has_inside
from ...mesh.geometry.closest_point import ClosestPoints, closest_points
from ...mesh.geometry.surface_paint import is_painted
from ...mesh.geometry.triangle_bvh import Bvh, build_bvh
from ...mesh.geometry.triangle_surface import make_surface
from ...mesh.geometry.winding_number import winding_numbers
from ...runtime.arrays import Bools, Floats, Indices, floats
from ...scene.flesh import Bone

INSIDE_WINDING_NUMBER = 0.5  # winding number above which a point is inside: 1 inside, 0 outside
# a line is found as a triangle without area
LINE_TRIANGLE = np.array([[0, 1, 1]], np.int32)


@dataclass(frozen=True)
class BoneDistance:
    """What a bone reaches of some points.

    Attributes:
        distance: How far each is from the bone [m], less than zero inside a closed mesh, inf where the bone does not
            reach or its mask says no, (n,).
        masked_count: How many points the mask kept from the bone.
    """

    distance: Floats
    masked_count: int


class BoneShape:
    """A bone in its rest pose, ready to be asked."""

    def __init__(self, bone: Bone) -> None:
        """Takes a bone that `check_bones` found sound."""
        self.bone = bone
        self.triangles: Indices = LINE_TRIANGLE
        vertices = floats(bone.vertices, -1, 3)
        if len(bone.triangles):
            surface = make_surface(bone.vertices, bone.triangles, bone.name)
            vertices, self.triangles = surface.vertices, surface.triangles
        self.bvh: Bvh = build_bvh(vertices, self.triangles)
        self.is_closed = bool(len(bone.triangles)) and has_inside(vertices, self.triangles)

    def with_bone(self, bone: Bone) -> BoneShape:
        """Returns the same shape with other settings."""
        other = copy.copy(self)
        other.bone = bone
        return other

    def reach(self, points: Floats) -> BoneDistance:
        """Returns what the bone reaches of points [m], (n, 3)."""
        distance = np.full(len(points), np.inf)
        near = np.flatnonzero(self._is_in_box(points, self.bone.distance))
        found = closest_points(self.bvh, points[near])
        is_inside = self._is_inside(points[near])
        reached = is_inside | (found.distance <= self.bone.distance)
        allowed = reached & self._is_allowed(found)
        distance[near[allowed]] = np.where(is_inside, -found.distance, found.distance)[allowed]
        return BoneDistance(distance, int(reached.sum() - allowed.sum()))

    def distance_to(self, points: Floats) -> Floats:
        """Returns how far points [m], (n, 3), are from the surface or the line [m], (n,)."""
        return closest_points(self.bvh, points).distance

    def _is_in_box(self, points: Floats, margin: float) -> Bools:
        box = self.bvh.boxes[0]
        return ((points >= box[:3] - margin) & (points <= box[3:] + margin)).all(axis=1)

    def _is_inside(self, points: Floats) -> Bools:
        if not self.is_closed:
            return np.zeros(len(points), bool)
        return np.abs(winding_numbers(self.bvh, points)) > INSIDE_WINDING_NUMBER

    def _is_allowed(self, found: ClosestPoints) -> Bools:
        return is_painted(self.bone.mask, self.triangles, found)
