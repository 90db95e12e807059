# SPDX-License-Identifier: GPL-3.0-or-later
"""The grab overlay: a line from each grabbed place of a live run to the hand that pulls it, its pins, and a word where
something else holds the place."""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ..baking.addon_session import session
from ..live import grabs
from .draw_handler import LabelledDrawHandler
from .gpu_batches import alpha_blending, draw_batch, make_batch
from .viewport_text import draw_words

LINE_COLOUR, PIN_COLOUR, HAND_COLOUR = (1.0, 0.85, 0.1, 1.0), (1.0, 0.35, 0.1, 1.0), (1.0, 1.0, 1.0, 1.0)
LINE_WIDTH, POINT_SIZE = 3.0, 9.0  # [pixels]
HELD = "  Held in place"  # by pins, bones or keys; no pull moves that


def draw() -> None:
    """Draws what is pulled. Blender calls it for every viewport."""
    run, context = session.live, bpy.context
    if run is None or not run.grabs or run.scene_uid != context.scene.session_uid:
        return
    import gpu

    lines: list[Floats] = []
    hands: list[Floats] = []
    pins: list[Floats] = []
    for grab in run.grabs.values():
        lines += [grabs.grabbed_point(run, grab), grab.hand]
        (pins if grab.is_pin else hands).append(grab.hand)
    with alpha_blending():
        gpu.state.line_width_set(LINE_WIDTH)
        gpu.state.point_size_set(POINT_SIZE)
        if lines:
            draw_batch(*make_batch("LINES", np.array(lines)), LINE_COLOUR)
        for places, colour in ((hands, HAND_COLOUR), (pins, PIN_COLOUR)):
            if places:
                draw_batch(*make_batch("POINTS", np.array(places)), colour)
        gpu.state.line_width_set(1.0)
        gpu.state.point_size_set(1.0)


def draw_text() -> None:
    """Says beside a hand that something else holds what it pulls. Blender calls it for every viewport."""
    run, context = session.live, bpy.context
    if run is None or run.scene_uid != context.scene.session_uid or context.region_data is None:
        return
    for number in run.status.get("held_grabs", ()):
        grab = run.grabs.get(number)
        if grab is not None:
            draw_words(context, LINE_COLOUR[:3], grabs.grabbed_point(run, grab), HELD)


_draw_handler = LabelledDrawHandler(draw, draw_text)
register, unregister = _draw_handler.register, _draw_handler.unregister
