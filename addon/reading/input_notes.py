# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be baked but will hardly look as wanted, said when a bake begins."""

from __future__ import annotations

import math
from collections.abc import Iterator

import bpy

from ...solver.errors import BadInput, SinewError
from .. import modifier_place, roles
from ..drawing import own_weight
from ..results import swap
from . import contact_notes, tet_file
from .rna_values import animated_paths

STANDARD_GRAVITY = 9.81
# modifiers whose result is another one where a mesh is cut, closed or not
SHOWING_CRACKS = {
    "BEVEL", "BOOLEAN", "CORRECTIVE_SMOOTH", "DECIMATE", "DISPLACE", "EDGE_SPLIT", "LAPLACIANSMOOTH", "REMESH", "SKIN",
    "SMOOTH", "SOLIDIFY", "WELD", "WIREFRAME",
}  # fmt: skip


def notes(scene: bpy.types.Scene) -> Iterator[SinewError]:
    """Yields what the artist should know about the scene and its bodies."""
    yield from _gravity(scene)
    yield from _idle_bones(scene)
    yield from contact_notes.notes(scene)
    for obj in roles.bodies(scene):
        yield from _normals(obj)
        yield from _posed_twice(obj)
        yield from _affect(obj)
        yield from _keys(obj)
        yield from _weight(obj, scene)
        yield from _tets(obj)
        yield from _clear(obj)
        yield from _works_on_pieces(obj)


def _gravity(scene: bpy.types.Scene) -> Iterator[SinewError]:
    """Blender's gravity is in its units: left alone in a scene of centimetres, it is a hundredth of what it was."""
    scale = scene.unit_settings.scale_length
    size = scene.gravity.length
    if scene.use_gravity and math.isclose(size, STANDARD_GRAVITY, rel_tol=0.01) and not 0.5 < scale < 2.0:
        yield SinewError("gravity-scaled", name=scene.name, gravity=f"{size * scale:.4g}", scale=f"{scale:.4g}")


def _idle_bones(scene: bpy.types.Scene) -> Iterator[SinewError]:
    """A bone that is meant for one body, which is none of the bake, or no flesh."""
    flesh = {obj for obj in roles.bodies(scene) if roles.is_flesh(obj)}
    for bone in roles.bones(scene):
        body = bone.sinew.bone_body
        if body is not None and body not in flesh:
            yield SinewError("bone-holds-no-flesh", name=bone.name, body=body.name)


def _normals(obj: bpy.types.Object) -> Iterator[SinewError]:
    """Custom normals kept as vectors turn with no modifier, an Armature neither; those kept in angles do."""
    normals = obj.data.attributes.get("custom_normal")
    if normals is not None and normals.data_type == "FLOAT_VECTOR":
        yield SinewError("normals-free", name=obj.name)


def _posed_twice(obj: bpy.types.Object) -> Iterator[SinewError]:
    below = list(obj.modifiers)[modifier_place.input_count(obj) + 1 :]
    for modifier in below:
        if modifier.type in modifier_place.POSING and modifier.show_render:
            yield SinewError("posed-twice", name=obj.name, modifier=modifier.name)


def _keys(obj: bpy.types.Object) -> Iterator[SinewError]:
    """The shape of flesh comes from its bones: shape keys reach it through its rest shape only."""
    keys = obj.data.shape_keys
    if roles.is_flesh(obj) and keys is not None and animated_paths(keys) and not obj.sinew.rest_from_keys:
        yield SinewError("keys-not-followed", name=obj.name)


def _affect(obj: bpy.types.Object) -> Iterator[SinewError]:
    """The Mesh Cache modifier fades by a vertex group only."""
    name = obj.sinew.affect_group
    if name and name not in obj.vertex_groups:
        yield SinewError("affect-not-faded", name=obj.name, group=name)


def _weight(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[SinewError]:
    """A big soft body sags into a pancake, as it would in the world; artists rarely mean that."""
    if own_weight.collapses(obj, scene):
        yield own_weight.collapse_note(obj, scene)
    elif own_weight.hangs_far(obj, scene):
        times = own_weight.strain_at_foot(obj, scene)
        stiffness = f"{own_weight.stiffness_that_stands(obj, scene):,.0f}"
        yield SinewError("hangs-far", name=obj.name, times=f"{times:.2g}", stiffness=stiffness)


def _tets(obj: bpy.types.Object) -> Iterator[SinewError]:
    """What was repaired in the file that the tets come from."""
    if obj.sinew.method == "GIVEN":
        try:
            yield from tet_file.tets_of(obj).notes(obj.name)
        except BadInput:
            return  # the bake itself says it


def _works_on_pieces(obj: bpy.types.Object) -> Iterator[SinewError]:
    """What rounds, thickens or smooths the broken mesh shows its cracks before they open."""
    below = list(obj.modifiers)[modifier_place.input_count(obj) + 1 :] if obj.sinew.use_fracture else []
    for modifier in below:
        if modifier.type in SHOWING_CRACKS and modifier.show_render:
            yield SinewError("cracks-shown-early", name=obj.name, modifier=modifier.name)


def _clear(obj: bpy.types.Object) -> Iterator[SinewError]:
    """Through glass and skin, broken faces show while they are still closed."""
    if obj.sinew.use_fracture:
        for material in swap.clear_materials(obj):
            yield SinewError("swapped-at-crack", name=obj.name, material=material)
