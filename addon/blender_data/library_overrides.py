# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps Sinew's settings on library overrides."""

from __future__ import annotations

from collections.abc import Iterable

import bpy


def store_override_settings(objects: Iterable[bpy.types.Object]) -> None:
    """Makes Blender save the settings of overrides one by one; called before a file is written.

    Blender 5.0 compares an override with the linked object. Where that one has no `sinew` at all it notes the
    whole group as changed, and cannot set that when the file is loaded again (found by experiment; 4.5 can).
    Reading the group makes it exist, with its defaults, in memory only.
    """
    for obj in objects:
        if obj.override_library is not None and obj.override_library.reference is not None:
            obj.override_library.reference.sinew.role  # noqa: B018
