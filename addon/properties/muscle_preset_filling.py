# SPDX-License-Identifier: GPL-3.0-or-later
"""What a preset of muscles fills in."""

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
from .preset_menu import PresetMenu, property_value

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


def preset_values(key: str) -> dict[str, Any]:
    """Returns the settings that a preset fills in, by their names."""
    tissue = MUSCLE_PRESETS[key].tissue
    return {setting.name: property_value(setting, getattr(tissue, name)) for setting, name in TISSUE_FIELDS.items()}


muscle_presets = PresetMenu("muscle_preset", preset_values)
