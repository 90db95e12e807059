# SPDX-License-Identifier: GPL-3.0-or-later
"""A menu of presets that fills in settings, and turns to Custom when one of them no longer is the preset's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...solver.scene.settings.preset_settings import CUSTOM_PRESET
from ...solver.scene.settings.setting import CHOICE, Setting
from .preset_filling_guard import PresetFilling

FLOAT32_TOLERANCE = 1.0e-6


class PresetMenu(PresetFilling):
    """What happens when a preset is chosen, or a setting edited."""

    def __init__(self, name: str, values: Callable[[str], dict[str, Any]]) -> None:
        """Takes the name of the menu, and what gives the values that a preset fills in, by names of settings."""
        super().__init__()
        self.name, self.values = name, values

    def apply(self, settings: Any) -> None:
        """Writes the values of the chosen preset into the settings."""
        preset = getattr(settings, self.name)
        if self.is_active or preset == CUSTOM_PRESET:
            return
        with self:
            for name, value in self.values(preset).items():
                setattr(settings, name, value)

    def mark_custom(self, settings: Any) -> None:
        """Turns the menu to Custom when a value no longer is the preset's; not while a preset fills the values in."""
        if not self.is_active and getattr(settings, self.name) != CUSTOM_PRESET and not self.matches(settings):
            setattr(settings, self.name, CUSTOM_PRESET)

    def matches(self, settings: Any) -> bool:
        """Whether the settings still have the values of their preset, to the precision that Blender stores."""
        return all(
            getattr(settings, name) == value
            if isinstance(value, (str, bool))
            else abs(getattr(settings, name) - value) <= FLOAT32_TOLERANCE * abs(value)
            for name, value in self.values(getattr(settings, self.name)).items()
        )


def property_value(setting: Setting, value: Any) -> Any:
    """Returns what a property holds where its setting has a value of the solver's: of a choice its identifier."""
    if setting.kind != CHOICE:
        return value
    return next(choice.identifier for choice in setting.choices if choice.solver_value == value)
