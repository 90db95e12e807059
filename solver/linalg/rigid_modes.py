# SPDX-License-Identifier: GPL-3.0-or-later
"""The motions of an island as a whole, which conjugate gradients leave out because they are solved for exactly.

Translations and turns are what a block-Jacobi preconditioner finds last, and what must be right: in a stiff body the
elastic forces are so large that a residual small beside them can still turn the body faster in every step.
With the six modes Z of an island (columns: three translations, three turns about its centre) and E = ZᵀAZ, the guess
is moved to Zᵀ(b − A x) = 0, and every search direction is made A-orthogonal to Z, so that it stays so: momentum and
angular momentum are in balance to round-off, however roughly the rest is solved.

Source: Tang, Nabben, Vuik and Erlangga (2009), Comparison of two-level preconditioners derived from deflation, domain
decomposition and multigrid methods: A-DEF2, which takes back what round-off brings into Zᵀr.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..runtime.arrays import Bools, Floats, floats
from ..runtime.jit import kernel
from ..runtime.simd.vec3 import vec3, vec3_add_cross, vec3_axpy, vec3_load, vec3_store, vec3_unpack, vec3_zero
from ..runtime.threads.thread_pool import run_in_chunks
from .block_pattern import BlockPattern
from .coupled_rigid_modes import CoupledModes, coarse_correct_coupled, coupled_layout, coupled_modes
from .element_by_element import ElementProducts

MIN_RELATIVE_PIVOT = 1.0e-12  # of E; an island below it, such as a single line of nodes, is solved without modes


@dataclass(frozen=True)
class RigidModes:
    """The modes Z of the islands without held nodes, and what the matrix A makes of them.

    Attributes:
        lever_arms: From the centre of its island to each node, in units of the island's radius, (n, 3).
        product: A Z of each node's island, row by row, (n, 18).
        inverse: E⁻¹ per island, zero where nodes are held or `coupled` has it, (k, 6, 6).
        coupled: Of islands that are coupled; None: none is.
    """

    lever_arms: Floats
    product: Floats
    inverse: Floats
    coupled: CoupledModes | None = None


@kernel(allow_fma=True, no_refcount=True)
def multiply_rigid(row_start, column, values, arms, start, end, product):
    """Writes A Z for the rows from `start` to `end`: the columns e_m, then e_m × arm, three rows of six, (n, 18)."""
    for i in range(start, end):
        a, b, c, d, e, f = vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero()
        for k in range(row_start[i], row_start[i + 1]):
            arm, block = vec3_load(arms, 3 * column[k]), 9 * k
            s, t, u = vec3_load(values, block), vec3_load(values, block + 3), vec3_load(values, block + 6)
            a, b, c = vec3_axpy(a, 1.0, s), vec3_axpy(b, 1.0, t), vec3_axpy(c, 1.0, u)
            d, e, f = vec3_add_cross(d, arm, s), vec3_add_cross(e, arm, t), vec3_add_cross(f, arm, u)
        row = 18 * i
        vec3_store(product, row, a)
        vec3_store(product, row + 3, d)
        vec3_store(product, row + 6, b)
        vec3_store(product, row + 9, e)
        vec3_store(product, row + 12, c)
        vec3_store(product, row + 15, f)


@kernel(allow_fma=True, no_refcount=True)
def coarse_matrices(island_start, arms, product, matrices):
    """Writes E = ZᵀAZ of every island, (k, 6, 6)."""
    for island in range(len(matrices)):
        E = matrices[island]
        for half in range(0, 6, 3):
            a, b, c, d, e, f = vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero()
            for i in range(island_start[island], island_start[island + 1]):
                row, (x, y, z) = 18 * i + half, vec3_unpack(vec3_load(arms, 3 * i))
                s, t, u = vec3_load(product, row), vec3_load(product, row + 6), vec3_load(product, row + 12)
                a, b, c = vec3_axpy(a, 1.0, s), vec3_axpy(b, 1.0, t), vec3_axpy(c, 1.0, u)
                d, e, f = (
                    vec3_axpy(vec3_axpy(d, y, u), -z, t),
                    vec3_axpy(vec3_axpy(e, z, s), -x, u),
                    vec3_axpy(vec3_axpy(f, x, t), -y, s),
                )
            vec3_store(E, half, a)
            vec3_store(E, half + 6, b)
            vec3_store(E, half + 12, c)
            vec3_store(E, half + 18, d)
            vec3_store(E, half + 24, e)
            vec3_store(E, half + 30, f)


@kernel(allow_fma=True, no_refcount=True)
def coarse_correct_islands(island_start, arms, product, inverse, b, x):
    """Adds Z E⁻¹ Zᵀ(b − A x) to x, (n, 3), in every island, for b (n, 3) or, where that is empty, for zero."""
    for island in range(len(inverse)):
        first, last, E = island_start[island], island_start[island + 1], inverse[island]
        push, twist = vec3_zero(), vec3_zero()
        for i in range(first, last):
            row, (s, t, u) = 18 * i, vec3_unpack(vec3_load(x, 3 * i))
            push = vec3_axpy(
                vec3_axpy(vec3_axpy(push, -s, vec3_load(product, row)), -t, vec3_load(product, row + 6)),
                -u,
                vec3_load(product, row + 12),
            )
            twist = vec3_axpy(vec3_axpy(twist, -s, vec3_load(product, row + 3)), -t, vec3_load(product, row + 9))
            twist = vec3_axpy(twist, -u, vec3_load(product, row + 15))
        if len(b) > 0:
            for i in range(first, last):
                push = vec3_axpy(push, 1.0, vec3_load(b, 3 * i))
                twist = vec3_add_cross(twist, vec3_load(arms, 3 * i), vec3_load(b, 3 * i))
        lacking = vec3_unpack(push) + vec3_unpack(twist)
        move, turn = vec3_zero(), vec3_zero()
        for k in range(6):
            move = vec3_axpy(move, lacking[k], vec3(E[0, k], E[1, k], E[2, k]))
            turn = vec3_axpy(turn, lacking[k], vec3(E[3, k], E[4, k], E[5, k]))
        for i in range(first, last):
            moved = vec3_add_cross(vec3_axpy(vec3_load(x, 3 * i), 1.0, move), turn, vec3_load(arms, 3 * i))
            vec3_store(x, 3 * i, moved)


@kernel()
def invert_coarse(island_start, is_free, matrices, inverse):
    """Writes E⁻¹ of every island, (k, 6, 6), zero where nodes are held or E is hardly positive definite.

    By Gauss and Jordan on E scaled to a diagonal of ones: its pivots are then between 0 and 1, and small ones tell
    that modes are hardly told apart.
    """
    A, scale = np.empty((6, 12)), np.empty(6)
    for island in range(len(matrices)):
        E, out = matrices[island], inverse[island]
        for m in range(6):
            for k in range(6):
                out[m, k] = 0.0
        usable = True
        for i in range(island_start[island], island_start[island + 1]):
            usable = usable and is_free[i]
        for m in range(6):
            usable = usable and E[m, m] > 0.0 and E[m, m] < np.inf
        if not usable:
            continue
        for m in range(6):
            scale[m] = 1.0 / math.sqrt(E[m, m])
        for m in range(6):
            for k in range(6):
                A[m, k], A[m, 6 + k] = scale[m] * E[m, k] * scale[k], 1.0 if m == k else 0.0
        for m in range(6):
            pivot = A[m, m]
            if not pivot > MIN_RELATIVE_PIVOT:
                usable = False
                break
            for k in range(12):
                A[m, k] /= pivot
            for row in range(6):
                factor = A[row, m]
                if row != m and factor != 0.0:
                    for k in range(12):
                        A[row, k] -= factor * A[m, k]
        if usable:
            for m in range(6):
                for k in range(6):
                    out[m, k] = scale[m] * A[m, 6 + k] * scale[k]


@kernel(no_refcount=True)
def is_any_free(island_start, is_free):
    """Returns whether there is an island without held nodes."""
    for island in range(len(island_start) - 1):
        i, last = island_start[island], island_start[island + 1]
        while i < last and is_free[i]:
            i += 1
        if i == last:
            return True
    return False


@kernel(no_refcount=True)
def write_lever_arms(island_start, positions, arms):
    """Writes positions from the centre of their island in units of its radius, (n, 3)."""
    for island in range(len(island_start) - 1):
        first, last = island_start[island], island_start[island + 1]
        for axis in range(3):
            total = 0.0
            for i in range(first, last):
                total += positions[i, axis]
            centre = total / (last - first)
            for i in range(first, last):
                arms[i, axis] = positions[i, axis] - centre
        square = 0.0
        for i in range(first, last):
            for axis in range(3):
                square += arms[i, axis] ** 2
        scale = 1.0 / max(math.sqrt(square / (last - first)), 1e-300)
        for i in range(first, last):
            for axis in range(3):
                arms[i, axis] *= scale


def rigid_modes(
    pattern: BlockPattern,
    values: Floats,
    positions: Floats,
    is_free: Bools,
    element_terms: ElementProducts | None = None,
) -> RigidModes | None:
    """Returns the modes of the islands at node positions x [m], (n, 3), for the matrix of blocks `values`, (b, 9).

    None where every island is held somewhere. `element_terms` as for `pcg.solve`.
    """
    if not is_any_free(pattern.island_start, is_free):
        return None
    arms, product = np.empty((pattern.node_count, 3)), np.empty((pattern.node_count, 18))
    write_lever_arms(pattern.island_start, floats(positions), arms)
    placed = coupled_layout(pattern, is_free, floats(positions), arms)

    def work(rows: slice) -> None:
        multiply_rigid(pattern.row_start, pattern.column, values, arms, rows.start, rows.stop, product)

    run_in_chunks(pattern.node_count, work)
    if element_terms is not None:
        _add_rotation_products(element_terms, arms, product)
    coupled = coupled_modes(pattern, values, *placed, arms, product) if placed else None
    matrices, inverse = np.empty((2, pattern.island_count, 6, 6))
    coarse_matrices(pattern.island_start, arms, product, matrices)
    invert_coarse(pattern.island_start, is_free, matrices, inverse)
    if pattern.coupling is None:
        return RigidModes(arms, product, inverse)
    inverse[pattern.coupling.is_coupled()] = 0.0
    return RigidModes(arms, product, inverse, coupled)


def _add_rotation_products(element_terms: ElementProducts, arms: Floats, product: Floats) -> None:
    """Adds the products of element terms with rotations to A Z, (n, 18); those with translations are zero."""
    for axis in range(3):
        turned = np.zeros_like(arms)
        element_terms.add_product_to(np.cross(np.eye(3)[axis], arms), turned)
        product.reshape(-1, 3, 6)[:, :, 3 + axis] += turned


def coarse_correction(modes: RigidModes, pattern: BlockPattern, b: Floats, x: Floats) -> None:
    """Moves x, (n, 3), by rigid modes to Zᵀ(b − A x) = 0 in every island without held nodes."""
    coarse_correct_islands(pattern.island_start, modes.lever_arms, modes.product, modes.inverse, b, x)
    if modes.coupled is not None:
        coarse_correct_coupled(pattern.island_start, modes.lever_arms, modes.product, modes.coupled.arrays, b, x)


def make_orthogonal(modes: RigidModes, pattern: BlockPattern, d: Floats) -> None:
    """Takes from a direction d, (n, 3), what is not A-orthogonal to the modes."""
    coarse_correction(modes, pattern, np.zeros((0, 3)), d)
