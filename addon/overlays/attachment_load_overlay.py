# SPDX-License-Identifier: GPL-3.0-or-later
"""The load of each attachment of a baked body in the viewport: a number beside the line between its ends."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ..baking import frame_report_reader
from ..blender_data.object_keys import body_key
from ..cache import cache_folder_status
from ..cache.bake_passes import body_folder
from ..objects import roles
from ..runtime.quantity_text import quantity_text
from . import attached_points
from .draw_handler import DrawHandler
from .viewport_text import draw_words


def shown_loads(scene: bpy.types.Scene) -> Iterator[tuple[attached_points.Colour, Floats, str]]:
    """Yields colour, place [Blender units], (3,), and text of each load at the playhead, of bodies that show theirs."""
    unit = scene.unit_settings.scale_length
    for obj in roles.bodies(scene):
        if not (obj.sinew.show_attachment and obj.visible_get()):
            continue
        colours = attached_points.row_colours(obj)
        for number, load in loads_of(scene, obj).items():
            if number < len(colours):
                middle = 0.5 * (np.array(load[1:4]) + np.array(load[4:7])) / unit
                yield colours[number], middle, quantity_text(load[0], "N")


def loads_of(scene: bpy.types.Scene, obj: bpy.types.Object) -> dict[int, list[float]]:
    """Returns what the rows of a body carry at the playhead, or at the nearest baked frame, by number of the row."""
    folder = body_folder(scene, obj)
    frame = cache_folder_status.read_status(folder).frame_shown_at(scene.frame_current)
    return {} if frame is None else frame_report_reader.attachment_loads(folder, body_key(obj), frame)


def draw() -> None:
    """Draws the numbers. Blender calls it for every viewport."""
    context = bpy.context
    space = context.space_data
    if space is not None and space.overlay.show_overlays:
        for colour, place, words in shown_loads(context.scene):
            draw_words(context, colour, place, words)


_draw_handler = DrawHandler(draw, when="POST_PIXEL")
register, unregister = _draw_handler.register, _draw_handler.unregister
