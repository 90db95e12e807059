# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of a body's plasticity."""

from __future__ import annotations

from typing import Any

from ...solver.scene.settings.plasticity_settings import PLASTICITY_SETTINGS
from .material_preset_filling import PLASTICITY_FIELDS
from .material_properties import update_material_value
from .property_factory import settings_group

PlasticityProperties: Any = settings_group(
    "PlasticityProperties",
    "Yield, flow and how far it may go.",
    PLASTICITY_SETTINGS,
    dict.fromkeys(("use_plasticity", "plastic_law", *PLASTICITY_FIELDS), update_material_value),
)
