# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the via points of a muscle that runs round a joint or a bone: empties on its centreline that bones carry.

A straight muscle needs none: its path from origin to insertion is as long as it is. Where the centreline leaves the
straight line, the path runs through as few of its points as make it as long. Of the two bones that the muscle ends on,
and those between them in the skeleton, the nearest one carries a point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import SinewError
from ..properties.table_editing import add_row, remove_row
from .mirror_symmetry import MIRROR, MirrorSymmetry
from .skeleton import SkeletonBone, carrier_of, chain_to_root, world_matrix

if TYPE_CHECKING:
    from ...solver.mesh.geometry.longitudinal_profile import ElongatedSurface

STATIONS = 33  # on the centreline
DEPARTURE = 0.5  # of the thickness: where the centreline is farther away, the straight line leaves the muscle
LENGTH_SHARE = 0.985  # of the length of the centreline, which the path has at least
MOST_VIA_POINTS = 8
EQUALLY_NEAR = 1.15  # ratio of the distances to another bone and to the one that carries a point
DISPLAY_SHARE = 0.15  # of the thickness


@dataclass(frozen=True, eq=False)
class PathFinding:
    """A muscle between bones whose path is to be found.

    Attributes:
        surface: In world space, from origin to insertion.
        triangles: Of the surface, (m, 3).
        ends: The bones of the origin and the insertion.
        bones: All bones, as they are where the muscle is as it was modeled.
        end_share: Of the length, which each bone holds.
    """

    surface: ElongatedSurface
    triangles: Indices
    ends: tuple[SkeletonBone, SkeletonBone]
    bones: Sequence[SkeletonBone]
    end_share: float


def lay_path(obj: bpy.types.Object, finding: PathFinding) -> list[SinewError]:
    """Gives a muscle the via points that its shape needs, in place of those found before; returns what is doubtful.

    Via points that an artist has added stay as they are, and none is found beside them.
    """
    rows = obj.sinew.via_points
    if any(row.object is not None and row.object.sinew.via_point_of is None for row in rows):
        return []
    remove_found_via_points(obj)
    places, doubts = find_via_places(finding), []
    candidates = _bones_between(finding.ends, finding.bones)
    for number, place in enumerate(places, start=1):
        distances = [float(bone.distances(place[None])[0]) for bone in candidates]
        bone, distance = candidates[int(np.argmin(distances))], min(distances)
        row = add_row(rows)
        row.object = new_via_point(obj, number, bone, place)
        row.object.empty_display_size = DISPLAY_SHARE * finding.surface.thickness()
        other = _rival(bone, distance, place, finding.bones)
        if other is not None:
            details = {"number": number, "bone": bone.name, "other": other.name}
            doubts.append(SinewError("muscle-via-unsure", name=obj.name, **details))
    return doubts


def find_via_places(finding: PathFinding) -> Floats:
    """Returns where the path of a muscle bends, from origin to insertion, in world space, (k, 3)."""
    from ...solver.mesh.geometry import centreline  # only an artist who makes muscles needs it

    surface, share = finding.surface, finding.end_share
    ends = [surface.vertices[part].mean(axis=0) for part in (surface.along <= share, surface.along >= 1.0 - share)]
    levels = np.linspace(share, 1.0 - share, STATIONS)
    middle = centreline.level_set_centroids(surface.vertices, finding.triangles, surface.along, levels)
    line = np.array([ends[0], *middle[np.isfinite(middle).all(axis=1)], ends[1]])
    if not np.isfinite(line).all() or centreline.departure_from_chord(line) <= DEPARTURE * surface.thickness():
        return np.zeros((0, 3))
    shortest = LENGTH_SHARE * centreline.polyline_length(line)
    return line[centreline.fewest_corners(line, shortest, MOST_VIA_POINTS)]


def new_via_point(obj: bpy.types.Object, number: int, bone: SkeletonBone, place: Floats) -> bpy.types.Object:
    """Returns an empty at a place in world space, (3,), that a bone carries from where it is now, or at rest.

    Args:
        obj: The muscle, in whose collections it is.
        number: On the path, from 1.
        bone: What carries the point.
        place: [Blender units].
    """
    empty = bpy.data.objects.new(f"Via {number} {obj.name}", None)
    for collection in obj.users_collection:
        collection.objects.link(empty)
    empty.empty_display_type = "SPHERE"
    empty.parent, empty.location = bone.obj, Vector(place)
    if bone.bone:
        empty.parent_type, empty.parent_bone = "BONE", bone.bone
    empty.matrix_parent_inverse = space_of_children(bone).inverted_safe()
    empty.sinew.via_point_of = obj
    return empty


def remove_found_via_points(obj: bpy.types.Object) -> None:
    """Empties the list of via points of a muscle, and removes those that were found for it and for no other one.

    What a library override has of its library stays.
    """
    rows = obj.sinew.via_points
    found = [row.object for row in rows if row.object is not None]
    while len(rows) and remove_row(rows, len(rows) - 1):
        pass
    obj.sinew.via_points_index = 0
    kept = {row.object for row in rows}
    for empty in found:
        if empty.sinew.via_point_of == obj and empty.library is None and empty not in kept:
            bpy.data.objects.remove(empty)


def mirror_via_point(sides: MirrorSymmetry, made: bpy.types.Object, empty: bpy.types.Object) -> bpy.types.Object:
    """Returns the mirror image of a found via point for a muscle of the other side: the bone there carries it."""
    bone = SkeletonBone(empty.parent, empty.parent_bone if empty.parent_type == "BONE" else "", 0, is_at_rest=True)
    place = space_of_children(bone) @ empty.matrix_parent_inverse @ empty.location
    name = sides.bone(bone.obj, bone.bone) if bone.bone else ""
    there = SkeletonBone(sides.object(bone.obj), name, 0, is_at_rest=True)
    number = 1 + next(k for k, row in enumerate(made.sinew.via_points) if row.object == empty)
    image = new_via_point(made, number, there, np.array(MIRROR @ place))
    image.empty_display_size = empty.empty_display_size
    return image


def space_of_children(bone: SkeletonBone) -> Matrix:
    """Returns the space, to world, in which Blender places what is parented to a bone: an armature's, from its tail."""
    known = bone.obj.data.bones.get(bone.bone) if bone.bone else None
    if known is None:
        return world_matrix(bone)
    if known.use_relative_parent:
        return world_matrix(bone) @ known.matrix_local.inverted_safe()
    return world_matrix(bone) @ Matrix.Translation((0.0, known.length, 0.0))


def _bones_between(ends: tuple[SkeletonBone, SkeletonBone], bones: Sequence[SkeletonBone]) -> list[SkeletonBone]:
    """Returns the bones at both ends, and those on the way from one to the other in the hierarchy of the skeleton."""
    first, last = (chain_to_root(bone) for bone in ends)
    common = next((node for node in first if node in last), None)
    if common is None:
        return list(ends)
    between = {*first[: first.index(common) + 1], *last[: last.index(common) + 1]}
    return [*ends, *(bone for bone in bones if (bone.obj, bone.bone) in between or carrier_of(bone) in between)]


def _rival(bone: SkeletonBone, distance: float, place: Floats, bones: Sequence[SkeletonBone]) -> SkeletonBone | None:
    """Returns the bone that is nearest of those that move otherwise than `bone`, where it is hardly farther away."""
    others = [other for other in bones if carrier_of(other) != carrier_of(bone)]
    distances = [float(other.distances(place[None])[0]) for other in others]
    if not others or min(distances) >= EQUALLY_NEAR * distance:
        return None
    return others[int(np.argmin(distances))]
