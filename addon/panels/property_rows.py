# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings as they stand in panels: with their unit, and with the dot for keyframes where they can be animated."""

from __future__ import annotations

from typing import Any

import bpy

# SI units of settings that Blender has none for
SETTING_UNITS = {
    "youngs_modulus": "Pa",
    "density": "kg/m³",
    "stiffness_damping": "s",
    "mass_damping": "1/s",
    "pin_stiffness": "1/s²",
    "flow": "1/s",
    "temperature": "°C",
    "conductivity": "W/(m K)",
    "heat_capacity": "J/(kg K)",
    "heat_exchange": "W/(m² K)",
    "melting_point": "°C",
    "breaking_stress": "Pa",
    "toughness": "Pa √m",
    "source_temperature": "°C",
    "source_exchange": "W/(m² K)",
    "air_temperature": "°C",
    "bone_stiffness": "1/s²",
    "armature_bone_stiffness": "1/s²",
    "core_pull_stiffness": "1/s²",
    "core_pull_damping": "1/s",
}


def label_with_unit(own: bpy.types.PropertyGroup, name: str) -> str:
    """Returns the name of a setting with its unit: "Breaking Stress (Pa)"."""
    words = own.bl_rna.properties[name].name
    return f"{words} ({SETTING_UNITS[name]})" if name in SETTING_UNITS else words


def draw_setting(layout: bpy.types.UILayout, own: bpy.types.PropertyGroup, name: str, **options: Any) -> None:
    """Draws a setting; one that is sampled on every frame can be keyframed here."""
    if own.bl_rna.properties[name].is_animatable:
        layout = layout.row()
        layout.use_property_decorate = True
    layout.prop(own, name, **{"text": label_with_unit(own, name), **options})


def draw_weight_group(layout: bpy.types.UILayout, obj: bpy.types.Object, name: str) -> None:
    """Draws a menu of the vertex groups that takes the name of an attribute too, also one that modifiers make."""
    own, options = obj.sinew, {"results_are_suggestions": True}
    if layout.use_property_split:
        layout.prop_search(own, name, obj, "vertex_groups", **options)
    else:
        # where names stand inside their fields, a menu would leave no room for this one
        parts = layout.split(factor=0.45)
        parts.label(text=own.bl_rna.properties[name].name)
        parts.prop_search(own, name, obj, "vertex_groups", text="", **options)


def draw_pointer(layout: bpy.types.UILayout, own: bpy.types.PropertyGroup, name: str) -> None:
    """Draws a menu of data-blocks with its whole name, also where names stand inside their fields."""
    if layout.use_property_split:
        layout.prop(own, name)
    else:
        parts = layout.split(factor=0.45)
        parts.label(text=own.bl_rna.properties[name].name)
        parts.prop(own, name, text="")


def stress_text(value: float) -> str:
    """Returns a stress for people: "12.3 MPa"."""
    return quantity_text(value, "Pa")


def quantity_text(value: float, unit: str) -> str:
    """Returns a number of three digits with a prefix to its unit: "45 kPa"."""
    for factor, prefix in ((1.0e9, "G"), (1.0e6, "M"), (1.0e3, "k")):
        if abs(value) >= 0.9995 * factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"
