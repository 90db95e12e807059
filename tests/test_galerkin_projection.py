# SPDX-License-Identifier: GPL-3.0-or-later
"""The projection on motions of rigid cores, against the product of dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from sinew.solver.constraints.rigid_core.core_dofs import POINT_COUNT
from sinew.solver.constraints.rigid_core.galerkin_projection import (
    ProjectionArrays,
    ReducedSystem,
    project_coupling,
    reduce_blocks,
)
from sinew.solver.constraints.rigid_core.reduced_pattern import ReducedPatterns
from sinew.solver.linalg.bicgstab import BlockRows
from sinew.solver.linalg.block_pattern import block_pattern
from sinew.solver.mechanics.rigid_core import RigidCore

NO_TETS = np.zeros(0, np.int32)
# islands of five, six and six nodes, whose cores leave out the first two, one in the middle, and none
ISLANDS, NODES = (0, 5, 11), 17
CORES = (np.array([2, 3, 4]), np.array([5, 6, 8, 9, 10]), np.arange(11, 17))
OWN_TETS = [[0, 1, 2, 3], [1, 2, 3, 4], [5, 6, 7, 8], [7, 8, 9, 10], [11, 12, 13, 14], [13, 14, 15, 16]]
JOINING_TETS = [[0, 3, 6, 7], [4, 9, 11, 12], [2, 5, 14, 16]]


def cross_matrix(r: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


@pytest.mark.parametrize("is_moved", [False, True])
def test_the_projection_is_that_of_dense_matrices(is_moved: bool) -> None:
    random = np.random.default_rng(7)
    pattern = block_pattern(np.array(OWN_TETS + JOINING_TETS, np.int32), NODES, ISLANDS)
    cores = [RigidCore(nodes.astype(np.int32), NO_TETS) for nodes in CORES]
    small = ReducedPatterns().of(pattern, cores)
    values = random.normal(size=(pattern.block_count, 9))
    values[random.random(len(values)) < 0.2] = 0.0  # as contacts leave some that do not push any more
    arms, given, b = random.normal(size=(3, NODES, 3))
    C = random.normal(size=(len(cores), 6, 3 * POINT_COUNT))
    given[small.core_of < 0] = 0.0

    count = small.pattern.node_count
    A, P = np.zeros((3 * NODES, 3 * NODES)), np.zeros((3 * NODES, 3 * count))
    for i in range(NODES):
        for k in range(pattern.row_start[i], pattern.row_start[i + 1]):
            j = pattern.column[k]
            A[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = values[k].reshape(3, 3)
        row, core = 3 * small.row_of[i], small.core_of[i]
        wide = 3 if core < 0 else 3 * POINT_COUNT
        motion = np.eye(3) if core < 0 else np.hstack([np.eye(3), -cross_matrix(arms[i])]) @ C[core]
        P[3 * i : 3 * i + 3, row : row + wide] = motion

    system = ReducedSystem.zeros(len(cores), len(small.pair_cores), small.pattern.block_count, count)
    projection = ProjectionArrays(
        small.core_of, small.row_of, small.block_target, small.row_stride, small.pair_of_block, arms, C
    )
    matrix = BlockRows(pattern.row_start, pattern.column, values)
    reduce_blocks(matrix, b, given, is_moved, projection, np.empty((6, 3)), system)
    pairs = small.pair_cores, small.pair_target, small.pair_stride
    project_coupling(system.coupling, *pairs, C, np.empty((6, 9)), system.values)
    found = np.zeros((3 * count, 3 * count))
    for i in range(count):
        for k in range(small.pattern.row_start[i], small.pattern.row_start[i + 1]):
            j = small.pattern.column[k]
            found[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = system.values[k].reshape(3, 3)
    for row, own, inner in zip(small.core_row, C, system.inner, strict=True):
        rows = slice(3 * row, 3 * (row + POINT_COUNT))
        assert not found[rows, rows].any()
        found[rows, rows] = own.T @ inner @ own
    assert len(small.pair_cores) == 6  # all three, both ways
    assert np.abs(found - P.T @ A @ P).max() < 1e-12 * np.abs(P.T @ A @ P).max()
    right = P.T @ (b.ravel() - (A @ given.ravel() if is_moved else 0.0))
    assert np.abs(system.b.ravel() - right).max() < 1e-12 * np.abs(right).max()
