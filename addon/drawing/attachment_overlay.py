# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones hold of flesh in the viewport, a colour for each bone, through everything that is in front of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...solver.cache import CacheReader
from ...solver.errors import StorageFailed
from .. import holding, roles
from ..baking import cache_look, cache_place, present_bake
from ..reading.moments import rest_frame
from . import attachment_display, attachment_preview, tet_display

FACE_ALPHA, CROSS_ALPHA = 0.30, 0.95

# name and number of a bone, corners of faces, and ends of lines
Part = tuple[str, int, np.ndarray, np.ndarray]

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
    """Returns (shader, batch, colour), made again only when the frame, the bake or what is shown has changed."""
    key, unit = present_bake.key_of(obj), scene.unit_settings.scale_length
    seen, chosen = cache_look.look(folder), None if bones is None else frozenset(bones)
    make: Callable[[], Iterator[Part]]
    if seen.head is not None and seen.last_frame is not None:
        frame = min(max(scene.frame_current, seen.head.frame_start), seen.last_frame)
        signature: tuple = (_stamp(folder), frame, unit, chosen)
        make = partial(_of_bake, folder, key, frame, unit)
    elif scene.frame_current == rest_frame(scene) and obj.mode != "EDIT":
        # evaluating here would take from Blender what it is about to draw
        depsgraph = bpy.context.view_layer.depsgraph
        if depsgraph is None:
            return []
        signature = ("preview", attachment_preview.depends(scene, obj, depsgraph), chosen)
        make = partial(_of_preview, scene, obj, depsgraph)
    else:
        return []
    known = _drawn.get((str(folder), key))
    if known is None or known[0] != signature:
        known = (signature, [batch for part in make() if bones is None or part[0] in bones for batch in _made(*part)])
        _drawn[str(folder), key] = known
    return known[1]


def _stamp(folder: Path) -> int:
    try:
        return (folder / "cache.json").stat().st_mtime_ns
    except OSError:
        return 0


def _of_bake(folder: Path, key: str, frame: int, unit: float) -> Iterator[Part]:
    """Yields per bone its name and number, corners of faces, and lines [Blender units], as they are in a cache."""
    try:
        display = attachment_display.load(CacheReader(folder), key, tet_display.topology_at(folder, frame))
    except StorageFailed:
        return
    points = None if display is None else tet_display.positions(folder, frame, display.nodes)
    if display is None or points is None:
        return
    for held in display.held:
        lines = attachment_display.crosses(points[held.nodes], display.cross)
        yield held.bone, held.number, points[held.faces].reshape(-1, 3) / unit, lines / unit


def _of_preview(scene: bpy.types.Scene, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Iterator[Part]:
    """Yields the same of what bones will hold, as far as that can be told before the bake."""
    found = attachment_preview.preview(scene, obj, depsgraph)
    for number, (name, points) in enumerate(zip(found.names, found.points, strict=True)):
        lines = attachment_display.crosses(points, attachment_display.CROSS * found.spacing)
        yield name, number, np.zeros((0, 3)), lines


def _made(_name: str, number: int, faces: np.ndarray, lines: np.ndarray) -> Iterator[tuple]:
    import gpu
    from gpu_extras.batch import batch_for_shader

    shader, colour = gpu.shader.from_builtin("UNIFORM_COLOR"), attachment_display.colour(number)
    for kind, corners, alpha in (("TRIS", faces, FACE_ALPHA), ("LINES", lines, CROSS_ALPHA)):
        if len(corners):
            values = {"pos": np.ascontiguousarray(corners, np.float32)}
            yield shader, batch_for_shader(shader, kind, values), (*colour, alpha)


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
