# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface that a body is attached to: the render mesh of another body, of a collider or of a bone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...mesh.geometry.signed_distance_derivatives import MovingSurface
from ...mesh.moving_least_squares import transform_rows
from ...runtime.arrays import Floats, Indices
from ...runtime.errors import SolveFailed
from ...scene.tracks import TrackReader


@dataclass(frozen=True, eq=False)
class TargetSurface:
    """A surface that moves with tets or by animation.

    Attributes:
        name: For people.
        body: Number of the body whose surface it is; None: of a collider or a bone.
        surface: Its triangles.
        tet, weights: The binding of a body's vertices in the tets of the model, (v,) and (v, 4).
        vertices: Of a collider or bone, in the space of its matrices [m], (v, 3).
        track: Beginning of the names of its tracks, "collider.KEY" or "bone.KEY".
        rest_vertices: Of a collider or bone at rest [m], world, (v, 3).
        first_vertex: The first one that its triangles have.
        hinge: Of a sheet: the hinge in the model that has all corners of each triangle, (t,); (0,) of others.
        carries_ends: Whether it is the ends of edges, a triangle at each, which something without a surface carries.
    """

    name: str
    body: int | None
    surface: MovingSurface
    tet: Indices
    weights: Floats
    vertices: Floats
    track: str = ""
    rest_vertices: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    first_vertex: int = 0
    hinge: Indices = field(default_factory=lambda: np.zeros(0, np.int32))
    carries_ends: bool = False

    @property
    def is_sheet(self) -> bool:
        """Whether it is the surface of a sheet, whose hinges carry nothing beside themselves."""
        return len(self.hinge) > 0

    def simulated_vertices(self, x: Floats, tets: Indices) -> Floats:
        """Returns the vertices of a body [m], (v, 3), for its nodes at x [m], (n, 3)."""
        return np.einsum("va,vai->vi", self.weights, x[tets[self.tet]])

    def animated_vertices(self, tracks: TrackReader, time: float) -> Floats:
        """Returns the vertices of a collider or bone at a time [s] in metres, (v, 3).

        Raises:
            SolveFailed: The animation gives no numbers.
        """
        return animated_vertices(self.vertices, self.track, self.name, tracks, time)


def animated_vertices(vertices: Floats, track: str, name: str, tracks: TrackReader, time: float) -> Floats:
    """Returns vertices [m], (v, 3), as the tracks `track`.vertices or `track`.matrix have them at a time [s].

    Raises:
        SolveFailed: They give no numbers, or other vertices.
    """
    moved = vertices
    if tracks.has(f"{track}.vertices"):
        moved = tracks.sample(f"{track}.vertices", time)
        if moved.shape != vertices.shape:
            raise SolveFailed("attachment-target-changes", name=name, time=round(time, 3))
    elif tracks.has(f"{track}.matrix"):
        matrix = tracks.sample(f"{track}.matrix", time)
        moved = transform_rows(vertices, matrix[:3, :3]) + matrix[:3, 3]
    if not np.isfinite(moved).all():
        raise SolveFailed("attachment-target-not-finite", name=name, time=round(time, 3))
    return moved
