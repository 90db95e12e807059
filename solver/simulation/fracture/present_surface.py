# SPDX-License-Identifier: GPL-3.0-or-later
"""The collision surface of one body or collider after bodies have broken."""

from __future__ import annotations

from dataclasses import dataclass

from ...contact.detection.contact_sample_points import ContactPoints
from ...contact.surfaces.collision_surfaces import Int64s
from ...contact.surfaces.sharp_edges import EdgeCopies
from ...runtime.arrays import Floats, Indices


@dataclass(frozen=True, eq=False)
class PresentSurface:
    """A surface of v vertices and t triangles, which are counted from 0.

    Attributes:
        rest, tet, weights, triangles, vertex_key, triangle_key: See `CollisionSurfaces`.
        points: Its vertices.
        support_tet: See `ContactMaterials`, (t,).
        nodes: What vertices move with, (v, 4); None: with the nodes of their tets.
        edges: Copies of the edges of a sheet that has torn; None: it keeps its edges, or has none any more.
    """

    rest: Floats
    tet: Indices
    weights: Floats
    triangles: Indices
    vertex_key: Int64s
    triangle_key: Int64s
    points: ContactPoints
    support_tet: Indices
    nodes: Indices | None = None
    edges: EdgeCopies | None = None
