# SPDX-License-Identifier: GPL-3.0-or-later
"""The check that settings are within the ranges of their tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ...solver.runtime.errors import BadInput
from ...solver.scene.settings.setting import INTEGER, NUMBER, Setting


def value_reader(settings: bpy.types.PropertyGroup) -> Callable[[str], Any]:
    """Returns a function that reads a setting by its name."""
    return lambda name: getattr(settings, name)


def check_setting_ranges(name: str, settings: bpy.types.PropertyGroup, table: tuple[Setting, ...]) -> None:
    """Makes sure that the settings that count are within their ranges.

    Raises:
        BadInput: One is not; the sentence names it.
    """
    for setting in table:
        if (
            setting.limits is None
            or setting.kind not in (NUMBER, INTEGER)
            or not setting.counts(value_reader(settings))
        ):
            continue
        value = getattr(settings, setting.name)
        if not setting.limits.contains(value):
            # Blender keeps 32 bits: −0.1 would be −0.10000000149
            raise BadInput(
                "setting-out-of-range",
                setting=setting.label,
                name=name,
                value=f"{value:.6g}",
                range=setting.limits.text_for(value),
            )
