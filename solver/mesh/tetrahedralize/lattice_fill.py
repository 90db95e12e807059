# SPDX-License-Identifier: GPL-3.0-or-later
"""Robust tets: whole tets of the body-centred lattice that cover a surface and its inside.

All have dihedral angles of 60° and 90°, or near these where the lattice is irregular (`lattice_jitter.py`). A tet is
taken if the surface touches it, faces included, or if it lies inside (winding number above one half); so every point of
every face lies in a tet, and thin parts never vanish. Which part of a tet is filled scales its mass and stiffness, see
`volume_fraction.py`.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ...scene.scene import Meshing
from ..geometry.triangle_bvh import Bvh
from ..geometry.triangle_surface import Surface
from ..tet_mesh import FilledTets
from .bcc_lattice import Lattice, lattice_around, tet_families
from .inside_classification import INSIDE_WINDING, lattice_winding
from .lattice_jitter import jitter_points, touched_jittered_tets
from .surface_lattice_overlap import touched_tets
from .tet_size import tet_size
from .volume_fraction import (
    FRACTURE_SAMPLES_PER_TET,
    SAMPLES_PER_TET,
    SHEET_FILLED_FRACTION,
    filled_fractions,
    sheet_faces,
)

SHEET_MARK = 2  # the mark of tets that a face without inside touches


def fill_by_lattice_cover(
    surface: Surface, bvh: Bvh, meshing: Meshing, name: str, is_closed: bool, seed: int | None = None
) -> FilledTets:
    """Covers a surface and its inside with tets of the lattice.

    Args:
        surface: The surface, outward.
        bvh: Its tree.
        meshing: Tet size.
        name: What the object is called.
        is_closed: Whether the surface has no border.
        seed: Where the points of the lattice are moved to by lot; None: nowhere.
    """
    lattice = lattice_around(*surface.bounds, tet_size(surface, meshing))
    points: Indices | Floats = lattice.coordinates()
    if seed is None:
        touched = touched_tets(lattice, bvh.corners, sheet_faces(bvh, is_closed))
    else:
        points = jitter_points(lattice.coordinates(), seed)
        touched = touched_jittered_tets(lattice, points, bvh.corners, sheet_faces(bvh, is_closed))
    inside = lattice_winding(lattice, points, bvh, is_closed, is_moved=seed is not None) > INSIDE_WINDING
    tets, marks, nodes_inside = _covering_tets(lattice, touched, inside)
    used = np.unique(tets)
    number = np.zeros(lattice.point_count, np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    nodes, tets = lattice.positions(points[used]), number[tets]
    fill = np.ones(len(tets))
    is_sheet = marks == SHEET_MARK
    fill[is_sheet] = SHEET_FILLED_FRACTION
    partly = np.flatnonzero(((marks > 0) | (nodes_inside < 4)) & ~(is_sheet & (nodes_inside == 0)))
    samples = SAMPLES_PER_TET if seed is None else FRACTURE_SAMPLES_PER_TET
    fill[partly] = filled_fractions(nodes[tets[partly]], partly, is_sheet[partly], bvh, samples)
    return FilledTets(nodes, tets, fill)


def _covering_tets(lattice: Lattice, touched: np.ndarray, inside: Bools) -> tuple[Indices, np.ndarray, np.ndarray]:
    """Returns the tets that are touched or have a node inside, how they are touched, and how many nodes are inside.

    Args:
        lattice: The lattice.
        touched: See `touched_tets`, (3, 4, x, y, z).
        inside: Which lattice points are inside, (n,).

    Returns:
        tets: Lattice points, positively oriented, (m, 4).
        marks: Their entries of `touched`, (m,).
        nodes_inside: How many of their nodes are inside, (m,).
    """
    found, marks, counts = [], [], []
    for axis, i, family in tet_families(lattice):
        mark = touched[axis, i][tuple(slice(length) for length in family[0].shape)]
        nodes_inside = sum((inside[corner].astype(np.int8) for corner in family), start=np.zeros((), np.int8))
        keep = (mark > 0) | (nodes_inside > 0)
        found.append(np.stack([corner[keep] for corner in family], axis=1))
        marks.append(mark[keep])
        counts.append(nodes_inside[keep])
    return np.concatenate(found), np.concatenate(marks), np.concatenate(counts)
