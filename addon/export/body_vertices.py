# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices of bodies over time, and targets in the world that follow them.

Most bodies keep their shape and many stand still, so each moment is compared with the one before: reading 200,000
vertices takes 0.4 ms, and checking and transforming a quarter of them 0.8 ms more.
"""

from __future__ import annotations

import bpy
import numpy as np
import numpy.typing as npt

from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import BadInput
from ...solver.scene.scene import Body
from ..evaluation.evaluated_mesh import evaluated_mesh, raw_positions
from ..evaluation.matrix_units import transform_points
from ..evaluation.sample_times import rest_frame
from . import validation
from .sampling_context import Sampling

NO_VERTICES = np.zeros((0, 3))


class BodyVertexReader:
    """Reads vertices of bodies moment by moment; keeps arrays, and nothing of Blender's data."""

    def __init__(self) -> None:
        self._stored: dict[str, npt.NDArray[np.float32]] = {}  # by the key of a body
        self._vertices: dict[str, Floats] = {}
        self._targets: dict[str, tuple[Floats, Floats, Floats]] = {}  # vertices, matrix and targets, by track

    def vertices(
        self,
        sampling: Sampling,
        scene: bpy.types.Scene,
        obj: bpy.types.Object,
        body: Body,
        hidden: Floats = NO_VERTICES,
    ) -> Floats:
        """Returns the vertices of the object of a body at a moment [Blender units], object space, (n, 3).

        Where none has moved since the last call, this is the same array. The last ones are `hidden`, which are not in
        the mesh and stay where they are in object space, (k, 3).

        Raises:
            BadInput: There are not as many as the body has, or a coordinate is not a number.
        """
        with evaluated_mesh(sampling.evaluated(obj)) as mesh:
            stored = raw_positions(mesh)
        if len(stored) != body.played_count:
            start, frame = rest_frame(scene), sampling.moment.frame
            modifier = validation.changing_modifier(scene, obj, start, frame)
            numbers = {"first": body.played_count, "now": len(stored), "start": start, "frame": frame}
            raise BadInput("vertices-change", name=obj.name, modifier=modifier, **numbers)
        if body.key not in self._stored or not np.array_equal(stored, self._stored[body.key]):
            vertices = stored.astype(np.float64)
            validation.check_points(obj.name, vertices)
            self._stored[body.key], self._vertices[body.key] = stored, np.concatenate([vertices, hidden])
        return self._vertices[body.key]

    def add_targets(
        self, sampling: Sampling, track: str, matrix: Floats, vertices: Floats, rows: Indices | slice
    ) -> None:
        """Adds rows of vertices, which `vertices` returned, to a track, transformed by `matrix` (4, 4)."""
        before = self._targets.get(track)
        if before is None or before[0] is not vertices or not np.array_equal(before[1], matrix):
            before = self._targets[track] = (vertices, matrix, transform_points(matrix, vertices[rows]))
        sampling.add(track, before[2])
