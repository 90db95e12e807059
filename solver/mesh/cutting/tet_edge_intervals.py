# SPDX-License-Identifier: GPL-3.0-or-later
"""The intervals of tet edges that lie in the material, between their crossings with the surface."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Indices
from .surface_tet_intersections import Intersections
from .tet_complex import TetComplex


class EdgeIntervals(NamedTuple):
    """Parts of edges in the material; where it lies there twice (walls that cross each other) two of them overlap.

    Nodes in the material are points too: `crossings.point_count` plus the place in `node`.

    Attributes:
        edge: Edge of each, rising, (i,).
        first, last: Points where the material begins and ends, along the edge; swapped where the surface is inside
            out there, (i,).
        node: The node of each point that is a node, (q,): as many as the surface winds around it.
    """

    edge: npt.NDArray
    first: npt.NDArray
    last: npt.NDArray
    node: npt.NDArray


def edge_intervals(
    whole: TetComplex, crossings: Intersections, windings: Indices, wanted: npt.NDArray
) -> EdgeIntervals:
    """Returns the parts of edges in the material.

    Every crossing changes the winding number by one: up, a part begins there; down, the one begun last ends.

    Args:
        whole: The tets.
        crossings: All triangles with all tets.
        windings: Winding number of each node, (n,).
        wanted: Numbers of the edges that matter, rising, (e,).
    """
    first_copy = np.cumsum(np.abs(windings), dtype=np.int64) - np.abs(windings) + crossings.point_count
    is_wanted = np.zeros(len(whole.edge_nodes), np.bool_)
    is_wanted[wanted] = True
    points = np.flatnonzero(is_wanted[crossings.tet_edge])
    points = points[np.lexsort((crossings.tet_edge_parameter[points], crossings.tet_edge[points]))]
    place = np.searchsorted(crossings.tet_edge[points], wanted).tolist() + [len(points)]
    number = (points + crossings.first_tet_edge_point).tolist()
    signs = crossings.tet_edge_sign[points].tolist()
    ends = whole.edge_nodes[wanted].tolist()
    edge, first, last = [], [], []
    for k, (lower, upper) in enumerate(ends):
        winding = int(windings[lower])
        begun = [int(first_copy[lower]) + level for level in range(abs(winding))]
        for c in range(place[k], place[k + 1]):
            sign = signs[c]
            if winding * sign >= 0:
                begun.append(number[c])
            else:
                edge.append(k)
                first.append(begun.pop() if winding > 0 else number[c])
                last.append(number[c] if winding > 0 else begun.pop())
            winding += sign
        for level, point in enumerate(begun):
            copy = int(first_copy[upper]) + level
            edge.append(k)
            first.append(point if winding > 0 else copy)
            last.append(copy if winding > 0 else point)
    node = np.repeat(np.arange(len(windings), dtype=np.int64), np.abs(windings))
    whole_edge = wanted[np.array(edge, np.int64)]
    return EdgeIntervals(whole_edge, np.array(first, np.int64), np.array(last, np.int64), node)
