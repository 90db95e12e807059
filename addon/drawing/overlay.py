# SPDX-License-Identifier: GPL-3.0-or-later
"""The tets of a body in the viewport: the outside as a lattice of lines, tets that join surfaces in colour."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...solver.cache import CacheReader
from ...solver.errors import StorageFailed
from .. import roles
from ..baking import cache_look, cache_place, present_bake
from . import tet_display

FACE_COLOUR = (0.25, 0.55, 0.85, 0.18)
EDGE_COLOUR = (0.10, 0.30, 0.55, 0.85)
JOINED_COLOUR = (1.00, 0.35, 0.05, 0.80)
# most of them are where nobody can look, between lips or in an armpit: they shine through
HIDDEN_JOINED_COLOUR = (1.00, 0.35, 0.05, 0.10)

# depth tests: what is not behind something else, and everything
SEEN, ALL = "LESS_EQUAL", "ALWAYS"

# so much nearer in depth, -1 to 1, are tets drawn, whose outside lies where the mesh is
NEARER = 2.0e-4

_handle: Any = None
# what was drawn last of each body, so that a still frame is uploaded once: key → (signature, batches)
_drawn: dict[tuple[str, str], tuple[tuple, list]] = {}
# faces and edges, which are the same in all frames of a bake: (folder, key) → (stamp, display)
_displays: dict[tuple[str, str], tuple[int, tet_display.TetDisplay | None]] = {}


def draw() -> None:
    """Draws the tets of all visible bodies that ask for it; called by Blender for every viewport."""
    scene = bpy.context.scene
    shown = [o for o in roles.bodies(scene) if o.sinew.show_tets and o.visible_get()]
    if not shown:
        return
    folder = cache_place.cache_folder(scene)
    for obj in shown:
        _draw_batches(_batches(folder, scene, obj))


def _batches(folder: Path, scene: bpy.types.Scene, obj: bpy.types.Object) -> list:
    """Returns (batch, colour) pairs, made again only when the frame or the bake has changed."""
    key = present_bake.key_of(obj)
    try:
        stamp = (folder / "cache.json").stat().st_mtime_ns
        frame = _shown_frame(folder, scene)
    except (OSError, StorageFailed):
        return []
    signature = (stamp, frame, obj.sinew.show_joined, scene.unit_settings.scale_length)
    known = _drawn.get((str(folder), key))
    if known is None or known[0] != signature:
        known = (signature, _make_batches(folder, scene, key, signature))
        _drawn[str(folder), key] = known
    return known[1]


def _shown_frame(folder: Path, scene: bpy.types.Scene) -> int:
    seen = cache_look.look(folder)
    if seen.head is None or seen.last_frame is None:
        raise StorageFailed("cache-missing", path=str(folder))
    return min(max(scene.frame_current, seen.head.frame_start), seen.last_frame)


def _display(folder: Path, key: str, stamp: int) -> tet_display.TetDisplay | None:
    known = _displays.get((str(folder), key))
    if known is None or known[0] != stamp or known[1] is None:
        known = (stamp, tet_display.load(CacheReader(folder), key))
        _displays[str(folder), key] = known
    return known[1]


def _make_batches(folder: Path, scene: bpy.types.Scene, key: str, signature: tuple) -> list:
    import gpu
    from gpu_extras.batch import batch_for_shader

    stamp, frame, show_joined, _ = signature
    display = _display(folder, key, stamp)
    points = display and tet_display.positions(folder, frame, display.nodes)
    if display is None or points is None:
        return []
    points = np.ascontiguousarray(points / scene.unit_settings.scale_length, np.float32)
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    parts = [("TRIS", display.faces, FACE_COLOUR, SEEN), ("LINES", display.edges, EDGE_COLOUR, SEEN)]
    if show_joined:
        # in this order: what is always drawn writes its depth too
        parts.append(("TRIS", display.joined, JOINED_COLOUR, SEEN))
        parts.append(("TRIS", display.joined, HIDDEN_JOINED_COLOUR, ALL))
    return [
        (shader, batch_for_shader(shader, kind, {"pos": points}, indices=np.ascontiguousarray(which, np.int32)), *look)
        for kind, which, *look in parts
        if len(which)
    ]


def _draw_batches(batches: list) -> None:
    import gpu

    gpu.state.blend_set("ALPHA")
    with gpu.matrix.push_pop_projection():
        projection = gpu.matrix.get_projection_matrix()
        projection[2] -= NEARER * projection[3]
        gpu.matrix.load_projection_matrix(projection)
        for shader, batch, colour, depth_test in batches:
            gpu.state.depth_test_set(depth_test)
            shader.bind()
            shader.uniform_float("color", colour)
            batch.draw(shader)
    gpu.state.depth_test_set("NONE")
    gpu.state.blend_set("NONE")


def forget() -> None:
    """Drops what was kept for drawing: another file is open, or a bake was deleted."""
    _drawn.clear()
    _displays.clear()


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
