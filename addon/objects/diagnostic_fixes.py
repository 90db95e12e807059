# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixes of what Check finds, by kind. Each changes one object and says in words what it did."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import bmesh
import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...solver.runtime.arrays import Indices
from ...solver.runtime.errors import BadInput
from ..blender_data import sinew_modifier
from ..evaluation.evaluated_mesh import polygon_of_triangle, polygon_starts
from . import drawn_muscles, muscle_setup, role_checks
from .separate_bodies import separate

SAME_PLACE = 1.0e-6  # of the size of a mesh: vertices that are merged
SAME_SCALE = 1.0e-4  # relative


@dataclass(frozen=True)
class FixTarget:
    """What is to be fixed.

    Attributes:
        obj: The object.
        triangles: Those of its mesh that are to be turned, (t,).
        wanted: The value that a setting is to get [m], or 0.
        moves: How objects are to be moved, each with its session id [m].
    """

    obj: bpy.types.Object
    triangles: Indices = field(default_factory=lambda: np.zeros(0, np.int32))
    wanted: float = 0.0
    moves: tuple[tuple[int, tuple[float, float, float]], ...] = ()


def fix(context: bpy.types.Context, kind: str, target: FixTarget) -> str:
    """Fixes a finding and returns what was done, as a sentence.

    Raises:
        BadInput: It cannot be fixed so; nothing was changed.
    """
    role_checks.check_changeable(target.obj)
    return FIXES[kind](context, target)


def _fill_holes(_context: bpy.types.Context, target: FixTarget) -> str:
    obj = target.obj
    _check_own_mesh(obj)
    found = bmesh.new()
    try:
        found.from_mesh(obj.data)
        border = [edge for edge in found.edges if edge.is_boundary]
        made = bmesh.ops.holes_fill(found, edges=border, sides=0)["faces"]
        if not made or any(not edge.is_manifold and edge.link_faces for edge in found.edges):
            raise BadInput("not-fixed", name=obj.name, problem="not all of its open edges go around holes")
        found.to_mesh(obj.data)
    finally:
        found.free()
    obj.data.update()
    return f'Filled {len(made)} {"hole" if len(made) == 1 else "holes"} of "{obj.name}"'


def _merge_doubles(_context: bpy.types.Context, target: FixTarget) -> str:
    obj = target.obj
    _check_own_mesh(obj)
    found = bmesh.new()
    try:
        found.from_mesh(obj.data)
        before, size = len(found.verts), max(obj.data.vertices, key=lambda v: v.co.length).co.length
        bmesh.ops.remove_doubles(found, verts=found.verts, dist=SAME_PLACE * size)
        merged, second = before - len(found.verts), _second_faces(found.faces)
        bmesh.ops.delete(found, geom=second, context="FACES_ONLY")
        found.to_mesh(obj.data)
    finally:
        found.free()
    obj.data.update()
    return f'Merged {merged} vertices of "{obj.name}" and deleted {len(second)} doubled faces'


def _second_faces(faces: Collection[bmesh.types.BMFace]) -> list[bmesh.types.BMFace]:
    """Returns the faces on the vertices of an earlier one."""
    seen: set[frozenset[bmesh.types.BMVert]] = set()
    second = []
    for face in faces:
        corners = frozenset(face.verts)
        if corners in seen:
            second.append(face)
        seen.add(corners)
    return second


def _turn_faces(_context: bpy.types.Context, target: FixTarget) -> str:
    obj, mesh = target.obj, target.obj.data
    _check_own_mesh(obj)
    mesh.calc_loop_triangles()
    of_triangle = polygon_of_triangle(polygon_starts(mesh))
    if not len(target.triangles) or target.triangles.max() >= len(of_triangle):
        raise BadInput("not-fixed", name=obj.name, problem="its modifiers make other faces than its mesh has")
    turned = np.unique(of_triangle[target.triangles])
    for number in turned.tolist():
        mesh.polygons[number].flip()
    mesh.update()
    return f'Turned {len(turned)} faces of "{obj.name}"'


def _refine(context: bpy.types.Context, target: FixTarget) -> str:
    settings = target.obj.sinew
    settings.sizing, settings.tet_size = "SIZE", target.wanted / context.scene.unit_settings.scale_length
    return f'Tet Size of "{target.obj.name}" is {target.wanted:.3g} m'


def _cover_with_tets(_context: bpy.types.Context, target: FixTarget) -> str:
    target.obj.sinew.method = "ROBUST"
    return f'Fill of "{target.obj.name}" is Robust'


def _hold_ends(context: bpy.types.Context, target: FixTarget) -> str:
    obj = target.obj
    muscle_setup.hold_ends_to_nearest_bones(context, obj)
    hooks = {m.name: m.subtarget or m.object.name for m in obj.modifiers if m.type == "HOOK" and m.object is not None}
    origin, insertion = hooks[muscle_setup.ORIGIN], hooks[muscle_setup.INSERTION]
    return f'"{obj.name}" begins on "{origin}" and ends on "{insertion}"'


def _leave_ends_to_hooks(_context: bpy.types.Context, target: FixTarget) -> str:
    for modifier in target.obj.modifiers:
        if modifier.type == "ARMATURE" and modifier.vertex_group != muscle_setup.ENDS:
            modifier.vertex_group, modifier.invert_vertex_group = muscle_setup.ENDS, True
    return f'The armature of "{target.obj.name}" leaves its ends to the hooks'


def _move_below_armature(_context: bpy.types.Context, target: FixTarget) -> str:
    sinew_modifier.reset_stack_index(target.obj)
    return f'Moved Sinew\'s modifier of "{target.obj.name}" below those that pose it'


def _apply_scale(_context: bpy.types.Context, target: FixTarget) -> str:
    """Applies the scale to the mesh; hooks, children and shape keys stay where they are."""
    obj = target.obj
    _check_own_mesh(obj)
    scale = Matrix.Diagonal([*obj.scale, 1.0])
    if not abs(scale.determinant()) > 0.0:
        raise BadInput("object-flat", name=obj.name)
    if drawn_muscles.is_drawn(obj):
        if np.ptp(obj.scale) > SAME_SCALE * abs(obj.scale[0]) or obj.scale[0] < 0.0:
            raise BadInput("not-fixed", name=obj.name, problem="a drawn muscle has one scale for all axes")
        drawn_muscles.scale_shape(obj, obj.scale[0])
    obj.data.transform(scale, shape_keys=True)
    if scale.determinant() < 0.0:
        obj.data.flip_normals()
    obj.data.update()
    obj.scale = Vector((1.0, 1.0, 1.0))
    for modifier in obj.modifiers:
        if modifier.type == "HOOK":
            modifier.matrix_inverse = modifier.matrix_inverse @ scale.inverted()
            modifier.center = scale @ modifier.center
    for child in obj.children:
        child.matrix_parent_inverse = scale @ child.matrix_parent_inverse
    return f'Applied the scale of "{obj.name}" to its mesh'


def _separate(context: bpy.types.Context, target: FixTarget) -> str:
    return separate(context, target.obj, target.moves)


def _check_own_mesh(obj: bpy.types.Object) -> None:
    """Raises BadInput where the mesh is in another file or also that of other objects."""
    if obj.data.library is not None or obj.data.override_library is not None:
        raise BadInput("linked-without-override", name=obj.data.name)
    if obj.mode == "EDIT":
        raise BadInput("leave-edit-mode", name=obj.name)
    others = obj.data.users - int(obj.data.use_fake_user) - 1
    if others > 0:
        raise BadInput("mesh-of-others", name=obj.name, count=others)


Fix = Callable[[bpy.types.Context, FixTarget], str]
FIXES: dict[str, Fix] = {
    "surface-open": _fill_holes,
    "surface-doubled": _merge_doubles,
    "surface-inside-out": _turn_faces,
    "surface-thin": _refine,
    "muscle-end-without-tets": _cover_with_tets,
    "muscle-on-no-bone": _hold_ends,
    "muscle-end-loose": _hold_ends,
    "muscle-end-still": _hold_ends,
    "muscle-end-missing": _hold_ends,
    "muscle-ends-overlap": _hold_ends,
    "muscle-posed-twice": _leave_ends_to_hooks,
    "posed-twice": _move_below_armature,
    "scale-not-applied": _apply_scale,
    "exact-contact-intersects": _separate,
}
