# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist can press, one subject per file."""

from __future__ import annotations

import bpy

from ..operators import (
    bodies,
    bones,
    cache,
    closed_copy,
    colliders,
    convert,
    flesh,
    forces,
    heat,
    import_tets,
    lost_caches,
    own_weight,
    pins,
    resolution,
    simulate,
)

PARTS = (
    bodies,
    flesh,
    bones,
    import_tets,
    colliders,
    forces,
    heat,
    pins,
    resolution,
    own_weight,
    simulate,
    cache,
    convert,
    closed_copy,
    lost_caches,
)


def register() -> None:
    """Adds the operators."""
    for part in PARTS:
        for each in part.CLASSES:
            bpy.utils.register_class(each)
    bpy.types.TOPBAR_MT_file_import.append(import_tets.draw_menu_entry)


def unregister() -> None:
    """Takes them away."""
    bpy.types.TOPBAR_MT_file_import.remove(import_tets.draw_menu_entry)
    for part in reversed(PARTS):
        for each in reversed(part.CLASSES):
            bpy.utils.unregister_class(each)
