# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernels of a step on a beam, to be called one by one, with the bytes that each has to move.

Counted is every array that a kernel is given or leaves once, however often it really goes through memory: what it does
twice lowers its share of the bandwidth. What it keeps to itself counts where it cannot stay in the caches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numba
import numpy as np

from sinew.solver.integrators.solver_context import StepWorkspace
from sinew.solver.integrators.system.step_matrix import assemble_system, compute_element_records
from sinew.solver.linalg.block_system import BlockSystem, MatrixArrays, PcgWorkspace, StoppingCriteria
from sinew.solver.linalg.multigrid.hierarchy import hierarchy_of
from sinew.solver.linalg.multigrid.hierarchy_reuse import MultigridWorkspace
from sinew.solver.linalg.multigrid.numeric_setup import Multigrid, numeric_setup, v_cycle
from sinew.solver.linalg.multigrid.v_cycle import PROLONGATE, RESTRICT, SMOOTH, run_cycle
from sinew.solver.linalg.pcg import solve
from sinew.solver.linalg.symmetric_spmv import (
    UpperHalfArrays,
    add_segment_rings,
    multiply_segment,
    pack_rows,
    upper_half,
)
from sinew.solver.linalg.tet_edges import edge_shares
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import forces_and_tangent, hyperelastic, tet_arrays
from sinew.solver.mechanics.model import Model
from sinew.solver.runtime.arrays import Bools, Floats
from sinew.solver.runtime.simd.block_row_product import multiply_row
from speed.beams import DT
from speed.timing import repeat

BYTES_PER_VECTOR = 24  # bytes of a node's three numbers
ITERATIONS = 20


@dataclass(frozen=True)
class TimedKernel:
    """Something to call.

    Attributes:
        name: Of it.
        call: Does it `times` times.
        bytes: What one of these moves at least.
        times: How often a call does it.
    """

    name: str
    call: Callable[[], object]
    bytes: float
    times: int = 1

    def repeated(self, count: int) -> TimedKernel:
        """Returns one whose call calls this one so many times."""
        return replace(self, call=repeat(self.call, count), times=count * self.times)


def step_kernels(model: Model, workspace: StepWorkspace) -> list[TimedKernel]:
    """Returns the kernels of a step of a beam, in order; the matrix that they read is assembled in the workspace."""
    pattern = model.pattern
    x = model.X.copy()
    x[:, 1] -= 0.02 * x[:, 2] ** 2  # bent
    buffer = compute_element_records(model, x, out=workspace.element_records(model))
    values = assemble_system(model, buffer, DT, workspace).values
    nodes, blocks = pattern.node_count, pattern.block_count
    is_free = model.X[:, 2] > 0.0
    edges = edge_shares(pattern)
    records, matrix = _size(buffer), _size(values)
    given = _size(model.tets, model.Dm_inverse, model.volume, model.mu, model.lam) + BYTES_PER_VECTOR * nodes
    lists = _size(edges.upper, edges.lower, edges.start, edges.shares, pattern.corner_start, pattern.corners)
    law, of_tets = hyperelastic(model), tet_arrays(pattern)
    tangent, force = np.empty_like(values), np.empty((nodes, 3))
    p, q = np.random.default_rng(0).standard_normal((2, nodes, 3))
    product_bytes = matrix + 4.0 * (blocks + nodes) + 2.0 * BYTES_PER_VECTOR * nodes

    def multiply() -> Floats:
        product(pattern.chunk_start, pattern.row_start, pattern.column, values, p, q)
        return q

    upper = upper_half(pattern)
    half = upper and upper.with_workspace(PcgWorkspace())
    # per iteration p, q, r, z and x are read and written, the inverse of the diagonal is read
    blocks_read = half_product_bytes(half) if half else product_bytes - 2.0 * BYTES_PER_VECTOR * nodes
    iteration = blocks_read + (10 * BYTES_PER_VECTOR + 72) * nodes
    by_half = [half_product_kernel(model, values, half, p)] if half else []
    multigrid = numeric_setup(hierarchy_of(pattern, model.X, pattern), pattern, values, is_free, MultigridWorkspace())
    return [
        TimedKernel(
            "records of tets",
            lambda: compute_element_records(model, x, out=buffer),
            given + _size(model.stiffness_damping) + records,
        ),
        TimedKernel(
            "assembly",
            lambda: assemble_system(model, buffer, DT, workspace),
            records + matrix + lists + BYTES_PER_VECTOR * nodes,
        ),
        TimedKernel(PRODUCT, multiply, product_bytes),
        *by_half,
        TimedKernel(ITERATION, pcg_kernel(model, values, is_free, ITERATIONS), iteration, ITERATIONS),
        TimedKernel("V-cycle of multigrid", lambda: run_cycle(v_cycle(multigrid)), v_cycle_bytes(multigrid)),
        TimedKernel(
            "neo-Hookean forces and tangent",
            lambda: forces_and_tangent(model, law, x, tangent, force, of_tets),
            given + matrix + lists + _size(of_tets.energy, of_tets.smallest) + BYTES_PER_VECTOR * nodes,
        ),
    ]


PRODUCT = "product of the block matrix"
HALF_PRODUCT = "the same by its upper half, as conjugate gradients do it"
ITERATION = "iteration of conjugate gradients"


@numba.njit(parallel=True, error_model="numpy", boundscheck=False)
def product(chunk_start, row_start, column, values, p, q):
    """Writes q = A p, (n, 3), with the rows of `multiply_row` and the chunks of conjugate gradients."""
    for chunk in numba.prange(len(chunk_start) - 1):
        for i in range(chunk_start[chunk], chunk_start[chunk + 1]):
            q[i, 0], q[i, 1], q[i, 2] = multiply_row(values, column, p, row_start[i], row_start[i + 1])


@numba.njit(parallel=True, error_model="numpy", boundscheck=False)
def product_by_half(half, chunk_start, p, vectors):
    """Writes A p into the first of `vectors`, by the segments of the upper half."""
    for k in numba.prange(len(half.start) - 1):
        multiply_segment(k, half, p, vectors, 0)
    for k in numba.prange(len(chunk_start) - 1):
        add_segment_rings(k, chunk_start[k], chunk_start[k + 1], half, vectors, 0)


def half_product_kernel(model: Model, values: Floats, half: UpperHalfArrays, p: Floats) -> TimedKernel:
    """Returns the product of a matrix, (b, 9), with p, (n, 3), by its upper half."""
    longer, out = np.vstack([p, np.zeros(3)]), np.empty((1, *p.shape))

    def multiply() -> Floats:
        product_by_half(half, model.pattern.chunk_start, longer, out)
        return out[0]

    pattern = model.pattern
    matrix = MatrixArrays(
        pattern.chunk_start,
        pattern.chunk_island,
        pattern.row_start,
        pattern.column,
        pattern.diagonal,
        values,
        np.ones(pattern.node_count, bool),
    )
    numba.njit(pack_rows.py_func)(0, pattern.node_count, matrix, half)
    return TimedKernel(HALF_PRODUCT, multiply, half_product_bytes(half) + 2.0 * BYTES_PER_VECTOR * len(p))


def half_product_bytes(half: UpperHalfArrays) -> float:
    """Returns what the blocks of the upper half and their columns take."""
    return _size(half.values, half.column, half.row_start)


def pcg_kernel(model: Model, values: Floats, is_free: Bools, count: int) -> Callable[[], object]:
    """Returns a solve of so many iterations with a matrix, (b, 9).

    What comes before and after them, two products and an inverse of the diagonal, is in its time: a few percent.
    """
    b: Floats = np.where(is_free[:, None], np.random.default_rng(1).standard_normal(model.X.shape), 0.0)

    def search() -> None:
        solved = solve(BlockSystem(model.pattern, values, b, is_free), np.zeros_like(b), StoppingCriteria(1e-14, count))
        assert solved.iterations == count

    return search


def v_cycle_bytes(multigrid: Multigrid) -> float:
    """Returns what a V-cycle moves at least: matrices, weights, vectors, in each of its passes."""
    hierarchy, real = multigrid.hierarchy, multigrid.work.x.itemsize
    starts, quad = hierarchy.quad_start[hierarchy.level_start].astype(np.int64), multigrid.work.quads[0].nbytes
    hangs = hierarchy.prolongation_start[hierarchy.level_start].astype(np.int64)
    total = 0.0
    for task, level, _ in multigrid.work.tasks:
        if level == len(hierarchy.level_start) - 2:
            continue  # the coarsest is small
        rows = hierarchy.level_start[level + 1] - hierarchy.level_start[level]
        total += 3 * real * rows * (6 if task == SMOOTH else 3) + 6 * real * rows * (task != PROLONGATE)
        if task == SMOOTH:
            total += quad * (starts[level + 1] - starts[level])
        elif task == PROLONGATE:
            total += (real + 4) * (hangs[level + 1] - hangs[level])
        elif task == RESTRICT and level:
            total += (real + 8) * (hangs[level] - hangs[level - 1])
    return float(total)


def _size(*arrays: np.ndarray) -> float:
    return float(sum(array.nbytes for array in arrays))
