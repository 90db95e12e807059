# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist can press, one subject per file."""

from __future__ import annotations

import bpy

from ..operators import bodies, cache, colliders, convert, own_weight, pins, resolution, simulate

PARTS = (bodies, colliders, pins, resolution, own_weight, simulate, cache, convert)


def register() -> None:
    """Adds the operators."""
    for part in PARTS:
        for each in part.CLASSES:
            bpy.utils.register_class(each)


def unregister() -> None:
    """Takes them away."""
    for part in reversed(PARTS):
        for each in reversed(part.CLASSES):
            bpy.utils.unregister_class(each)
