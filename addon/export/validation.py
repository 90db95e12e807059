# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of objects before anything is written; each error names the object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ...solver.scene.settings.flesh_settings import NON_FLESH_SWITCHES
from ...solver.scene.settings.tables import BODY, BONE, settings_of_role
from ..blender_data import sinew_modifier
from ..evaluation.evaluated_mesh import evaluated_mesh, positions
from ..evaluation.render_levels import RenderLevels, may_differ, render_levels, uses_is_viewport
from ..evaluation.scene_copy import SceneCopy
from ..objects import role_checks, roles
from ..objects.attachment_rows import rows_about_lines
from ..objects.driven_bones import check_driving_bodies
from ..objects.flesh_supports import uses_armature
from ..objects.rigid_body_constraints import constraint_problems
from . import activation_inputs, artist_tet_files, formulation, rigid_core
from .crack_guides import check_guides
from .deforming_mesh_check import shape_dependencies
from .fat_check import check_fat
from .fibre_objects import check_fibre_objects
from .pass_check import check_passes
from .setting_range_check import check_setting_ranges

BODY_SETTINGS = tuple(settings_of_role(BODY))
# relative to the size of what is compared; float32 evaluation noise is below a tenth of it
MOTION_TOLERANCE = 1.0e-5


def check_objects(scene: bpy.types.Scene) -> None:
    """Makes sure, without evaluating anything, that the objects can be read and the settings make sense.

    Raises:
        BadInput: Not so; says which object.
    """
    for problem in object_problems(scene):
        raise problem


def object_problems(scene: bpy.types.Scene) -> Iterator[BadInput]:
    """Yields why objects cannot be read or settings make no sense, at most once per object and check."""
    for check in _object_checks(scene):
        try:
            check()
        except BadInput as problem:
            yield problem


def _object_checks(scene: bpy.types.Scene) -> Iterator[Callable[[], object]]:
    """Yields what raises BadInput where an object cannot be read or its settings make no sense."""
    bodies = roles.bodies(scene)
    for obj in bodies:
        yield partial(role_checks.check_object, obj)
    yield partial(role_checks.check_unshared, bodies)
    yield partial(check_passes, bodies)
    for obj in [*bodies, *roles.colliders(scene), *(o for o in scene.objects if roles.has_role(o, BONE))]:
        yield partial(_check_type, obj, {"MESH"}, "not-a-mesh")
    for obj in roles.heat_sources(scene):
        yield partial(_check_type, obj, {"EMPTY", "MESH"}, "not-a-heat-source")
    for obj in roles.bones(scene):
        yield partial(_check_shape, obj, bodies, "bone-shaped-by-body")
    for obj in roles.colliders(scene):
        yield partial(_check_shape, obj, bodies, "collider-shaped-by-body")
    for problem in (*constraint_problems(scene), *check_driving_bodies(scene)):
        yield partial(_raise, problem)
    for obj in bodies:
        yield partial(check_settings, obj)
        yield partial(rigid_core.check_core, obj, scene)
        yield partial(activation_inputs.check_source, obj, scene)
        yield partial(check_fibre_objects, obj, scene)
        yield partial(check_guides, obj)
        yield partial(check_fat, obj, scene)
        yield partial(_check_rigs, obj)
        yield partial(_check_hooks, obj)
        if obj.sinew.method == "GIVEN":
            yield partial(artist_tet_files.read_object_tets, obj)


def _raise(problem: BadInput) -> None:
    raise problem


def _check_type(obj: bpy.types.Object, types: set[str], kind: str) -> None:
    """Makes sure that an object has one of some types, and is not in Edit Mode."""
    if obj.type not in types:
        raise BadInput(kind, name=obj.name, type=role_checks.object_kind(obj))
    if obj.mode == "EDIT":
        raise BadInput("in-edit-mode", name=obj.name)


def _check_shape(obj: bpy.types.Object, bodies: list[bpy.types.Object], kind: str) -> None:
    """Makes sure that the shape of a bone mesh or a collider follows no body."""
    around = shape_dependencies(obj) & set(bodies)
    if around:
        raise BadInput(kind, name=obj.name, body=min(body.name for body in around))


def _check_rigs(obj: bpy.types.Object) -> None:
    """Makes sure that the armatures whose bones hold a body, or whose poses activate it, show their pose."""
    rigs = [other for other in activation_inputs.find_source_objects([obj]) if other.type == "ARMATURE"]
    if uses_armature(obj):
        rigs += [m.object for m in obj.modifiers if m.type == "ARMATURE" and m.object is not None]
    rigs += [row.armature for row in rows_about_lines(obj)]
    for rig in rigs:
        if rig.mode == "EDIT":
            raise BadInput("in-edit-mode", name=rig.name)


def _check_hooks(obj: bpy.types.Object) -> None:
    """Makes sure that the hooks at the ends of a muscle follow what is there, or else an end would stand still."""
    ends = {obj.sinew.origin_group, obj.sinew.insertion_group} - {""}
    for hook in obj.modifiers if activation_inputs.is_muscle(obj) else ():
        if hook.type != "HOOK" or hook.vertex_group not in ends or not hook.show_viewport:
            continue
        if hook.object is None:
            raise BadInput("hook-without-object", name=obj.name, modifier=hook.name)
        if hook.object.type == "ARMATURE" and hook.subtarget and hook.subtarget not in hook.object.data.bones:
            raise BadInput(
                "hook-without-bone", name=obj.name, modifier=hook.name, rig=hook.object.name, bone=hook.subtarget
            )


def check_settings(obj: bpy.types.Object) -> None:
    """Makes sure that the material of a body is one.

    Raises:
        BadInput: A value is out of its range, or the body is to do what flesh or its method is not made for.
    """
    settings = obj.sinew
    check_setting_ranges(obj.name, settings, BODY_SETTINGS)
    for setting in NON_FLESH_SWITCHES if roles.is_flesh(obj) else ():
        if getattr(settings, setting):
            raise BadInput("flesh-combined", name=obj.name, feature=settings.bl_rna.properties[setting].name)
    for feature in formulation.incompatible_features(settings):
        raise BadInput(
            "method-combined", name=obj.name, method=formulation.formulation_label(settings), feature=feature
        )


def check_points(name: str, points: Floats) -> None:
    """Makes sure that coordinates (n, 3) are numbers.

    Raises:
        BadInput: Some are not.
    """
    are_numbers = np.isfinite(points)
    if not are_numbers.all():
        wrong = int(np.count_nonzero(~are_numbers.all(axis=1)))
        raise BadInput("mesh-not-finite", name=name, count=wrong)


def check_matrix(name: str, matrix: Floats) -> None:
    """Makes sure that world ← object space (4, 4) can be inverted.

    Raises:
        BadInput: The object is scaled to nothing along an axis.
    """
    sizes = np.linalg.svd(matrix[:3, :3], compute_uv=False)
    if not np.isfinite(matrix).all() or sizes[-1] <= 1.0e-9 * sizes[0]:
        raise BadInput("object-flat", name=name)


def check_same_in_render(scene_copy: SceneCopy, obj: bpy.types.Object, scene: bpy.types.Scene, frame: int) -> None:
    """Makes sure that what is above Sinew gives as many vertices in a render as in the viewport.

    Otherwise the Mesh Cache modifier, which needs the number that was baked, would do nothing in the render.

    Raises:
        BadInput: Not so; names the modifier.
    """
    evaluated = scene_copy.evaluated(obj)
    asking = next((m for m in evaluated.modifiers if uses_is_viewport(m)), None)
    if asking is not None:
        raise BadInput("modifier-asks-for-viewport", name=obj.name, modifier=asking.name)
    if not may_differ(scene, evaluated):
        return
    levels = render_levels(evaluated)
    names = [m.name for m in evaluated.modifiers]
    if vertex_count(scene, obj, len(names), frame) == vertex_count(scene, obj, len(names), frame, levels):
        return
    for cut, name in enumerate(names, 1):
        shown, rendered = vertex_count(scene, obj, cut, frame), vertex_count(scene, obj, cut, frame, levels)
        if shown != rendered:
            raise BadInput("render-differs", name=obj.name, modifier=name, viewport=shown, render=rendered)


def changing_modifier(scene: bpy.types.Scene, obj: bpy.types.Object, first: int, second: int) -> str:
    """Returns the name of the first modifier above Sinew whose vertex count differs between two frames, or ""."""
    stack = list(obj.modifiers)[: sinew_modifier.input_modifier_count(obj)]
    for cut, modifier in enumerate(stack, 1):
        if vertex_count(scene, obj, cut, first) != vertex_count(scene, obj, cut, second):
            return modifier.name
    return ""


def points_differ(a: Floats, b: Floats) -> bool:
    """Whether two arrays of points (n, 3) differ by more than rounding."""
    size = max(float(np.ptp(a, axis=0).max(initial=0.0)), float(np.abs(a).max(initial=0.0)) * 1e-2)
    return a.shape != b.shape or float(np.abs(a - b).max(initial=0.0)) > MOTION_TOLERANCE * size


def vertex_count(
    scene: bpy.types.Scene, obj: bpy.types.Object, cut: int, frame: int, levels: RenderLevels | None = None
) -> int:
    """Returns how many vertices the first `cut` modifiers of `obj` make at a frame."""
    with SceneCopy(scene, {obj: cut}) as scene_copy:
        if levels is not None:
            scene_copy.use_render_levels(obj, levels)
        scene_copy.set_frame(frame)
        with evaluated_mesh(scene_copy.evaluated(obj)) as mesh:
            return len(positions(mesh))
