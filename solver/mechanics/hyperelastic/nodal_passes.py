# SPDX-License-Identifier: GPL-3.0-or-later
"""The passes over deformation gradients averaged at nodes, and the matrix that they widen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...linalg.two_ring_pattern import second_ring
from ...runtime.arrays import Floats, Indices
from ...runtime.threads.thread_pool import run_parts
from ..model import Model
from .nodal_gradients import NodeAverages, node_averages
from .nodal_kernels import (
    SCRATCH_SIZE,
    STRESS_NUMBERS,
    TANGENT_NUMBERS,
    add_nodal_tangent,
    add_node_forces,
    hyperelastic_nodes,
)
from .partition import partition

if TYPE_CHECKING:
    from .hyperelastic_element import Hyperelastic, TetArrays


@dataclass(frozen=True, eq=False)
class NodalArrays:
    """What the pass over nodes writes.

    Attributes:
        energy, smallest: Energy [J] and σ3 of F̄, (k,).
        stress: V P [J], (k, 9).
        tangent: V T [J], (k, 81).
    """

    energy: Floats
    smallest: Floats
    stress: Floats
    tangent: Floats


_cache: WeakKeyDictionary[TetArrays, NodalArrays] = WeakKeyDictionary()


def nodal_pass(
    model: Model, law: Hyperelastic, x: Floats, work: TetArrays, wanted: bool, clamp: bool, force: Floats | None = None
) -> NodalArrays | None:
    """Computes the averages at positions x [m], (n, 3), where there are any, and adds their forces [N] to `force`.

    Args:
        model, law: All bodies, and what they are made of.
        x: Positions.
        work: With which the result is kept.
        wanted, clamp: Whether stress and tangent are computed, and the latter made positive semi-definite.
        force: (n, 3); None: not wanted.
    """
    if law.left is None:
        return None
    averages, kept = _averages_and_arrays(model, law, work)
    p, parts = model.pattern, partition(len(averages.nodes))

    def run(part: int) -> None:
        hyperelastic_nodes(
            *parts[part], wanted, clamp, averages.nodes, p.row_start, p.column, averages.gradient, averages.volume,
            averages.law, averages.mu, averages.lam, averages.share, law.extension, law.threshold, x,
            np.empty(SCRATCH_SIZE), kept.energy, kept.smallest, kept.stress, kept.tangent,
        )  # fmt: skip

    run_parts(len(parts), run)
    if force is not None:
        mirror, rows = second_ring(p, averages.place >= 0).transposed_block, partition(p.node_count)

        def run_forces(part: int) -> None:
            add_node_forces(
                *rows[part], p.row_start, p.column, averages.place, mirror, averages.gradient, kept.stress, force
            )

        run_parts(len(rows), run_forces)
    return kept


def nodal_energies(model: Model, law: Hyperelastic, work: TetArrays) -> tuple[Indices, Floats]:
    """Returns the nodes at which averages are, (k,), and their energies at the last pass [J], (k,)."""
    averages, kept = _averages_and_arrays(model, law, work)
    return averages.nodes, kept.energy


def tangent_with_averages(
    model: Model, law: Hyperelastic, values: Floats, work: TetArrays
) -> tuple[BlockPattern, Floats]:
    """Returns the pattern that has all blocks of averages, and the blocks of tets, (b, 9), and of averages in it."""
    averages, kept = _averages_and_arrays(model, law, work)
    ring, p = second_ring(model.pattern, averages.place >= 0), model.pattern
    wide, parts = np.empty((ring.pattern.block_count, 9)), partition(p.node_count)
    position = np.empty((len(parts), p.node_count), np.uint32)

    def run(part: int) -> None:
        add_nodal_tangent(
            *parts[part],
            p.row_start,
            p.column,
            averages.place,
            ring.transposed_block,
            averages.gradient,
            kept.tangent,
            values,
            ring.pattern.row_start,
            ring.pattern.column,
            position[part],
            wide,
        )

    run_parts(len(parts), run)
    return ring.pattern, wide


def _averages_and_arrays(model: Model, law: Hyperelastic, work: TetArrays) -> tuple[NodeAverages, NodalArrays]:
    assert law.left is not None
    averages = node_averages(model, law.law, law.share, law.left)
    kept, k = _cache.get(work), len(averages.nodes)
    if kept is None or len(kept.energy) != k:
        kept = NodalArrays(np.empty(k), np.empty(k), np.empty((k, STRESS_NUMBERS)), np.empty((k, TANGENT_NUMBERS)))
        _cache[work] = kept
    return averages, kept
