# SPDX-License-Identifier: GPL-3.0-or-later
"""A triangle surface as it comes in: nothing about it is trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.errors import BadInput
from .coordinate_range import check_extent


@dataclass(frozen=True)
class Surface:
    """Triangles that may be open, doubled, flat, inside-out or cross each other.

    Attributes:
        vertices: Positions [m], (n, 3).
        triangles: Vertex indices, (t, 3).
        hollow_vertices: How many of the last vertices are of closed faces around a hollow, also where these are not
            all inside of the others.
    """

    vertices: Floats
    triangles: Indices
    hollow_vertices: int = 0

    @property
    def corners(self) -> Floats:
        """Corner positions of the triangles [m], (t, 3, 3)."""
        return self.vertices[self.triangles]

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Least and greatest coordinates of the vertices that faces use [m], each (3,)."""
        used = self.vertices[np.unique(self.triangles)]
        return used.min(axis=0), used.max(axis=0)

    @property
    def area(self) -> float:
        """Sum of the triangles' areas [m²]."""
        a, b, c = np.moveaxis(self.corners, 1, 0)
        return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())

    @property
    def signed_volume(self) -> float:
        """Sum of the signed volumes between the triangles and the mean of their corners [m³]; overlaps count twice."""
        return signed_volume(self.vertices, self.triangles, self.corners.mean(axis=(0, 1)))


def signed_volume(vertices: Floats, triangles: Indices, origin: Floats | None = None) -> float:
    """Returns Σ a · (b × c) / 6 over the triangles [m³], negative for a mesh that is inside-out.

    Args:
        vertices: Positions [m], (n, 3).
        triangles: Vertex indices, (t, 3).
        origin: From which a, b and c lead to the corners [m], (3,), which matters for open meshes only; None: the mean
            of the vertices.
    """
    corners = (vertices - (vertices.mean(axis=0) if origin is None else origin))[triangles]
    return float(np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0)


def volume_gradient(vertices: Floats, triangles: Indices) -> Floats:
    """Returns ∂V/∂x of every vertex of a closed surface [m²], (v, 3): its sum and its moment are zero.

    A triangle of the corners a, b, c has ∂V/∂a = b × c / 6.
    """
    corners = vertices[triangles] - vertices[triangles[0, 0]]
    gradient = np.zeros_like(vertices)
    for corner in range(3):
        across = np.cross(corners[:, corner - 2], corners[:, corner - 1]) / 6.0
        np.add.at(gradient, triangles[:, corner], across)
    return gradient


def make_surface(vertices: npt.ArrayLike, triangles: npt.ArrayLike, name: str, hollow_vertices: int = 0) -> Surface:
    """Returns a `Surface` of contiguous arrays whose faces exist and whose numbers are numbers.

    Args:
        vertices: Positions [m], (n, 3).
        triangles: Vertex indices, (t, 3).
        name: What the object is called, for the sentence of a failure.
        hollow_vertices: See `Surface`.

    Raises:
        BadInput: "mesh-empty", "mesh-index", "mesh-not-finite", "mesh-too-large" or "mesh-too-small".
    """
    positions, wide = floats(vertices, -1, 3), np.asarray(triangles)
    if len(wide) == 0:
        raise BadInput("mesh-empty", name=name)
    used = np.unique(wide)
    if used[0] < 0 or used[-1] >= len(positions):
        raise BadInput("mesh-index", name=name, index=int(used[0] if used[0] < 0 else used[-1]), count=len(positions))
    check_extent(positions[used], name)
    return Surface(positions, indices(wide, -1, 3), hollow_vertices)
