# SPDX-License-Identifier: GPL-3.0-or-later
"""How far heat sources reach, in the viewport: circles around a point, the mesh grown by the radius around a mesh."""

from __future__ import annotations

import bpy
import numpy as np

from .. import roles
from .drawn import Drawn, blended, show, uploaded

COLOUR = (1.0, 0.45, 0.1, 0.7)
CORNERS = 64
# of meshes with more edges only the box is shown
MOST_EDGES = 20_000


def reach(source: bpy.types.Object, evaluated: bpy.types.Object) -> np.ndarray:
    """Returns lines [Blender units], world, that show how far a source reaches, (k, 2, 3)."""
    radius, matrix = source.sinew.source_radius, np.array(evaluated.matrix_world)
    if source.type != "MESH":
        return circles(matrix[:3, 3], radius)
    mesh = evaluated.data
    points, edges = np.empty(3 * len(mesh.vertices), np.float32), np.empty(2 * len(mesh.edges), np.int32)
    mesh.vertices.foreach_get("co", points)
    mesh.edges.foreach_get("vertices", edges)
    points = points.reshape(-1, 3)
    if len(mesh.edges) > MOST_EDGES or not len(points):
        return box(np.array(source.bound_box) @ matrix[:3, :3].T + matrix[:3, 3], radius)
    normals = np.empty(3 * len(points), np.float32)
    mesh.vertices.foreach_get("normal", normals)
    outward = normals.reshape(-1, 3) @ np.linalg.pinv(matrix[:3, :3])
    outward /= np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), 1e-12)
    return (points @ matrix[:3, :3].T + matrix[:3, 3] + radius * outward)[edges.reshape(-1, 2)]


def circles(centre: np.ndarray, radius: float) -> np.ndarray:
    """Returns three circles about the axes as lines, (3 · CORNERS, 2, 3)."""
    angle = 2.0 * np.pi * np.arange(CORNERS, dtype=np.int64) / CORNERS
    flat = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(CORNERS)])
    rings = np.stack([np.roll(flat, axis, axis=1) for axis in range(3)])
    points = centre + radius * rings
    return np.stack([points, np.roll(points, 1, axis=1)], axis=2).reshape(-1, 2, 3)


def box(corners: np.ndarray, radius: float) -> np.ndarray:
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
    """Draws all visible heat sources; called by Blender for every viewport."""
    context = bpy.context
    space = context.space_data
    if space is None or not space.overlay.show_overlays:
        return
    shown = [o for o in roles.heat_sources(context.scene) if o.visible_get()]
    if not shown:
        return
    # evaluating here would take from Blender what it is about to draw
    depsgraph = context.view_layer.depsgraph
    if depsgraph is None:
        return
    lines = np.concatenate([reach(o, o.evaluated_get(depsgraph)) for o in shown])
    with blended("LESS_EQUAL"):
        show(*uploaded("LINES", lines.reshape(-1, 3)), COLOUR)


_drawn = Drawn(draw)
register, unregister = _drawn.register, _drawn.unregister
