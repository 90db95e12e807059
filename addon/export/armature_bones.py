# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones of armatures that hold flesh directly, by the vertex groups that the mesh has for them anyway, or since a row
of attachments names them.

Each is the straight line from its head to its tail in the rest pose, and moves as the bone does: location, rotation
and scale. The bends of a bone with segments (B-bone) are not followed, and neither are envelopes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ...solver.scene.flesh import Bone
from ...solver.scene.scene import Body
from ..blender_data import sinew_modifier
from ..blender_data.object_keys import key_from_name, new_key
from ..evaluation.evaluated_mesh import evaluated_mesh
from ..evaluation.matrix_units import scale_to_metres, transform_points
from ..evaluation.scene_copy import SceneCopy
from ..evaluation.vertex_weights import group_weights, weights
from ..objects import roles
from ..objects.attachment_rows import rows_about_lines
from ..objects.driven_bones import driven_bones
from ..objects.flesh_supports import armature_radius, uses_armature
from . import validation
from .bone_meshes import RestTransform
from .sampling_context import Sampling

# how far from a bone's line flesh follows it where nothing is set, as a share of the way to the skin around it
RADIUS_SHARE = 1.0 / 3.0


@dataclass(frozen=True)
class ArmatureBone:
    """A bone of an armature that holds a body.

    Attributes:
        key: Its name in files.
        body: The body.
        rig: The object of the armature.
        name: Of the bone, and of the body's vertex group.
        modifier: Name of the body's Armature modifier; "" where weights do not say what the bone holds.
        is_named: Whether a row of attachments is about it.
    """

    key: str
    body: bpy.types.Object
    rig: bpy.types.Object
    name: str
    modifier: str
    is_named: bool = False


def bones_of_armatures(
    obj: bpy.types.Object, body_key: str, taken: set[str], others: Collection[str]
) -> list[ArmatureBone]:
    """Returns the bones that hold a body by its vertex groups, and those whose lines rows of attachments are about.

    Args:
        obj: The body.
        body_key: Its key.
        taken: Keys of bones, which gets those of these.
        others: Keys of bodies and colliders, none of which a bone has that a row names.

    Raises:
        BadInput: The body asks for bones of its armature, and there are none.
    """
    found = list(armature_bones(obj, body_key, taken)) if uses_armature(obj) else []
    for rig, name in dict.fromkeys(named_lines(obj)):
        same = [place for place, bone in enumerate(found) if (bone.rig, bone.name) == (rig, name)]
        if same:
            found[same[0]] = replace(found[same[0]], is_named=True)
        else:
            key = new_key(f"{body_key}-{key_from_name(name)}", taken.union(others))
            taken.add(key)
            found.append(ArmatureBone(key, obj, rig, name, "", is_named=True))
    return found


def named_lines(obj: bpy.types.Object) -> Iterator[tuple[bpy.types.Object, str]]:
    """Yields the armatures and bones whose lines rows of a body and its Wrap are about."""
    if roles.is_flesh(obj):
        yield from ((row.armature, row.bone) for row in rows_about_lines(obj))


def armatures(obj: bpy.types.Object) -> list[bpy.types.ArmatureModifier]:
    """Returns the Armature modifiers above Sinew's place that move a body by vertex groups."""
    above = list(obj.modifiers)[: sinew_modifier.input_modifier_count(obj)]
    return [
        m for m in above if m.type == "ARMATURE" and m.object is not None and m.show_viewport and m.use_vertex_groups
    ]


def armature_bones(obj: bpy.types.Object, body_key: str, taken: set[str]) -> Iterator[ArmatureBone]:
    """Yields the bones that hold a body, each with a key that is not `taken` yet.

    Raises:
        BadInput: The body asks for them, and there are none.
    """
    found = armatures(obj)
    if not found:
        raise BadInput("armature-none", name=obj.name)
    none, scene = True, next(iter(obj.users_scene), None)
    for modifier in found:
        driven = driven_bones(scene, modifier.object) if scene is not None else set()
        for bone in modifier.object.data.bones:
            if not bone.use_deform or bone.name not in obj.vertex_groups:
                continue
            none = False
            if bone.name in driven:
                continue  # the body that drives it holds the flesh
            key = new_key(f"{body_key}-{key_from_name(bone.name)}", taken)
            yield ArmatureBone(key, obj, modifier.object, bone.name, modifier.name)
    if none:
        raise BadInput("armature-no-groups", name=obj.name, armature=found[0].object.name)


def read_armature_bones(
    scene_copy: SceneCopy, found: list[ArmatureBone], bodies: Mapping[bpy.types.Object, Body], unit: float
) -> list[Bone]:
    """Returns the bones that have a weight anywhere, and those that rows name, in the rest pose.

    Args:
        scene_copy: Evaluated there.
        found: Which bones.
        bodies: Bodies by their objects.
        unit: Metres in a Blender unit.

    Raises:
        BadInput: No bone of a body has a weight anywhere, or one is scaled to nothing.
    """
    made: list[Bone] = []
    for obj in dict.fromkeys(bone.body for bone in found):
        holding = [bone for bone in found if bone.body == obj and bone.modifier]
        painted = bone_weights(scene_copy, obj, holding) if holding else np.zeros((0, 1))
        used = [i for i in range(len(holding)) if painted[i].any()]
        if holding and not used:
            raise BadInput("armature-no-groups", name=obj.name, armature=holding[0].rig.name)
        for i in used:
            ends = _bone_ends(scene_copy, holding[i], unit)
            around = bodies[obj].vertices[(painted.argmax(axis=0) == i) & (painted[i] > 0.0)]
            made.append(_make_bone(holding[i], bodies[obj], ends, painted[i], around, unit))
        weighing = {holding[i].key for i in used}
        named = (bone for bone in found if bone.body == obj and bone.is_named and bone.key not in weighing)
        made += [_make_line(bone, bodies[obj], _bone_ends(scene_copy, bone, unit)) for bone in named]
    return made


def sample_armature_bone(sampling: Sampling, bone: ArmatureBone, rest: RestTransform) -> None:
    """Adds to the tracks where a bone is at a moment; `rest` is where it was in the rest pose."""
    matrix = bone_matrix(sampling.scene_copy, bone, sampling.unit)
    sampling.add(f"bone.{bone.key}.matrix", rest.motion_to(matrix), "rigid")


def bone_matrix(scene_copy: SceneCopy, bone: ArmatureBone, unit: float) -> Floats:
    """Returns world [m] ← the space of a bone [Blender units], (4, 4).

    Raises:
        BadInput: The bone was renamed or removed meanwhile, or a number in it is none.
    """
    rig = _evaluated_rig(scene_copy, bone)
    posed = rig.pose.bones.get(bone.name)
    if posed is None:
        raise BadInput("object-gone", name=bone.name)
    matrix = scale_to_metres(rig.matrix_world @ posed.matrix, unit)
    if not np.isfinite(matrix).all():
        raise BadInput("object-flat", name=bone.name)
    return matrix


def _evaluated_rig(scene_copy: SceneCopy, bone: ArmatureBone) -> bpy.types.Object:
    """Returns the armature of a bone: what the body depends on, or what was copied since a row names it."""
    return bone.rig.evaluated_get(scene_copy.depsgraph) if bone.modifier else scene_copy.evaluated(bone.rig)


def _bone_ends(scene_copy: SceneCopy, bone: ArmatureBone, unit: float) -> Floats:
    """Returns head and tail [m], world, (2, 3)."""
    validation.check_matrix(bone.name, bone_matrix(scene_copy, bone, unit))
    rig = _evaluated_rig(scene_copy, bone)
    posed = rig.pose.bones[bone.name]
    return transform_points(scale_to_metres(rig.matrix_world, unit), np.array([posed.head, posed.tail], np.float64))


def _make_bone(found: ArmatureBone, body: Body, ends: Floats, painted: Floats, around: Floats, unit: float) -> Bone:
    settings = found.body.sinew
    radius = armature_radius(found.body) * unit
    return Bone(
        key=found.key,
        name=f"{found.rig.name}: {found.name}",
        vertices=ends,
        triangles=np.zeros((0, 3), np.int32),
        distance=radius or automatic_radius(ends, around, body.meshing.tet_size),
        stiffness=settings.armature_bone_stiffness if settings.use_armature_bone_spring else None,
        bodies=(body.key,),
        weights=painted,
    )


def _make_line(found: ArmatureBone, body: Body, ends: Floats) -> Bone:
    """Returns a bone that holds what is near its line, whatever weights say; the row that names it has its reach."""
    return Bone(
        key=found.key,
        name=f"{found.rig.name}: {found.name}",
        vertices=ends,
        triangles=np.zeros((0, 3), np.int32),
        distance=line_radius(ends, body.vertices, body.meshing.tet_size),
        bodies=(body.key,),
    )


def line_radius(ends: Floats, skin: Floats, tet_size: float | None) -> float:
    """Returns a third of the way from a line to the nearest skin or of its length, and a tet's edge at least [m].

    Args:
        ends: Of the line [m], (2, 3).
        skin: Vertices [m], (n, 3).
        tet_size: Edge length of the tets [m]; None: not known.
    """
    length = float(np.linalg.norm(ends[1] - ends[0]))
    return max(tet_size or 0.0, RADIUS_SHARE * min(length, float(_distances_to_line(ends, skin).min())))


def _distances_to_line(ends: Floats, points: Floats) -> Floats:
    """Returns how far points [m], (n, 3), are from a line between ends [m], (2, 3)."""
    axis = ends[1] - ends[0]
    along = np.clip((points - ends[0]) @ axis / max(float(axis @ axis), 1e-30), 0.0, 1.0)
    return np.linalg.norm(points - ends[0] - along[:, None] * axis, axis=1)


def automatic_radius(ends: Floats, around: Floats, tet_size: float | None) -> float:
    """Returns a third of the way from a line to the skin that follows it, and a tet's edge at least [m].

    Args:
        ends: Of the line [m], (2, 3).
        around: Vertices of the skin that follow it more than any other bone [m], (n, 3); the way is their median.
        tet_size: Edge length of the tets [m]: nearer to the line, there may be no node. None: not known.
    """
    smallest = tet_size or 0.0
    if not len(around):
        return max(smallest, RADIUS_SHARE * float(np.linalg.norm(ends[1] - ends[0])))
    return max(smallest, RADIUS_SHARE * float(np.median(_distances_to_line(ends, around))))


def bone_weights(scene_copy: SceneCopy, obj: bpy.types.Object, found: list[ArmatureBone]) -> Floats:
    """Returns the weights of the bones' groups at the render vertices, (bones, vertices).

    The vertex group of an Armature modifier counts, too: where the modifier does nothing, its bones hold nothing.
    """
    evaluated = scene_copy.evaluated(obj)
    with evaluated_mesh(evaluated) as mesh:
        groups = [evaluated.vertex_groups[bone.name].index for bone in found]
        distinct = list(dict.fromkeys(groups))  # two armatures may have bones of one name
        painted = np.clip(group_weights(mesh, distinct), 0.0, 1.0)[[distinct.index(group) for group in groups]]
        for modifier in dict.fromkeys(bone.modifier for bone in found):
            used = obj.modifiers[modifier]
            if used.vertex_group in evaluated.vertex_groups:
                share = weights(evaluated, mesh, used.vertex_group, obj.name, "Armature")
                rows = [i for i, bone in enumerate(found) if bone.modifier == modifier]
                painted[rows] *= 1.0 - share if used.invert_vertex_group else share
    return painted
