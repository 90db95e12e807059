# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact overlay: points, normals and force arrows of the present frame, and where colliders are let in."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np

from ..cache import cache_folder_status, cache_paths
from ..cache.bake_passes import body_folder
from ..objects import roles
from ..properties.role_definitions import BODY
from . import contact_geometry
from .contact_geometry import Contacts
from .draw_handler import DrawHandler
from .gpu_batches import alpha_blending, draw_batch, make_batch

POINT_COLOUR = (1.0, 1.0, 1.0, 0.95)
NORMAL_COLOUR = (0.25, 0.75, 1.0, 0.9)
FORCE_COLOUR = (1.0, 0.55, 0.0, 0.95)
LET_IN_COLOUR = (0.95, 0.20, 0.15, 0.95)
# [pixels at 100 %]
POINT_SIZE, LET_IN_SIZE, NORMAL_WIDTH, ARROW_WIDTH = 4.0, 7.0, 1.5, 2.0


def contacts(scene: bpy.types.Scene) -> Contacts:
    """Returns the contacts at the playhead, or at its nearest frame, of the bake that the active body plays."""
    folder = _shown_folder(scene)
    frame = cache_folder_status.read_status(folder).frame_shown_at(scene.frame_current)
    return contact_geometry.NO_CONTACTS if frame is None else contact_geometry.load_contacts(folder, frame)


def _shown_folder(scene: bpy.types.Scene) -> Path:
    """Returns the cache that the active body plays, or that of the scene."""
    obj = bpy.context.object
    if obj is not None and obj.sinew.role == BODY and scene in obj.users_scene:
        return body_folder(scene, obj)
    return cache_paths.cache_folder(scene)


def median_body_size(scene: bpy.types.Scene) -> float:
    """Returns the median longest side of the visible bodies [Blender units]."""
    longest = [max(obj.dimensions) for obj in roles.bodies(scene) if obj.visible_get()]
    return float(np.median(longest)) if longest else 0.0


def draw() -> None:
    """Draws the contacts of the present frame. Blender calls it for every viewport."""
    context = bpy.context
    scene, space = context.scene, context.space_data
    if not scene.sinew.show_contacts or space is None or not space.overlay.show_overlays:
        return
    folder = _shown_folder(scene)
    frame, size = cache_folder_status.read_status(folder).frame_shown_at(scene.frame_current), median_body_size(scene)
    if frame is None or not size > 0.0:
        return
    unit = scene.unit_settings.scale_length
    depends = (frame, contact_geometry.stamp(folder, frame), unit, size)
    batches = _draw_handler.cached(
        folder, depends, lambda: _batches(contact_geometry.load_contacts(folder, frame), unit, size)
    )
    _draw_batches(batches, context)


def _batches(found: Contacts, unit: float, size: float) -> list:
    """Returns (shader, batch, colour, width); `size` is the size of bodies [Blender units]."""
    parts = (
        ("LINES", contact_geometry.arrow_lines(found, size * unit), FORCE_COLOUR, ARROW_WIDTH),
        ("POINTS", found.positions, POINT_COLOUR, POINT_SIZE),
        ("LINES", contact_geometry.normal_lines(found, size * unit), NORMAL_COLOUR, NORMAL_WIDTH),
        ("POINTS", found.let_in, LET_IN_COLOUR, LET_IN_SIZE),
    )
    made = []
    for kind, points, colour, width in parts:
        if len(points):
            shader = "POLYLINE_UNIFORM_COLOR" if kind == "LINES" else "UNIFORM_COLOR"
            made.append((*make_batch(kind, points / unit, shader), colour, width))
    return made


def _draw_batches(batches: list, context: bpy.types.Context) -> None:
    import gpu

    scale = context.preferences.system.ui_scale
    region = (context.region.width, context.region.height)
    with alpha_blending():  # forces point into the body
        for shader, batch, colour, width in batches:
            if width in (POINT_SIZE, LET_IN_SIZE):
                gpu.state.point_size_set(width * scale)
                draw_batch(shader, batch, colour)
            else:
                draw_batch(shader, batch, colour, lineWidth=width * scale, viewportSize=region)


_draw_handler = DrawHandler(draw)
register, unregister = _draw_handler.register, _draw_handler.unregister
