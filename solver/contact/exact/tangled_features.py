# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points and edges are inside surfaces or cross them: what cannot be kept out of these, as it is there already.

An edge is tangled with a surface if it crosses a triangle of it, or ends inside. A point is if it is inside; behind a
surface without an inside, both ends of edges that cross it are. Within one closed surface, a point is inside if the
surface winds around the place just above it.
"""

from __future__ import annotations

import numpy as np

from ...mesh.geometry.exact_orientation import EXPANSION_SIZE
from ...mesh.geometry.exact_segment_triangle import segment_meets_triangle
from ...mesh.geometry.penetration_depth import INSIDE_WINDING
from ...mesh.geometry.pseudonormals import SurfaceNormals
from ...mesh.geometry.triangle_bvh import build_bvh
from ...mesh.geometry.triangle_intersections import intersecting_triangles
from ...mesh.geometry.triangle_surface import signed_volume
from ...mesh.geometry.winding_number import winding_numbers
from ...runtime.arrays import Bools, Floats, Indices, indices
from ...runtime.jit import kernel
from .contact_mesh import CLOSED, HALF_SPACE, ContactMesh
from .excluded_features import ExcludedFeatures, edge_keys, edges_at_points, point_keys

ABOVE_SHARE = 1.0e-3  # of the edges at a point: how far above it the surface must not wind around it


def intersecting_owners(mesh: ContactMesh, y: Floats) -> Bools:
    """Returns which bodies and colliders that are kept apart have triangles that intersect, symmetric, (s, s).

    Args:
        mesh: The surfaces.
        y: Vertices [m], (n, 3).
    """
    found = np.zeros((len(mesh.may_touch),) * 2, bool)
    one, other = mesh.surface[mesh.triangles[intersecting_triangles(y, mesh.triangles)][:, :, 0]].T
    is_kept = mesh.may_touch[one, other]
    found[mesh.owner[one[is_kept]], mesh.owner[other[is_kept]]] = True
    return found | found.T


def tangled_features(mesh: ContactMesh, y: Floats, owners: Bools) -> ExcludedFeatures:
    """Returns the points and edges of some bodies and colliders that are inside each other or cross each other.

    Args:
        mesh: The surfaces.
        y: Vertices [m], (n, 3).
        owners: Which bodies and colliders are looked at with which, symmetric, (s, s).
    """
    if not owners.any():
        return ExcludedFeatures()
    ends, surfaces = _crossing_edges(mesh, y, owners)
    edges = [edge_keys(mesh, ends, surfaces)]
    is_open = (mesh.side[surfaces] != CLOSED) & (mesh.side[surfaces] != HALF_SPACE)
    points = [point_keys(mesh, ends[is_open, end], surfaces[is_open]) for end in (0, 1)]
    for surface in np.flatnonzero(mesh.side != 0):
        others = owners[mesh.owner[surface]]
        inside = _points_inside(mesh, y, int(surface), others)
        inside = inside[mesh.may_touch[mesh.surface[inside], surface]]
        of = np.full(len(inside), surface, np.int32)
        points.append(point_keys(mesh, inside, of))
        edges.append(edges_at_points(mesh, inside, of))
    return ExcludedFeatures(np.unique(np.concatenate(points)), np.unique(np.concatenate(edges)))


def _crossing_edges(mesh: ContactMesh, y: Floats, owners: Bools) -> tuple[Indices, Indices]:
    """Returns the edges that cross triangles, (k, 2), and the surfaces of these, (k,)."""
    of_triangle = mesh.surface[mesh.triangles[:, 0]]
    triangles = mesh.triangles[owners.any(axis=1)[mesh.owner[of_triangle]]]
    pairs = intersecting_triangles(y, triangles)
    one, other = mesh.surface[triangles[pairs][:, :, 0]].T
    pairs = pairs[mesh.may_touch[one, other] & owners[mesh.owner[one], mesh.owner[other]]]
    crosses = np.zeros((len(pairs), 2, 3), bool)
    fill_crossing_edges(y, triangles, pairs, crosses)
    pair, which, side = np.nonzero(crosses)
    corners = triangles[pairs[pair, which]]
    rows = np.arange(len(pair), dtype=np.int64)
    ends = np.sort(np.stack([corners[rows, side], corners[rows, (side + 1) % 3]], axis=1), axis=1)
    return indices(ends), mesh.surface[triangles[pairs[pair, 1 - which], 0]]


def _points_inside(mesh: ContactMesh, y: Floats, surface: int, others: Bools) -> Indices:
    """Returns the points of `others`, (s,), that are inside a surface with an inside, (k,)."""
    of_point = mesh.surface[mesh.points]
    points = mesh.points[others[mesh.owner[of_point]] & (mesh.owner[of_point] != mesh.owner[surface])]
    triangles = mesh.triangles[mesh.surface[mesh.triangles[:, 0]] == surface]
    if mesh.side[surface] == HALF_SPACE:
        a, b, c = y[triangles[0]]
        return points[(y[points] - a) @ np.cross(b - a, c - a) < 0.0]
    places = y[points]
    if others[mesh.owner[surface]]:
        used, numbered = np.unique(triangles, return_inverse=True)
        points, places = np.concatenate([points, used]), np.concatenate([places, _above(y[used], numbered)])
    lower, upper = y[triangles].min(axis=(0, 1)), y[triangles].max(axis=(0, 1))
    near = np.flatnonzero((places >= lower).all(axis=1) & (places <= upper).all(axis=1))
    winding = np.abs(winding_numbers(build_bvh(y, triangles), places[near]))
    return points[near[winding > INSIDE_WINDING]]


def _above(vertices: Floats, numbered: Indices) -> Floats:
    """Returns places just outside of the vertices of a closed surface, (n, 3) each."""
    triangles = indices(numbered.reshape(-1, 3))
    normals = SurfaceNormals(vertices, triangles).vertex_normals
    ends = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    shortest = np.full(len(vertices), np.inf)
    lengths = np.linalg.norm(vertices[ends[:, 0]] - vertices[ends[:, 1]], axis=1)
    for end in (0, 1):
        np.minimum.at(shortest, ends[:, end], lengths)
    outward = 1.0 if signed_volume(vertices, triangles) >= 0.0 else -1.0
    return vertices + outward * ABOVE_SHARE * shortest[:, None] * normals


@kernel()
def fill_crossing_edges(positions, triangles, pairs, crosses):
    """Writes which edges of intersecting triangles cross the other triangle.

    Args:
        positions: Vertices [m], (n, 3).
        triangles: (t, 3).
        pairs: Triangles that intersect, (k, 2).
        crosses: Out: of each edge of both, from corner i to i + 1, (k, 2, 3).
    """
    scratch, corners = np.empty(EXPANSION_SIZE), np.empty((3, 3))
    for pair in range(len(pairs)):
        for which in range(2):
            own, other = triangles[pairs[pair, which]], triangles[pairs[pair, 1 - which]]
            for corner in range(3):
                corners[corner] = positions[other[corner]]
            for side in range(3):
                p, q = own[side], own[(side + 1) % 3]
                is_shared = False
                for corner in range(3):
                    is_shared = is_shared or other[corner] == p or other[corner] == q
                crosses[pair, which, side] = not is_shared and segment_meets_triangle(
                    positions[p], positions[q], corners, scratch
                )
