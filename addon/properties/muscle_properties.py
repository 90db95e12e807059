# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of muscle in flesh, and of its fibres."""

from __future__ import annotations

from typing import Any

import bpy

from ...solver.scene.settings.fibre_settings import FIBRE_OBJECTS, FIBRE_SETTINGS
from ...solver.scene.settings.muscle_settings import MUSCLE_SETTINGS
from ...solver.scene.settings.setting import Setting
from .fibre_object_types import OBJECT_TYPES
from .property_factory import Poll, make_property, settings_group
from .unit_proxies import proxy_properties

MuscleProperties: Any = settings_group(
    "MuscleProperties",
    "The fibres of a muscle: where they run, how hard they pull, and how active they are.",
    MUSCLE_SETTINGS,
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
    FIBRE_SETTINGS,
    more={each.name: make_property(each, poll=_poll_of(each)) for each in FIBRE_OBJECTS},
)
