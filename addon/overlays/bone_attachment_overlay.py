# SPDX-License-Identifier: GPL-3.0-or-later
"""The attachment overlay: the flesh that each bone holds, in the bone's colour, drawn in front of everything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import bpy
import numpy as np

from ...solver.bake.cache import CacheReader
from ...solver.runtime.errors import StorageFailed
from ..blender_data.object_keys import body_key
from ..cache import cache_folder_status
from ..cache.bake_passes import body_folder
from ..evaluation.sample_times import rest_frame
from ..objects import flesh_supports, roles
from ..runtime.distinct_colors import distinct_colour
from . import bone_attachment_geometry, bone_attachment_preview, tet_geometry
from .draw_handler import DrawHandler
from .gpu_batches import alpha_blending, draw_batch, make_batch

FACE_ALPHA, CROSS_ALPHA = 0.30, 0.95

# name and number of a bone, corners of faces, and ends of lines
BonePart = tuple[str, int, np.ndarray, np.ndarray]


def shown_bones(scene: bpy.types.Scene, obj: bpy.types.Object) -> set[str] | None:
    """Returns the names of the bones whose attachment to `obj` is shown; None: of all bones."""
    if obj.sinew.show_attachment:
        return None
    return {
        bone.name for bone in flesh_supports.bones_of(scene, obj) if bone.sinew.show_attachment and bone.visible_get()
    }


def draw() -> None:
    """Draws the attachments of all visible flesh. Blender calls it for every viewport."""
    context = bpy.context
    scene, space = context.scene, context.space_data
    if space is None or not space.overlay.show_overlays:
        return
    shown = [(obj, shown_bones(scene, obj)) for obj in roles.bodies(scene) if roles.is_flesh(obj) and obj.visible_get()]
    shown = [(obj, bones) for obj, bones in shown if bones is None or bones]
    if not shown:
        return
    for obj, bones in shown:
        _draw_batches(_batches(body_folder(scene, obj), scene, obj, bones))


def _batches(folder: Path, scene: bpy.types.Scene, obj: bpy.types.Object, bones: set[str] | None) -> list:
    """Returns (shader, batch, colour), made again only after a change of frame, bake or shown bones."""
    key, unit = body_key(obj), scene.unit_settings.scale_length
    seen, chosen = cache_folder_status.read_status(folder), None if bones is None else frozenset(bones)
    make: Callable[[], Iterator[BonePart]]
    frame = seen.frame_shown_at(scene.frame_current)
    if frame is not None:
        depends: tuple = (_stamp(folder), frame, unit, chosen)
        make = partial(_baked_parts, folder, key, frame, unit)
    elif scene.frame_current == rest_frame(scene) and obj.mode != "EDIT":
        # an evaluation here would invalidate what Blender is about to draw
        depsgraph = bpy.context.view_layer.depsgraph
        if depsgraph is None:
            return []
        depends = ("preview", bone_attachment_preview.preview_stamp(scene, obj, depsgraph), chosen)
        make = partial(_preview_parts, scene, obj, depsgraph)
    else:
        return []
    return _draw_handler.cached(
        (folder, key),
        depends,
        lambda: [batch for part in make() if bones is None or part[0] in bones for batch in _make_batches(*part)],
    )


def _stamp(folder: Path) -> int:
    try:
        return (folder / "cache.json").stat().st_mtime_ns
    except OSError:
        return 0


def _baked_parts(folder: Path, key: str, frame: int, unit: float) -> Iterator[BonePart]:
    """Yields per bone its name and number, corners of faces, and lines [Blender units], from a cache."""
    try:
        display = bone_attachment_geometry.load_attachment(
            CacheReader(folder), key, tet_geometry.topology_at(folder, frame)
        )
    except StorageFailed:
        return
    points = None if display is None else tet_geometry.node_positions(folder, frame, display.nodes)
    if display is None or points is None:
        return
    for part in display.attachments:
        lines = bone_attachment_geometry.cross_lines(points[part.nodes], display.cross)
        yield part.bone, part.number, points[part.faces].reshape(-1, 3) / unit, lines / unit


def _preview_parts(scene: bpy.types.Scene, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Iterator[BonePart]:
    """Yields the same before a bake, as an estimate."""
    found = bone_attachment_preview.preview(scene, obj, depsgraph)
    for number, (name, points) in enumerate(zip(found.names, found.points, strict=True)):
        lines = bone_attachment_geometry.cross_lines(points, bone_attachment_geometry.CROSS_HALF_SIZE * found.spacing)
        yield name, number, np.zeros((0, 3)), lines


def _make_batches(_name: str, number: int, faces: np.ndarray, lines: np.ndarray) -> Iterator[tuple]:
    colour = distinct_colour(number)
    for kind, corners, alpha in (("TRIS", faces, FACE_ALPHA), ("LINES", lines, CROSS_ALPHA)):
        if len(corners):
            yield *make_batch(kind, corners), (*colour, alpha)


def _draw_batches(batches: list) -> None:
    import gpu

    with alpha_blending():
        gpu.state.face_culling_set("BACK")
        for batch in batches:
            draw_batch(*batch)
        gpu.state.face_culling_set("NONE")


_draw_handler = DrawHandler(draw)
register, unregister = _draw_handler.register, _draw_handler.unregister
