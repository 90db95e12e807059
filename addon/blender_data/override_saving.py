# SPDX-License-Identifier: GPL-3.0-or-later
"""Saves Sinew's settings on library overrides."""

from __future__ import annotations

from collections.abc import Iterable

import bpy


def store_override_settings(objects: Iterable[bpy.types.Object]) -> None:
    """Makes Blender save the settings of overrides one by one. Runs before a file is written.

    Blender 5.0 compares an override with the linked object. If that has no `sinew` at all, Blender marks the whole
    group as changed, and cannot set it when the file is loaded again (found by experiment; 4.5 can). Reading the
    group creates it with its defaults, in memory only.
    """
    for obj in objects:
        if obj.override_library is not None and obj.override_library.reference is not None:
            obj.override_library.reference.sinew.role  # noqa: B018
