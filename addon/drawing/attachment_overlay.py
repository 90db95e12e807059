# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones hold of flesh in the viewport, a colour for each bone, through everything that is in front of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...solver.cache import CacheReader
from ...solver.errors import StorageFailed
from .. import holding, roles
from ..baking import cache_look, cache_place, present_bake
from . import attachment_display, tet_display

FACE_ALPHA, CROSS_ALPHA = 0.30, 0.95

_handle: Any = None
# what was drawn last of each body: (folder, key) → (signature, batches)
_drawn: dict[tuple[str, str], tuple[tuple, list]] = {}


def shown_bones(scene: bpy.types.Scene, obj: bpy.types.Object) -> set[str] | None:
    """Returns the names of the bones whose hold on `obj` is shown; None: of all of them."""
    if obj.sinew.show_attachment:
        return None
    return {bone.name for bone in holding.bones_of(scene, obj) if bone.sinew.show_attachment and bone.visible_get()}


def draw() -> None:
    """Draws what holds all visible flesh; called by Blender for every viewport."""
    context = bpy.context
    scene, space = context.scene, context.space_data
    if space is None or not space.overlay.show_overlays:
        return
    shown = [(obj, shown_bones(scene, obj)) for obj in roles.bodies(scene) if roles.is_flesh(obj) and obj.visible_get()]
    shown = [(obj, bones) for obj, bones in shown if bones is None or bones]
    if not shown:
        return
    folder = cache_place.cache_folder(scene)
    for obj, bones in shown:
        _draw_batches(_batches(folder, scene, obj, bones))


def _batches(folder: Path, scene: bpy.types.Scene, obj: bpy.types.Object, bones: set[str] | None) -> list:
    """Returns (batch, colour) pairs, made again only when the frame, the bake or what is shown has changed."""
    key = present_bake.key_of(obj)
    try:
        stamp = (folder / "cache.json").stat().st_mtime_ns
    except OSError:
        return []
    seen = cache_look.look(folder)
    if seen.head is None or seen.last_frame is None:
        return []
    frame = min(max(scene.frame_current, seen.head.frame_start), seen.last_frame)
    signature = (stamp, frame, scene.unit_settings.scale_length, None if bones is None else frozenset(bones))
    known = _drawn.get((str(folder), key))
    if known is None or known[0] != signature:
        known = (signature, _make_batches(folder, key, frame, scene.unit_settings.scale_length, bones))
        _drawn[str(folder), key] = known
    return known[1]


def _make_batches(folder: Path, key: str, frame: int, unit: float, bones: set[str] | None) -> list:
    import gpu
    from gpu_extras.batch import batch_for_shader

    try:
        display = attachment_display.load(CacheReader(folder), key, tet_display.topology_at(folder, frame))
    except StorageFailed:
        return []
    points = display and tet_display.positions(folder, frame, display.nodes)
    if display is None or points is None:
        return []
    shader, batches = gpu.shader.from_builtin("UNIFORM_COLOR"), []
    for held in display.held:
        if bones is not None and held.bone not in bones:
            continue
        colour = attachment_display.colour(held.number)
        faces = points[held.faces].reshape(-1, 3)
        lines = attachment_display.crosses(points[held.nodes], display.cross)
        for kind, corners, alpha in (("TRIS", faces, FACE_ALPHA), ("LINES", lines, CROSS_ALPHA)):
            if len(corners):
                values = {"pos": np.ascontiguousarray(corners / unit, np.float32)}
                batches.append((shader, batch_for_shader(shader, kind, values), (*colour, alpha)))
    return batches


def _draw_batches(batches: list) -> None:
    import gpu

    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    gpu.state.face_culling_set("BACK")
    for shader, batch, colour in batches:
        shader.bind()
        shader.uniform_float("color", colour)
        batch.draw(shader)
    gpu.state.face_culling_set("NONE")
    gpu.state.blend_set("NONE")


def forget() -> None:
    """Drops what was kept for drawing: another file is open, or a bake was deleted."""
    _drawn.clear()


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
