# SPDX-License-Identifier: GPL-3.0-or-later
"""Small meshes of tets for tests and benchmarks."""

from __future__ import annotations

import numpy as np

from sinew.solver.arrays import Floats, Indices

# corners of a cube as 4 x + 2 y + z; four corner tets round a middle one, and the mirror image
_EVEN = np.array([[0, 4, 2, 1], [6, 2, 4, 7], [5, 4, 1, 7], [3, 1, 2, 7], [1, 4, 2, 7]])


def bar(cells: tuple[int, int, int], lengths: tuple[float, float, float]) -> tuple[Floats, Indices]:
    """Returns nodes [m] and tets of a box of cells with five tets each, its corner at the origin.

    Source: the bar of Müller 2002, 4 × 4 × 11 nodes and 450 tets, is `bar((3, 3, 10), …)`.
    """
    nx, ny, nz = cells
    grid = np.stack(np.meshgrid(*(np.arange(c + 1) for c in cells), indexing="ij"), axis=-1)
    nodes = grid.reshape(-1, 3) * (np.array(lengths) / cells)
    number = np.arange(len(nodes)).reshape(nx + 1, ny + 1, nz + 1)
    cube = np.stack(
        [number[i : nx + i, j : ny + j, k : nz + k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], axis=-1
    )
    odd = np.indices(cells).sum(axis=0) % 2 == 1
    mirrored = np.array([c ^ 4 for c in _EVEN.ravel()]).reshape(5, 4)
    tets = np.where(odd[..., None, None], cube[..., mirrored], cube[..., _EVEN]).reshape(-1, 4)
    corners = nodes[tets]
    inside_out = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0
    tets[inside_out] = tets[inside_out][:, [0, 1, 3, 2]]
    return nodes, tets.astype(np.int32)
