# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bodies touch at the present frame, in the viewport: dots, normals, and arrows of the forces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from .. import roles
from ..baking import cache_look, cache_place
from . import contact_display
from .contact_display import Contacts

POINT_COLOUR = (1.0, 1.0, 1.0, 0.95)
NORMAL_COLOUR = (0.25, 0.75, 1.0, 0.9)
FORCE_COLOUR = (1.0, 0.55, 0.0, 0.95)
# [pixels at 100 %]
POINT, THIN, THICK = 4.0, 1.5, 2.0

_handle: Any = None
# what was drawn last of each cache, so that a still frame is uploaded once
_drawn: dict[Path, tuple[tuple, list]] = {}


def contacts(scene: bpy.types.Scene) -> Contacts:
    """Returns the contacts of the present bake at the playhead, or at its nearest frame."""
    folder = cache_place.cache_folder(scene)
    frame = shown_frame(folder, scene)
    return contact_display.NONE if frame is None else contact_display.load(folder, frame)


def shown_frame(folder: Path, scene: bpy.types.Scene) -> int | None:
    """Returns the baked frame at the playhead, or the nearest one; None where nothing is baked."""
    seen = cache_look.look(folder)
    if seen.head is None or seen.last_frame is None:
        return None
    return min(max(scene.frame_current, seen.head.frame_start), seen.last_frame)


def size_of_bodies(scene: bpy.types.Scene) -> float:
    """Returns how large the bodies of a scene are that are seen: the median of their longest sides [Blender units]."""
    longest = [max(obj.dimensions) for obj in roles.bodies(scene) if obj.visible_get()]
    return float(np.median(longest)) if longest else 0.0


def draw() -> None:
    """Draws the contacts of the present frame; called by Blender for every viewport."""
    context = bpy.context
    scene, space = context.scene, context.space_data
    if not scene.sinew.show_contacts or space is None or not space.overlay.show_overlays:
        return
    folder = cache_place.cache_folder(scene)
    frame, size = shown_frame(folder, scene), size_of_bodies(scene)
    if frame is None or not size > 0.0:
        return
    signature = (frame, contact_display.stamp(folder, frame), scene.unit_settings.scale_length, size)
    known = _drawn.get(folder)
    if known is None or known[0] != signature:
        known = (signature, _batches(contact_display.load(folder, frame), scene.unit_settings.scale_length, size))
        _drawn[folder] = known
    _draw_batches(known[1], context)


def _batches(found: Contacts, unit: float, size: float) -> list:
    """Returns (shader, batch, colour, width) of what is seen of contacts; `size` is in Blender units."""
    import gpu
    from gpu_extras.batch import batch_for_shader

    parts = (
        ("LINES", contact_display.arrow_lines(found, size * unit), FORCE_COLOUR, THICK),
        ("POINTS", found.positions, POINT_COLOUR, POINT),
        ("LINES", contact_display.normal_lines(found, size * unit), NORMAL_COLOUR, THIN),
    )
    made = []
    for kind, points, colour, width in parts:
        if len(points):
            shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR" if kind == "LINES" else "UNIFORM_COLOR")
            values = {"pos": np.ascontiguousarray(points / unit, np.float32)}
            made.append((shader, batch_for_shader(shader, kind, values), colour, width))
    return made


def _draw_batches(batches: list, context: bpy.types.Context) -> None:
    import gpu

    scale = context.preferences.system.ui_scale
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")  # forces point into the bodies that feel them
    for shader, batch, colour, width in batches:
        shader.bind()
        shader.uniform_float("color", colour)
        if width == POINT:
            gpu.state.point_size_set(width * scale)
        else:
            shader.uniform_float("lineWidth", width * scale)
            shader.uniform_float("viewportSize", (context.region.width, context.region.height))
        batch.draw(shader)
    gpu.state.blend_set("NONE")


def forget() -> None:
    """Drops what was kept for drawing: another file is open, or a bake was deleted."""
    _drawn.clear()
    contact_display.forget()


def register() -> None:
    """Starts drawing."""
    global _handle
    _handle = bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW")


def unregister() -> None:
    """Stops drawing."""
    global _handle
    bpy.types.SpaceView3D.draw_handler_remove(_handle, "WINDOW")
    _handle = None
    forget()
