# SPDX-License-Identifier: GPL-3.0-or-later
"""Colours that are easy to tell apart."""

from __future__ import annotations

import colorsys

# hue steps of the golden ratio: neighbours differ strongly and no hue repeats
FIRST_HUE, HUE_STEP = 0.08, 0.381966


def distinct_colour(number: int) -> tuple[float, float, float]:
    """Returns the colour of a number, always the same."""
    return colorsys.hsv_to_rgb((FIRST_HUE + HUE_STEP * number) % 1.0, 0.75, 1.0)
