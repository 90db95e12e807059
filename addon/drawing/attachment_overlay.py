# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones hold of flesh in the viewport, a colour for each bone, through everything that is in front of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import bpy
import numpy as np

from ...solver.cache import CacheReader
from ...solver.errors import StorageFailed
from .. import holding, roles
from ..baking import cache_look, cache_place, present_bake
from ..reading.moments import rest_frame
from . import attachment_display, attachment_preview, tet_display
from .drawn import Drawn, blended, show, uploaded

FACE_ALPHA, CROSS_ALPHA = 0.30, 0.95

# name and number of a bone, corners of faces, and ends of lines
Part = tuple[str, int, np.ndarray, np.ndarray]


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
    frame = seen.frame_shown_at(scene.frame_current)
    if frame is not None:
        depends: tuple = (_stamp(folder), frame, unit, chosen)
        make = partial(_of_bake, folder, key, frame, unit)
    elif scene.frame_current == rest_frame(scene) and obj.mode != "EDIT":
        # evaluating here would take from Blender what it is about to draw
        depsgraph = bpy.context.view_layer.depsgraph
        if depsgraph is None:
            return []
        depends = ("preview", attachment_preview.depends(scene, obj, depsgraph), chosen)
        make = partial(_of_preview, scene, obj, depsgraph)
    else:
        return []
    return _drawn.kept(
        (folder, key),
        depends,
        lambda: [batch for part in make() if bones is None or part[0] in bones for batch in _made(*part)],
    )


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
    colour = attachment_display.colour(number)
    for kind, corners, alpha in (("TRIS", faces, FACE_ALPHA), ("LINES", lines, CROSS_ALPHA)):
        if len(corners):
            yield *uploaded(kind, corners), (*colour, alpha)


def _draw_batches(batches: list) -> None:
    import gpu

    with blended():
        gpu.state.face_culling_set("BACK")
        for batch in batches:
            show(*batch)
        gpu.state.face_culling_set("NONE")


_drawn = Drawn(draw)
register, unregister = _drawn.register, _drawn.unregister
