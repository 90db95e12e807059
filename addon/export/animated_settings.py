# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the animated settings of a body at a sample time."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from ...solver.scene.settings.tables import BODY, settings_of_role
from ..blender_data.rna_serialisation import animated_paths
from .setting_ranges import check_setting_ranges, value_reader

# each has the track "body.KEY.NAME" where it is animated; pins have theirs beside their targets
ANIMATABLE_SETTINGS = tuple(s for s in settings_of_role(BODY) if s.is_animated and s.field)


def animated_values(obj: bpy.types.Object, settings: bpy.types.PropertyGroup) -> Iterator[tuple[str, float]]:
    """Yields the animated and driven settings of a body by name, with their values in the evaluated `settings`.

    Raises:
        BadInput: A value is out of its range.
    """
    check_setting_ranges(obj.name, settings, ANIMATABLE_SETTINGS)
    animated = animated_paths(obj)
    for setting in ANIMATABLE_SETTINGS:
        if setting.counts(value_reader(settings)) and f"sinew.{setting.name}" in animated:
            yield setting.name, getattr(settings, setting.name)
