# SPDX-License-Identifier: GPL-3.0-or-later
"""The heat source overlay: circles around a point, or the mesh offset by the radius."""

from __future__ import annotations

import bpy
import numpy as np

from ..objects import roles
from .draw_handler import DrawHandler
from .gpu_batches import alpha_blending, draw_batch, make_batch

COLOUR = (1.0, 0.45, 0.1, 0.7)
CIRCLE_SEGMENTS = 64
# larger meshes show only their box
MAX_DRAWN_EDGES = 20_000


def reach_lines(source: bpy.types.Object, evaluated: bpy.types.Object) -> np.ndarray:
    """Returns lines in world space [Blender units] that show the reach of a source, (k, 2, 3)."""
    radius, matrix = source.sinew.source_radius, np.array(evaluated.matrix_world)
    if source.type != "MESH":
        return circle_lines(matrix[:3, 3], radius)
    mesh = evaluated.data
    points, edges = np.empty(3 * len(mesh.vertices), np.float32), np.empty(2 * len(mesh.edges), np.int32)
    mesh.vertices.foreach_get("co", points)
    mesh.edges.foreach_get("vertices", edges)
    points = points.reshape(-1, 3)
    if len(mesh.edges) > MAX_DRAWN_EDGES or not len(points):
        return box_lines(np.array(source.bound_box) @ matrix[:3, :3].T + matrix[:3, 3], radius)
    normals = np.empty(3 * len(points), np.float32)
    mesh.vertices.foreach_get("normal", normals)
    outward = normals.reshape(-1, 3) @ np.linalg.pinv(matrix[:3, :3])
    outward /= np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), 1e-12)
    return (points @ matrix[:3, :3].T + matrix[:3, 3] + radius * outward)[edges.reshape(-1, 2)]


def circle_lines(centre: np.ndarray, radius: float) -> np.ndarray:
    """Returns three circles about the axes as lines, (3 · CIRCLE_SEGMENTS, 2, 3)."""
    angle = 2.0 * np.pi * np.arange(CIRCLE_SEGMENTS, dtype=np.int64) / CIRCLE_SEGMENTS
    flat = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(CIRCLE_SEGMENTS)])
    rings = np.stack([np.roll(flat, axis, axis=1) for axis in range(3)])
    points = centre + radius * rings
    return np.stack([points, np.roll(points, 1, axis=1)], axis=2).reshape(-1, 2, 3)


def box_lines(corners: np.ndarray, radius: float) -> np.ndarray:
    """Returns the edges of the box around points (n, 3), grown by the radius, (12, 2, 3)."""
    low, high = corners.min(axis=0) - radius, corners.max(axis=0) + radius
    lines = []
    for axis in range(3):
        for bits in range(4):
            start = low.copy()
            others = [a for a in range(3) if a != axis]
            for bit, other in enumerate(others):
                start[other] = (low, high)[bits >> bit & 1][other]
            end = start.copy()
            end[axis] = high[axis]
            lines.append((start, end))
    return np.array(lines)


def draw() -> None:
    """Draws all visible heat sources. Blender calls it for every viewport."""
    context = bpy.context
    space = context.space_data
    if space is None or not space.overlay.show_overlays:
        return
    shown = [o for o in roles.heat_sources(context.scene) if o.visible_get()]
    if not shown:
        return
    # an evaluation here would invalidate what Blender is about to draw
    depsgraph = context.view_layer.depsgraph
    if depsgraph is None:
        return
    lines = np.concatenate([reach_lines(o, o.evaluated_get(depsgraph)) for o in shown])
    with alpha_blending("LESS_EQUAL"):
        draw_batch(*make_batch("LINES", lines.reshape(-1, 3)), COLOUR)


_draw_handler = DrawHandler(draw)
register, unregister = _draw_handler.register, _draw_handler.unregister
