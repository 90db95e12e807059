# SPDX-License-Identifier: GPL-3.0-or-later
"""The connected pieces of surfaces, each of which has a tree of boxes of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Indices


@dataclass(frozen=True, eq=False)
class SurfacePieces:
    """The pieces of all surfaces, p of them, surface by surface.

    Attributes:
        of_vertex: The piece of each vertex; those in no triangle are one piece of their surface, (v,).
        of_triangle: That of each triangle, (t,).
        surface: The surface of each, rising, (p,).
    """

    of_vertex: Indices
    of_triangle: Indices
    surface: Indices


def find_surface_pieces(surface_of: Indices, triangles: Indices) -> SurfacePieces:
    """Returns the pieces of surfaces: vertices that triangles connect.

    Args:
        surface_of: The surface of each vertex, (v,).
        triangles: Of all surfaces, (t, 3).
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    count = len(surface_of)
    one, other = triangles[:, [0, 1]].ravel(), triangles[:, [1, 2]].ravel()
    edges = coo_matrix((np.ones(len(one), bool), (one, other)), (count, count))
    label = connected_components(edges, directed=False)[1].astype(np.int64)
    is_loose = np.ones(count, bool)
    is_loose[triangles] = False
    label[is_loose] = count
    found, of_vertex = np.unique(surface_of * np.int64(count + 1) + label, return_inverse=True)
    of_vertex = of_vertex.astype(np.int32)
    return SurfacePieces(of_vertex, of_vertex[triangles[:, 0]], (found // (count + 1)).astype(np.int32))
