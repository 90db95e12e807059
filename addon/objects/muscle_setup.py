# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes meshes muscles: finds the bones at both ends of each, holds the ends to them, and sizes tendons and tets.

The ends follow their bones by Hook modifiers and are pinned, so that a muscle may end on a bone mesh or on a bone of an
armature, and an artist can choose other bones in the modifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...solver.runtime.arrays import Bools, Floats
from ...solver.runtime.errors import BadInput, SinewError
from ..evaluation.evaluated_mesh import positions, triangles
from ..evaluation.matrix_units import transform_points
from ..properties.role_definitions import BONE
from . import initial_settings, mesh_defects
from .flesh_supports import armatures_of, hooks_of
from .muscle_via_points import PathFinding, lay_path
from .roles import has_role
from .skeleton import SkeletonBone, at_rest, rest_matrix, skeleton_bones, world_matrix

if TYPE_CHECKING:
    from ...solver.mesh.geometry.longitudinal_profile import ElongatedSurface

ORIGIN, INSERTION, ENDS = "Origin", "Insertion", "Muscle Ends"  # vertex groups, the first two also modifiers
END_SHARE = 0.04  # of the length, which each bone holds
TIP_SHARE = 0.05  # of the length, from which the distance to bones is measured
TETS_ACROSS = 3  # of the thickness in the middle
MIN_ELONGATION = 2.0  # length along the surface, π/2 for a ball, over thickness, below which the ends are a guess
SAME_PLACE = 1.0e-4  # of the size of a mesh
UNSURE_RATIO = 1.3  # of the distances to the second nearest bone and the nearest


@dataclass(frozen=True)
class MuscleEnd:
    """Where a muscle ends.

    Attributes:
        bone: The nearest bone.
        distance: From the tip of the muscle to it [Blender units].
        other: The second nearest bone.
        other_distance: To that.
        height: Of the tip in the world [Blender units].
    """

    bone: SkeletonBone
    distance: float
    other: SkeletonBone
    other_distance: float
    height: float


@dataclass(frozen=True)
class MuscleShape:
    """What was found of a mesh that is to be a muscle, in Blender units, from origin to insertion."""

    surface: ElongatedSurface
    origin: MuscleEnd
    insertion: MuscleEnd


def make_muscles(
    context: bpy.types.Context, meshes: Sequence[bpy.types.Object], end_share: float = END_SHARE
) -> list[SinewError]:
    """Makes meshes muscles that end on the bones nearest to them; returns what is doubtful about each.

    Args:
        context: Its scene has the bones.
        meshes: Checked; tets, tendons and groups that Sinew made before are made anew.
        end_share: How much of the length each bone holds.

    Raises:
        BadInput: "muscle-no-bones": there are fewer than two bones; or a mesh cannot be made a muscle. Nothing was
            changed.
    """
    for obj in meshes:
        _check_mesh(obj)
    bones = skeleton_bones(context, set(meshes))
    if len(bones) < 2:
        raise BadInput("muscle-no-bones", count=len(bones))
    modeled = {obj: bones_as_modeled(obj, bones) for obj in meshes}
    shapes = {obj: _measure(obj, modeled[obj]) for obj in meshes}
    found = []
    for obj, shape in shapes.items():
        set_up_muscle(obj, shape, end_share)
        ends = shape.origin.bone, shape.insertion.bone
        finding = PathFinding(shape.surface, triangles(obj.data), ends, modeled[obj], end_share)
        found += _doubts(obj, shape) + lay_path(obj, finding)
    return found


def hold_ends_to_nearest_bones(context: bpy.types.Context, obj: bpy.types.Object, end_share: float = 0.04) -> None:
    """Holds the ends of a muscle to the bones nearest to them, as Make Muscle does; no other setting changes.

    Raises:
        BadInput: There are fewer than two bones, or a mesh that has no ends. Nothing was changed.
    """
    _check_mesh(obj)
    bones = skeleton_bones(context, {obj})
    if len(bones) < 2:
        raise BadInput("muscle-no-bones", count=len(bones))
    _hold_ends(obj, _measure(obj, bones_as_modeled(obj, bones)), end_share)


def set_up_muscle(obj: bpy.types.Object, shape: MuscleShape, end_share: float = END_SHARE) -> None:
    """Makes a mesh a muscle of known shape: its ends follow their bones, its tendons and tets suit it."""
    initial_settings.make_new_flesh(obj)
    _hold_ends(obj, shape, end_share)
    _choose_settings(obj, shape)


def _check_mesh(obj: bpy.types.Object) -> None:
    """Raises BadInput where a mesh cannot be made a muscle."""
    if has_role(obj, BONE):
        raise BadInput("muscle-is-bone", name=obj.name)
    if obj.mode == "EDIT":
        raise BadInput("leave-edit-mode", name=obj.name)
    if obj.data.library is not None:
        raise BadInput("muscle-mesh-linked", name=obj.name)
    if not len(obj.data.polygons):
        raise BadInput("mesh-empty", name=obj.name)
    if not np.ptp(positions(obj.data), axis=0).max() > 0.0:
        raise BadInput("muscle-without-size", name=obj.name)


def bones_as_modeled(obj: bpy.types.Object, bones: Sequence[SkeletonBone]) -> list[SkeletonBone]:
    """Returns the bones as they are where the mesh is as it was modeled: at rest those of armatures that pose it."""
    rigs = set(armatures_of(obj))
    for hook in hooks_of(obj):
        placed = rest_matrix(SkeletonBone(hook.object, hook.subtarget, 0)) @ hook.matrix_inverse
        if hook.subtarget and np.allclose(placed, obj.matrix_world, atol=SAME_PLACE * max(obj.dimensions)):
            rigs.add(hook.object)  # made before, in the rest pose
    return [at_rest(bone) if bone.obj in rigs else bone for bone in bones]


def _measure(obj: bpy.types.Object, bones: Sequence[SkeletonBone]) -> MuscleShape:
    """Returns how a mesh runs from the bone that is nearer to the root of the skeleton, or higher, to the other."""
    from ...solver.mesh.geometry.longitudinal_profile import elongated_surface  # loads SciPy

    surface = elongated_surface(transform_points(np.array(obj.matrix_world), positions(obj.data)), triangles(obj.data))
    first, last = (_nearest_bones(side, bones) for side in (surface, surface.reversed()))
    if (first.bone.depth, -first.height) > (last.bone.depth, -last.height):
        return MuscleShape(surface.reversed(), last, first)
    return MuscleShape(surface, first, last)


def _nearest_bones(surface: ElongatedSurface, bones: Sequence[SkeletonBone]) -> MuscleEnd:
    """Returns which bones are nearest to the end at along 0."""
    tip = surface.vertices[surface.along <= TIP_SHARE]
    distances = [float(bone.distances(tip).mean()) for bone in bones]
    first, second = np.argsort(distances, kind="stable")[:2]
    return MuscleEnd(bones[first], distances[first], bones[second], distances[second], float(tip[:, 2].mean()))


def _hold_ends(obj: bpy.types.Object, shape: MuscleShape, end_share: float) -> None:
    write_end_groups(obj, shape.surface.along, end_share)
    for name, end in ((INSERTION, shape.insertion), (ORIGIN, shape.origin)):
        hook_to_bone(obj, name, end.bone)
    for modifier in obj.modifiers:
        # the hooks move the ends, so an armature may not move them again
        if modifier.type == "ARMATURE" and not modifier.vertex_group:
            modifier.vertex_group, modifier.invert_vertex_group = ENDS, True
    settings = obj.sinew
    settings.origin_group, settings.insertion_group = ORIGIN, INSERTION
    # bone meshes beside the belly do not hold it
    settings.pin_group = settings.attachment_group = ENDS


def write_end_groups(obj: bpy.types.Object, along: Floats, end_share: float = END_SHARE) -> None:
    """Writes the vertex groups of both ends, from how far along each vertex is, 0 to 1, (n,)."""
    parts = {ORIGIN: along <= end_share, INSERTION: along >= 1.0 - end_share}
    for name, is_in in parts.items():
        write_group(obj, name, is_in)
    write_group(obj, ENDS, parts[ORIGIN] | parts[INSERTION])


def write_group(obj: bpy.types.Object, name: str, is_in: Bools) -> None:
    """Writes a vertex group that has the given vertices, (n,), and no others."""
    group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
    group.remove(list(range(len(obj.data.vertices))))
    group.add(np.flatnonzero(is_in).tolist(), 1.0, "REPLACE")


def hook_to_bone(obj: bpy.types.Object, name: str, bone: SkeletonBone) -> None:
    """Lets a group of vertices follow a bone from where it is now, above all other modifiers."""
    hook = obj.modifiers.get(name)
    if hook is None or hook.type != "HOOK":
        hook = obj.modifiers.new(name, "HOOK")
        obj.modifiers.move(len(obj.modifiers) - 1, 0)
        hook = obj.modifiers[name]
    hook.vertex_group, hook.falloff_type, hook.strength = name, "NONE", 1.0
    hook.object, hook.subtarget = bone.obj, bone.bone
    hook.matrix_inverse = world_matrix(bone).inverted_safe() @ obj.matrix_world


def _choose_settings(obj: bpy.types.Object, shape: MuscleShape) -> None:
    settings = obj.sinew
    if not settings.use_muscle:
        settings.use_muscle, settings.muscle_preset = True, "MUSCLE"
        settings.weight_gravity = 0.0  # what lies around a muscle carries it
    if not len(settings.path_points):  # a drawn muscle has those that it was drawn with
        settings.origin_tendon, settings.insertion_tendon = shape.surface.thin_ends()
    settings.show_ends = True  # until a bake shows the muscle itself
    settings.sizing, settings.tet_size = "SIZE", shape.surface.thickness() / TETS_ACROSS


def _doubts(obj: bpy.types.Object, shape: MuscleShape) -> list[SinewError]:
    """Returns what somebody should look at before a bake."""
    found, thickness = [], shape.surface.thickness()
    if shape.surface.length < MIN_ELONGATION * thickness:
        found.append(SinewError("muscle-not-long", name=obj.name))
    if shape.origin.bone == shape.insertion.bone:
        found.append(SinewError("muscle-one-bone", name=obj.name, bone=shape.origin.bone.name))
    for end, label in ((shape.origin, ORIGIN), (shape.insertion, INSERTION)):
        if end.distance > thickness:
            numbers = {"bone": end.bone.name, "distance": f"{end.distance:.3g}"}
            found.append(SinewError("muscle-end-far", name=obj.name, end=label, **numbers))
        elif end.other_distance < UNSURE_RATIO * end.distance:
            numbers = {"bone": end.bone.name, "other": end.other.name}
            found.append(SinewError("muscle-bone-unsure", name=obj.name, end=label, **numbers))
    for modifier in obj.modifiers:
        if modifier.type == "ARMATURE" and modifier.object is not None and modifier.vertex_group != ENDS:
            found.append(SinewError("muscle-posed-twice", name=obj.name, modifier=modifier.name))
    defects = mesh_defects.mesh_defects(obj)
    if defects is not None:
        text = mesh_defects.defects_text(defects)
        found.append(SinewError("muscle-mesh-open", name=obj.name, defects=text))
    return found
