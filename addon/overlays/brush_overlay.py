# SPDX-License-Identifier: GPL-3.0-or-later
"""The brush overlay: a circle around the place of a live run that a brush works on, and what it has done there."""

from __future__ import annotations

from collections.abc import Mapping

import bpy
import numpy as np

from ..baking.addon_session import session
from ..live import brushes
from .draw_handler import LabelledDrawHandler
from .gpu_batches import alpha_blending, draw_batch, make_batch
from .viewport_text import draw_words

COLOURS = {
    brushes.HEAT: (1.0, 0.35, 0.1, 1.0),
    brushes.COOL: (0.3, 0.6, 1.0, 1.0),
    brushes.SOFTEN: (1.0, 0.6, 0.8, 1.0),
    brushes.HARDEN: (0.7, 0.7, 0.8, 1.0),
    brushes.PUSH: (1.0, 1.0, 1.0, 1.0),
}
CORNERS, LINE_WIDTH, TEXT_GAP = 48, 2.0, 0.1  # the gap as a share of the radius


def draw() -> None:
    """Draws the circle, facing the viewer. Blender calls it for every viewport."""
    run, context = session.live, bpy.context
    if run is None or run.brush is None or run.scene_uid != context.scene.session_uid or context.region_data is None:
        return
    import gpu

    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS + 1)
    axes = np.array(context.region_data.view_matrix.inverted().to_3x3(), np.float64)
    around = np.cos(angle)[:, None] * axes[:, 0] + np.sin(angle)[:, None] * axes[:, 1]
    ring = run.brush.place + run.brush.radius * around
    with alpha_blending():
        gpu.state.line_width_set(LINE_WIDTH)
        draw_batch(*make_batch("LINE_STRIP", ring), COLOURS[run.brush.kind])
        gpu.state.line_width_set(1.0)


def draw_text() -> None:
    """Draws what is in the middle of the brush beside the circle. Blender calls it for every viewport."""
    run, context = session.live, bpy.context
    if run is None or run.brush is None or run.scene_uid != context.scene.session_uid or context.region_data is None:
        return
    words = touched_text(run.status.get("touched", {}))
    if words:
        right = np.array(context.region_data.view_matrix.inverted().col[0][:3])
        place = run.brush.place + (1.0 + TEXT_GAP) * run.brush.radius * right
        draw_words(context, COLOURS[run.brush.kind][:3], place, words)


def touched_text(touched: Mapping[str, float]) -> str:
    """Returns in words what a `live` event says of the middle of a brush: "34.5 °C", or "0.35 × as stiff"."""
    if "temperature" in touched:
        return f"{touched['temperature']:.1f} °C"
    if "stiffness_factor" in touched:
        return f"{touched['stiffness_factor']:.2g} × as stiff"
    return ""


_draw_handler = LabelledDrawHandler(draw, draw_text)
register, unregister = _draw_handler.register, _draw_handler.unregister
