# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of flesh and of bone meshes."""

from __future__ import annotations

from typing import Any

import bpy

from ...solver.scene.settings.flesh_settings import (
    ARMATURE_SETTINGS,
    BONE_HOLD_SETTINGS,
    BONE_SETTINGS,
    BRITTLE,
    ELASTIC,
    FLESH_SETTINGS,
    NON_FLESH_SWITCHES,
    USE_ARMATURE_BONES,
)
from ...solver.scene.settings.tables import OBJECT_SETTINGS
from .material_properties import limit_poisson_ratio
from .muscle_preset_filling import muscle_presets
from .property_factory import make_property, settings_group


def _motion_chosen(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Switches off what flesh and brittle bodies do not do, and Fracture on for these."""
    limit_poisson_ratio(settings)
    for name in NON_FLESH_SWITCHES:
        if settings.motion != ELASTIC and getattr(settings, name):
            setattr(settings, name, False)
    if settings.motion == BRITTLE:
        settings.use_fracture = True


def _law_chosen(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Sets the menu of muscle presets to Custom if the law differs from the preset's."""
    muscle_presets.mark_custom(settings)


def _armature_hold_chosen(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Makes the row about the armature's bones say it, too."""
    from ..objects import bone_rows

    bone_rows.follow_armature(settings.id_data)


def _bone_hold_chosen(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Makes rows about the bone mesh say it, too."""
    from ..objects import bone_rows

    bone_rows.follow_bone(settings.id_data)


FleshProperties: Any = settings_group(
    "FleshProperties",
    "Motion, law, paint, and the bones of armatures.",
    FLESH_SETTINGS,
    {
        "motion": _motion_chosen,
        "flesh_law": _law_chosen,
        **{setting.name: _armature_hold_chosen for setting in (USE_ARMATURE_BONES, *ARMATURE_SETTINGS)},
    },
)


def _is_flesh(_settings: bpy.types.PropertyGroup, obj: bpy.types.Object) -> bool:
    from ..objects import roles

    return roles.is_flesh(obj)


BoneProperties: Any = settings_group(
    "BoneProperties",
    "Which flesh follows a bone mesh, and how strictly.",
    BONE_SETTINGS,
    {setting.name: _bone_hold_chosen for setting in BONE_HOLD_SETTINGS},
    more={"bone_body": make_property(OBJECT_SETTINGS["bone_body"], poll=_is_flesh)},
)
