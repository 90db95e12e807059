# SPDX-License-Identifier: GPL-3.0-or-later
"""Leaves out specks of tets that a thin part of the surface has cut off from the rest.

Where a finger is thinner than a tet in one place, its tip may get tets that hang on nothing, or on a node or an edge
alone: they would fall off or spin, and tear the render mesh. Without them the tip is bound to the closest tets of the
hand, and counts as a lost part.
"""

from __future__ import annotations

import numpy as np

from ..geometry.closest_point import closest_points
from ..geometry.orient_outward import OrientedSurface
from ..geometry.triangle_bvh import Bvh
from ..tet_mesh import FilledTets
from ..tet_quality import signed_volumes
from .isosurface_stuffing import drop_unused_nodes
from .nonmanifold_edges import face_connected_parts

# A piece of more than this share of the largest one in the same shell is no speck.
MAX_SPECK_SHARE = 0.25


def remove_small_components(filling: FilledTets, outward: OrientedSurface, bvh: Bvh, cell: float) -> FilledTets:
    """Returns the tets without those that do not share a face with the much larger piece that fills the same shell.

    Args:
        filling: The tets.
        outward: The surface.
        bvh: Its tree.
        cell: Tet size [m].
    """
    of_tet = face_connected_parts(filling.tets)
    pieces = int(of_tet.max(initial=0)) + 1
    if pieces == 1:
        return filling
    volume = np.bincount(of_tet, signed_volumes(filling.nodes, filling.tets), minlength=pieces)
    triangle = closest_points(bvh, filling.nodes, cell).triangle[filling.tets]
    near = triangle >= 0
    shells = int(outward.shell.max()) + 1
    of_corner = np.repeat(of_tet.astype(np.int64)[:, None], 4, axis=1)
    pairs, times = np.unique(of_corner[near] * shells + outward.shell[triangle[near]], return_counts=True)
    pair_piece, pair_shell = np.divmod(pairs, shells)
    largest = np.zeros(shells)
    np.maximum.at(largest, pair_shell, volume[pair_piece])
    order = np.argsort(times, kind="stable")  # the shell that most of a piece's nodes are close to is set last
    shell = np.zeros(pieces, np.int64)
    shell[pair_piece[order]] = pair_shell[order]
    return drop_unused_nodes(filling.nodes, filling.tets[(volume > MAX_SPECK_SHARE * largest[shell])[of_tet]])
