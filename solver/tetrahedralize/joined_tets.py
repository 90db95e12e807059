# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets that join surfaces which lie far apart along the mesh: lips, fingers, an arm that rests on the body.

A tet joins what it should not where
- pieces of the surface pass through it that are not connected within `REACH` tet sizes of it, neither along the mesh
  nor where the mesh crosses itself (there the solids are one anyway), and
- the middle between two such pieces lies outside: two sides of a thin plate face each other through material.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from ..arrays import Indices
from ..geometry.bvh import Bvh
from ..geometry.closest_on_triangle import closest_on_triangle
from ..geometry.outward import Outward
from ..geometry.overlaps import crossing_faces, triangles_in_tets
from ..geometry.welding import weld
from ..geometry.winding import winding_numbers
from ..jit import kernel
from .level_set import INSIDE
from .tet_mesh import Filling

REACH = 2.5  # how far the mesh is followed, in tet sizes from the middle of the tet
DEPTH = 0.05  # how deep a surface has to reach into a tet, in tet sizes: the surface of Smooth's own tets does not


def find_joined_tets(filling: Filling, outward: Outward, bvh: Bvh, tet_size: float) -> Indices:
    """Returns the numbers of the tets that join surfaces far apart along the mesh, ascending, (k,).

    Args:
        filling: The tets.
        outward: The surface.
        bvh: Its tree.
        tet_size: Of the lattice, in the surface's unit.
    """
    surface = outward.surface
    corners = np.ascontiguousarray(surface.corners.reshape(-1, 9))
    tet, face = triangles_in_tets(corners, filling.nodes, filling.tets, DEPTH * tet_size)
    several, start = np.unique(tet, return_index=True)
    ends = np.append(start, len(tet)).astype(np.int64)
    welded = weld(surface)
    torn = np.zeros(len(several), np.bool_)
    mark_torn(ends, face, welded, np.full(welded.max() + 1, -1), np.empty(len(face), np.int64), torn)
    if not torn.any():
        return np.zeros(0, np.int32)
    graph = _neighbours(welded, *crossing_faces(bvh, welded))
    chosen = np.flatnonzero(torn)
    middles = filling.nodes[filling.tets[several[chosen]]].mean(axis=1)
    room = 4 * int((ends[chosen + 1] - ends[chosen]).sum())
    of_tet, points = np.empty(room, np.int64), np.empty((room, 3))
    face_count = len(welded)
    count = fill_gaps(
        chosen, ends, face, middles, graph.indptr, graph.indices, corners, REACH * tet_size,
        np.full(face_count, -1), np.full(face_count, -1), np.empty(face_count, np.int64), np.empty((face_count, 3)),
        of_tet, points,
    )  # fmt: skip
    is_gap = winding_numbers(bvh, points[:count]) <= INSIDE
    return np.unique(several[chosen[of_tet[:count][is_gap]]]).astype(np.int32)


def _neighbours(welded: Indices, a: Indices, b: Indices) -> scipy.sparse.csr_matrix:
    """Returns which faces share a corner or cross, as a graph of faces."""
    count = len(welded)
    rows = np.repeat(np.arange(count), 3)
    corner = scipy.sparse.csr_matrix((np.ones(3 * count, np.int8), (rows, welded.ravel())))
    shared = (corner.astype(np.int32) @ corner.T.astype(np.int32)).tocsr()
    ones = np.ones(len(a), np.int32)
    crossing = scipy.sparse.coo_matrix((ones, (a, b)), shape=(count, count))
    return (shared + crossing + crossing.T).tocsr()


@kernel()
def mark_torn(ends, face, welded, holder, parent, torn):
    """Marks the tets whose faces do not hang together by shared corners.

    Args:
        ends: Where the faces of each tet begin in `face`, and where the last end, (k + 1,).
        face: Faces in each tet, (p,).
        welded: Welded faces, (t, 3).
        holder: Scratch, all -1, one entry per welded corner.
        parent: Scratch, (p,).
        torn: Out, (k,).
    """
    for k in range(torn.shape[0]):
        pieces = 0
        for i in range(ends[k], ends[k + 1]):
            parent[i] = i
            pieces += 1
            for corner in range(3):
                v = welded[face[i], corner]
                if holder[v] < ends[k]:
                    holder[v] = i
                    continue
                a = holder[v]
                while parent[a] != a:
                    a = parent[a]
                b = i
                while parent[b] != b:
                    b = parent[b]
                if a != b:
                    parent[max(a, b)] = min(a, b)
                    pieces -= 1
        torn[k] = pieces > 1


@kernel()
def fill_gaps(
    chosen, ends, face, middles, first, neighbour, corners, reach, seen, group, queue, nearest, of_tet, points
):
    """Fills the middles between pieces of the surface in one tet that are not connected near it; returns how many.

    Args:
        chosen: Tets to look at, places in `ends`, (c,).
        ends, face: See `mark_torn`.
        middles: Middles of the chosen tets [m], (c, 3).
        first, neighbour: Faces next to each face, compressed rows, (t + 1,) and (q,).
        corners: The faces [m], (t, 9).
        reach: How far from the middle faces are followed [m].
        seen, group: Scratch, all -1, (t,).
        queue: Scratch, (t,).
        nearest: Scratch, (t, 3).
        of_tet: Out, the place in `chosen` of each middle, (room,).
        points: Out, the middles between pieces [m], (room, 3).
    """
    count = 0
    for c in range(chosen.shape[0]):
        k = chosen[c]
        x, y, z = middles[c, 0], middles[c, 1], middles[c, 2]
        groups = 0
        for i in range(ends[k], ends[k + 1]):
            if seen[face[i]] == c:
                continue
            seen[face[i]] = c
            group[face[i]] = groups
            queue[0] = face[i]
            done = 0
            waiting = 1
            while done < waiting:
                f = queue[done]
                done += 1
                for j in range(first[f], first[f + 1]):
                    g = neighbour[j]
                    if seen[g] == c:
                        continue
                    d2, _, _, _ = closest_on_triangle(corners, g, x, y, z)
                    if d2 <= reach * reach:
                        seen[g] = c
                        group[g] = groups
                        queue[waiting] = g
                        waiting += 1
            groups += 1
        if groups < 2:
            continue
        for g in range(groups):
            best = np.inf
            for i in range(ends[k], ends[k + 1]):
                if group[face[i]] != g:
                    continue
                d2, u, v, w = closest_on_triangle(corners, face[i], x, y, z)
                if d2 < best:
                    best = d2
                    for axis in range(3):
                        nearest[g, axis] = (
                            u * corners[face[i], axis] + v * corners[face[i], 3 + axis] + w * corners[face[i], 6 + axis]
                        )
        for g in range(groups):
            for h in range(g):
                if count < of_tet.shape[0]:
                    of_tet[count] = c
                    for axis in range(3):
                        points[count, axis] = 0.5 * (nearest[g, axis] + nearest[h, axis])
                    count += 1
    return count
