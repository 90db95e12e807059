# SPDX-License-Identifier: GPL-3.0-or-later
"""The fibre overlay: a line per tet of a muscle, by activation or stretch, and its ends, in front of everything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import bpy
import numpy as np

from ...solver.bake.cache import CacheReader, layout
from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import StorageFailed
from ...solver.scene.activation.unit_activations import (
    activation_track,
    head_track,
    strength_track,
    unit_activations,
)
from ...solver.scene.settings.fibre_settings import BY_STRETCH
from ...solver.scene.tracks import TrackReader
from ..baking import bake_status, fibre_preview
from ..blender_data.object_keys import body_key
from ..cache import cache_folder_status
from ..cache.bake_passes import body_folder
from ..cache.baked_tets import body_tets
from ..evaluation.sample_times import rest_frame
from ..objects import roles
from ..runtime.memo import Memo
from . import tet_geometry
from .draw_handler import DrawHandler
from .fibre_geometry import (
    INSERTION_COLOUR,
    ORIGIN_COLOUR,
    TENDON_COLOUR,
    FibreGeometry,
    activation_colours,
    fibre_geometry,
    fibre_lines,
    stretch_colours,
)
from .gpu_batches import alpha_blending, draw_batch, make_batch

END_ALPHA, TENDON_ALPHA = 0.55, 0.25
MAX_BODIES = 1000  # whose geometry is remembered
# by folder and key
_baked: Memo[tuple[FibreGeometry, tuple[int, int]] | None] = Memo(MAX_BODIES)
# by session id of the scene and key
_previewed: Memo[FibreGeometry | None] = Memo(MAX_BODIES)
# of a baked frame, by folder and key
_activations: Memo[tuple[float, ...] | None] = Memo(MAX_BODIES)


def draw() -> None:
    """Draws the fibres of all visible muscles with the switch on. Blender calls it for every viewport."""
    context = bpy.context
    scene, space = context.scene, context.space_data
    if space is None or not space.overlay.show_overlays:
        return
    for obj in roles.bodies(scene):
        if is_shown(obj) and obj.visible_get():
            _draw_batches(_batches(scene, obj))


def is_shown(obj: bpy.types.Object) -> bool:
    """Whether the fibres of a body are to be seen."""
    return bool(obj.sinew.show_fibres and obj.sinew.use_muscle and roles.is_flesh(obj))


def shown_fibres(scene: bpy.types.Scene, obj: bpy.types.Object) -> tuple[FibreGeometry, Floats, tuple] | None:
    """Returns the fibres of a muscle, its nodes at the present frame [m], and what both depend on; None: none yet.

    A bake shows its own fibres. Where it is out of date or not there, those that were built are shown at rest.
    """
    folder, key = body_folder(scene, obj), body_key(obj)
    frame = cache_folder_status.read_status(folder).frame_shown_at(scene.frame_current)
    preview = fibre_preview.preview_of(scene, obj)
    is_at_rest = preview is not None and scene.frame_current == rest_frame(scene)
    if preview is not None and is_at_rest and (frame is None or bake_status.status(scene).outdated):
        geometry = _previewed.result((scene.session_uid, key), preview.digest, lambda: fibre_geometry(preview.arrays))
        return None if geometry is None else (geometry, geometry.rest, ("preview", preview.digest))
    if frame is None:
        return None
    stamp = _stamp(layout.model_path(folder, key))
    found = _baked.result((folder, key), stamp, lambda: _read_baked(folder, key))
    x = None if found is None else tet_geometry.node_positions(folder, frame, found[1])
    return None if found is None or x is None else (found[0], x, ("bake", stamp, frame))


def _read_baked(folder: Path, key: str) -> tuple[FibreGeometry, tuple[int, int]] | None:
    """Returns the fibres of a body in a cache, and the range of its nodes in the positions of a frame."""
    try:
        reader = CacheReader(folder)
        body = body_tets(reader, key)
        geometry = None if body is None else fibre_geometry(reader.read_model(key))
        if body is None or geometry is None:
            return None
        return geometry, (body.first_node, body.first_node + body.node_count)
    except StorageFailed:
        return None


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def shown_activations(scene: bpy.types.Scene, obj: bpy.types.Object, is_baked: bool) -> tuple[float, ...]:
    """Returns the activations of the units of a muscle at the present frame: of the bake, or else the present ones."""
    folder, key = body_folder(scene, obj), body_key(obj)
    seen = cache_folder_status.read_status(folder)
    settings = obj.sinew
    present = (settings.activation, settings.muscle_strength, *(head.activation for head in settings.muscle_heads))
    found = None
    if is_baked and seen.metadata is not None:
        time = (scene.frame_current - seen.metadata.frame_start) / seen.metadata.fps
        stamp = (time, _stamp(layout.model_path(folder, key)), present)
        found = _activations.result((folder, key), stamp, lambda: _baked_values(folder, key, time, present))
    activation, strength, *heads = present if found is None else found
    return tuple(unit_activations(activation, np.array(heads, np.float64), strength).tolist())


def _baked_values(folder: Path, key: str, time: float, present: tuple[float, ...]) -> tuple[float, ...] | None:
    """Returns the activation, the strength and the activations of heads that a bake has read for a time [s].

    What has no track is as at `present`; None: the tracks cannot be read.
    """
    names = [activation_track(key), strength_track(key), *(head_track(key, k) for k in range(len(present) - 2))]
    try:
        tracks = TrackReader(folder / layout.SCENE_FOLDER, wait=0.0)
        return tuple(
            float(tracks.sample(name, time)) if tracks.has(name) else value
            for name, value in zip(names, present, strict=True)
        )
    except (StorageFailed, OSError):
        return None


def _batches(scene: bpy.types.Scene, obj: bpy.types.Object) -> list:
    """Returns (shader, batch, colour), made again only after a change of frame, bake, colours or activation."""
    found = shown_fibres(scene, obj)
    if found is None:
        return []
    geometry, x, depends = found
    unit = scene.unit_settings.scale_length
    is_by_stretch = obj.sinew.fibre_color == BY_STRETCH
    activations = None if is_by_stretch else shown_activations(scene, obj, depends[0] == "bake")
    depends = (*depends, unit, activations)

    def make() -> list:
        return list(_make_batches(geometry, x, unit, activations))

    return _draw_handler.cached((scene.session_uid, body_key(obj)), depends, make)


def _make_batches(
    geometry: FibreGeometry, x: Floats, unit: float, activations: tuple[float, ...] | None
) -> Iterator[tuple]:
    """Yields the lines, and the faces of the ends; activations None: colours by stretch."""
    lines, stretch = fibre_lines(geometry, x)
    colours = stretch_colours(geometry, stretch) if activations is None else activation_colours(geometry, activations)
    yield *make_batch("LINES", lines / unit, "SMOOTH_COLOR", color=np.repeat(colours, 2, axis=0)), None
    points = np.asarray(x) / unit
    for faces, colour, alpha in (
        (geometry.origin, ORIGIN_COLOUR, END_ALPHA),
        (geometry.insertion, INSERTION_COLOUR, END_ALPHA),
        (geometry.tendon_surface, tuple(TENDON_COLOUR), TENDON_ALPHA),
    ):
        if len(faces):  # after the lines, which would hide them
            yield *make_batch("TRIS", points, indices=faces), (*colour, alpha)


def _draw_batches(batches: list) -> None:
    with alpha_blending():
        for batch in batches:
            draw_batch(*batch)


_draw_handler = DrawHandler(draw)
register, unregister = _draw_handler.register, _draw_handler.unregister
