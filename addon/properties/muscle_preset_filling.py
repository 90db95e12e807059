# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills in the values of a muscle preset, and notices when a value differs from it."""

from __future__ import annotations

from typing import Any

from ...solver.scene.muscle_presets import MUSCLE_PRESETS
from ...solver.scene.settings.fibre_settings import TENDON_ONLY
from ...solver.scene.settings.flesh_settings import FLESH_LAW
from ...solver.scene.settings.material_settings import POISSON_RATIO, YOUNGS_MODULUS
from ...solver.scene.settings.muscle_settings import (
    ALONG_SHEAR,
    BULK_RATIO,
    CROSS_SHEAR,
    MUSCLE_MODEL,
    PEAK_STRESS,
    TENDON_STIFFNESS,
)
from ...solver.scene.settings.preset_settings import CUSTOM_PRESET
from ...solver.scene.settings.setting import CHOICE
from .preset_filling_guard import PresetFilling

# settings → fields of `MuscleTissue`
TISSUE_FIELDS = {
    YOUNGS_MODULUS: "youngs_modulus",
    POISSON_RATIO: "poisson_ratio",
    FLESH_LAW: "law",
    PEAK_STRESS: "peak_stress",
    TENDON_STIFFNESS: "tendon_stiffness",
    BULK_RATIO: "bulk_ratio",
    MUSCLE_MODEL: "model",
    ALONG_SHEAR: "along_shear",
    CROSS_SHEAR: "cross_shear",
    TENDON_ONLY: "tendon_only",
}
FLOAT32_TOLERANCE = 1.0e-6
filling = PresetFilling()


def preset_values(key: str) -> dict[str, Any]:
    """Returns the settings that a preset fills in, by their names."""
    tissue = MUSCLE_PRESETS[key].tissue
    found = {setting: getattr(tissue, name) for setting, name in TISSUE_FIELDS.items()}
    return {
        setting.name: next(c.identifier for c in setting.choices if c.solver_value == value)
        if setting.kind == CHOICE
        else value
        for setting, value in found.items()
    }


def apply_preset(settings: Any) -> None:
    """Writes the values of `settings.muscle_preset` into the settings."""
    if filling.is_active or settings.muscle_preset == CUSTOM_PRESET:
        return
    with filling:
        for name, value in preset_values(settings.muscle_preset).items():
            setattr(settings, name, value)


def mark_custom(settings: Any) -> None:
    """Turns the menu to Custom when a value no longer is the preset's; not while a preset fills the values in."""
    if not filling.is_active and settings.muscle_preset != CUSTOM_PRESET and not matches_preset(settings):
        settings.muscle_preset = CUSTOM_PRESET


def matches_preset(settings: Any) -> bool:
    """Whether the settings still have the values of their preset, to the precision that Blender stores."""
    wanted = preset_values(settings.muscle_preset).items()
    return all(
        getattr(settings, name) == value
        if isinstance(value, (str, bool))
        else abs(getattr(settings, name) - value) <= FLOAT32_TOLERANCE * abs(value)
        for name, value in wanted
    )
