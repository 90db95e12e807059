# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of colliders, and of how bodies meet others and themselves."""

from __future__ import annotations

from typing import Any

import bpy

from ...solver.scene.settings.collision_settings import BODY_COLLISION_SETTINGS, COLLIDER_SETTINGS, COLLISION_COLLECTION
from ...solver.scene.settings.preset_settings import FRICTION_PRESET
from .friction_preset_filling import friction_presets
from .property_factory import settings_group


def _preset_chosen(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Fills in the friction of the preset."""
    friction_presets.apply(settings)


def _friction_edited(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Sets the menu of presets to Custom where the friction differs from the preset's."""
    friction_presets.mark_custom(settings)


ColliderProperties: Any = settings_group(
    "ColliderProperties",
    "Shape, sides, friction and thickness, and whether it is there.",
    COLLIDER_SETTINGS,
    {"friction": _friction_edited},
)
CollisionProperties: Any = settings_group(
    "CollisionProperties",
    "How a body meets others and itself, and what bodies and colliders have in common.",
    (*BODY_COLLISION_SETTINGS, FRICTION_PRESET, COLLISION_COLLECTION),
    {"body_friction": _friction_edited, "friction_preset": _preset_chosen},
)
