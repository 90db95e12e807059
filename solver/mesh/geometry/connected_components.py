# SPDX-License-Identifier: GPL-3.0-or-later
"""What hangs together. As fast as SciPy's search, whose loading takes longer than a small bake's first steps."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Indices

Integers = npt.NDArray[np.integer]


def connected_components(a: Integers, b: Integers, count: int) -> Indices:
    """Returns the component of each of `count` things of which a[i] and b[i] are linked, (count,).

    Components are numbered from 0 on in the order of their first things. Each thing is led to its root, the first of
    those that it hangs together with as far as is known; in every round roots of linked things join.
    """
    root: Integers = np.arange(count, dtype=np.int64)
    while len(a):
        np.minimum.at(root, np.maximum(root[a], root[b]), np.minimum(root[a], root[b]))
        root = _find_roots(root)
        is_apart = root[a] != root[b]
        a, b = a[is_apart], b[is_apart]
    number = np.cumsum(root == np.arange(count, dtype=np.int64), dtype=np.int32) - np.int32(1)
    return number[root]


def _find_roots(root: Integers) -> Integers:
    """Returns where all come to in the end that go to `root`, then to the root of that, and so on, (count,)."""
    beyond = root[root]
    while not np.array_equal(beyond, root):
        root, beyond = beyond, beyond[beyond]
    return root


def mesh_components(tets: Indices, node_count: int) -> Indices:
    """Returns the number of each node's piece, (n,): no tet, (m, 4), joins two of them."""
    return connected_components(np.repeat(tets[:, 0], 3), tets[:, 1:].ravel(), node_count)
