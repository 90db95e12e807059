# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of settings in panels: with their unit, grey where they do not count, and with the dot for keyframes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from ...solver.scene.settings.setting import (
    CHOICE,
    COLLECTION,
    INTEGER,
    METRE,
    METRE_PER_SECOND,
    NUMBER,
    OBJECT,
    RADIAN,
    VECTOR_ATTRIBUTE,
    WEIGHT_GROUP,
    Setting,
)
from ...solver.scene.settings.tables import OBJECT_SETTINGS, SCENE_SETTINGS
from ..baking import bake_status
from ..blender_data.animation_curves import keyframe_icon
from ..properties.unit_proxies import shown_proxy

SETTINGS = OBJECT_SETTINGS | SCENE_SETTINGS
# panels that are switched on in their header
HEADER_SWITCHES = {
    "plasticity": "use_plasticity",
    "surface_detail": "use_surface_detail",
    "heat": "use_heat",
    "fracture": "use_fracture",
    "core": "use_core",
    "goal": "use_goal",
    "pressure": "use_pressure",
    "stretch_limit": "use_stretch_limit",
    "muscle": "use_muscle",
}
FLESH_SWITCHES = {"use_stretch_limit", "use_muscle"}  # of these, the switches of what all flesh has too
JIGGLE_SWITCHES = {"use_goal", "use_pressure"}  # of these, the switches of what flesh that jiggles has too
BLENDER_UNITS = {METRE, METRE_PER_SECOND, RADIAN}  # Blender shows these itself
# of the sidebar: names up to so many letters stand beside their menu, on this share of its width; others above it
MAX_BESIDE_LETTERS, NAME_SHARE = 13, 0.45
SPRING_UNIT = "1/s²"  # says nothing to an artist: the tooltip has it


def label_with_unit(settings: bpy.types.PropertyGroup, name: str) -> str:
    """Returns the name of a setting with the unit in which it is shown: "Breaking Stress (kPa)"."""
    words, unit = settings.bl_rna.properties[name].name, SETTINGS[name].unit
    proxy = shown_proxy(settings, SETTINGS[name])
    unit = unit if proxy is None else proxy.unit
    return f"{words} ({unit})" if unit and unit not in {*BLENDER_UNITS, SPRING_UNIT} else words


def locked_column(layout: bpy.types.UILayout, context: bpy.types.Context, align: bool = False) -> bpy.types.UILayout:
    """Returns a column for what a bake depends on: it is locked while the artist has locked the bake."""
    column = layout.column(align=align)
    column.enabled = not bake_status.status(context.scene).is_locked
    return column


def draw_fold(layout: bpy.types.UILayout, name: str) -> bpy.types.UILayout | None:
    """Returns where rows go that are folded away at first, None while they are; the layout has to be a whole panel."""
    header, body = layout.panel(f"sinew_more_{name}", default_closed=True)
    header.label(text="More")
    return body


def draw_settings(layout: bpy.types.UILayout, owner: bpy.types.ID, table: Iterable[Setting]) -> None:
    """Draws settings of an object or a scene in their order: numbers in one block, and grey where they do not count.

    One that a menu or a switch beside it rules out is locked. One that waits for the panel's own switch, or for an
    object or a group, can be set before that.
    """
    settings = owner.sinew
    block: bpy.types.UILayout | None = None
    for setting in table:
        if setting.kind in (NUMBER, INTEGER):
            block = layout.column(align=True) if block is None else block
        else:
            block = None
        row = (layout if block is None else block).row()
        row.active = setting.counts(lambda name: getattr(settings, name))
        ruling = (each for each in setting.when if each.values and each.setting not in HEADER_SWITCHES.values())
        row.enabled = all(each.holds(lambda name: getattr(settings, name)) for each in ruling)
        draw_row(row, owner, setting)


def draw_row(layout: bpy.types.UILayout, obj: bpy.types.Object, setting: Setting) -> None:
    """Draws a setting of an object as its kind is drawn."""
    if setting.kind == WEIGHT_GROUP:
        draw_weight_group(layout, obj, setting.name)
    elif setting.kind == VECTOR_ATTRIBUTE:
        draw_search(layout, obj.sinew, setting.name, obj.data, "attributes")
    elif setting.kind in (CHOICE, OBJECT, COLLECTION):
        draw_menu(layout, obj.sinew, setting.name)
    else:
        draw_setting(layout, obj.sinew, setting.name, **({"slider": True} if setting.is_share else {}))


def draw_setting(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup, name: str, **options: Any) -> None:
    """Draws a setting; one that is sampled on every frame can be keyframed here."""
    options = {"text": label_with_unit(settings, name), **options}
    is_animatable = settings.bl_rna.properties[name].is_animatable
    proxy = shown_proxy(settings, SETTINGS[name])
    if is_animatable and proxy is None:
        draw_keyed(layout, settings, name, **options)
        return
    if is_animatable:
        layout = layout.row(align=True)
    layout.prop(settings, name if proxy is None else proxy.name, **options)
    if is_animatable and proxy is not None:
        path, frame = settings.path_from_id(name), bpy.context.scene.frame_current
        icon = keyframe_icon(settings.id_data, path, frame)
        layout.operator("sinew.toggle_keyframe", text="", icon=icon, emboss=False).setting = name


def draw_keyed(layout: bpy.types.UILayout, owner: bpy.types.bpy_struct, name: str, **options: Any) -> None:
    """Draws a property with the dot that keyframes it; Blender itself draws it only where names stand beside fields."""
    row = layout.row(align=True)
    row.use_property_decorate = True
    row.prop(owner, name, **options)
    if not layout.use_property_split:
        row.prop_decorator(owner, name)


def draw_weight_group(layout: bpy.types.UILayout, obj: bpy.types.Object, name: str) -> None:
    """Draws a menu of the vertex groups that takes the name of an attribute too, also one that modifiers make."""
    draw_search(layout, obj.sinew, name, obj, "vertex_groups")


def draw_search(
    layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup, name: str, owner: bpy.types.ID, collection: str
) -> None:
    """Draws a menu of the names in a collection of a data-block, which takes other names, too."""
    options = {"results_are_suggestions": True}
    if layout.use_property_split:
        layout.prop_search(settings, name, owner, collection, **options)
    else:
        _draw_name(layout, settings, name).prop_search(settings, name, owner, collection, text="", **options)


def draw_menu(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup, name: str) -> None:
    """Draws a menu with its whole name, also where names stand inside their fields."""
    if layout.use_property_split:
        layout.prop(settings, name)
    else:
        _draw_name(layout, settings, name).prop(settings, name, text="")


def _draw_name(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup, name: str) -> bpy.types.UILayout:
    """Draws the name of a setting in the sidebar, whose menus have no room for it, and returns where the menu goes."""
    words = settings.bl_rna.properties[name].name
    is_long = len(words) > MAX_BESIDE_LETTERS
    parts = layout.column(align=True) if is_long else layout.split(factor=NAME_SHARE)
    parts.label(text=words)
    return parts
