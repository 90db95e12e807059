# SPDX-License-Identifier: GPL-3.0-or-later
"""The frictions of `solver/friction_presets.py` as a menu of Blender's, and what each of them fills in."""

from __future__ import annotations

from typing import Any

from ..solver.friction_presets import FRICTIONS

CUSTOM = "CUSTOM"
# what files have instead of the name: never to be changed, and new ones get new numbers
NUMBERS = {
    CUSTOM: 0,
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
ITEMS = (
    (CUSTOM, "Custom", "A friction of your own", "NONE", NUMBERS[CUSTOM]),
    *(
        (key, found.label, f"μ = {found.coefficient:g}. {found.source}", "NONE", NUMBERS[key])
        for key, found in FRICTIONS.items()
    ),
)
# of a collider, and of a body
FIELDS = ("friction", "body_friction")

_applying = False


def apply(settings: Any) -> None:
    """Writes the friction of `settings.friction_preset` into the settings, of a body as well as of a collider."""
    global _applying
    if settings.friction_preset == CUSTOM:
        return
    _applying = True
    try:
        for name in FIELDS:
            setattr(settings, name, FRICTIONS[settings.friction_preset].coefficient)
    finally:
        _applying = False


def mark_edited(settings: Any) -> None:
    """Turns the menu to Custom when a friction no longer is the preset's; not while a preset fills it in."""
    if not _applying and settings.friction_preset != CUSTOM and not holds(settings):
        settings.friction_preset = CUSTOM


def holds(settings: Any) -> bool:
    """Whether the frictions still are those of the preset, to the precision that Blender stores."""
    wanted = FRICTIONS[settings.friction_preset].coefficient
    return all(abs(getattr(settings, name) - wanted) <= 1e-6 * max(wanted, 1.0) for name in FIELDS)
