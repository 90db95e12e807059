# SPDX-License-Identifier: GPL-3.0-or-later
"""The muscle that is being drawn, shaded in the 3D view, with the points that it runs through."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...solver.runtime.arrays import Floats, Indices
from ..evaluation.mesh_signed_distance import MeshDistance
from ..objects import drawn_muscles, muscle_obstacles
from ..objects.drawn_muscles import MuscleDrawing
from .draw_handler import DrawHandler
from .gpu_batches import alpha_blending, draw_batch, make_batch

FLESH_COLOUR = np.array((0.75, 0.16, 0.12))
AMBIENT, ALPHA = 0.35, 0.8
POINT_COLOUR, BONE_COLOUR = (1.0, 1.0, 1.0, 1.0), (0.3, 1.0, 0.4, 1.0)
POINT_SIZE = 8.0  # [pixels]


class MusclePreview:
    """Draws in all 3D views until `end` is called."""

    def __init__(self, context: bpy.types.Context) -> None:
        self._context = context
        self._distances: dict[bpy.types.Object, MeshDistance | None] = {}
        self._surface: tuple[Floats, Indices] | None = None
        self._points = np.zeros((0, 3))
        self._ends_on_bone = False
        self._handler: DrawHandler | None = DrawHandler(self._draw)
        self._handler.register()

    def show(self, drawing: MuscleDrawing | None, points: list[Floats], ends_on_bone: bool) -> None:
        """Shows a drawing, or its points alone; the last point is green where it is on a bone."""
        self._points, self._ends_on_bone = np.array(points, np.float64).reshape(-1, 3), ends_on_bone
        self._surface = None if drawing is None else self._surface_of(drawing)

    def end(self) -> None:
        """Draws no longer."""
        if self._handler is not None:
            self._handler.unregister()
            self._handler = None

    def _surface_of(self, drawing: MuscleDrawing) -> tuple[Floats, Indices] | None:
        from ...solver.mesh.muscle_shape.muscle_surface import muscle_surface  # loads SciPy

        low, high = drawing.points.min(axis=0) - drawing.width, drawing.points.max(axis=0) + drawing.width
        obstacles = [self._distance(obj) for obj in muscle_obstacles.obstacles_around(self._context, low, high)]
        found = muscle_surface(drawn_muscles.drawn_muscle(drawing), [each for each in obstacles if each is not None])
        return None if found is None else (found.surface.vertices, found.surface.triangles)

    def _distance(self, obj: bpy.types.Object) -> MeshDistance | None:
        if obj not in self._distances:
            self._distances[obj] = muscle_obstacles.obstacle_distance(obj, Matrix(obj.matrix_world))
        return self._distances[obj]

    def _draw(self) -> None:
        if self._surface is not None:
            vertices, faces = self._surface
            view = bpy.context.region_data.view_matrix
            batch = make_batch(
                "TRIS", vertices, "SMOOTH_COLOR", color=_shaded(vertices, faces, np.array(view)[2, :3]), indices=faces
            )
            with alpha_blending("LESS_EQUAL"):
                draw_batch(*batch)
        if len(self._points):
            _draw_points(self._points, self._ends_on_bone)


def _shaded(vertices: Floats, faces: Indices, towards: Floats) -> Floats:
    """Returns colours of vertices lit from the eye, (n, 4)."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    normals = np.zeros_like(vertices)
    for i in range(3):
        np.add.at(normals, faces[:, i], np.cross(b - a, c - a))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1.0e-30)
    light = AMBIENT + (1.0 - AMBIENT) * np.abs(normals @ towards)
    return np.concatenate([light[:, None] * FLESH_COLOUR, np.full((len(vertices), 1), ALPHA, dtype=np.float64)], axis=1)


def _draw_points(points: Floats, ends_on_bone: bool) -> None:
    import gpu

    gpu.state.point_size_set(POINT_SIZE)
    batches: list[tuple[Any, ...]] = [(*make_batch("POINTS", points), POINT_COLOUR)]
    if ends_on_bone:
        batches.append((*make_batch("POINTS", points[-1:]), BONE_COLOUR))
    if len(points) > 1:
        batches.insert(0, (*make_batch("LINE_STRIP", points), POINT_COLOUR))
    with alpha_blending():
        for batch in batches:
            draw_batch(*batch)
    gpu.state.point_size_set(1.0)
