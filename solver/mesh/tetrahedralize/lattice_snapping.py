# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves lattice points onto the surface where it cuts an edge too close to them.

Source: Labelle and Shewchuk (2007), Isosurface Stuffing, section 3.2.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from .cut_edges import CutEdges, edge_lengths, edges_by_node

# A cut closer to an end than this fraction of the edge is "violating". The paper's pair for a bound of 10.7° to 164.8°
# is 0.24999 and 0.41189. With the diagonals of `stuffing_stencils.py` that gave 9.3° to 160.5° in a search over all
# ways in which one tet can be warped and cut (tests/validate_stuffing_bound.py); this pair, the best found, 10.71° to
# 164.6°.
SNAP_FRACTION_LONG = 0.2845
SNAP_FRACTION_SHORT = 0.3975


def snap_lattice(positions: Floats, is_inside: Bools, edges: CutEdges, is_long: Bools, cuts: Floats) -> np.ndarray:
    """Moves each point that a cut violates to the nearest such cut, in `positions`, one point after the other.

    Args:
        positions: Lattice points [m], (n, 3); changed.
        is_inside: Whether a point is inside, (n,).
        edges: Edges with one end inside.
        is_long: Which of them are long, (k,).
        cuts: Where they are cut, as fractions of the way from inside to outside, (k,).

    Returns:
        1 for a point inside, 0 for one that is now on the surface, -1 for one outside, (n,) int8.
    """
    lengths = edge_lengths(positions, edges)
    points = positions[edges.inside] + cuts[:, None] * (positions[edges.outside] - positions[edges.inside])
    reach = np.where(is_long, SNAP_FRACTION_LONG, SNAP_FRACTION_SHORT) * lengths
    signs = np.where(is_inside, 1, -1).astype(np.int8)
    starts, rows = edges_by_node(edges, len(positions))
    visited = np.unique(np.concatenate([edges.inside, edges.outside]))
    snap_points(
        visited, starts, rows, edges.inside, edges.outside, cuts * lengths, lengths, reach, points, signs, positions
    )
    return signs


@kernel(no_refcount=True)
def snap_points(visited, starts, rows, inside, outside, travel, lengths, reach, points, signs, positions):
    """Warps points in ascending order; a cut is gone as soon as one end of its edge lies on the surface.

    Args:
        visited: Points with cut edges, (v,).
        starts, rows: The cut edges at each point, (n + 1,) and (2 k,).
        inside, outside: Their ends, (k,).
        travel: Distance from the inside end to the cut [m], (k,).
        lengths: Their lengths [m], (k,).
        reach: Distance within which a cut violates an end [m], (k,).
        points: The cuts [m], (k, 3).
        signs: 1 inside, -1 outside, 0 on the surface, (n,); changed.
        positions: Lattice points [m], (n, 3); changed.
    """
    for i in range(visited.shape[0]):
        v = visited[i]
        nearest = -1
        distance = np.inf
        for r in range(starts[v], starts[v + 1]):
            e = rows[r]
            if signs[inside[e]] <= 0 or signs[outside[e]] >= 0:
                continue
            d = travel[e] if inside[e] == v else lengths[e] - travel[e]
            if d < reach[e] and d < distance:
                nearest = e
                distance = d
        if nearest >= 0:
            signs[v] = 0
            for axis in range(3):
                positions[v, axis] = points[nearest, axis]
