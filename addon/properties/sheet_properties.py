# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of a sheet, of its preset and of its seams."""

from __future__ import annotations

from typing import Any

import bpy

from ...solver.scene.settings.preset_settings import SHEET_PRESET
from ...solver.scene.settings.seam_settings import SEAM_SETTINGS
from ...solver.scene.settings.sheet_settings import SHEET_SETTINGS, SHEET_STIFFNESS_SETTINGS
from .property_factory import settings_group
from .sheet_preset_filling import sheet_presets
from .unit_proxies import proxy_properties


def _preset_chosen(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Fills in the values of the preset."""
    sheet_presets.apply(settings)


def _value_edited(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Sets the menu of presets to Custom where a value differs from the preset's."""
    sheet_presets.mark_custom(settings)


SheetProperties: Any = settings_group(
    "SheetProperties",
    "How thick a sheet is, how it bends, its preset, and its seams.",
    (SHEET_PRESET, *SHEET_SETTINGS, *SEAM_SETTINGS),
    {**{setting.name: _value_edited for setting in SHEET_STIFFNESS_SETTINGS}, SHEET_PRESET.name: _preset_chosen},
    more=proxy_properties((*SHEET_SETTINGS, *SEAM_SETTINGS)),
)
