# SPDX-License-Identifier: GPL-3.0-or-later
"""Isosurface stuffing: tets of a lattice, warped to a surface and cut at it.

Source: Labelle and Shewchuk (2007), Isosurface Stuffing: Fast Tetrahedral Meshes with Good Dihedral Angles.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Indices
from ..geometry.bvh import Bvh
from ..geometry.crossing import leaving_points
from .edges import cut_edges
from .level_set import INSIDE
from .stencils import split_tets
from .tet_mesh import Filling
from .warp import warp


def stuff(positions: Floats, coordinates: Indices, tets: Indices, winding: Floats, bvh: Bvh) -> Filling:
    """Fills a surface.

    Args:
        positions: Lattice points [m], (n, 3); changed.
        coordinates: Lattice points in half cells, (n, 3).
        tets: Tets of the lattice with a point inside, long edges 0–1 and 2–3, (m, 4).
        winding: Winding numbers at the points, (n,).
        bvh: The surface.
    """
    is_inside = winding > INSIDE
    some_outside = ~is_inside[tets].all(axis=1)
    border = tets[some_outside]
    edges = cut_edges(border, is_inside)
    cuts = leaving_points(bvh, positions[edges.inside], positions[edges.outside], winding[edges.inside])
    cut_points = positions[edges.inside] + cuts[:, None] * (positions[edges.outside] - positions[edges.inside])
    is_long = (np.abs(coordinates[edges.inside] - coordinates[edges.outside]) == 2).any(axis=1)
    signs = warp(positions, is_inside, edges, is_long, cuts)
    border_signs = signs[border]
    has_inside = (border_signs > 0).any(axis=1)
    is_cut = has_inside & (border_signs < 0).any(axis=1)
    cut_nodes = edges.of_tet[is_cut] + np.int32(len(positions))
    split = split_tets(border[is_cut], signs, coordinates, cut_nodes)
    whole = [tets[~some_outside], border[has_inside & ~is_cut], split]
    return compress(np.concatenate([positions, cut_points]), np.concatenate(whole))


def compress(nodes: Floats, tets: Indices) -> Filling:
    """Returns the tets with the nodes that they use, in their order."""
    used = np.zeros(len(nodes), np.bool_)
    used[tets] = True
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return Filling(nodes[used], number[tets], np.ones(len(tets)))
