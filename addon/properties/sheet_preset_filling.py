# SPDX-License-Identifier: GPL-3.0-or-later
"""What a preset of sheets fills in: the material, how thick a sheet is and bends, where it tears and how folds stay."""

from __future__ import annotations

from typing import Any

from ...solver.scene.settings.fracture_settings import BREAKING_STRESS
from ...solver.scene.settings.material_settings import MATERIAL_SETTINGS
from ...solver.scene.settings.plasticity_settings import FLOW, USE_PLASTICITY, YIELD_STRAIN
from ...solver.scene.settings.sheet_settings import SHEET_STIFFNESS_SETTINGS
from ...solver.scene.sheet_presets import SHEET_PRESETS
from .preset_menu import PresetMenu, property_value

FIRST_PRESET = "COTTON"


def preset_values(key: str) -> dict[str, Any]:
    """Returns the settings that a preset fills in, by their names."""
    preset = SHEET_PRESETS[key]
    values = {
        setting.name: property_value(setting, getattr(part, setting.field.partition(".")[2]))
        for part, table in ((preset.material, MATERIAL_SETTINGS), (preset.sheet, SHEET_STIFFNESS_SETTINGS))
        for setting in table
    }
    values |= {BREAKING_STRESS.name: preset.breaking_stress, USE_PLASTICITY.name: preset.plasticity is not None}
    if preset.plasticity is not None:
        values |= {YIELD_STRAIN.name: preset.plasticity.yield_strain, FLOW.name: preset.plasticity.flow}
    return values


sheet_presets = PresetMenu("sheet_preset", preset_values)
