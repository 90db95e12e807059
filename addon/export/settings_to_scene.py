# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of settings as fields of the scene's dataclasses, as the tables of settings say."""

from __future__ import annotations

from typing import Any

import bpy

from ...solver.scene.settings.setting import (
    CHOICE,
    CHOICES,
    FIELD_DEFAULT,
    ITS_VALUE,
    METRE,
    METRE_PER_SECOND,
    TABLE,
    VECTOR_ATTRIBUTE,
    WEIGHT_GROUP,
    Setting,
)
from ...solver.scene.settings.tables import OBJECT_SETTINGS, SCENE_SETTINGS
from ..properties import softening_table_editing
from .weight_reader import WeightReader

PAINTED_KINDS = {WEIGHT_GROUP, VECTOR_ATTRIBUTE}
_LENGTHS = {METRE, METRE_PER_SECOND}


def read_fields(
    part: type, settings: bpy.types.PropertyGroup, unit: float = 1.0, weights: WeightReader | None = None
) -> dict[str, Any]:
    """Returns the fields of a dataclass of the scene that settings fill in, by the names of the fields.

    Args:
        part: The dataclass.
        settings: The settings of an object, or of the scene.
        unit: Metres in a Blender unit.
        weights: The vertex groups and attributes that settings name; None: these fields are left out.

    Raises:
        BadInput: A vertex group or attribute is not there, or 0 everywhere.
    """
    fields: dict[str, Any] = {}
    for setting in (*OBJECT_SETTINGS.values(), *SCENE_SETTINGS.values()):
        owner, _, name = setting.field.partition(".")
        if owner != part.__name__ or (setting.kind in PAINTED_KINDS and weights is None):
            continue
        if setting.otherwise is not ITS_VALUE and not setting.counts(lambda each: getattr(settings, each)):
            if setting.otherwise is not FIELD_DEFAULT:
                fields[name] = setting.otherwise
            continue
        fields[name] = _field_value(setting, settings, unit, weights)
    return fields


def _field_value(setting: Setting, settings: bpy.types.PropertyGroup, unit: float, weights: WeightReader | None) -> Any:
    if setting.kind == WEIGHT_GROUP and weights is not None:
        return weights.weights_of(setting.name)
    if setting.kind == VECTOR_ATTRIBUTE and weights is not None:
        return weights.vectors_of(setting.name)
    value = getattr(settings, setting.name)
    if setting.kind == CHOICE:
        return setting.solver_value(value)
    if setting.kind == CHOICES:
        return tuple(choice.solver_value for choice in setting.choices if choice.identifier in value)
    if setting.kind == TABLE:
        return softening_table_editing.table_rows(value)
    if isinstance(setting.default, tuple):
        return tuple(each * unit if setting.unit in _LENGTHS else each for each in value)
    return value * unit if setting.unit in _LENGTHS else value
