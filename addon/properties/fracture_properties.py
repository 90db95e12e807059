# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of a body's fracture, and of what a bake gives to the renderer."""

from __future__ import annotations

from typing import Any

import bpy

from ...solver.scene.settings.fracture_settings import FRACTURE_SETTINGS, RESULT_SETTINGS
from .material_properties import update_material_value
from .property_factory import settings_group
from .unit_proxies import proxy_properties


def _result_edited(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Makes the objects anew that replace a broken body."""
    from ..baking import attach_bake

    attach_bake.refresh_result(settings.id_data)


FractureProperties: Any = settings_group(
    "FractureProperties",
    "Strength, where it is weaker, and how many pieces there may be.",
    FRACTURE_SETTINGS,
    dict.fromkeys(("breaking_stress", "use_toughness", "toughness"), update_material_value),
    proxy_properties(FRACTURE_SETTINGS),
)
ResultProperties: Any = settings_group(
    "ResultProperties",
    "What the bake gives to the renderer.",
    RESULT_SETTINGS,
    dict.fromkeys(("broken_material", "separate_pieces"), _result_edited),
)
