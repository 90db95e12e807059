# SPDX-License-Identifier: GPL-3.0-or-later
"""Words beside a place of the scene in a 3D view, drawn after the view in the coordinates of the region."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector

FONT, ALPHA = 0, 0.95
SHADOW_BLUR, SHADOW_ALPHA = 5, 0.8


def draw_words(context: bpy.types.Context, colour: tuple[float, float, float], place: np.ndarray, words: str) -> None:
    """Draws words in a colour, with a shadow, to the right of a place [Blender units], (3,)."""
    import blf
    from bpy_extras.view3d_utils import location_3d_to_region_2d

    at = location_3d_to_region_2d(context.region, context.region_data, Vector(place))
    if at is None:
        return
    preferences = context.preferences
    blf.size(FONT, preferences.ui_styles[0].widget.points * preferences.system.ui_scale)
    blf.color(FONT, *colour, ALPHA)
    blf.enable(FONT, blf.SHADOW)
    blf.shadow(FONT, SHADOW_BLUR, 0.0, 0.0, 0.0, SHADOW_ALPHA)
    blf.position(FONT, at.x, at.y, 0.0)
    blf.draw(FONT, words)
    blf.disable(FONT, blf.SHADOW)
