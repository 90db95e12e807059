# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills in the friction of a preset, and notices when a friction differs from it."""

from __future__ import annotations

from typing import Any

from ...solver.scene.friction_presets import FRICTION_PRESETS
from ...solver.scene.settings.preset_settings import CUSTOM_PRESET
from .preset_filling_guard import PresetFilling

# of a collider, and of a body
FRICTION_PROPERTIES = ("friction", "body_friction")

filling = PresetFilling()


def apply_preset(settings: Any) -> None:
    """Writes the friction of `settings.friction_preset` into the settings, of a body as well as of a collider."""
    if filling.is_active or settings.friction_preset == CUSTOM_PRESET:
        return
    with filling:
        for name in FRICTION_PROPERTIES:
            setattr(settings, name, FRICTION_PRESETS[settings.friction_preset].coefficient)


def mark_custom(settings: Any) -> None:
    """Turns the menu to Custom when a friction no longer is the preset's; not while a preset fills it in."""
    if not filling.is_active and settings.friction_preset != CUSTOM_PRESET and not matches_preset(settings):
        settings.friction_preset = CUSTOM_PRESET


def matches_preset(settings: Any) -> bool:
    """Whether the frictions still are those of the preset, to the precision that Blender stores."""
    wanted = FRICTION_PRESETS[settings.friction_preset].coefficient
    return all(abs(getattr(settings, name) - wanted) <= 1e-6 * max(wanted, 1.0) for name in FRICTION_PROPERTIES)
