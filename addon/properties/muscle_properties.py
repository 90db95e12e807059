# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of muscle in flesh, and of its fibres."""

from __future__ import annotations

from typing import Any

import bpy

from ...solver.scene.settings.fibre_settings import (
    FIBRE_DISPLAY_SETTINGS,
    FIBRE_OBJECTS,
    FIBRE_SETTINGS,
    PENNATION_ANGLE,
)
from ...solver.scene.settings.muscle_settings import INSERTION_TENDON, MUSCLE_SETTINGS, ORIGIN_TENDON
from ...solver.scene.settings.preset_settings import MUSCLE_PRESET
from ...solver.scene.settings.setting import Setting
from .fibre_object_types import OBJECT_TYPES
from .muscle_preset_filling import TISSUE_FIELDS, muscle_presets
from .muscle_shape_properties import shape_edited
from .property_factory import Poll, make_property, settings_group
from .unit_proxies import proxy_properties


def _preset_chosen(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Fills in the values of the preset."""
    muscle_presets.apply(settings)


def _value_edited(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Sets the menu of presets to Custom where a value differs from the preset's."""
    muscle_presets.mark_custom(settings)


_EDITED = {setting.name: _value_edited for setting in TISSUE_FIELDS}
# they are part of the shape of a drawn muscle
_SHAPE_EDITED = {setting.name: shape_edited for setting in (ORIGIN_TENDON, INSERTION_TENDON, PENNATION_ANGLE)}
MuscleProperties: Any = settings_group(
    "MuscleProperties",
    "How hard the fibres of a muscle pull, how active they are, what else it is made of, and its preset.",
    (MUSCLE_PRESET, *MUSCLE_SETTINGS),
    {**_EDITED, **_SHAPE_EDITED, MUSCLE_PRESET.name: _preset_chosen},
    more=proxy_properties(MUSCLE_SETTINGS),
)


def _poll_of(setting: Setting) -> Poll:
    """Returns which objects may be chosen."""
    types = OBJECT_TYPES[setting.name]

    def poll(settings: bpy.types.PropertyGroup, obj: bpy.types.Object) -> bool:
        return obj.type in types and obj != settings.id_data

    return poll


FibreProperties: Any = settings_group(
    "FibreProperties",
    "Which way the fibres of a muscle run, and where they are tendon.",
    (*FIBRE_SETTINGS, *FIBRE_DISPLAY_SETTINGS),
    {**_EDITED, **_SHAPE_EDITED},
    more={each.name: make_property(each, poll=_poll_of(each)) for each in FIBRE_OBJECTS},
)
