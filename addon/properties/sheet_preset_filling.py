# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills in the values of a preset of sheets, and notices when a value differs from it."""

from __future__ import annotations

from typing import Any

from ...solver.scene.settings.material_settings import MATERIAL_SETTINGS
from ...solver.scene.settings.preset_settings import CUSTOM_PRESET
from ...solver.scene.settings.setting import CHOICE
from ...solver.scene.settings.sheet_settings import SHEET_SETTINGS
from ...solver.scene.sheet_presets import SHEET_PRESETS
from .preset_filling_guard import PresetFilling

FLOAT32_TOLERANCE = 1.0e-6
FIRST_PRESET = "COTTON"
filling = PresetFilling()


def preset_values(key: str) -> dict[str, Any]:
    """Returns the settings that a preset fills in, by their names."""
    preset, found = SHEET_PRESETS[key], dict[str, Any]()
    for part, table in ((preset.material, MATERIAL_SETTINGS), (preset.sheet, SHEET_SETTINGS)):
        for setting in table:
            value = getattr(part, setting.field.partition(".")[2])
            if setting.kind == CHOICE:
                value = next(c.identifier for c in setting.choices if c.solver_value == value)
            found[setting.name] = value
    return found


def apply_preset(settings: Any) -> None:
    """Writes the values of `settings.sheet_preset` into the settings."""
    if filling.is_active or settings.sheet_preset == CUSTOM_PRESET:
        return
    with filling:
        for name, value in preset_values(settings.sheet_preset).items():
            setattr(settings, name, value)


def mark_custom(settings: Any) -> None:
    """Turns the menu to Custom when a value no longer is the preset's; not while a preset fills the values in."""
    if not filling.is_active and settings.sheet_preset != CUSTOM_PRESET and not matches_preset(settings):
        settings.sheet_preset = CUSTOM_PRESET


def matches_preset(settings: Any) -> bool:
    """Whether the settings still have the values of their preset, to the precision that Blender stores."""
    return all(
        getattr(settings, name) == value
        if isinstance(value, str)
        else abs(getattr(settings, name) - value) <= FLOAT32_TOLERANCE * abs(value)
        for name, value in preset_values(settings.sheet_preset).items()
    )
