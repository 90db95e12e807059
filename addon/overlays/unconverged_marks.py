# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks in timelines: red at frames that did not converge, orange where colliders were let into bodies.

The file does not store them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

import bpy
import numpy as np

from ..baking import frame_report_reader
from ..cache import cache_folder_status, cache_paths
from ..cache.bake_passes import played_folders
from .draw_handler import DrawHandler
from .gpu_batches import alpha_blending, draw_batch, make_batch

UNCONVERGED_COLOUR = (0.95, 0.20, 0.15, 0.95)
LET_IN_COLOUR = (1.0, 0.55, 0.0, 0.95)
MARK_HEIGHT, MIN_MARK_WIDTH = 5.0, 3.0  # [pixels at 100 %]
BOTTOM_MARGIN = 3.0  # above the scroll bar of the region


def consecutive_runs(frames: Iterable[int]) -> list[tuple[int, int]]:
    """Returns the runs of consecutive frames, first and last of each, in rising order."""
    found: list[tuple[int, int]] = []
    for frame in sorted(frames):
        if found and frame == found[-1][1] + 1:
            found[-1] = (found[-1][0], frame)
        else:
            found.append((frame, frame))
    return found


def unconverged_runs(scene: bpy.types.Scene) -> list[tuple[int, int]]:
    """Returns the runs of frames of the present bake that did not converge."""
    return _runs(scene, frame_report_reader.unconverged_frames)


def let_in_runs(scene: bpy.types.Scene) -> list[tuple[int, int]]:
    """Returns the runs of frames of the present bake in which Exact contact let colliders into bodies."""
    return _runs(scene, frame_report_reader.let_in_frames)


def _runs(scene: bpy.types.Scene, frames_of: Callable[[Path], Collection[int]]) -> list[tuple[int, int]]:
    found = set[int]()
    for folder in played_folders(scene, cache_paths.cache_folder(scene)):
        seen = cache_folder_status.read_status(folder)
        if seen.metadata is not None and seen.last_frame is not None:
            shown = range(seen.metadata.frame_start, seen.last_frame + 1)
            found |= {frame for frame in frames_of(folder) if frame in shown}
    return consecutive_runs(found)


def mark_triangles(places: Collection[tuple[float, float]], scale: float, width: float) -> np.ndarray:
    """Returns the corners of triangles for marks in a region [pixels], (6 k, 2).

    Args:
        places: Start and end of each mark [pixels].
        scale: Of the interface.
        width: Of the region [pixels]; marks outside are left out.
    """
    corners = []
    for begin, end in places:
        missing = max(MIN_MARK_WIDTH * scale - (end - begin), 0.0) / 2.0
        left, right = max(begin - missing, 0.0), min(end + missing, width)
        if left < right:
            low, high = BOTTOM_MARGIN * scale, (BOTTOM_MARGIN + MARK_HEIGHT) * scale
            corners += [(left, low), (right, low), (right, high), (left, low), (right, high), (left, high)]
    return np.array(corners, np.float32).reshape(-1, 2)


def draw() -> None:
    """Draws the marks. Blender calls it for every timeline, dope sheet and action editor."""
    scene = bpy.context.scene
    _draw_marks(let_in_runs(scene), LET_IN_COLOUR)
    _draw_marks(unconverged_runs(scene), UNCONVERGED_COLOUR)


def _draw_marks(runs: Collection[tuple[int, int]], colour: tuple[float, float, float, float]) -> None:
    if not runs:
        return
    context = bpy.context
    view = context.region.view2d
    # a mark spans half a frame before and after its frame
    places = [(view.view_to_region(a - 0.5, 0.0, clip=False)[0], view.view_to_region(b + 0.5, 0.0, clip=False)[0])
              for a, b in runs]  # fmt: skip
    corners = mark_triangles(places, context.preferences.system.ui_scale, context.region.width)
    if not len(corners):
        return
    with alpha_blending():
        draw_batch(*make_batch("TRIS", corners), colour)


_draw_handler = DrawHandler(draw, space="SpaceDopeSheetEditor", when="POST_PIXEL")
register, unregister = _draw_handler.register, _draw_handler.unregister
