# SPDX-License-Identifier: GPL-3.0-or-later
"""Connected components of graphs and of meshes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse
import scipy.sparse.csgraph

from ...runtime.arrays import Indices

Integers = npt.NDArray[np.integer]


def connected_components(a: Integers, b: Integers, count: int) -> Indices:
    """Returns the component of each of `count` things of which a[i] and b[i] are linked, (count,).

    Components are numbered from 0 on in the order of their first things.
    """
    if count == 0:
        return np.zeros(0, np.int32)
    links = scipy.sparse.coo_array((np.ones(len(a), bool), (a, b)), shape=(count, count))
    return scipy.sparse.csgraph.connected_components(links, directed=False)[1].astype(np.int32, copy=False)


def mesh_components(tets: Indices, node_count: int) -> Indices:
    """Returns the number of each node's piece, (n,): no tet, (m, 4), joins two of them."""
    return connected_components(np.repeat(tets[:, 0], 3), tets[:, 1:].ravel(), node_count)
