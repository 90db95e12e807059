# SPDX-License-Identifier: GPL-3.0-or-later
"""Small meshes of tets for tests and benchmarks."""

from __future__ import annotations

import itertools

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


def lattice_bar(cells: tuple[int, int, int], lengths: tuple[float, float, float]) -> tuple[Floats, Indices]:
    """Returns a box of the body-centred tets that surfaces are filled with: twelve per cell, its faces flat."""
    counts = np.array(cells)
    tets: list[list[tuple[float, ...]]] = []
    for cell in np.ndindex(*cells):
        middle = np.array(cell) + 0.5
        for axis in range(3):
            for side in (0, 1):
                beyond = middle.copy()
                beyond[axis] += 2 * side - 1
                on_face = (cell[axis] == 0 and side == 0) or (cell[axis] == counts[axis] - 1 and side == 1)
                if not on_face and side == 0:
                    continue  # the neighbour has made them
                if on_face:
                    beyond[axis] = middle[axis] + side - 0.5
                other = [a for a in range(3) if a != axis]
                ring = []
                for u, v in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)):
                    corner = middle.copy()
                    corner[axis] += side - 0.5
                    corner[other[0]] += u
                    corner[other[1]] += v
                    ring.append(tuple(corner))
                tets += [[tuple(middle), tuple(beyond), ring[k], ring[k - 1]] for k in range(4)]
    nodes, number = np.unique(np.array(tets).reshape(-1, 3), axis=0, return_inverse=True)
    numbered = number.reshape(-1, 4).astype(np.int32)
    nodes = nodes * (np.array(lengths) / counts)
    corners = nodes[numbered]
    inside_out = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0
    numbered[inside_out] = numbered[inside_out][:, [0, 1, 3, 2]]
    return nodes, numbered


def kuhn_bar(cells: tuple[int, int, int], lengths: tuple[float, float, float]) -> tuple[Floats, Indices]:
    """Returns a box of cubes of six tets each, all around the same diagonal."""
    grid = np.stack(np.meshgrid(*(np.arange(c + 1) for c in cells), indexing="ij"), axis=-1)
    number = np.arange(grid[..., 0].size).reshape(grid.shape[:3])
    tets = []
    for order in itertools.permutations(range(3)):
        steps = np.concatenate([np.zeros((1, 3), int), np.cumsum(np.eye(3, dtype=int)[list(order)], axis=0)])
        corners = [number[tuple(slice(s, s + c) for s, c in zip(step, cells, strict=True))].ravel() for step in steps]
        around = np.stack(corners, axis=1)
        # an odd order of the axes turns the tet inside out
        tets.append(around if np.linalg.det(np.eye(3)[list(order)]) > 0 else around[:, [0, 1, 3, 2]])
    return grid.reshape(-1, 3) * (np.array(lengths) / cells), np.concatenate(tets).astype(np.int32)
