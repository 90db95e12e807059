# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision surfaces of bodies and colliders: vertices, which are the contact points, triangles and sharp edges."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.jit import kernel
from ..colliders.deforming_collider import interpolate_corners
from .sharp_edges import SharpEdges
from .surface_pieces import SurfacePieces, find_surface_pieces
from .surface_trees import SurfaceTrees, VertexRings, make_trees

Int64s = npt.NDArray[np.int64]
Int8s = npt.NDArray[np.int8]

KEPT_WITH_TARGETS = (
    "trees", "pieces", "surface_of", "surface_of_triangle", "edges_may_touch", "source_rows", "levers",
)  # fmt: skip
MAX_CONTACTS_PER_SURFACE = 3  # places at which a point may touch one surface at the same time


class SurfaceArrays(NamedTuple):
    """The arrays of `CollisionSurfaces`, which has their meaning, that most kernels take."""

    rest: Floats
    triangles: Indices
    size: Floats
    is_one_sided: Bools
    thickness: Floats
    surface_of: Indices
    surface_of_triangle: Indices


class SurfaceTopology(NamedTuple):
    """The arrays of `CollisionSurfaces` that walks over surfaces take besides, with the triangles at each vertex."""

    nodes: Indices
    triangle_start: Int64s
    rings: VertexRings


class SurfaceBinding(NamedTuple):
    """The tets of all vertices and barycentric weights in them; see `CollisionSurfaces`."""

    tet: Indices
    weights: Floats


@dataclass(frozen=True, eq=False)
class CollisionSurfaces:
    """All surfaces, s of them, one after the other: v vertices and t triangles. Bodies come first, in their order.

    Vertices are hard-bound to tets (S07, 6.2); those of colliders follow a track. Triangles of bodies have no edge
    longer than `contact_spacing`. Vertices may be in no triangle. The surface of a rigid collider consists of points
    along its sharp edges and corners alone, without triangles.

    Attributes:
        names: Keys of bodies and colliders, (s,).
        vertex_start, triangle_start: First vertex and triangle of each surface, (s + 1,) each.
        body: Number of the body, −1 of a collider, (s,).
        collider: Number of the collider in the scene, −1 of a body, (s,).
        rest: Vertices at rest, of deforming colliders at the start, of others in their own space [m], (v, 3).
        tet, weights: Tets of vertices, −1 for colliders, and barycentric weights in them, (v,) and (v, 4).
        nodes: Present nodes of these tets, −1 for colliders, (v, 4).
        source_vertices, source_weights: Of colliders: the vertices of the collider between which each vertex lies, −1
            for bodies, and its barycentric weights there, (v, 3) each.
        triangles: Vertices of all surfaces, outward where the surface is closed, (t, 3).
        area: Area of every vertex [m²], (v,).
        size: Edge length of the tets at each vertex, for colliders of the smallest tets of all [m], (v,).
        is_one_sided: Whether the surface collides only with what comes from the front of its triangles, (s,).
        thickness: Of the surface [m], (s,).
        may_touch: Whether points of one surface collide with triangles of another, (s, s); the diagonal is
            self-contact.
        vertex_key, triangle_key: Numbers that stay when bodies break, rising within a surface, (v,) and (t,).
        edges: Sharp edges of colliders and of bodies that have not broken, all those of sheets; None: there are none.
    """

    names: tuple[str, ...]
    vertex_start: Int64s
    triangle_start: Int64s
    body: Indices
    collider: Indices
    rest: Floats
    tet: Indices
    weights: Floats
    nodes: Indices
    source_vertices: Indices
    source_weights: Floats
    triangles: Indices
    area: Floats
    size: Floats
    is_one_sided: Bools
    thickness: Floats
    may_touch: Bools
    vertex_key: Int64s
    triangle_key: Int64s
    edges: SharpEdges | None = None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def vertex_count(self) -> int:
        """Number of vertices v."""
        return len(self.tet)

    @functools.cached_property
    def edges_may_touch(self) -> Bools:
        """Whether edges of one surface come first and collide with those of another, (s, s); colliders come first.

        Edges of a sheet also collide with each other.
        """
        rank = np.where(self.body < 0, -1, np.arange(len(self), dtype=np.int64))
        is_first = (rank[:, None] < rank[None, :]) | np.diag((self.body >= 0) & ~self.is_one_sided)
        return (self.may_touch | self.may_touch.T) & is_first

    @property
    def point_id_count(self) -> int:
        """Number of ids of contacts of points; ids of edges follow."""
        return MAX_CONTACTS_PER_SURFACE * len(self.names) * len(self.tet)

    @functools.cached_property
    def surface_of(self) -> Indices:
        """The surface of every vertex, (v,)."""
        return np.repeat(np.arange(len(self.names), dtype=np.int32), np.diff(self.vertex_start))

    @functools.cached_property
    def surface_of_triangle(self) -> Indices:
        """The surface of every triangle, (t,)."""
        return np.repeat(np.arange(len(self.names), dtype=np.int32), np.diff(self.triangle_start))

    @functools.cached_property
    def levers(self) -> Floats:
        """The largest Σ |weights| of a vertex of each surface, (s,); 1 for colliders."""
        lever = np.ones(len(self))
        np.maximum.at(lever, self.surface_of, np.abs(self.weights).sum(axis=1))
        return lever

    @functools.cached_property
    def largest_size(self) -> Floats:
        """The largest `size` of a vertex of each surface [m], (s,); 0 of those without vertices."""
        size = np.zeros(len(self))
        np.maximum.at(size, self.surface_of, self.size)
        return size

    @functools.cached_property
    def arrays(self) -> SurfaceArrays:
        """The surfaces as kernels take them."""
        return SurfaceArrays(*(getattr(self, name) for name in SurfaceArrays._fields))

    @functools.cached_property
    def topology(self) -> SurfaceTopology:
        """What walks over surfaces take besides."""
        return SurfaceTopology(self.nodes, self.triangle_start, self.trees.rings)

    @functools.cached_property
    def trees(self) -> SurfaceTrees:
        """Trees of the triangles, by their positions at rest."""
        return make_trees(self.rest, self.triangles, self.pieces.of_triangle, len(self.pieces.surface))

    @functools.cached_property
    def pieces(self) -> SurfacePieces:
        """The connected pieces of all surfaces."""
        return find_surface_pieces(self.surface_of, self.triangles)

    @functools.cached_property
    def source_rows(self) -> Indices:
        """`source_vertices` as vertices of the surfaces, −1 where a surface has no triangles, (v, 3)."""
        rows = np.full((self.vertex_count, 3), -1, np.int32)
        for surface in np.flatnonzero(self.body < 0).tolist():
            own, triangles = self.vertices_of(surface), self.triangles[self.triangles_of(surface)]
            if len(triangles):  # the collider's vertices come first, rising
                first = self.source_vertices[own.start : int(triangles.max()) + 1, 0]
                rows[own] = own.start + np.searchsorted(first, self.source_vertices[own])
        return rows

    def with_targets(self, tet: Indices, weights: Floats, nodes: Indices, rest: Floats) -> CollisionSurfaces:
        """Returns the same surfaces with vertices that have moved in the material, and keeps what that leaves alone.

        Args:
            tet, weights, nodes, rest: See the class.
        """
        moved = replace(self, tet=tet, weights=weights, nodes=nodes, rest=rest)
        for name in KEPT_WITH_TARGETS:
            moved.__dict__[name] = getattr(self, name)
        return moved

    def vertices_of(self, surface: int) -> slice:
        """Returns the vertices of a surface."""
        return slice(int(self.vertex_start[surface]), int(self.vertex_start[surface + 1]))

    def triangles_of(self, surface: int) -> slice:
        """Returns the triangles of a surface."""
        return slice(int(self.triangle_start[surface]), int(self.triangle_start[surface + 1]))


@dataclass(frozen=True, eq=False)
class PointTriangleContacts:
    """Points that penetrate triangles during a step, k of them, by rising id.

    The contact is linear in the motions of the point p and of the place q on the triangle. It keeps
    gap + n · ((p⁺ − p) − (q⁺ − q)) ≥ 0.

    Attributes:
        id: (slot · s + surface) · v + point with s surfaces and v vertices, (k,). A point may touch a surface at
            `MAX_CONTACTS_PER_SURFACE` places, mostly at one, of slot 0: then the id is surface · v + point.
        point, surface: The point, and the surface of the triangle, (k,) each.
        triangle, place: The triangle, and the barycentric weights of q in it, (k,) and (k, 3).
        normal: Unit normal n towards the side of the point, at the end of the step, (k, 3).
        gap: n · (p − q) minus both thicknesses, at the start [m], (k,).
        side: 1 in front of the triangle, −1 behind it, (k,) int8.
    """

    id: Int64s
    point: Indices
    surface: Indices
    triangle: Indices
    place: Floats
    normal: Floats
    gap: Floats
    side: Int8s

    def __len__(self) -> int:
        return len(self.id)


def vertex_positions(surfaces: CollisionSurfaces, model: Model, x: Floats) -> Floats:
    """Returns the positions of vertices [m], (v, 3), for nodes at x, (n, 3); those of colliders are at rest.

    `fill_collider_vertices` writes those.
    """
    out = surfaces.rest.copy()
    interpolate_vertices(x, surfaces.nodes, surfaces.weights, out)
    return out


def fill_collider_vertices(surfaces: CollisionSurfaces, surface: int, vertices: Floats, out: Floats) -> None:
    """Writes the rows of a collider's surface into `out` [m], (v, 3), for vertices of the collider at [m], (n, 3)."""
    own = surfaces.vertices_of(surface)
    out[own] = interpolate_corners(vertices, surfaces.source_vertices[own], surfaces.source_weights[own])


@kernel()
def interpolate_vertices(x, nodes, weights, out):
    """Writes Σⱼ weightsⱼ x[nodesⱼ], (v, 3); vertices without nodes keep their positions."""
    for i in range(len(nodes)):
        a, b, c, d = nodes[i]
        if a < 0:
            continue
        for axis in range(3):
            out[i, axis] = (
                weights[i, 0] * x[a, axis]
                + weights[i, 1] * x[b, axis]
                + weights[i, 2] * x[c, axis]
                + weights[i, 3] * x[d, axis]
            )
