# SPDX-License-Identifier: GPL-3.0-or-later
"""How a surface of triangles is curved at a place, as a tensor in space.

A quadric is fitted to the vertices around: those of faces that are at most `RINGS` faces away with no sharp edge in
between. It is fitted twice, the second time over the plane of the first one's normal, so that its slope at the place
is next to nothing. Where faces meet by more than `SHARP_ANGLE`, the edge is a real one, which no quadric rounds: a
place on it is curved across it by a radius that the caller gives, and straight along it.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse

from ...runtime.arrays import Bools, Floats, Indices
from .face_edges import Edges, edge_ends, edge_sides, face_edges
from .pseudonormals import unit_vectors
from .triangle_surface import Surface

SHARP_ANGLE = math.radians(30.0)  # as Blender's Shade Auto Smooth has it
RINGS = 2
QUADRIC_TERMS = 6
EDGE_DISTANCE = 0.01  # of the longest side of a triangle: a place that is nearer to a sharp edge is on it


@dataclass(frozen=True, eq=False)
class SurfaceCurvature:
    """A closed surface with its faces looking outwards.

    Attributes:
        surface: It.
    """

    surface: Surface

    @functools.cached_property
    def normals(self) -> Floats:
        """Of the faces, (t, 3)."""
        a, b, c = np.moveaxis(self.surface.corners, 1, 0)
        return unit_vectors(np.cross(b - a, c - a))

    @functools.cached_property
    def edges(self) -> Edges:
        """Of the faces."""
        return face_edges(self.surface.triangles)

    @functools.cached_property
    def ends(self) -> Indices:
        """The vertices of each edge, (e, 2)."""
        return edge_ends(self.surface.triangles, self.edges)

    @functools.cached_property
    def faces(self) -> npt.NDArray[np.int64]:
        """The two faces at each edge, the same one twice where there are not two, (e, 2)."""
        return np.stack(edge_sides(self.edges), axis=1) // 3

    @functools.cached_property
    def is_sharp(self) -> Bools:
        """Which edges are, (e,)."""
        cosine = np.einsum("ei,ei->e", self.normals[self.faces[:, 0]], self.normals[self.faces[:, 1]])
        return np.asarray(cosine < math.cos(SHARP_ANGLE))

    @functools.cached_property
    def smooth_neighbours(self) -> scipy.sparse.csr_array:
        """Which faces meet at an edge that is not sharp, as a matrix, (t, t)."""
        count = len(self.surface.triangles)
        one, other = self.faces[~self.is_sharp].T
        made = scipy.sparse.coo_array((np.ones(len(one), bool), (one, other)), shape=(count, count)).tocsr()
        return (made + made.T).tocsr()

    def tensor_at(self, triangle: int, place: Floats, edge_radius: float) -> tuple[Floats, Floats]:
        """Returns the curvature at a place, κ' t' t'ᵀ + κ'' t'' t''ᵀ [1/m], (3, 3), and the normal there, (3,).

        Args:
            triangle: The face that has the place.
            place: [m], (3,).
            edge_radius: Of sharp edges [m].
        """
        sharp = self._sharp_edges_at(triangle, place)
        if len(sharp):
            return self._edge_tensor(sharp, edge_radius)
        points = self.surface.vertices[np.unique(self.surface.triangles[self._patch(triangle)])]
        normal = self.normals[triangle]
        fitted = normal
        if len(points) >= QUADRIC_TERMS:
            _, fitted = _fit_quadric(points - place, normal)
        tensor, _ = _fit_quadric(points - place, fitted)
        return tensor, fitted

    def _patch(self, triangle: int) -> Indices:
        """Returns the faces around one that no sharp edge parts from it, (k,)."""
        is_near = np.zeros(len(self.surface.triangles), bool)
        is_near[triangle] = True
        vertices = self.surface.triangles
        for _ in range(RINGS):
            # a face at a vertex of the ring is reached by steps over smooth edges at that vertex
            at_ring = np.isin(vertices, vertices[is_near]).any(axis=1)
            while _grow(is_near, at_ring, self.smooth_neighbours):
                pass
        return np.flatnonzero(is_near).astype(np.int32)

    def _sharp_edges_at(self, triangle: int, place: Floats) -> npt.NDArray[np.int64]:
        """Returns the sharp edges that a place of a face is on, (k,)."""
        corners = self.surface.triangles[triangle]
        which = np.flatnonzero(self.is_sharp & np.isin(self.ends, corners).any(axis=1))
        a, b = np.moveaxis(self.surface.vertices[self.ends[which]], 1, 0)
        along = np.clip(
            np.einsum("ei,ei->e", place - a, b - a) / np.maximum(np.einsum("ei,ei->e", b - a, b - a), 1e-300), 0.0, 1.0
        )
        distance = np.linalg.norm(a + along[:, None] * (b - a) - place, axis=1)
        points = self.surface.vertices[corners]
        longest = np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1).max()
        return which[distance < EDGE_DISTANCE * longest]

    def _edge_tensor(self, sharp: npt.NDArray[np.int64], edge_radius: float) -> tuple[Floats, Floats]:
        normal = unit_vectors(self.normals[np.unique(self.faces[sharp])].sum(axis=0)[None])[0]
        along = unit_vectors(self.surface.vertices[self.ends[sharp, 1]] - self.surface.vertices[self.ends[sharp, 0]])
        across = np.cross(normal, along)
        values, directions = np.linalg.eigh(np.einsum("ei,ej->ij", across, across))
        # across one edge, or in all directions of the plane where edges meet
        curved = np.where(values > 0.1, 1.0 / edge_radius, 0.0)
        return (directions * curved) @ directions.T, normal


def _grow(is_near: Bools, may_grow: Bools, neighbours: scipy.sparse.csr_array) -> bool:
    """Adds faces that are beside marked ones and may be added, (t,) each; returns whether there were any."""
    new = (neighbours @ is_near.astype(np.int32) > 0) & may_grow & ~is_near
    is_near |= new
    return bool(new.any())


def _fit_quadric(points: Floats, normal: Floats) -> tuple[Floats, Floats]:
    """Returns the curvature, (3, 3), and the normal, (3,), of a quadric at 0 through points, (k, 3), over a plane."""
    axis = np.eye(3)[np.argmin(np.abs(normal))]
    first = unit_vectors(np.cross(normal, axis)[None])[0]
    frame = np.stack([first, np.cross(normal, first)])
    x, y = frame @ points.T
    size = max(float(np.abs([x, y]).max()), 1e-300)
    x, y = x / size, y / size
    terms = np.stack([0.5 * x * x, x * y, 0.5 * y * y, x, y, np.ones_like(x)], axis=1)
    xx, xy, yy, dx, dy, _ = np.linalg.lstsq(terms, points @ normal / size, rcond=1e-10)[0]
    slope = np.array([dx, dy])
    hessian = np.array([[xx, xy], [xy, yy]]) / size / math.sqrt(1.0 + slope @ slope)
    return -frame.T @ hessian @ frame, unit_vectors((normal - slope @ frame)[None])[0]
