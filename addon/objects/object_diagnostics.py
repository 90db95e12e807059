# SPDX-License-Identifier: GPL-3.0-or-later
"""What is doubtful about objects of a scene, found without filling them: scale, size, and the ends of muscles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import SinewError
from ..blender_data import sinew_modifier
from ..blender_data.rna_serialisation import animated_paths
from ..evaluation.evaluated_mesh import positions, triangles
from ..evaluation.matrix_units import transform_points
from . import roles
from .flesh_supports import hooks_of
from .muscle_setup import ENDS, INSERTION, ORIGIN, bones_as_modeled
from .skeleton import SkeletonBone, skeleton_bones
from .tet_estimate import measure_object

SCALE_TOLERANCE = 1.0e-4
MAX_MUSCLE_RATIO, MAX_FLESH_RATIO = 3.0, 30.0  # of the size of a body over that of the skeleton
MIN_RATIO = 1.0 / 300.0  # the muscles of an eye are a sixtieth of a body


def object_findings(context: bpy.types.Context) -> Iterator[tuple[bpy.types.Object, SinewError]]:
    """Yields objects of the scene and what is doubtful about each."""
    scene = context.scene
    bodies, bones = roles.bodies(scene), skeleton_bones(context, set(roles.bodies(scene)))
    for obj in dict.fromkeys([*bodies, *roles.bones(scene)]):
        yield from ((obj, problem) for problem in _scale_findings(obj))
    for obj in bodies:
        if roles.is_flesh(obj):
            yield from ((obj, problem) for problem in _size_findings(obj, bones, scene.unit_settings.scale_length))
            if obj.sinew.use_muscle:
                yield from ((obj, problem) for problem in _end_findings(obj, bones))
                yield from ((obj, problem) for problem in _posed_twice_findings(obj))


def _scale_findings(obj: bpy.types.Object) -> Iterator[SinewError]:
    scale = np.array(obj.scale)
    if np.abs(scale - 1.0).max() > SCALE_TOLERANCE and "scale" not in animated_paths(obj):
        text = f"{scale[0]:.3g}" if np.ptp(scale) < SCALE_TOLERANCE else ", ".join(f"{s:.3g}" for s in scale)
        yield SinewError("scale-not-applied", name=obj.name, scale=text)


def _size_findings(obj: bpy.types.Object, bones: Sequence[SkeletonBone], unit: float) -> Iterator[SinewError]:
    """Compares the longest side of a body with that of the box around all bones."""
    skeleton = skeleton_size(bones) * unit
    size = measure_object(obj, unit).longest
    if not (skeleton > 0.0 and size > 0.0):
        return
    ratio = size / skeleton
    numbers = {"size": f"{size:.3g}", "skeleton": f"{skeleton:.3g}"}
    if ratio > (MAX_MUSCLE_RATIO if obj.sinew.use_muscle else MAX_FLESH_RATIO):
        yield SinewError("size-unlike-skeleton", name=obj.name, times=f"{ratio:.2g}", **numbers)
    elif ratio < MIN_RATIO:
        yield SinewError("size-beyond-skeleton", name=obj.name, times=f"{1.0 / ratio:.0f}", **numbers)


def skeleton_size(bones: Sequence[SkeletonBone]) -> float:
    """Returns the longest side of the box around bones [Blender units]; 0 for none."""
    points = [np.asarray(bone.line) if bone.line is not None else _box_corners(bone.obj) for bone in bones]
    return float(np.ptp(np.concatenate(points), axis=0).max()) if points else 0.0


def _box_corners(obj: bpy.types.Object) -> Floats:
    return transform_points(np.array(obj.matrix_world), np.array([list(corner) for corner in obj.bound_box]))


def _end_findings(obj: bpy.types.Object, bones: Sequence[SkeletonBone]) -> Iterator[SinewError]:
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


def _posed_twice_findings(obj: bpy.types.Object) -> Iterator[SinewError]:
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
