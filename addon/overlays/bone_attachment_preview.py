# SPDX-License-Identifier: GPL-3.0-or-later
"""Estimates the flesh that bones will hold before a bake, by sample points as dense as nodes.

The bake tests the nodes of tets, which are elsewhere. Where few points appear, it will find few nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix, Vector
from mathutils.geometry import intersect_point_line

from ...solver.runtime.arrays import Floats
from ...solver.scene.settings.surface_attachment_settings import TO_OBJECT
from ..evaluation.surface_tree import surface_tree
from ..evaluation.vertex_weights import group_weights
from ..export.armature_bones import automatic_radius, line_radius
from ..objects import flesh_supports, roles, tet_estimate
from ..objects.attachment_rows import row_about_armature, row_about_bone, row_about_line, row_label, rows_about_lines

MAX_POINTS_PER_BONE = 4000  # above it, points get a wider spacing
MASK_THRESHOLD = 0.5  # painted weights above it count


@dataclass(frozen=True)
class Preview:
    """Points that bones will probably hold, in world space [Blender units].

    Attributes:
        names: Of the bones.
        points: Of each bone, (k, 3).
        spacing: Distance between neighbouring points [Blender units].
    """

    names: tuple[str, ...]
    points: tuple[Floats, ...]
    spacing: float


@dataclass(frozen=True)
class _BoneQuery:
    """A bone: its signed distance to points, and the box of its reach.

    Attributes:
        name: For people.
        depth: The distance, None where it holds nothing.
        low, high: Corners of the box.
        group: Of armature bones, the vertex group that decides.
        painted: The vertex group of the body where bones hold, "" for everywhere.
    """

    name: str
    depth: Callable[[Vector], float | None]
    low: Floats
    high: Floats
    group: str = ""
    painted: str = ""


def preview_stamp(scene: bpy.types.Scene, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple:
    """Returns what the preview of `obj` depends on, as far as it is cheap to read."""
    own, found = obj.sinew, []
    settings = (own.sizing, own.divisions, own.tet_size, own.tet_count, own.attachment_group)
    for each in (obj, *flesh_supports.bones_of(scene, obj)):
        evaluated = each.evaluated_get(depsgraph)
        box = [round(value, 6) for corner in evaluated.bound_box for value in corner]
        found += [each.name, tuple(map(tuple, evaluated.matrix_world)), tuple(box), len(evaluated.data.vertices)]
        # a change of mode stands for new paint
        row = row_about_bone(obj, each) if each != obj else None
        reach = (each.sinew.bone_distance,) if row is None else (row.reach, row.group, row.target_group)
        found += [*reach, each.sinew.bone_mask_group, each.mode]
    for rig in flesh_supports.armatures_of(obj) if flesh_supports.uses_armature(obj) else ():
        found += [flesh_supports.armature_radius(obj), tuple(map(tuple, rig.matrix_world))]
        found += [tuple(bone.head) + tuple(bone.tail) for bone in rig.pose.bones]
    for row in rows_about_lines(obj):
        bone = row.armature.pose.bones[row.bone]
        found += [row_label(row), row.reach, row.group, tuple(map(tuple, row.armature.matrix_world))]
        found += [tuple(bone.head) + tuple(bone.tail)]
    return (*settings, *found)


def preview(scene: bpy.types.Scene, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Preview:
    """Returns the estimate for `obj`. The present frame has to be its rest pose."""
    unit, body = scene.unit_settings.scale_length, _MeshQuery(obj, depsgraph)
    spacing = (tet_estimate.meshing(obj, unit).tet_size or 0.0) / unit
    bones = _bone_queries(scene, obj, depsgraph, body, spacing) if roles.is_flesh(obj) else []
    if not spacing > 0.0 or not bones:
        return Preview((), (), spacing)
    points_of_bone: list[list[Vector]] = [[] for _ in bones]
    low, high = body.box()
    for number, bone in enumerate(bones):
        for point in _lattice_points(np.maximum(low, bone.low), np.minimum(high, bone.high), spacing):
            depth = bone.depth(point)
            if depth is None or not body.holds(point) or not body.painted(point, bone.painted):
                continue
            others = (other.depth(point) for other in bones if other is not bone)
            is_leading = not bone.group or all(
                body.weight(point, bone.group) >= body.weight(point, other.group) for other in bones if other.group
            )
            if is_leading and all(other is None or other >= depth for other in others):
                points_of_bone[number].append(point)
    points = tuple(np.array(each, np.float64).reshape(-1, 3) for each in points_of_bone)
    return Preview(tuple(bone.name for bone in bones), points, spacing)


def _bone_queries(
    scene: bpy.types.Scene, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, body: _MeshQuery, spacing: float
) -> list[_BoneQuery]:
    lines = [*_armature_bones(obj, body, spacing), *_named_lines(obj, body, spacing)]
    return [*_mesh_bones(scene, obj, depsgraph), *lines]


class _MeshQuery:
    """Queries of an evaluated mesh at points in world space."""

    def __init__(self, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
        self.evaluated = obj.evaluated_get(depsgraph)
        self.matrix: Matrix = self.evaluated.matrix_world.copy()
        self.inverse: Matrix = self.matrix.inverted_safe()
        self.mesh = self.evaluated.data
        self.groups = {group.name: group.index for group in obj.vertex_groups}
        self.tree = surface_tree(obj, depsgraph)

    def box(self) -> tuple[Floats, Floats]:
        corners = np.array([self.matrix @ Vector(corner) for corner in self.evaluated.bound_box])
        return corners.min(axis=0), corners.max(axis=0)

    def depth(self, point: Vector) -> float:
        """Returns the signed distance of a point to the surface, negative inside."""
        local = self.inverse @ point
        place, normal, _, _ = self.tree.find_nearest(local)
        if place is None:
            return np.inf
        distance = (self.matrix @ place - point).length
        return -distance if (local - place).dot(normal) < 0.0 else distance

    def holds(self, point: Vector) -> bool:
        return self.depth(point) < 0.0

    def weight(self, point: Vector, group: str) -> float:
        """Returns the mean weight of a vertex group in the nearest face."""
        number = self.groups.get(group)
        face = self.tree.find_nearest(self.inverse @ point)[2]
        if number is None or face is None:
            return 0.0
        corners = self.mesh.polygons[face].vertices
        found = (g.weight for i in corners for g in self.mesh.vertices[i].groups if g.group == number)
        return sum(found) / len(corners)

    def painted(self, point: Vector, group: str) -> bool:
        """Whether the weight of a vertex group counts there. Without a group, and for attributes, it always does."""
        return group not in self.groups or self.weight(point, group) > MASK_THRESHOLD


def _mesh_bones(scene: bpy.types.Scene, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Iterator[_BoneQuery]:
    for bone in flesh_supports.bones_of(scene, obj):
        if len(bone.evaluated_get(depsgraph).data.polygons):
            yield _mesh_bone(_MeshQuery(bone, depsgraph), bone, obj)


def _mesh_bone(solid: _MeshQuery, bone: bpy.types.Object, obj: bpy.types.Object) -> _BoneQuery:
    row, mask, painted = row_about_bone(obj, bone), bone.sinew.bone_mask_group, obj.sinew.attachment_group
    if row is not None and row.target_type == TO_OBJECT and row.target_group:
        mask = row.target_group
    distance = bone.sinew.bone_distance if row is None else row.reach
    if row is not None and row.group:
        painted = row.group

    def depth(point: Vector) -> float | None:
        found = solid.depth(point)
        return found if found <= distance and solid.painted(point, mask) else None

    low, high = solid.box()
    return _BoneQuery(bone.name, depth, low - distance, high + distance, painted=painted)


def _armature_bones(obj: bpy.types.Object, body: _MeshQuery, spacing: float) -> Iterator[_BoneQuery]:
    rigs = flesh_supports.armatures_of(obj) if flesh_supports.uses_armature(obj) else []
    found = [
        (rig, bone) for rig in rigs for bone in rig.pose.bones if bone.bone.use_deform and bone.name in body.groups
    ]
    if not found:
        return
    weights = group_weights(body.mesh, [body.groups[bone.name] for _, bone in found])
    skin = np.array([body.matrix @ vertex.co for vertex in body.mesh.vertices])
    strongest = weights.argmax(axis=0)
    for number, (rig, bone) in enumerate(found):
        ends = np.array([rig.matrix_world @ bone.head, rig.matrix_world @ bone.tail])
        around = skin[(strongest == number) & (weights[number] > 0.0)]
        radius = flesh_supports.armature_radius(obj) or automatic_radius(ends, around, spacing)
        name = f"{rig.name}: {bone.name}"
        own = row_about_line(obj, name)
        radius = own.reach if own is not None and own.reach > 0.0 else radius
        row = own or row_about_armature(obj)
        painted = row.group if row is not None and row.group else obj.sinew.attachment_group
        yield _line_bone(name, (bone.name, painted), ends, radius)


def _named_lines(obj: bpy.types.Object, body: _MeshQuery, spacing: float) -> Iterator[_BoneQuery]:
    """Yields the bones whose lines rows are about and that do not hold by weights."""
    rigs = flesh_supports.armatures_of(obj) if flesh_supports.uses_armature(obj) else []
    for row in rows_about_lines(obj):
        if row.armature in rigs and row.bone in body.groups:
            continue
        bone, matrix = row.armature.pose.bones[row.bone], row.armature.matrix_world
        ends = np.array([matrix @ bone.head, matrix @ bone.tail])
        skin = np.array([body.matrix @ vertex.co for vertex in body.mesh.vertices])
        radius = row.reach or line_radius(ends, skin, spacing)
        yield _line_bone(row_label(row), ("", row.group or obj.sinew.attachment_group), ends, radius)


def _line_bone(name: str, groups: tuple[str, str], ends: Floats, radius: float) -> _BoneQuery:
    head, tail = Vector(ends[0]), Vector(ends[1])

    def depth(point: Vector) -> float | None:
        along = min(max(intersect_point_line(point, head, tail)[1], 0.0), 1.0)
        found = (head.lerp(tail, along) - point).length
        return found if found <= radius else None

    return _BoneQuery(name, depth, ends.min(axis=0) - radius, ends.max(axis=0) + radius, *groups)


def _lattice_points(low: Floats, high: Floats, spacing: float) -> Iterator[Vector]:
    """Yields the points of a body-centred cubic lattice in a box."""
    sides = np.maximum(high - low, 0.0)
    wider = max(spacing, float((2.0 * sides.prod() / MAX_POINTS_PER_BONE) ** (1.0 / 3.0)))
    for shift in (0.0, 0.5):
        first, last = np.ceil(low / wider - shift), np.floor(high / wider - shift)
        along = [(np.arange(a, b + 1, dtype=np.int64) + shift) * wider for a, b in zip(first, last, strict=True)]
        for point in np.stack(np.meshgrid(*along, indexing="ij"), axis=-1).reshape(-1, 3):
            yield Vector(point)
