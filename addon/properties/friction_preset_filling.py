# SPDX-License-Identifier: GPL-3.0-or-later
"""What a preset of friction fills in: the friction of a body as well as of a collider."""

from __future__ import annotations

from typing import Any

from ...solver.scene.friction_presets import FRICTION_PRESETS
from .preset_menu import PresetMenu

# of a collider, and of a body
FRICTION_PROPERTIES = ("friction", "body_friction")


def preset_values(key: str) -> dict[str, Any]:
    """Returns the settings that a preset fills in, by their names."""
    return dict.fromkeys(FRICTION_PROPERTIES, FRICTION_PRESETS[key].coefficient)


friction_presets = PresetMenu("friction_preset", preset_values)
