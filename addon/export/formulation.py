# SPDX-License-Identifier: GPL-3.0-or-later
"""The formulation of a body as part of a scene, and the features that it excludes."""

from __future__ import annotations

import bpy

from ...solver.scene.formulation import (
    DEFAULT_FORMULATION,
    FORMULATION_SWITCHES,
    FRACTURE,
    GRAVITY_IN_SHAPE,
    HEAT,
    PLASTICITY,
    FormulationSettings,
    display_name,
    unsupported_features,
)
from ...solver.scene.settings.formulation_settings import FORMULATION, FORMULATION_SETTINGS, PROPERTY_PREFIX
from .settings_to_scene import read_fields

FORMULATION_PROPERTIES = {setting.name for setting in FORMULATION_SETTINGS}
# the settings that give a body the features that some methods are not made for
FEATURE_PROPERTIES = {
    PLASTICITY: "use_plasticity",
    HEAT: "use_heat",
    FRACTURE: "use_fracture",
    GRAVITY_IN_SHAPE: "gravity_in_shape",
}


def read_formulation(settings: bpy.types.PropertyGroup) -> FormulationSettings:
    """Returns the method of a body with the switches that it reads; flesh has its law instead."""
    return FormulationSettings(**read_fields(FormulationSettings, settings))


def relevant_properties(settings: bpy.types.PropertyGroup) -> list[str]:
    """Returns the settings that the chosen method reads, in the order in which they are drawn."""
    switches = FORMULATION_SWITCHES[FORMULATION.solver_value(settings.formulation)]
    return [PROPERTY_PREFIX + switch for switch in switches]


def unread_properties(settings: bpy.types.PropertyGroup) -> set[str]:
    """Returns the settings of methods that are not read; none is where all are as bodies had it before methods."""
    asked = read_formulation(settings)
    return (
        FORMULATION_PROPERTIES
        if asked == DEFAULT_FORMULATION
        else FORMULATION_PROPERTIES - {"formulation", *relevant_properties(settings)}
    )


def incompatible_features(settings: bpy.types.PropertyGroup) -> list[str]:
    """Returns the features that are on and that the chosen method is not made for."""
    return [
        feature
        for feature in unsupported_features(read_formulation(settings))
        if getattr(settings, FEATURE_PROPERTIES[feature])
    ]


def formulation_label(settings: bpy.types.PropertyGroup) -> str:
    """Returns what the chosen method is called."""
    return display_name(read_formulation(settings))
