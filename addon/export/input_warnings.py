# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings, when a bake begins, about inputs that it accepts but that will look wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import bpy

from ...solver.runtime.errors import BadInput, SinewError
from ...solver.scene.settings.flesh_settings import POSE
from ..blender_data import sinew_modifier
from ..blender_data.rigid_body_world import is_editable, keeper
from ..blender_data.rna_serialisation import animated_paths
from ..fracture_meshes import transmissive_materials
from ..objects import flesh_supports, roles, self_weight_collapse
from ..objects.attachment_rows import counting_rows, holds_material, is_to_bone, row_label, row_target
from ..objects.field_objects import field_warnings
from ..objects.rigid_body_settings import counting_rigid_body
from ..runtime.quantity_text import stress_text
from . import artist_tet_files, contact_warnings
from .fat_check import hole_warnings

STANDARD_GRAVITY = 9.81
# modifiers whose result is another one where a mesh is cut, closed or not
CRACK_SHOWING_MODIFIERS = {
    "BEVEL", "BOOLEAN", "CORRECTIVE_SMOOTH", "DECIMATE", "DISPLACE", "EDGE_SPLIT", "LAPLACIANSMOOTH", "REMESH", "SKIN",
    "SMOOTH", "SOLIDIFY", "WELD", "WIREFRAME",
}  # fmt: skip


def input_warnings(scene: bpy.types.Scene) -> Iterator[SinewError]:
    """Yields the warnings about a scene and its bodies."""
    yield from _gravity_warnings(scene)
    yield from _idle_bone_warnings(scene)
    yield from contact_warnings.contact_warnings(scene)
    yield from field_warnings(scene)
    for obj in roles.bodies(scene):
        yield from _rigid_body_warnings(obj, scene)
        yield from _custom_normal_warnings(obj)
        yield from _loose_muscle_warnings(obj, scene)
        yield from _posed_twice_warnings(obj)
        yield from _affect_group_warnings(obj)
        yield from _shape_key_warnings(obj)
        yield from _self_weight_warnings(obj, scene)
        yield from _tet_file_warnings(obj)
        yield from hole_warnings(obj)
        yield from _transmissive_material_warnings(obj)
        yield from _attachment_warnings(obj)
        yield from _crack_modifier_warnings(obj)


def _gravity_warnings(scene: bpy.types.Scene) -> Iterator[SinewError]:
    """Blender's gravity is in Blender units: unchanged in a scene of centimetres, it is a hundred times too weak."""
    scale = scene.unit_settings.scale_length
    size = scene.gravity.length
    if scene.use_gravity and math.isclose(size, STANDARD_GRAVITY, rel_tol=0.01) and not 0.5 < scale < 2.0:
        yield SinewError("gravity-scaled", name=scene.name, gravity=f"{size * scale:.4g}", scale=f"{scale:.4g}")


def _idle_bone_warnings(scene: bpy.types.Scene) -> Iterator[SinewError]:
    """A bone mesh holds only one body, and this body is not flesh or takes no part in the bake."""
    flesh = {obj for obj in roles.bodies(scene) if roles.is_flesh(obj)}
    for bone in roles.bones(scene):
        body = bone.sinew.bone_body
        if body is not None and body not in flesh:
            yield SinewError("bone-holds-no-flesh", name=bone.name, body=body.name)


def _attachment_warnings(obj: bpy.types.Object) -> Iterator[SinewError]:
    """Of two rows that say how a bone holds flesh, one counts."""
    rows = [row for _, row in counting_rows(obj, obj.sinew)] if roles.is_flesh(obj) else []
    held = Counter(
        (row_label(row), row_target(row) is not None) for row in rows if holds_material(row) and is_to_bone(row)
    )
    for label, is_name in (each for each, count in held.items() if count > 1):
        yield SinewError("attachment-twice", name=obj.name, target=f'"{label}"' if is_name else label)


def _rigid_body_warnings(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[SinewError]:
    """What Blender's rigid bodies have and Sinew's have not."""
    kept_by = keeper(obj, scene)
    if kept_by is not None and is_editable(kept_by):
        yield SinewError("rigid-moved-by-blender", name=obj.name, collection=kept_by.name)
    elif kept_by is not None:
        yield SinewError("rigid-in-linked-world", name=obj.name, collection=kept_by.name)
    rigid_body = counting_rigid_body(obj)
    if rigid_body is not None and rigid_body.restitution > 0.0:
        yield SinewError("rigid-bounces", name=obj.name, value=f"{rigid_body.restitution:.2g}")
    if rigid_body is not None and rigid_body.collision_shape == "COMPOUND":
        yield SinewError("rigid-compound", name=obj.name)


def _custom_normal_warnings(obj: bpy.types.Object) -> Iterator[SinewError]:
    """No modifier rotates custom normals stored as free vectors; those stored as angles rotate with the mesh."""
    normals = obj.data.attributes.get("custom_normal")
    if normals is not None and normals.data_type == "FLOAT_VECTOR":
        yield SinewError("normals-free", name=obj.name)


def _loose_muscle_warnings(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[SinewError]:
    """A muscle with inertia that nothing holds falls; one that follows a pose is refused."""
    is_muscle = obj.sinew.use_muscle and roles.is_flesh(obj)
    if is_muscle and obj.sinew.motion != POSE and flesh_supports.falls(scene, obj):
        yield SinewError(flesh_supports.not_held_kind(obj), name=obj.name)


def _posed_twice_warnings(obj: bpy.types.Object) -> Iterator[SinewError]:
    for modifier in sinew_modifier.posing_modifiers_below(obj):
        yield SinewError("posed-twice", name=obj.name, modifier=modifier.name)


def _shape_key_warnings(obj: bpy.types.Object) -> Iterator[SinewError]:
    """Shape keys act on flesh only through its rest shape, since its bones determine its shape."""
    keys = obj.data.shape_keys
    if roles.is_flesh(obj) and keys is not None and animated_paths(keys) and not obj.sinew.rest_from_keys:
        yield SinewError("keys-not-followed", name=obj.name)


def _affect_group_warnings(obj: bpy.types.Object) -> Iterator[SinewError]:
    """Only vertex groups can blend the Mesh Cache modifier; attributes cannot."""
    name = obj.sinew.affect_group
    if name and name not in obj.vertex_groups:
        yield SinewError("affect-not-faded", name=obj.name, group=name)


def _self_weight_warnings(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[SinewError]:
    """A large soft body collapses under its own weight, as a real one would; artists rarely want that."""
    if roles.is_rigid(obj) or roles.is_sheet(obj):
        return
    if self_weight_collapse.collapses(obj, scene):
        yield self_weight_collapse.object_collapse_warning(obj, scene)
    elif self_weight_collapse.is_too_soft_to_hang(obj, scene):
        times = self_weight_collapse.self_weight_strain(obj, scene)
        stiffness = stress_text(self_weight_collapse.standing_stiffness(obj, scene))
        yield SinewError("hangs-far", name=obj.name, times=f"{times:.2g}", stiffness=stiffness)


def _tet_file_warnings(obj: bpy.types.Object) -> Iterator[SinewError]:
    """Sinew has repaired tets of the file."""
    if obj.sinew.method == "GIVEN":
        try:
            yield from artist_tet_files.read_object_tets(obj).notes(obj.name)
        except BadInput:
            return  # the bake itself says it


def _crack_modifier_warnings(obj: bpy.types.Object) -> Iterator[SinewError]:
    """Modifiers that round, thicken or smooth the broken mesh show its cracks before they open."""
    below = list(obj.modifiers)[sinew_modifier.input_modifier_count(obj) + 1 :] if obj.sinew.use_fracture else []
    for modifier in below:
        if modifier.type in CRACK_SHOWING_MODIFIERS and modifier.show_render:
            yield SinewError("cracks-shown-early", name=obj.name, modifier=modifier.name)


def _transmissive_material_warnings(obj: bpy.types.Object) -> Iterator[SinewError]:
    """Broken faces show through transmissive materials, such as glass and skin, while cracks are still closed."""
    if obj.sinew.use_fracture and not roles.is_sheet(obj):  # those have no broken faces
        for material in transmissive_materials.transmissive_materials(obj):
            yield SinewError("swapped-at-crack", name=obj.name, material=material)
