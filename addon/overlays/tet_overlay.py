# SPDX-License-Identifier: GPL-3.0-or-later
"""The tet overlay: outer edges as lines, and in colour the rigid core and tets that join surfaces."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np

from ...solver.bake.cache import CacheReader
from ...solver.runtime.errors import StorageFailed
from ..blender_data import object_hiding
from ..blender_data.object_keys import body_key
from ..cache import cache_folder_status
from ..cache.bake_passes import body_folder
from ..fracture_meshes.result_objects import results_of
from ..objects import roles
from ..runtime.memo import Memo
from . import tet_geometry
from .draw_handler import DrawHandler
from .gpu_batches import alpha_blending, draw_batch, make_batch

FACE_COLOUR = (0.25, 0.55, 0.85, 0.18)
EDGE_COLOUR = (0.10, 0.30, 0.55, 0.85)
SOLID_COLOUR = (0.65, 0.68, 0.72)
JOINED_COLOUR = (1.00, 0.35, 0.05, 0.80)
# most of them are hidden, between lips or in an armpit, so they shine through
HIDDEN_JOINED_COLOUR = (1.00, 0.35, 0.05, 0.10)

# a rigid core lies inside, so it shines through
CORE_COLOUR = (0.95, 0.75, 0.20, 0.25)

# depth tests: only what is visible, and everything
DEPTH_TEST_VISIBLE, DEPTH_TEST_ALWAYS = "LESS_EQUAL", "ALWAYS"

# depth offset, -1 to 1, of tets, whose outer faces coincide with the mesh
DEPTH_BIAS = 2.0e-4

MAX_BODIES = 1000  # whose geometry is remembered
# by folder and key; the same for all frames of a topology
_geometries: Memo[tet_geometry.TetGeometry | None] = Memo(MAX_BODIES)


def draw() -> None:
    """Draws the tets of all visible bodies with the switch on. Blender calls it for every viewport."""
    scene = bpy.context.scene
    shown = [o for o in roles.bodies(scene) if (o.sinew.show_tets and o.visible_get()) or replaces_mesh(o, scene)]
    if not shown:
        return
    for obj in shown:
        _draw_batches(_batches(body_folder(scene, obj), scene, obj))


def replaces_mesh(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether tets replace the mesh of a body: it has cracked, and its broken mesh does not exist yet."""
    if not obj.sinew.is_replaced or obj.sinew.was_hidden_viewport or obj.name not in scene.objects:
        return False
    hidden_from = object_hiding.hidden_from(obj)
    return hidden_from is not None and scene.frame_current >= hidden_from and not results_of(obj)


def _batches(folder: Path, scene: bpy.types.Scene, obj: bpy.types.Object) -> list:
    """Returns (shader, batch, colour, depth test), made again only after a change of frame or bake."""
    key = body_key(obj)
    try:
        stamp = (folder / "cache.json").stat().st_mtime_ns
    except OSError:
        return []
    frame = cache_folder_status.read_status(folder).frame_shown_at(scene.frame_current)
    if frame is None:
        return []
    depends = (stamp, frame, obj.sinew.show_joined, scene.unit_settings.scale_length, replaces_mesh(obj, scene))
    return _draw_handler.cached((folder, key), depends, lambda: _make_batches(folder, scene, key, depends))


def _load_display(folder: Path, key: str, stamp: int, frame: int) -> tet_geometry.TetGeometry | None:
    try:
        topology = tet_geometry.topology_at(folder, frame)
    except StorageFailed:
        return None

    def load() -> tet_geometry.TetGeometry | None:
        return tet_geometry.load_geometry(CacheReader(folder), key, topology)

    found = _geometries.result((folder, key), (stamp, topology), load)
    if found is None:
        _geometries.discard((folder, key))  # the tets come later, and the stamp stays
    return found


def _make_batches(folder: Path, scene: bpy.types.Scene, key: str, depends: tuple) -> list:
    stamp, frame, show_joined, _, is_solid = depends
    display = _load_display(folder, key, stamp, frame)
    points = display and tet_geometry.node_positions(folder, frame, display.nodes)
    if display is None or points is None:
        return []
    points = np.ascontiguousarray(points / scene.unit_settings.scale_length, np.float32)
    parts = [
        ("TRIS", display.faces, FACE_COLOUR, DEPTH_TEST_VISIBLE),
        ("LINES", display.edges, EDGE_COLOUR, DEPTH_TEST_VISIBLE),
    ]
    parts.append(("TRIS", display.core, CORE_COLOUR, DEPTH_TEST_ALWAYS))
    if show_joined:
        # this order, since the part without a depth test writes depth too
        parts.append(("TRIS", display.joined, JOINED_COLOUR, DEPTH_TEST_VISIBLE))
        parts.append(("TRIS", display.joined, HIDDEN_JOINED_COLOUR, DEPTH_TEST_ALWAYS))
    solid = [_shaded_batch(points, display.faces)] if is_solid and len(display.faces) else []
    return solid + [(*make_batch(kind, points, indices=which), *style) for kind, which, *style in parts if len(which)]


def _shaded_batch(points: np.ndarray, faces: np.ndarray) -> tuple:
    """Returns the outer faces as a shaded solid: shader, batch, no colour, depth test."""
    corners, colours = tet_geometry.shaded_faces(points, faces, SOLID_COLOUR)
    return *make_batch("TRIS", corners, "SMOOTH_COLOR", color=colours), None, DEPTH_TEST_VISIBLE


def _draw_batches(batches: list) -> None:
    import gpu

    with alpha_blending(), gpu.matrix.push_pop_projection():
        projection = gpu.matrix.get_projection_matrix()
        projection[2] -= DEPTH_BIAS * projection[3]
        gpu.matrix.load_projection_matrix(projection)
        for *batch, depth_test in batches:
            gpu.state.depth_test_set(depth_test)
            draw_batch(*batch)


_draw_handler = DrawHandler(draw)
register, unregister = _draw_handler.register, _draw_handler.unregister
