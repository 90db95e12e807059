# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the registered points lie: on the true surface, or at true nodes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices
from .surface_tet_intersections import Intersections, SurfaceEdges
from .tet_edge_intervals import EdgeIntervals


def point_positions(
    nodes: Floats,
    vertices: Floats,
    triangles: Indices,
    edges: SurfaceEdges,
    crossings: Intersections,
    intervals: EdgeIntervals,
) -> Floats:
    """Returns the positions of all points [m], (p, 3)."""
    at = crossings.surface_edge_parameter[:, None]
    lower, upper = np.moveaxis(vertices[edges.ends[crossings.surface_edge]], 1, 0)
    corners = vertices[triangles[crossings.tet_edge_triangle]]
    return np.concatenate(
        [
            vertices,
            (1.0 - at) * lower + at * upper,
            np.einsum("bk,bki->bi", crossings.tet_edge_weights, corners),
            nodes[intervals.node],
        ]
    )


def triangle_weights(
    triangles: Indices, edges: SurfaceEdges, crossings: Intersections, triangle: npt.NDArray, point: npt.NDArray
) -> Floats:
    """Returns the barycentric weights of points on triangles, zero where the triangle is −1, (c, 3)."""
    out = np.zeros((len(point), 3))
    is_on = triangle >= 0
    corner = triangles[triangle]
    is_vertex = is_on & (point < crossings.vertex_count)
    out[is_vertex] = corner[is_vertex] == point[is_vertex, None]
    is_through = is_on & (point >= crossings.vertex_count) & (point < crossings.first_tet_edge_point)
    number = point[is_through] - crossings.vertex_count
    ends, at = edges.ends[crossings.surface_edge[number]], crossings.surface_edge_parameter[number, None]
    out[is_through] = (corner[is_through] == ends[:, :1]) * (1.0 - at) + (corner[is_through] == ends[:, 1:]) * at
    is_pierced = is_on & (point >= crossings.first_tet_edge_point)
    out[is_pierced] = crossings.tet_edge_weights[point[is_pierced] - crossings.first_tet_edge_point]
    return out
