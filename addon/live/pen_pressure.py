# SPDX-License-Identifier: GPL-3.0-or-later
"""How hard a pen presses."""

from __future__ import annotations

import bpy

MIN_PRESSURE = 0.01  # a grab needs a spring, and a brush a strength


def pressure(event: bpy.types.Event) -> float:
    """Returns the pressure of the pen, above 0 and at most 1; that of a mouse is 1."""
    return max(float(event.pressure), MIN_PRESSURE) if event.is_tablet else 1.0
