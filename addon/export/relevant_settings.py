# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of Sinew's settings a bake reads: those of the role, of what is switched on, and what they name."""

from __future__ import annotations

import bpy

from ..blender_data.rna_snapshot import Parts
from ..evaluation.evaluated_mesh import WEIGHT_TYPES, raw_weights
from . import formulation, rigid_core

# settings that only say where a bake lies or how it looks; hidden ones are not read either
NON_PHYSICAL_SETTINGS = {
    "take", "cache_path", "protect", "show_tets", "show_joined", "preset", "use_scene_range", "frame_end",
    "broken_material", "separate_pieces", "show_attachment", "show_contacts", "friction_preset",
    "collision_collection",  # who passes through whom is taken instead
}  # fmt: skip

# settings that name a vertex group or an attribute
WEIGHT_GROUP_SETTINGS = (
    "pin_group", "affect_group", "yield_group", "flow_group", "maximum_group", "strength_group", "unbreakable_group",
    "stiffness_group", "volume_group", "density_group", "attachment_group",
    "core_group",
)  # fmt: skip
# what other objects than bodies are read of
ROLE_SETTINGS = {
    "COLLIDER": {"collider_shape", "collider_sides", "use_collision", "friction", "thickness"},
    "HEAT": {"source_temperature", "source_radius", "source_exchange"},
    "BONE": {"bone_distance", "use_bone_spring", "bone_stiffness", "bone_mask_group"},
}
# settings of flesh, by how it moves
ARMATURE_BONE_SETTINGS = {"armature_bone_radius", "use_armature_bone_spring", "armature_bone_stiffness"}
FLESH_SETTINGS = {
    "flesh_law", "jiggle_scheme", "self_contact", "stiffness_group", "volume_group", "density_group",
    "attachment_group", "rest_from_keys", "use_armature_bones", *ARMATURE_BONE_SETTINGS,
}  # fmt: skip
UNREAD_BY_MOTION = {"ELASTIC": FLESH_SETTINGS, "POSE": {"jiggle_scheme", "self_collision"}, "JIGGLE": {"self_contact"}}
# settings that are not read while their switch is off
SETTINGS_BY_SWITCH = {
    "use_plasticity": {
        "plastic_law", "yield_strain", "flow", "maximum_strain", "hardening", "yield_group", "flow_group",
        "maximum_group",
    },
    "use_heat": {"temperature", "conductivity", "heat_capacity", "heat_exchange", "melting_point", "softening"},
    "use_fracture": {
        "breaking_stress", "use_toughness", "toughness", "scatter", "seed", "strength_group", "unbreakable_group",
        "most_splits", "most_pieces",
    },
    "use_toughness": {"toughness"},
    "use_armature_bones": ARMATURE_BONE_SETTINGS,
    "use_armature_bone_spring": {"armature_bone_stiffness"},
}  # fmt: skip


def unread_settings(obj: bpy.types.Object) -> set[str]:
    """Returns the settings of other roles, of other methods than From File, and of what is switched off.

    Of a file of tets its content counts, not where it lies.
    """
    own = obj.sinew
    if own.role != "BODY":
        slack = {"bone_stiffness"} if own.role == "BONE" and not own.use_bone_spring else set()
        return {p.identifier for p in own.bl_rna.properties} - (ROLE_SETTINGS[own.role] - slack) - {"role"}
    unread = {"tets_path", "bone_body"}.union(UNREAD_BY_MOTION[own.motion], *ROLE_SETTINGS.values())
    if own.method == "GIVEN":
        unread |= {"sizing", "tet_size", "divisions", "interior_size"}
    unread |= formulation.unread_properties(own) | rigid_core.unread_properties(own)
    return unread.union(*(settings for switch, settings in SETTINGS_BY_SWITCH.items() if not getattr(own, switch)))


def unread_scene_settings(scene: bpy.types.Scene) -> set[str]:
    """Returns the settings of the scene that are not read as it is."""
    own = scene.sinew
    motions = {o.sinew.motion for o in scene.objects if o.sinew.role == "BODY"}
    has_heat = any(o.sinew.role == "BODY" and o.sinew.use_heat for o in scene.objects)
    unread = {"frame_start", "preroll"}  # what they come to is taken instead
    unread |= set() if has_heat else {"air_temperature"}
    unread |= set() if "POSE" in motions else {"pose_tolerance", "pose_iterations"}
    return unread | (set() if own.use_rest_frame else {"rest_frame"})


def internal_properties(own: bpy.types.PropertyGroup) -> set[str]:
    """Returns what is kept among the settings and is none."""
    return {p.identifier for p in own.bl_rna.properties if p.is_hidden}


def painted_parts(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> Parts:
    """Returns the values of the mesh's own attributes that settings name instead of a vertex group."""
    parts: Parts = []
    fields = {"BODY": WEIGHT_GROUP_SETTINGS, "BONE": ("bone_mask_group",)}.get(obj.sinew.role, ())
    for name in sorted({getattr(obj.sinew, field) for field in fields}):
        attribute = mesh.attributes.get(name) if name and name not in obj.vertex_groups else None
        if attribute is not None and attribute.domain == "POINT" and attribute.data_type in WEIGHT_TYPES:
            parts += [name, raw_weights(attribute, len(mesh.vertices))]
    return parts
