# SPDX-License-Identifier: GPL-3.0-or-later
"""The attachment overlay: what each bone holds, and the points of each row of attachments, in front of everything.

What a row is about has its colour, other bones have one of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import bpy
import numpy as np

from ...solver.bake.cache import CacheReader
from ...solver.runtime.errors import StorageFailed
from ..baking import frame_report_reader
from ..blender_data.object_keys import body_key
from ..cache import cache_folder_status
from ..cache.bake_passes import body_folder
from ..evaluation.sample_times import rest_frame
from ..objects import flesh_supports, roles
from ..objects.attachment_rows import row_about_armature, row_about_bone, row_about_line
from ..properties.role_definitions import BONE
from ..runtime.distinct_colors import distinct_colour
from . import attached_points, bone_attachment_geometry, bone_attachment_preview, tet_geometry
from .draw_handler import DrawHandler
from .gpu_batches import alpha_blending, draw_batch, make_batch

FACE_ALPHA, CROSS_ALPHA = 0.30, 0.95
BROKEN_COLOUR = (0.2, 0.2, 0.2)  # of the points of a row that has let go for good

# name of a bone, "" for the points of a row; colour; corners of faces, and ends of lines
ShownPart = tuple[str, attached_points.Colour, np.ndarray, np.ndarray]
NO_FACES = np.zeros((0, 3))


def shown_bones(scene: bpy.types.Scene, obj: bpy.types.Object) -> set[str] | None:
    """Returns the names of the bones whose attachment to `obj` is shown; None: of all bones."""
    wrap = obj.sinew.wrap
    if obj.sinew.show_attachment or (wrap is not None and wrap.sinew.show_attachment):
        return None
    bones = flesh_supports.bones_of(scene, obj) if roles.is_flesh(obj) else []
    return {bone.name for bone in bones if bone.sinew.show_attachment and bone.visible_get()}


def draw() -> None:
    """Draws the attachments of all visible bodies. Blender calls it for every viewport."""
    context = bpy.context
    scene, space = context.scene, context.space_data
    if space is None or not space.overlay.show_overlays:
        return
    shown = [(obj, shown_bones(scene, obj)) for obj in roles.bodies(scene) if obj.visible_get()]
    shown = [(obj, bones) for obj, bones in shown if bones is None or bones]
    if not shown:
        return
    for obj, bones in shown:
        _draw_batches(_batches(body_folder(scene, obj), scene, obj, bones))


def _batches(folder: Path, scene: bpy.types.Scene, obj: bpy.types.Object, bones: set[str] | None) -> list:
    """Returns (shader, batch, colour), made again only after a change of frame, bake or shown bones."""
    key, unit = body_key(obj), scene.unit_settings.scale_length
    seen, chosen = cache_folder_status.read_status(folder), None if bones is None else frozenset(bones)
    make: Callable[[], Iterator[ShownPart]]
    rows = attached_points.row_stamp(obj)
    frame = seen.frame_shown_at(scene.frame_current)
    if frame is not None:
        depends: tuple = (_stamp(folder), frame, unit, chosen, rows)
        make = partial(baked_parts, folder, scene, obj, frame)
    elif scene.frame_current == rest_frame(scene) and obj.mode != "EDIT":
        # an evaluation here would invalidate what Blender is about to draw
        depsgraph = bpy.context.view_layer.depsgraph
        if depsgraph is None:
            return []
        depends = ("preview", bone_attachment_preview.preview_stamp(scene, obj, depsgraph), chosen, rows)
        make = partial(preview_parts, scene, obj, depsgraph)
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


def baked_parts(folder: Path, scene: bpy.types.Scene, obj: bpy.types.Object, frame: int) -> Iterator[ShownPart]:
    """Yields per bone its name and colour, corners of faces, and lines [Blender units], from a cache; then per row."""
    unit, key, reader = scene.unit_settings.scale_length, body_key(obj), CacheReader(folder)
    try:
        topology = tet_geometry.topology_at(folder, frame)
        display = bone_attachment_geometry.load_attachment(reader, key, topology)
        model = reader.read_model(key)
    except StorageFailed:
        return
    points = None if display is None else tet_geometry.node_positions(folder, frame, display.nodes)
    if display is None or points is None:
        return
    for part in display.attachments:
        lines = bone_attachment_geometry.cross_lines(points[part.nodes], display.cross)
        colour = _bone_colour(scene, obj, part.bone, part.number)
        yield part.bone, colour, points[part.faces].reshape(-1, 3) / unit, lines / unit
    colours = attached_points.row_colours(obj)
    broken = attached_points.broken_rows(reader, frame, key)
    for number, places in attached_points.baked_points(model, points):
        lines = bone_attachment_geometry.cross_lines(places, display.cross)
        colour = colours[number] if number < len(colours) else distinct_colour(number)
        yield "", BROKEN_COLOUR if number in broken else colour, NO_FACES, lines / unit
    for number, load in frame_report_reader.attachment_loads(folder, key, frame).items():
        if number < len(colours):
            ends = load[7:] or load[1:]  # of each edge, or the middle of all springs of a row
            yield "", colours[number], NO_FACES, np.array(ends).reshape(-1, 3) / unit


def preview_parts(scene: bpy.types.Scene, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Iterator[ShownPart]:
    """Yields the same before a bake, as an estimate."""
    found = bone_attachment_preview.preview(scene, obj, depsgraph)
    size = bone_attachment_geometry.CROSS_HALF_SIZE * found.spacing
    for number, (name, points) in enumerate(zip(found.names, found.points, strict=True)):
        lines = bone_attachment_geometry.cross_lines(points, size)
        yield name, _bone_colour(scene, obj, name, number), NO_FACES, lines
    for colour, points in attached_points.points_at_rest(obj, depsgraph):
        yield "", colour, NO_FACES, bone_attachment_geometry.cross_lines(points, size)
    for colour, ends in attached_points.edges_at_rest(obj, depsgraph):
        yield "", colour, NO_FACES, ends


def _bone_colour(scene: bpy.types.Scene, obj: bpy.types.Object, name: str, number: int) -> attached_points.Colour:
    """Returns the colour of the row about a bone, or one that other bones do not have."""
    bone = scene.objects.get(name)
    is_mesh = bone is not None and roles.has_role(bone, BONE)
    row = row_about_bone(obj, bone) if is_mesh else row_about_line(obj, name) or row_about_armature(obj)
    return distinct_colour(number) if row is None else tuple(row.color)


def _make_batches(_name: str, colour: attached_points.Colour, faces: np.ndarray, lines: np.ndarray) -> Iterator[tuple]:
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
