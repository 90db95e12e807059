# SPDX-License-Identifier: GPL-3.0-or-later
"""The frictions of `solver/scene/friction_presets.py` as a menu of Blender's, and what each of them fills in."""

from __future__ import annotations

from typing import Any

from ...solver.scene.friction_presets import FRICTION_PRESETS

CUSTOM_PRESET = "CUSTOM"
# what files have instead of the name: never to be changed, and new ones get new numbers
ENUM_NUMBERS = {
    CUSTOM_PRESET: 0,
    "RUBBER_ON_WOOD": 1,
    "RUBBER_ON_CONCRETE": 2,
    "RUBBER_ON_WET_CONCRETE": 3,
    "RUBBER_ON_GLASS": 4,
    "WOOD_ON_WOOD": 5,
    "METAL_ON_WOOD": 6,
    "STEEL_ON_STEEL": 7,
    "OILED_STEEL": 8,
    "GLASS_ON_GLASS": 9,
    "STONE_ON_STONE": 10,
    "DRY_SKIN": 11,
    "JELLY_ON_PLATE": 12,
    "STEEL_ON_ICE": 13,
    "ICE_ON_ICE": 14,
    "TEFLON_ON_STEEL": 15,
}
PRESET_ITEMS = (
    (CUSTOM_PRESET, "Custom", "A friction of your own", "NONE", ENUM_NUMBERS[CUSTOM_PRESET]),
    *(
        (key, found.label, f"μ = {found.coefficient:g}. {found.source}", "NONE", ENUM_NUMBERS[key])
        for key, found in FRICTION_PRESETS.items()
    ),
)
# of a collider, and of a body
FRICTION_PROPERTIES = ("friction", "body_friction")

_is_applying = False


def apply_preset(settings: Any) -> None:
    """Writes the friction of `settings.friction_preset` into the settings, of a body as well as of a collider."""
    global _is_applying
    if settings.friction_preset == CUSTOM_PRESET:
        return
    _is_applying = True
    try:
        for name in FRICTION_PROPERTIES:
            setattr(settings, name, FRICTION_PRESETS[settings.friction_preset].coefficient)
    finally:
        _is_applying = False


def mark_custom(settings: Any) -> None:
    """Turns the menu to Custom when a friction no longer is the preset's; not while a preset fills it in."""
    if not _is_applying and settings.friction_preset != CUSTOM_PRESET and not matches_preset(settings):
        settings.friction_preset = CUSTOM_PRESET


def matches_preset(settings: Any) -> bool:
    """Whether the frictions still are those of the preset, to the precision that Blender stores."""
    wanted = FRICTION_PRESETS[settings.friction_preset].coefficient
    return all(abs(getattr(settings, name) - wanted) <= 1e-6 * max(wanted, 1.0) for name in FRICTION_PROPERTIES)
