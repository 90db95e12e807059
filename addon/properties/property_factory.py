# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's properties, made from the tables in solver/scene/settings/."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ...solver.scene.settings.setting import (
    CHOICE,
    CHOICES,
    COLLECTION,
    COLOR,
    FILE,
    FOLDER,
    INTEGER,
    MATERIAL,
    METRE,
    METRE_PER_SECOND,
    NUMBER,
    OBJECT,
    RADIAN,
    SWITCH,
    TEXT,
    VECTOR,
    VECTOR_ATTRIBUTE,
    WEIGHT_GROUP,
    Setting,
)

Callback = Callable[[bpy.types.PropertyGroup, bpy.types.Context], None]
Poll = Callable[[bpy.types.PropertyGroup, Any], bool]
Search = Callable[[bpy.types.PropertyGroup, bpy.types.Context, str], Iterable[str]]

# a setting may be changed on library overrides
OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}
_MAKERS: dict[str, Any] = {
    NUMBER: FloatProperty,
    INTEGER: IntProperty,
    SWITCH: BoolProperty,
    VECTOR: FloatVectorProperty,
    COLOR: FloatVectorProperty,
    TEXT: StringProperty,
    WEIGHT_GROUP: StringProperty,
    VECTOR_ATTRIBUTE: StringProperty,
    FILE: StringProperty,
    FOLDER: StringProperty,
    CHOICE: EnumProperty,
    CHOICES: EnumProperty,
    OBJECT: PointerProperty,
    COLLECTION: PointerProperty,
    MATERIAL: PointerProperty,
}
_DATA_BLOCKS = {OBJECT: bpy.types.Object, COLLECTION: bpy.types.Collection, MATERIAL: bpy.types.Material}
_PATH_SUBTYPES = {FILE: "FILE_PATH", FOLDER: "DIR_PATH"}


def settings_group(
    name: str,
    meaning: str,
    settings: Iterable[Setting],
    updates: Mapping[str, Callback] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Any:
    """Returns a class whose annotations are the properties of some settings, to be inherited by a property group.

    Args:
        name: Of the class.
        meaning: Its docstring.
        settings: In the order of the properties.
        updates: What is called when a setting was edited, by its name.
        more: Properties that are no settings, or that need more than their table says, by their names.
    """
    updates, more = updates or {}, dict(more or {})
    found = {each.name: more.pop(each.name, None) or make_property(each, updates.get(each.name)) for each in settings}
    return type(name, (), {"__doc__": meaning, "__annotations__": found | more})


def make_property(
    setting: Setting, update: Callback | None = None, poll: Poll | None = None, search: Search | None = None
) -> Any:
    """Returns the declaration of Blender's property for a setting.

    Args:
        setting: Of any kind but a table.
        update: What is called when it was edited.
        poll: Which data-blocks may be chosen.
        search: The texts that a field suggests.
    """
    options: dict[str, Any] = {
        "name": setting.label,
        "description": setting.description,
        "options": {"ANIMATABLE"} if setting.is_animated else set(),
        "override": OVERRIDABLE,
        **_kind_options(setting),
    }
    if update is not None:
        options["update"] = update
    if poll is not None:
        options["poll"] = poll
    if search is not None:
        options["search"] = search
    return _MAKERS[setting.kind](**options)


def _kind_options(setting: Setting) -> dict[str, Any]:
    """Returns what only properties of the setting's kind have."""
    if setting.kind in _DATA_BLOCKS:
        return {"type": _DATA_BLOCKS[setting.kind]}
    if setting.kind in (CHOICE, CHOICES):
        items = [(c.identifier, c.label, c.tooltip, "NONE", c.number) for c in setting.choices]
        flags: dict[str, Any] = {"options": {"ENUM_FLAG"}} if setting.kind == CHOICES else {}
        return {"items": items, "default": setting.default if setting.kind == CHOICE else set(setting.default), **flags}
    if setting.kind in _PATH_SUBTYPES:
        return {"subtype": _PATH_SUBTYPES[setting.kind], "options": {"PATH_SUPPORTS_BLEND_RELATIVE"}}
    options: dict[str, Any] = {"default": setting.default}
    if setting.kind in (NUMBER, INTEGER):
        options |= _range_options(setting)
    if setting.kind == NUMBER:
        options |= {"precision": setting.precision, "step": setting.step}
        if setting.unit == METRE:
            options |= {"subtype": "DISTANCE", "unit": "LENGTH"}
        elif setting.unit == RADIAN:
            options |= {"subtype": "ANGLE", "unit": "ROTATION"}
        elif setting.is_share:
            options["subtype"] = "FACTOR"
    if setting.kind == COLOR:
        options |= {"size": len(setting.default), "subtype": "COLOR", "min": 0.0, "max": 1.0}
    if setting.kind == VECTOR:
        options |= {"size": len(setting.default), "precision": setting.precision}
        if setting.unit == METRE_PER_SECOND:
            options |= {"subtype": "VELOCITY", "unit": "VELOCITY"}
    return options


def _range_options(setting: Setting) -> dict[str, Any]:
    ends = zip(("min", "max", "soft_min", "soft_max"), (*setting.range, *setting.soft), strict=True)
    return {name: end for name, end in ends if end is not None}
