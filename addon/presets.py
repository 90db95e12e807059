# SPDX-License-Identifier: GPL-3.0-or-later
"""The materials of `solver/presets.py` as a menu of Blender's."""

from __future__ import annotations

from typing import Any

from ..solver.presets import DEFAULT, PRESETS
from ..solver.scene import Fracture, Heat, Plasticity

CUSTOM = "CUSTOM"
NAMES = ("youngs_modulus", "poisson_ratio", "density", "mass_damping", "stiffness_damping")
ITEMS = (
    *((key, preset.label, f"{preset.description}. {preset.source}") for key, preset in PRESETS.items()),
    (CUSTOM, "Custom", "Values of your own"),
)
DEFAULT_VALUES = {name: getattr(PRESETS[DEFAULT].material, name) for name in NAMES}
# values of a body that was never told otherwise
PLASTIC = vars(Plasticity())
HEAT = vars(Heat())
FRACTURE = vars(Fracture()) | {"toughness": 5.0e4}

_applying = False


def apply(settings: Any) -> None:
    """Writes the values of `settings.preset` into the settings."""
    global _applying
    if settings.preset == CUSTOM:
        return
    _applying = True
    try:
        for name in NAMES:
            setattr(settings, name, getattr(PRESETS[settings.preset].material, name))
    finally:
        _applying = False


def mark_edited(settings: Any) -> None:
    """Turns the menu to Custom when a value no longer is the preset's; not while a preset fills the values in."""
    if not _applying and settings.preset != CUSTOM and not holds(settings):
        settings.preset = CUSTOM


def holds(settings: Any) -> bool:
    """Whether the settings still have the values of their preset, to the precision that Blender stores."""
    material = PRESETS[settings.preset].material
    return all(abs(getattr(settings, n) - getattr(material, n)) <= 1e-6 * abs(getattr(material, n)) for n in NAMES)
