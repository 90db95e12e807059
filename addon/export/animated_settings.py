# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a body that are read on every frame, and the check of the ranges of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import bpy

from ...solver.runtime.errors import BadInput
from ...solver.scene.settings.setting import INTEGER, NUMBER, Setting
from ...solver.scene.settings.tables import BODY, settings_of_role
from ..blender_data.rna_snapshot import animated_paths, stepped_paths

# each has the track "body.KEY.NAME" where it is animated; pins have theirs beside their targets
ANIMATED_SETTINGS = tuple(s for s in settings_of_role(BODY) if s.is_animated and s.field)

FORMER_TRACKS = {"yield_strain", "flow", "maximum_strain", "breaking_stress"}  # that 0.2.0 had


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


def animated_values(obj: bpy.types.Object, settings: bpy.types.PropertyGroup) -> Iterator[tuple[str, float, str]]:
    """Yields the settings of a body that are animated or driven, with their value now and the kind of their track.

    Raises:
        BadInput: A value is out of its range.
    """
    check_ranges(obj.name, settings, ANIMATED_SETTINGS)
    animated, stepped = animated_paths(obj), stepped_paths(obj)
    for setting in ANIMATED_SETTINGS:
        path = f"sinew.{setting.name}"
        if setting.counts(_reader(settings)) and path in animated:
            # tracks of 0.2.0 are linear, whatever their keys are: bakes can only go on with the same tracks
            is_stepped = path in stepped and setting.name not in FORMER_TRACKS
            yield setting.name, getattr(settings, setting.name), "step" if is_stepped else "linear"
