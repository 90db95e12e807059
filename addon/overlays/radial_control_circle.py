# SPDX-License-Identifier: GPL-3.0-or-later
"""The circle of a value that the mouse sets, as Blender's brushes have it, and the value in its middle."""

from __future__ import annotations

import numpy as np

from .gpu_batches import alpha_blending, draw_batch, make_batch

CIRCLE_COLOUR, FILL_COLOUR = (1.0, 1.0, 1.0, 0.9), (1.0, 1.0, 1.0, 0.12)
CORNERS, LINE_WIDTH, TEXT_SIZE = 64, 2.0, 14.0  # the last two in pixels


def draw_circle(centre: tuple[float, float], radius: float, text: str) -> None:
    """Draws it at a place of the region [pixels]."""
    import blf
    import gpu

    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS + 1)
    ring = np.array(centre) + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    fan = np.stack([np.zeros(CORNERS, np.int32), np.arange(1, CORNERS + 1, dtype=np.int32)], axis=1)
    fan = np.column_stack([fan, np.roll(fan[:, 1], -1)])
    with alpha_blending():
        draw_batch(*make_batch("TRIS", np.vstack([np.array([centre]), ring[:-1]]), indices=fan), FILL_COLOUR)
        gpu.state.line_width_set(LINE_WIDTH)
        draw_batch(*make_batch("LINE_STRIP", ring), CIRCLE_COLOUR)
        gpu.state.line_width_set(1.0)
    blf.size(0, TEXT_SIZE)
    blf.color(0, *CIRCLE_COLOUR)
    width, height = blf.dimensions(0, text)
    blf.position(0, centre[0] - width / 2.0, centre[1] - height / 2.0, 0.0)
    blf.draw(0, text)
