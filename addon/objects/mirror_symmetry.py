# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects and bones are those of the other side: by names that end in .L and .R, and else by their places.

Places are compared in the rest pose, mirrored at the plane x = 0 of the world. What is on that plane is the same for
both sides, and so is what has no counterpart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import bpy
import numpy as np
from mathutils import Matrix

from ...solver.runtime.arrays import Floats
from ..evaluation.evaluated_mesh import positions
from ..evaluation.matrix_units import transform_points
from . import roles
from .skeleton import SkeletonBone, rest_matrix, world_matrix

MIRROR = Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))
TOLERANCE = 0.05  # of the size of an object, or of the length of a bone: sides that were modeled by hand differ
_Thing = TypeVar("_Thing")


@dataclass(frozen=True, eq=False)
class Place:
    """Where points are in world space.

    Attributes:
        landmarks: Their mean and the corners of their box, or the ends of a bone, (k, 3).
        spread: Their covariance, (3, 3): two bones that cross have the same box.
        size: The diagonal of the box, or the length of a bone; of a single point, its distance from the mirror plane.
    """

    landmarks: Floats
    spread: Floats
    size: float

    def mirrored(self) -> Place:
        """Returns the mirror image."""
        signs = np.array([-1.0, 1.0, 1.0])
        landmarks = self.landmarks * signs
        if len(landmarks) == 3:
            landmarks[1:, 0] = landmarks[:0:-1, 0]  # the low corner has the lesser coordinates
        return Place(landmarks, self.spread * np.outer(signs, signs), self.size)

    def distance(self, other: Place) -> float:
        """Returns how far another place is from this one, at its farthest landmark, over the size."""
        apart = np.linalg.norm(self.landmarks - other.landmarks, axis=1).max()
        width = np.sqrt(max(float(np.trace(self.spread)), 1e-30))
        turned = np.linalg.norm(self.spread - other.spread) / width
        return float(max(apart, turned)) / max(self.size, 1e-30)


class MirrorSymmetry:
    """The two sides of a scene, while muscles are mirrored."""

    def __init__(self, scene: bpy.types.Scene) -> None:
        """Takes a scene before anything is mirrored."""
        self._scene = scene
        self._places: dict[int, Place | None] = {}
        self._partners: dict[bpy.types.Object, bpy.types.Object] = {}

    def pair(self, obj: bpy.types.Object, made: bpy.types.Object) -> None:
        """Says that an object becomes the mirror image of another one."""
        self._partners[obj], self._partners[made] = made, obj

    def object(self, obj: bpy.types.Object) -> bpy.types.Object:
        """Returns the object of the other side, or the same one where there is none."""
        return self.find_object(obj) or obj

    def find_object(self, obj: bpy.types.Object) -> bpy.types.Object | None:
        """Returns the object of the other side, or None where there is none."""
        known = self._partners.get(obj)
        if known is not None:
            return known
        name = bpy.utils.flip_name(obj.name)
        named = self._scene.objects.get(name) if name != obj.name else None
        if named is not None:
            return named
        alike = [
            other
            for other in self._scene.objects
            if other.type == obj.type and roles.roles_of(other) == roles.roles_of(obj) and other not in self._partners
        ]
        return _nearest_image(obj, alike, self._place)

    def bone(self, rig: bpy.types.Object, bone: str) -> str:
        """Returns the name of the bone of the other side of a rig, or the same one where there is none."""
        other = self.object(rig)
        name = str(bpy.utils.flip_name(bone))
        own = rig.data.bones.get(bone)
        if name != bone and name in other.data.bones:
            return name
        if own is None:
            return bone
        alike = [b for b in other.data.bones if b.use_deform == own.use_deform]
        found = _nearest_image(own, alike, lambda each: _bone_place(rig if each == own else other, each))
        return str(found.name) if found is not None else bone

    def rotation_turn(self, rig: bpy.types.Object, bone: str) -> Matrix | None:
        """Returns T so that rotations R in a bone's own axes are T R Tᵀ in those of the bone of the other side, (3, 3).

        None where the axes of the two are mirror images by convention: where their names are.
        """
        if bone not in rig.data.bones:
            return None
        other, name = self.object(rig), self.bone(rig, bone)
        if name == bpy.utils.flip_name(bone):
            return None
        axes, there = (
            rest_matrix(SkeletonBone(each, at, 0)).to_3x3().normalized() for each, at in ((rig, bone), (other, name))
        )
        return there.transposed() @ MIRROR.to_3x3() @ axes

    def _place(self, obj: bpy.types.Object) -> Place | None:
        key = obj.session_uid
        if key not in self._places:
            self._places[key] = _object_place(obj)
        return self._places[key]


def _nearest_image(thing: _Thing, among: Iterable[_Thing], place: Callable[[_Thing], Place | None]) -> _Thing | None:
    """Returns what is nearest to the mirror image of a thing, itself where nothing is nearer; None: all are too far."""
    own = place(thing)
    if own is None:
        return None
    image = own.mirrored()
    best, found = TOLERANCE, None
    for other in [thing, *(each for each in among if each != thing)]:
        there = place(other)
        if there is not None and len(there.landmarks) == len(image.landmarks):
            distance = image.distance(there)
            if distance < best:
                best, found = distance, other
    return found


def _object_place(obj: bpy.types.Object) -> Place | None:
    """Returns where an object is while its rigs are in the rest pose; None where it has no points."""
    points = _own_points(obj)
    if points is None:
        return None
    world = transform_points(np.array(_to_rest(obj) @ obj.matrix_world), points)
    middle = world.mean(axis=0)
    if len(world) == 1:
        return Place(world, np.zeros((3, 3)), abs(float(middle[0])))
    low, high = world.min(axis=0), world.max(axis=0)
    spread = (world - middle).T @ (world - middle) / len(world)
    return Place(np.array([middle, low, high]), spread, float(np.linalg.norm(high - low)))


def _own_points(obj: bpy.types.Object) -> Floats | None:
    """Returns the points that an object consists of, in its own space, (n, 3); of an empty, its origin."""
    found: list[tuple[float, ...]] = []
    if obj.type == "MESH":
        return np.asarray(positions(obj.data), np.float64) if len(obj.data.vertices) else None
    if obj.type == "ARMATURE":
        found = [tuple(end) for bone in obj.data.bones for end in (bone.head_local, bone.tail_local)]
    elif obj.type == "LATTICE":
        found = [tuple(point.co_deform) for point in obj.data.points]
    elif obj.type == "CURVES":
        found = [tuple(point.position) for point in obj.data.points]
    elif obj.type == "CURVE":
        found = [tuple(p.co[:3]) for spline in obj.data.splines for p in [*spline.points, *spline.bezier_points]]
    elif obj.type == "EMPTY":
        found = [(0.0, 0.0, 0.0)]
    return np.array(found, np.float64) if found else None


def _bone_place(rig: bpy.types.Object, bone: bpy.types.Bone) -> Place:
    ends = np.array([rig.matrix_world @ bone.head_local, rig.matrix_world @ bone.tail_local])
    return Place(ends, np.zeros((3, 3)), float(np.linalg.norm(ends[1] - ends[0])))


def _to_rest(obj: bpy.types.Object) -> Matrix:
    """Returns what moves an object to where it is in the rest pose of the rigs that it is parented to."""
    parent = obj.parent
    if parent is None:
        return Matrix()
    before = _to_rest(parent)
    if obj.parent_type == "BONE" and parent.type == "ARMATURE" and obj.parent_bone in parent.pose.bones:
        bone = SkeletonBone(parent, obj.parent_bone, 0)
        return before @ rest_matrix(bone) @ world_matrix(bone).inverted_safe()
    return before
