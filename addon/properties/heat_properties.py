# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of a body's heat, of the rows of its softening table, and of heat sources."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import CollectionProperty, IntProperty

from ...solver.scene.settings.heat_settings import (
    HEAT_SETTINGS,
    HEAT_SOURCE_SETTINGS,
    SOFTENING,
    SOFTENING_ROW_SETTINGS,
)
from . import material_preset_filling
from .material_preset_filling import HEAT_FIELDS
from .material_properties import update_material_value
from .property_factory import OVERRIDABLE, settings_group


def _row_edited(row: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    material_preset_filling.mark_custom(row.id_data.sinew)


_RowProperties: Any = settings_group(
    "RowProperties",
    "A temperature, and the factors on the material there.",
    SOFTENING_ROW_SETTINGS,
    {setting.name: _row_edited for setting in SOFTENING_ROW_SETTINGS},
)


class SinewSoftening(_RowProperties, bpy.types.PropertyGroup):
    """One row of the softening table."""


HeatProperties: Any = settings_group(
    "HeatProperties",
    "Temperature, how heat moves, and what it softens.",
    HEAT_SETTINGS,
    dict.fromkeys(HEAT_FIELDS, update_material_value),
    {
        SOFTENING.name: CollectionProperty(
            type=SinewSoftening,
            name=SOFTENING.label,
            description=SOFTENING.description,
            options=set(),
            override={*OVERRIDABLE, "USE_INSERTION"},
        ),
        "softening_index": IntProperty(name="Row", options={"HIDDEN"}, override=OVERRIDABLE),
    },
)


def _radius_changed(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    from ..objects import roles

    roles.show_radius(settings.id_data)


HeatSourceProperties: Any = settings_group(
    "HeatSourceProperties",
    "How a heat source warms or cools what is near it.",
    HEAT_SOURCE_SETTINGS,
    {"source_radius": _radius_changed},
)
