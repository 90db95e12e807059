# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds tets that join parts of a surface across a gap: lips, fingers, an arm that rests on the body.

A tet bridges a gap where both of these hold:
- Two pieces of the surface pass through it that are not connected within `SEARCH_DISTANCE` tet sizes: neither along the
  mesh nor where the mesh crosses itself, since the solids are one there.
- The middle between the two pieces lies outside. Between the two sides of a thin plate, it lies inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ..geometry.closest_on_triangle import closest_on_triangle
from ..geometry.connected_components import connected_components
from ..geometry.orient_outward import OrientedSurface
from ..geometry.self_intersections import crossing_faces
from ..geometry.triangle_bvh import Bvh
from ..geometry.welding import weld
from ..geometry.winding_number import winding_numbers
from ..tet_mesh import FilledTets
from .inside_classification import INSIDE_WINDING
from .surface_samples import SurfaceSamples

if TYPE_CHECKING:
    import scipy.sparse

SEARCH_DISTANCE = 2.5  # how far the mesh is followed, in tet sizes from the middle of the tet
MIN_DEPTH = 0.005  # how deep a surface has to reach into a tet, in tet sizes, to count


def find_bridging_tets(
    samples: SurfaceSamples, filling: FilledTets, outward: OrientedSurface, bvh: Bvh, tet_size: float
) -> Indices:
    """Returns the numbers of the tets that bridge a gap, ascending, (k,).

    Args:
        samples: Points of the surface with their tets.
        filling: The tets.
        outward: The surface.
        bvh: Its tree.
        tet_size: Of the lattice, in the surface's unit.
    """
    tet, face = _faces_in_tets(samples, filling, MIN_DEPTH * tet_size)
    welded = weld(outward.surface)
    chosen = _tets_with_unconnected_faces(tet, face, welded)
    if not len(chosen):
        return np.zeros(0, np.int32)
    graph = _face_adjacency(welded, *crossing_faces(bvh, welded))
    first, end = np.searchsorted(tet, chosen), np.searchsorted(tet, chosen, side="right")
    middles = filling.nodes[filling.tets[chosen]].mean(axis=1)
    of_tet, points = np.empty(16 * len(chosen), np.int64), np.empty((16 * len(chosen), 3))
    count = len(welded)
    scratch = FaceSearch(np.full(count, -1, np.int64), np.empty(count, np.int64), np.empty((count, 3)))
    corners, reach = outward.surface.corners.reshape(-1, 9), SEARCH_DISTANCE * tet_size
    adjacency = graph.indptr, graph.indices
    gaps = write_gap_midpoints(first, end, face, middles, *adjacency, corners, reach, scratch, of_tet, points)
    is_gap = winding_numbers(bvh, points[:gaps]) <= INSIDE_WINDING
    return np.unique(chosen[of_tet[:gaps][is_gap]]).astype(np.int32)


def _faces_in_tets(samples: SurfaceSamples, filling: FilledTets, depth: float) -> tuple[Indices, Indices]:
    """Returns tets and the faces that reach deeper than `depth` [m] into them, by their samples, sorted, each (p,)."""
    inside = np.flatnonzero(samples.distance == 0.0)
    tet, points = samples.tet[inside], samples.points[inside]
    x = filling.nodes[filling.tets[tet]]
    deep = np.ones(len(inside), np.bool_)
    for i in range(4):
        a, b, c = x[:, (i + 1) % 4], x[:, (i + 2) % 4], x[:, (i + 3) % 4]
        normal = np.cross(b - a, c - a)
        deep &= np.abs(np.einsum("ki,ki->k", normal, points - a)) > depth * np.linalg.norm(normal, axis=1)
    face_count = int(samples.face[-1]) + 1
    keys = np.unique(tet[deep].astype(np.int64) * face_count + samples.face[inside[deep]])
    return keys // face_count, keys % face_count


def _tets_with_unconnected_faces(tet: Indices, face: Indices, welded: Indices) -> Indices:
    """Returns the tets whose faces are not all connected by shared corners, ascending, (k,).

    Args:
        tet, face: Pairs, sorted by tet, (p,).
        welded: Welded faces, (t, 3).
    """
    corner = (tet[:, None] * (int(welded.max()) + 1) + welded[face]).ravel()
    _, number = np.unique(corner, return_inverse=True)
    pair = np.repeat(np.arange(len(tet), dtype=np.int64), 3)
    size = len(tet) + int(number.max(initial=-1)) + 1
    piece = connected_components(pair, number.ravel() + len(tet), size)[: len(tet)]
    differs = (tet[1:] == tet[:-1]) & (piece[1:] != piece[:-1])
    return np.unique(tet[1:][differs])


def _face_adjacency(welded: Indices, a: Indices, b: Indices) -> scipy.sparse.csr_matrix:
    """Returns which faces share a corner or cross, as a graph of faces."""
    import scipy.sparse  # takes as long to load as to fill a small body, and few have torn tets

    count = len(welded)
    rows = np.repeat(np.arange(count, dtype=np.int64), 3)
    corner = scipy.sparse.csr_matrix((np.ones(3 * count, np.int8), (rows, welded.ravel())))
    shared = (corner.astype(np.int32) @ corner.T.astype(np.int32)).tocsr()
    ones = np.ones(len(a), np.int32)
    crossing = scipy.sparse.coo_matrix((ones, (a, b)), shape=(count, count))
    return (shared + crossing + crossing.T).tocsr()


class FaceSearch(NamedTuple):
    """Work space of `write_gap_midpoints` for t faces.

    Attributes:
        seen: The tet that has last seen each face, −1 at first, (t,).
        queue: Faces still to be visited, (t,).
        nearest: The point of each piece that is closest to the middle [m], (t, 3).
    """

    seen: np.ndarray
    queue: np.ndarray
    nearest: Floats


@kernel()
def write_gap_midpoints(
    face_start, face_end, face, middles, neighbour_start, neighbour, corners, reach, scratch, of_tet, points
):
    """Writes midpoints between pieces of the surface in a tet that are not connected near it; returns how many.

    Args:
        face_start, face_end: Where the faces of each tet start and end in `face`, (c,).
        face: Faces that pass through the tets, (p,).
        middles: Middles of the tets [m], (c, 3).
        neighbour_start, neighbour: Faces next to each face, compressed rows, (t + 1,) and (q,).
        corners: The faces [m], (t, 9).
        reach: How far from the middle faces are followed [m].
        scratch: `FaceSearch`.
        of_tet: Out, the tet of each midpoint, (room,).
        points: Out, the midpoints [m], (room, 3).
    """
    seen, queue, nearest = scratch
    count = 0
    for c in range(face_start.shape[0]):
        pieces = 0
        for i in range(face_start[c], face_end[c]):
            if seen[face[i]] == c:
                continue
            seen[face[i]] = c
            queue[0] = face[i]
            done = 0
            waiting = 1
            best = np.inf
            while done < waiting:
                f = queue[done]
                done += 1
                d2, u, v, w = closest_on_triangle(corners, f, middles[c, 0], middles[c, 1], middles[c, 2])
                if d2 > reach * reach:
                    continue
                if d2 < best:
                    best = d2
                    for axis in range(3):
                        nearest[pieces, axis] = (
                            u * corners[f, axis] + v * corners[f, 3 + axis] + w * corners[f, 6 + axis]
                        )
                for j in range(neighbour_start[f], neighbour_start[f + 1]):
                    if seen[neighbour[j]] != c:
                        seen[neighbour[j]] = c
                        queue[waiting] = neighbour[j]
                        waiting += 1
            for other in range(pieces):
                if count < of_tet.shape[0]:
                    of_tet[count] = c
                    for axis in range(3):
                        points[count, axis] = 0.5 * (nearest[pieces, axis] + nearest[other, axis])
                    count += 1
            pieces += 1
    return count
