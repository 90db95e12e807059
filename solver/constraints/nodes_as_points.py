# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes as points inside tets, for forces on nodes: each is a corner of one of its tets."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Floats, Indices


def tets_of_nodes(tets: Indices) -> tuple[Indices, Indices]:
    """Returns a tet of each node and which of its corners the node is, (n,) each; every node has one.

    Args:
        tets: (m, 4).
    """
    nodes, first = np.unique(tets, return_index=True)
    tet, corner = np.zeros(int(nodes[-1]) + 1, np.int32), np.zeros(int(nodes[-1]) + 1, np.int32)
    tet[nodes], corner[nodes] = first // 4, first % 4
    return tet, corner


def weights_of_corners(corners: Indices) -> Floats:
    """Returns the barycentric weights of corners of tets, (n,), as (n, 4)."""
    return np.eye(4)[corners]
