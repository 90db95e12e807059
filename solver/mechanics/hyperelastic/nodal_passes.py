# SPDX-License-Identifier: GPL-3.0-or-later
"""The passes over deformation gradients averaged at nodes, and the matrix that they widen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...linalg.block_system import PcgWorkspace
from ...linalg.two_ring_pattern import second_ring
from ...runtime.arrays import Floats, Indices
from ...runtime.threads.index_partition import partition
from ...runtime.threads.thread_pool import run_parts
from ..model import Model
from .nodal_averaging import NodeAverages, node_averages
from .nodal_kernels import (
    SCRATCH_SIZE,
    STRESS_NUMBERS,
    TANGENT_NUMBERS,
    AverageRows,
    NodalArrays,
    add_nodal_tangent,
    add_node_forces,
    hyperelastic_nodes,
)
from .tet_kernels import LawArrays

if TYPE_CHECKING:
    from .hyperelastic_bodies import Hyperelastic, TetArrays


NO_BLOCKS = np.zeros(0, np.uint32)


def nodal_pass(
    model: Model, law: Hyperelastic, x: Floats, work: TetArrays, wanted: int, clamp: bool, force: Floats | None = None
) -> NodalArrays | None:
    """Computes the averages at positions x [m], (n, 3), where there are any, and adds their forces [N] to `force`.

    Args:
        model, law: All bodies, and what they are made of.
        x: Positions.
        work: With which the result is kept.
        wanted: As for `hyperelastic_tets`, of stress and tangent.
        clamp: Whether the tangent is made positive semi-definite.
        force: (n, 3); None: not wanted.
    """
    if law.left is None:
        return None
    averages, kept = _averages_and_arrays(model, law, work)
    p, parts, rows = model.pattern, partition(len(averages.nodes)), _average_rows(model, averages, force is not None)
    laws = LawArrays(averages.law, averages.mu, averages.lam, averages.parameter, law.extension, law.threshold)

    def run(part: int) -> None:
        scratch = np.empty(SCRATCH_SIZE)
        hyperelastic_nodes(*parts[part], wanted, clamp, averages.nodes, averages.volume, rows, laws, x, scratch, kept)

    run_parts(len(parts), run)
    if force is not None:
        node_parts = partition(p.node_count)

        def run_forces(part: int) -> None:
            add_node_forces(*node_parts[part], rows, kept.stress, force)

        run_parts(len(node_parts), run_forces)
    return kept


def nodal_energies(model: Model, law: Hyperelastic, work: TetArrays) -> tuple[Indices, Floats]:
    """Returns the nodes at which averages are, (k,), and their energies at the last pass [J], (k,)."""
    averages, kept = _averages_and_arrays(model, law, work)
    return averages.nodes, kept.energy


def nodal_stretches(model: Model, law: Hyperelastic, work: TetArrays) -> tuple[Indices, Floats]:
    """Returns the nodes at which averages are, (k,), and the smallest singular value of each at the last pass, (k,)."""
    averages, kept = _averages_and_arrays(model, law, work)
    return averages.nodes, kept.smallest


def tangent_with_averages(
    model: Model, law: Hyperelastic, values: Floats, work: TetArrays, workspace: PcgWorkspace | None = None
) -> tuple[BlockPattern, Floats]:
    """Returns the pattern that has all blocks of averages, and the blocks of tets, (b, 9), and of averages in it.

    With a workspace they are in an array of it.
    """
    averages, kept = _averages_and_arrays(model, law, work)
    ring, p = second_ring(model.pattern, averages.place >= 0), model.pattern
    wide = (workspace or PcgWorkspace()).array("whole_tangent", ring.pattern.block_count, 9)
    parts = partition(p.node_count)
    position, rows = np.empty((len(parts), p.node_count), np.uint32), _average_rows(model, averages, True)

    def run(part: int) -> None:
        wide_rows = ring.pattern.row_start, ring.pattern.column
        add_nodal_tangent(*parts[part], rows, kept.tangent, values, *wide_rows, position[part], wide)

    run_parts(len(parts), run)
    return ring.pattern, wide


def _average_rows(model: Model, averages: NodeAverages, is_transposed: bool) -> AverageRows:
    """Returns the rows; transposed blocks are found only where they are read: a second ring takes long to make."""
    p = model.pattern
    transposed = second_ring(p, averages.place >= 0).transposed_block if is_transposed else NO_BLOCKS
    return AverageRows(p.row_start, p.column, averages.place, averages.gradient, transposed)


def _averages_and_arrays(model: Model, law: Hyperelastic, work: TetArrays) -> tuple[NodeAverages, NodalArrays]:
    assert law.left is not None
    averages = node_averages(model, law.law, law.parameter, law.left)
    k = len(averages.nodes)
    if work.nodes is None or len(work.nodes.energy) != k:
        work.nodes = NodalArrays(
            np.empty(k), np.empty(k), np.empty((k, STRESS_NUMBERS)), np.empty((k, TANGENT_NUMBERS))
        )
    return averages, work.nodes
