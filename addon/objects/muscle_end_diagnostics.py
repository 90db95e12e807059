# SPDX-License-Identifier: GPL-3.0-or-later
"""What is doubtful about the ends of muscles: bones that they should follow, and what else moves them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import SinewError
from ..blender_data import sinew_modifier
from ..evaluation.evaluated_mesh import positions, triangles
from ..evaluation.matrix_units import transform_points
from .flesh_supports import hooks_of
from .muscle_setup import ENDS, INSERTION, ORIGIN, bones_as_modeled
from .skeleton import SkeletonBone


def end_findings(obj: bpy.types.Object, bones: Sequence[SkeletonBone]) -> Iterator[SinewError]:
    """Looks at the hooks that let the ends of a muscle follow bones."""
    settings = obj.sinew
    groups = {ORIGIN: settings.origin_group, INSERTION: settings.insertion_group}
    hooks = {hook.vertex_group: hook for hook in hooks_of(obj)}
    followed = {end: hooks[group] for end, group in groups.items() if group and group in hooks}
    if not followed:
        return  # nothing, bone meshes, or an armature: what the solver says of them
    names = {end: hook.subtarget or hook.object.name for end, hook in followed.items()}
    if len(followed) == 2 and len({(hook.object, hook.subtarget) for hook in followed.values()}) == 1:
        yield SinewError("muscle-ends-on-one-bone", name=obj.name, bone=names[ORIGIN])
    for end in groups.keys() - followed.keys():
        if settings.pin_group and groups[end] and not _is_posed_otherwise(obj):
            yield SinewError("muscle-end-still", name=obj.name, end=end)
    modeled = {(bone.obj, bone.bone): bone for bone in bones_as_modeled(obj, bones)}
    thickness = _thickness(obj)
    for end, hook in followed.items():
        bone, tip = modeled.get((hook.object, hook.subtarget)), _group_points(obj, groups[end])
        if bone is None or not len(tip):
            continue
        distance = float(bone.distances(tip).mean())
        if distance > thickness:
            numbers = {"bone": names[end], "distance": f"{distance:.3g}"}
            yield SinewError("muscle-end-far", name=obj.name, end=end, **numbers)


def _is_posed_otherwise(obj: bpy.types.Object) -> bool:
    """Whether something else than hooks moves the vertices of an object."""
    above = list(obj.modifiers)[: sinew_modifier.input_modifier_count(obj)]
    posing = sinew_modifier.POSING_MODIFIERS - {"HOOK"}
    return obj.parent is not None or bool(obj.constraints) or any(modifier.type in posing for modifier in above)


def posed_twice_findings(obj: bpy.types.Object) -> Iterator[SinewError]:
    """Finds armatures that also move the ends of a muscle, which follow their hooks."""
    if obj.sinew.pin_group != ENDS or not hooks_of(obj):
        return
    for modifier in list(obj.modifiers)[: sinew_modifier.input_modifier_count(obj)]:
        if modifier.type == "ARMATURE" and modifier.object is not None and modifier.vertex_group != ENDS:
            yield SinewError("muscle-posed-twice", name=obj.name, modifier=modifier.name)


def _thickness(obj: bpy.types.Object) -> float:
    """Returns how thick the middle of a muscle is [Blender units]."""
    from ...solver.mesh.geometry.longitudinal_profile import elongated_surface  # loads SciPy

    faces = triangles(obj.data)
    if not len(faces):
        return np.inf
    return elongated_surface(transform_points(np.array(obj.matrix_world), positions(obj.data)), faces).thickness()


def _group_points(obj: bpy.types.Object, name: str) -> Floats:
    """Returns the vertices of a vertex group in world space, (k, 3)."""
    group = obj.vertex_groups.get(name)
    if group is None:
        return np.zeros((0, 3))
    chosen = [v.index for v in obj.data.vertices if any(e.group == group.index and e.weight > 0.5 for e in v.groups)]
    return transform_points(np.array(obj.matrix_world), positions(obj.data)[chosen])
