# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the final mesh out of polygons: glues them, and ties the vertices to tets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Floats, Indices, indices
from ..embedding import weights_in
from .crossings import Crossings, SurfaceEdges
from .cut_surface import CutSurface
from .glue import glued_corners, paired_sides
from .pinches import unpinched
from .point_places import weights_on_triangles
from .polygons import Polygons


def assemble(
    polygons: Polygons,
    places: Floats,
    nodes: Floats,
    tets: Indices,
    piece_of_tet: npt.NDArray,
    triangles: Indices,
    edges: SurfaceEdges,
    crossings: Crossings,
) -> CutSurface:
    """Returns the mesh of polygons whose sides have partners.

    Args:
        polygons: Whole faces, parts of triangles and broken faces.
        places: Position of each point [m], (p, 3).
        nodes, tets: The whole tets, (n, 3) and (m, 4).
        piece_of_tet: Number of the piece of each tet, (m,).
        triangles, edges, crossings: The render surface.

    Raises:
        NotClosed: See `paired_sides`.
    """
    a, b = paired_sides(polygons)
    polygons, vertex, is_new, ends = unpinched(polygons, glued_corners(polygons, a, b), a, b, len(places))
    places = np.concatenate([places, places[ends].mean(axis=1)])
    count = int(vertex.max(initial=-1)) + 1
    point, tet = np.zeros(count, np.int64), np.full(count, -1)
    point[vertex] = polygons.point
    # where neighbours in one piece disagree their tets share the nodes that matter
    np.maximum.at(tet, vertex, np.where(is_new, _face_tets(polygons), polygons.corner_tet))
    rest, tet = places[point], indices(tet)
    return CutSurface(
        rest,
        tet,
        weights_in(nodes, tets, rest, tet),
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


def _face_tets(polygons: Polygons) -> npt.NDArray:
    """Returns the tet of the polygon of each corner, (c,)."""
    return np.repeat(polygons.tet, polygons.size)


def _corner_weights(
    polygons: Polygons, is_new: npt.NDArray, triangles: Indices, edges: SurfaceEdges, crossings: Crossings
) -> Floats:
    """Returns where on their triangles corners lie, (c, 3); new ones between the corner before and the one after."""
    triangle = polygons.corner_triangle
    weights = weights_on_triangles(triangles, edges, crossings, triangle, np.where(is_new, -1, polygons.point))
    new = np.flatnonzero(is_new)
    for neighbour in (np.argsort(polygons.next_corner)[new], polygons.next_corner[new]):
        point = polygons.point[neighbour]
        weights[new] += 0.5 * weights_on_triangles(triangles, edges, crossings, triangle[new], point)
    return weights
