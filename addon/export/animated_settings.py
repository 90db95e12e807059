# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a body that are read on every frame, and the check of the ranges of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import bpy

from ...solver.runtime.errors import BadInput
from ...solver.scene.settings.setting import INTEGER, NUMBER, Setting
from ...solver.scene.settings.tables import BODY, settings_of_role
from ..blender_data.rna_serialisation import animated_paths

# each has the track "body.KEY.NAME" where it is animated; pins have theirs beside their targets
ANIMATED_SETTINGS = tuple(s for s in settings_of_role(BODY) if s.is_animated and s.field)


def _reader(settings: bpy.types.PropertyGroup) -> Callable[[str], Any]:
    return lambda name: getattr(settings, name)


def check_ranges(name: str, settings: bpy.types.PropertyGroup, table: tuple[Setting, ...]) -> None:
    """Makes sure that the settings that count are within their ranges.

    Raises:
        BadInput: One is not; the sentence names it.
    """
    for setting in table:
        if setting.limits is None or setting.kind not in (NUMBER, INTEGER) or not setting.counts(_reader(settings)):
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


def animated_values(obj: bpy.types.Object, settings: bpy.types.PropertyGroup) -> Iterator[tuple[str, float]]:
    """Yields the settings of a body that are animated or driven, with their value now; `settings` is evaluated.

    Raises:
        BadInput: A value is out of its range.
    """
    check_ranges(obj.name, settings, ANIMATED_SETTINGS)
    animated = animated_paths(obj)
    for setting in ANIMATED_SETTINGS:
        if setting.counts(_reader(settings)) and f"sinew.{setting.name}" in animated:
            yield setting.name, getattr(settings, setting.name)
