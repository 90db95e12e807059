# SPDX-License-Identifier: GPL-3.0-or-later
"""Isosurface stuffing: tets of a lattice, warped to a surface and cut at it.

Source: Labelle and Shewchuk (2007), Isosurface Stuffing: Fast Tetrahedral Meshes with Good Dihedral Angles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ..geometry.surface_exit_points import exit_points
from ..geometry.triangle_bvh import Bvh
from ..tet_mesh import FilledTets
from .cut_edges import CutEdges, cut_edges
from .inside_classification import INSIDE_WINDING
from .lattice_snapping import snap_lattice
from .stuffing_stencils import split_tets

# A surface that an edge meets at a flatter angle carries its cut no farther than this allows.
MIN_COSINE = 0.3


class CutLattice(NamedTuple):
    """A lattice and where the surface cuts its edges.

    Attributes:
        positions: Points [m], (n, 3).
        coordinates: Points in half cells, (n, 3).
        tets: Tets with all nodes inside, (w, 4).
        boundary_tets: Tets with a node inside and one outside, long edges 0–1 and 2–3, (m, 4).
        is_inside: Whether a point is inside, (n,).
        edges: The cut edges of `boundary_tets`.
        is_long: Which of them are long, (k,).
        cuts: Where they are cut, as fractions of the way from inside to outside, (k,).
        shifts: How much a cut moves when the surface grows by a unit [1/m], (k,).
    """

    positions: Floats
    coordinates: Indices
    tets: Indices
    boundary_tets: Indices
    is_inside: Bools
    edges: CutEdges
    is_long: Bools
    cuts: Floats
    shifts: Floats


def cut_lattice(positions: Floats, coordinates: Indices, tets: Indices, winding: Floats, bvh: Bvh) -> CutLattice:
    """Returns where a surface cuts a lattice.

    Args:
        positions: Points [m], (n, 3).
        coordinates: Points in half cells, (n, 3).
        tets: Tets with a point inside, (m, 4).
        winding: Winding numbers at the points, (n,).
        bvh: The surface.
    """
    is_inside = winding > INSIDE_WINDING
    is_whole = is_inside[tets].all(axis=1)
    edges = cut_edges(tets[~is_whole], is_inside)
    inside, outside = positions[edges.inside], positions[edges.outside]
    cuts, cosines = exit_points(bvh, inside, outside, winding[edges.inside])
    shifts = 1.0 / (np.maximum(cosines, MIN_COSINE) * np.linalg.norm(outside - inside, axis=1))
    is_long = (np.abs(coordinates[edges.inside] - coordinates[edges.outside]) == 2).any(axis=1)
    return CutLattice(positions, coordinates, tets[is_whole], tets[~is_whole], is_inside, edges, is_long, cuts, shifts)


def stuff_lattice(lattice: CutLattice, growth: float = 0.0) -> FilledTets:
    """Returns the tets that fill a surface, or the surface moved outward by `growth` [m].

    A cut moves along its edge as a plane would carry it, but never past the edge's end: which points are inside does
    not change, and the paper's bound holds for cuts anywhere.
    """
    edges, positions = lattice.edges, lattice.positions.copy()
    cuts = np.clip(lattice.cuts + growth * lattice.shifts, 0.0, 1.0)
    inside, outside = positions[edges.inside], positions[edges.outside]
    cut_points = inside + cuts[:, None] * (outside - inside)
    signs = snap_lattice(positions, lattice.is_inside, edges, lattice.is_long, cuts)
    border_signs = signs[lattice.boundary_tets]
    has_inside = (border_signs > 0).any(axis=1)
    is_cut = has_inside & (border_signs < 0).any(axis=1)
    cut_nodes = edges.edges_of_tet[is_cut] + np.int32(len(positions))
    split = split_tets(lattice.boundary_tets[is_cut], signs, lattice.coordinates, cut_nodes)
    tets = [lattice.tets, lattice.boundary_tets[has_inside & ~is_cut], split]
    return drop_unused_nodes(np.concatenate([positions, cut_points]), np.concatenate(tets))


def drop_unused_nodes(nodes: Floats, tets: Indices) -> FilledTets:
    """Returns the tets with the nodes that they use, in their order."""
    used = np.zeros(len(nodes), np.bool_)
    used[tets] = True
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return FilledTets(nodes[used], number[tets], np.ones(len(tets)))
