# SPDX-License-Identifier: GPL-3.0-or-later
"""Skins: surfaces in motion, of bodies and of colliders, whose vertices are the points that touch other skins."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices
from .bvh_refit import SurfaceTrees, make_trees
from .sharp_edges import SharpEdges

Int64s = npt.NDArray[np.int64]
Int8s = npt.NDArray[np.int8]

MAX_CONTACTS_PER_SURFACE = 3  # places at which a point may meet one skin at the same time


@dataclass(frozen=True, eq=False)
class CollisionSurfaces:
    """All skins, s of them, one after the other: v vertices and t triangles. Bodies come first, in their order.

    Vertices are hard-bound to tets (S07, 6.2), or told by a track where the skin is a collider's. Triangles of bodies
    have no edge longer than the tets of their body, so that the skin bends with them. Vertices may be in no triangle.
    Of a collider that does not deform the skin is the sharp edges and corners alone: points, without a triangle.

    Attributes:
        names: Keys of bodies and colliders, (s,).
        vertex_start, triangle_start: Where each skin begins, (s + 1,) each.
        body: Number of the body, −1 of a collider, (s,).
        collider: Number of the collider in the scene, −1 of a body, (s,).
        rest: Vertices at rest, of deforming colliders where they begin, of others in their own space [m], (v, 3).
        tet, weights: Binding of vertices in the model, (v,), −1 in colliders, and (v, 4).
        nodes: Nodes of these tets by now, −1 in colliders, (v, 4).
        corners, shares: Of colliders: the vertices of the collider between which each vertex lies, −1 in bodies, and
            its barycentric weights there, (v, 3) each.
        triangles: Vertices, counted over all skins, outward where the skin is closed, (t, 3).
        area: Share of the surface of every vertex [m²], (v,).
        size: Of the tets at each vertex [m], of colliders those of the smallest body, (v,).
        is_one_sided: Whether only what comes from the front of a skin's triangles meets it, (s,).
        thickness: Of the skin [m], (s,).
        meets: Whether points of one skin meet triangles of another, (s, s); the diagonal: whether it meets itself.
        vertex_key, triangle_key: What each vertex and triangle is called, whatever else breaks: rising within a skin,
            (v,) and (t,).
        edges: Those that are sharp, of bodies that are whole and of colliders; None: there are none.
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
        """Whether edges of one skin, come first and meet those of another, (s, s): colliders' come first."""
        rank = np.where(self.body < 0, -1, np.arange(len(self), dtype=np.int64))
        return (self.may_touch | self.may_touch.T) & (rank[:, None] < rank[None, :])

    @property
    def point_id_count(self) -> int:
        """How many ids there are for points in contact: those of edges begin there."""
        return MAX_CONTACTS_PER_SURFACE * len(self.names) * len(self.tet)

    @functools.cached_property
    def skin_of(self) -> Indices:
        """The skin of every vertex, (v,)."""
        return np.repeat(np.arange(len(self.names), dtype=np.int32), np.diff(self.vertex_start))

    @functools.cached_property
    def skin_of_triangle(self) -> Indices:
        """The skin of every triangle, (t,)."""
        return np.repeat(np.arange(len(self.names), dtype=np.int32), np.diff(self.triangle_start))

    @functools.cached_property
    def trees(self) -> SurfaceTrees:
        """Which triangles are near each other, made of their positions at rest."""
        return make_trees(self.rest, self.triangles, self.triangle_start)

    @functools.cached_property
    def source_rows(self) -> Indices:
        """`source_vertices` as vertices of the skins, −1 where a skin has no triangles of its own, (v, 3)."""
        rows = np.full((self.vertex_count, 3), -1, np.int32)
        for skin in np.flatnonzero(self.body < 0).tolist():
            own, triangles = self.vertices_of(skin), self.triangles[self.triangles_of(skin)]
            if len(triangles):  # the collider's vertices come first, rising
                first = self.source_vertices[own.start : int(triangles.max()) + 1, 0]
                rows[own] = own.start + np.searchsorted(first, self.source_vertices[own])
        return rows

    def vertices_of(self, skin: int) -> slice:
        """Returns which vertices are a skin's."""
        return slice(int(self.vertex_start[skin]), int(self.vertex_start[skin + 1]))

    def triangles_of(self, skin: int) -> slice:
        """Returns which triangles are a skin's."""
        return slice(int(self.triangle_start[skin]), int(self.triangle_start[skin + 1]))


@dataclass(frozen=True, eq=False)
class PointTriangleContacts:
    """Which points go into which triangles during a step, k of them, by rising id.

    The contact is linear in the motion of the point p and of the place q of the triangle: it keeps
    gap + n · ((p⁺ − p) − (q⁺ − q)) ≥ 0.

    Attributes:
        id: (slot · s + skin) · v + point with s skins and v vertices, (k,). A point can meet a skin at
            `MAX_CONTACTS_PER_SURFACE` places, mostly at one, of slot 0: then the id is skin · v + point.
        point, skin: The point, and the skin of the triangle, (k,) each.
        triangle, place: The triangle, and the barycentric weights of q in it, (k,) and (k, 3).
        normal: n, of length one, towards the side on which the point is kept, at the end of the step, (k, 3).
        gap: n · (p − q) less both thicknesses, at the start [m], (k,).
        side: 1 in front of the triangle, −1 behind it, (k,) int8.
    """

    id: Int64s
    point: Indices
    skin: Indices
    triangle: Indices
    place: Floats
    normal: Floats
    gap: Floats
    side: Int8s

    def __len__(self) -> int:
        return len(self.id)


@dataclass(frozen=True, eq=False)
class PreviousContacts:
    """Contacts that a step begins with, k of them.

    Attributes:
        id: Rising, as `Met.id` has them, (k,).
        triangle: Near which the contact was, −1 where only the skin is known: then the nearest of it, (k,).
        side: 1 in front of it, −1 behind it, (k,) int8.
        shift: Gap at which it begins to push [m], (k,).
        normal: Which way it kept its point, at the start of the step, (k, 3); None: that is not known.
    """

    id: Int64s
    triangle: Indices
    side: Int8s
    shift: Floats
    normal: Floats | None = None

    @staticmethod
    def none() -> PreviousContacts:
        """Returns no contacts."""
        return PreviousContacts(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int8), np.zeros(0))

    def __len__(self) -> int:
        return len(self.id)
