# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the final mesh out of polygons: glues them, and ties the vertices to tets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices, indices
from ..embedding import barycentric_weights
from ..geometry.point_tet import barycentric_rows
from .duplicate_edges import split_parallel_edges
from .final_mesh import FinalMesh
from .intersection_positions import triangle_weights
from .polygons import Polygons
from .stitch import glue_corners, paired_sides
from .surface_tet_intersections import Intersections, SurfaceEdges


def assemble_render_mesh(
    polygons: Polygons,
    places: Floats,
    nodes: Floats,
    tets: Indices,
    piece_of_tet: npt.NDArray,
    triangles: Indices,
    edges: SurfaceEdges,
    crossings: Intersections,
) -> FinalMesh:
    """Returns the mesh of polygons whose sides have partners.

    Args:
        polygons: Whole faces, parts of triangles and broken faces.
        places: Position of each point [m], (p, 3).
        nodes, tets: The whole tets, (n, 3) and (m, 4).
        piece_of_tet: Number of the piece of each tet, (m,).
        triangles, edges, crossings: The render surface.

    Raises:
        NotWatertight: See `paired_sides`.
    """
    a, b = paired_sides(polygons)
    polygons, vertex, is_new, ends = split_parallel_edges(polygons, glue_corners(polygons, a, b), a, b, len(places))
    places = np.concatenate([places, places[ends].mean(axis=1)])
    count = int(vertex.max(initial=-1)) + 1
    point = np.zeros(count, np.int64)
    point[vertex] = polygons.point
    rest = places[point]
    tet = _least_flat_tets(
        nodes, tets, vertex, np.where(is_new, np.repeat(polygons.tet, polygons.size), polygons.corner_tet)
    )
    return FinalMesh(
        rest,
        tet,
        barycentric_weights(nodes, tets, rest, tet),
        indices(np.where(point < crossings.vertex_count, point, -1)),
        indices(polygons.start),
        indices(vertex),
        indices(polygons.source_face),
        indices(polygons.tet),
        indices(polygons.partner),
        indices(np.unique(piece_of_tet[polygons.tet], return_inverse=True)[1].ravel()),
        indices(polygons.corner_triangle),
        _corner_weights(polygons, is_new, triangles, edges, crossings),
    )


def _least_flat_tets(nodes: Floats, tets: Indices, vertex: npt.NDArray, corner_tet: npt.NDArray) -> Indices:
    """Returns the least flat of the tets of each vertex's corners, −1 among them for none, (k,).

    Where they are several, the vertex lies on what they share, and what they share moves the same in each.
    """
    steepness = barycentric_rows(nodes, tets)[1].max(axis=1)
    by_flatness = np.argsort(np.where(steepness > 0.0, steepness, np.inf), kind="stable")
    rank = np.empty(len(tets) + 1, np.int64)
    rank[by_flatness] = np.arange(len(tets), dtype=np.int64)
    rank[-1] = len(tets)
    best = np.full(int(vertex.max(initial=-1)) + 1, len(tets), np.int64)
    np.minimum.at(best, vertex, rank[corner_tet])
    return indices(by_flatness[best])


def _corner_weights(
    polygons: Polygons, is_new: npt.NDArray, triangles: Indices, edges: SurfaceEdges, crossings: Intersections
) -> Floats:
    """Returns where on their triangles corners lie, (c, 3); new ones between the corner before and the one after."""
    triangle = polygons.corner_triangle
    weights = triangle_weights(triangles, edges, crossings, triangle, np.where(is_new, -1, polygons.point))
    new = np.flatnonzero(is_new)
    for neighbour in (np.argsort(polygons.next_corner)[new], polygons.next_corner[new]):
        point = polygons.point[neighbour]
        weights[new] += 0.5 * triangle_weights(triangles, edges, crossings, triangle[new], point)
    return weights
