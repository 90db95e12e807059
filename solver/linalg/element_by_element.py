# SPDX-License-Identifier: GPL-3.0-or-later
"""Products with the stiffness of tets, one after the other, in place of the blocks of a matrix that sums them up.

With the edges' differences d_b = v_b − v_0 and D = Σ d_b t_bᵀ over the corners 1 to 3, a tet adds to node a

    (k tr(D) I + m (D + Dᵀ)) t_a    and, of damping,    k' tr(G) s_a + m' (Gᵀ s_a + S D t_a),    G = Σ d_b s_bᵀ

and minus the sum of these to node 0. Source: Nesme, Payan and Faure 2005, section 3.2, with the axes of space in place
of those of the tet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Floats, Indices
from ..runtime.jit import kernel
from ..runtime.row_dot_products import row_dot_products
from ..runtime.simd.vec3 import vec3, vec3_axpy, vec3_fma, vec3_load, vec3_store, vec3_sum, vec3_unpack, vec3_zero
from .block_pattern import BlockPattern
from .pcg_row_passes import ACTIVE, VECTOR_COUNT, Q

STIFFNESS_NUMBERS = 12  # numbers of a tet: t1, t2, t3, k, m, and one that counts for nothing
DAMPING_NUMBERS = 21  # s1, s2, s3, the rows of S, k', m', and one that counts for nothing


class ElementTermArrays(NamedTuple):
    """`ElementProducts` for `add_active_products`.

    Attributes:
        tets, stiff, damped: Its own.
        island, chunk: The island of each tet, and the chunk of rows to whose sum it adds, (k,).
    """

    tets: Indices
    stiff: Floats
    damped: Floats
    island: np.ndarray
    chunk: np.ndarray


@dataclass(frozen=True)
class ElementProducts:
    """Tets whose stiffness is in no matrix, k of them.

    Attributes:
        tets: Their nodes, (k, 4).
        stiff: See `STIFFNESS_NUMBERS`, (k, 12).
        damped: See `DAMPING_NUMBERS`, (k, 21), or (0, 21) where there is no damping besides.
    """

    tets: Indices
    stiff: Floats
    damped: Floats

    def add_product_to(self, v: Floats, out: Floats) -> None:
        """Adds the product with v, (n, 3), to `out`, (n, 3)."""
        add_tet_products(self.tets, self.stiff, self.damped, v, out)

    def arrays(self, pattern: BlockPattern, chunk_island: np.ndarray) -> ElementTermArrays:
        """Returns it for kernels; `chunk_island` are the islands of chunks of rows, in rising order."""
        island = pattern.island_of_row[self.tets[:, 0]].astype(np.int64)
        chunk = np.searchsorted(chunk_island, island)
        return ElementTermArrays(self.tets, self.stiff, self.damped, island, chunk)

    def diagonal(self, count: int) -> Floats:
        """Returns the blocks on the diagonal of so many nodes, (n, 9)."""
        blocks = np.zeros((count, 9))
        add_diagonals(self.tets, self.stiff, self.damped, blocks)
        return blocks

    def quadratic_form(self, pattern: BlockPattern, d: Floats) -> Floats:
        """Returns dᵀ A d of every island, (islands,), for a direction d, (n, 3)."""
        product = np.zeros_like(d)
        self.add_product_to(d, product)
        return np.add.reduceat(row_dot_products(product, d), pattern.island_start[:-1].astype(np.int64))


@kernel(allow_fma=True, inline=True, device_only=True)
def tet_product(tet, tets, stiff, damped, v, first):
    """Returns what a tet adds to its nodes 1, 2 and 3 by v, three numbers a node from number `first` on."""
    o = vec3_load(v, first + 3 * tets[tet, 0])
    d1 = vec3_axpy(vec3_load(v, first + 3 * tets[tet, 1]), -1.0, o)
    d2 = vec3_axpy(vec3_load(v, first + 3 * tets[tet, 2]), -1.0, o)
    d3 = vec3_axpy(vec3_load(v, first + 3 * tets[tet, 3]), -1.0, o)
    w = STIFFNESS_NUMBERS * tet
    t1, t2, t3 = vec3_load(stiff, w), vec3_load(stiff, w + 3), vec3_load(stiff, w + 6)
    k, m = stiff[tet, 9], stiff[tet, 10]
    (a1, b1, c1), (a2, b2, c2), (a3, b3, c3) = vec3_unpack(d1), vec3_unpack(d2), vec3_unpack(d3)
    # the rows of D
    r = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), a1, t1), a2, t2), a3, t3)
    s = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), b1, t1), b2, t2), b3, t3)
    u = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), c1, t1), c2, t2), c3, t3)
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = vec3_unpack(r), vec3_unpack(s), vec3_unpack(u)
    even, xy_, yz_, zx_ = k * (xx + yy + zz), m * (xy + yx), m * (yz + zy), m * (zx + xz)
    # the columns, or rows, of k tr(D) I + m (D + Dᵀ)
    p = vec3(2.0 * m * xx + even, xy_, zx_)
    q = vec3(xy_, 2.0 * m * yy + even, yz_)
    z = vec3(zx_, yz_, 2.0 * m * zz + even)
    f1, f2, f3 = multiply_columns(p, q, z, t1), multiply_columns(p, q, z, t2), multiply_columns(p, q, z, t3)
    if len(damped) > 0:
        w = DAMPING_NUMBERS * tet
        s1, s2, s3 = vec3_load(damped, w), vec3_load(damped, w + 3), vec3_load(damped, w + 6)
        A, B, C = vec3_load(damped, w + 9), vec3_load(damped, w + 12), vec3_load(damped, w + 15)
        k, m = damped[tet, 18], damped[tet, 19]
        # the rows of G, and the columns of m S D
        p = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), a1, s1), a2, s2), a3, s3)
        q = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), b1, s1), b2, s2), b3, s3)
        z = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), c1, s1), c2, s2), c3, s3)
        (gx, _, _), (_, gy, _), (_, _, gz) = vec3_unpack(p), vec3_unpack(q), vec3_unpack(z)
        even = k * (gx + gy + gz)
        x, y, n = vec3(m * xx, m * yx, m * zx), vec3(m * xy, m * yy, m * zy), vec3(m * xz, m * yz, m * zz)
        x, y, n = multiply_columns(A, B, C, x), multiply_columns(A, B, C, y), multiply_columns(A, B, C, n)
        f1 = vec3_axpy(
            vec3_axpy(vec3_axpy(f1, even, s1), m, multiply_columns(p, q, z, s1)), 1.0, multiply_columns(x, y, n, t1)
        )
        f2 = vec3_axpy(
            vec3_axpy(vec3_axpy(f2, even, s2), m, multiply_columns(p, q, z, s2)), 1.0, multiply_columns(x, y, n, t2)
        )
        f3 = vec3_axpy(
            vec3_axpy(vec3_axpy(f3, even, s3), m, multiply_columns(p, q, z, s3)), 1.0, multiply_columns(x, y, n, t3)
        )
    return f1, f2, f3


@kernel(allow_fma=True, inline=True, device_only=True)
def multiply_columns(a, b, c, v):
    """Returns M v for the columns a, b, c of M."""
    x, y, z = vec3_unpack(v)
    return vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), x, a), y, b), z, c)


@kernel(allow_fma=True)
def add_tet_products(tets, stiff, damped, v, out):
    """Adds the product of tets with v to `out`, (n, 3)."""
    for tet in range(len(tets)):
        f1, f2, f3 = tet_product(tet, tets, stiff, damped, v, 0)
        a, b, c, d = 3 * tets[tet, 0], 3 * tets[tet, 1], 3 * tets[tet, 2], 3 * tets[tet, 3]
        vec3_store(out, b, vec3_axpy(vec3_load(out, b), 1.0, f1))
        vec3_store(out, c, vec3_axpy(vec3_load(out, c), 1.0, f2))
        vec3_store(out, d, vec3_axpy(vec3_load(out, d), 1.0, f3))
        vec3_store(out, a, vec3_axpy(vec3_axpy(vec3_axpy(vec3_load(out, a), -1.0, f1), -1.0, f2), -1.0, f3))


@kernel(allow_fma=True, device_only=True)
def add_active_products(terms, vectors, islands):
    """Adds the product of tets with p, (n, 3), to q, and pᵀ A p to the sums of islands that have not converged.

    Args:
        terms: `ElementTermArrays`.
        vectors, islands: Of `conjugate_gradients`.
    """
    tets, stiff, damped, island, chunk = terms
    p, work, scalars, sums = vectors.p, vectors.work, islands.scalars, islands.sums
    q = Q * 3 * (len(work) // VECTOR_COUNT)
    for tet in range(len(tets)):
        if scalars[island[tet], ACTIVE] == 0.0:
            continue
        f1, f2, f3 = tet_product(tet, tets, stiff, damped, p, 0)
        a, b, c, d = 3 * tets[tet, 0], 3 * tets[tet, 1], 3 * tets[tet, 2], 3 * tets[tet, 3]
        f0 = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), -1.0, f1), -1.0, f2), -1.0, f3)
        vec3_store(work, q + a, vec3_axpy(vec3_load(work, q + a), 1.0, f0))
        vec3_store(work, q + b, vec3_axpy(vec3_load(work, q + b), 1.0, f1))
        vec3_store(work, q + c, vec3_axpy(vec3_load(work, q + c), 1.0, f2))
        vec3_store(work, q + d, vec3_axpy(vec3_load(work, q + d), 1.0, f3))
        along = vec3_fma(vec3_fma(vec3_zero(), f0, vec3_load(p, a)), f1, vec3_load(p, b))
        sums[chunk[tet], 0] += vec3_sum(vec3_fma(vec3_fma(along, f2, vec3_load(p, c)), f3, vec3_load(p, d)))


@kernel(allow_fma=True)
def add_diagonals(tets, stiff, damped, blocks):
    """Adds the blocks on the diagonal that tets have, (n, 9)."""
    for tet in range(len(tets)):
        for a in range(4):
            t = corner_gradient(stiff, STIFFNESS_NUMBERS * tet, a)
            x, y, z = vec3_unpack(t)
            k, m, square = stiff[tet, 9], stiff[tet, 10], vec3_sum(vec3_fma(vec3_zero(), t, t))
            row = 9 * tets[tet, a]
            vec3_store(
                blocks,
                row,
                vec3_axpy(vec3_axpy(vec3_load(blocks, row), (k + m) * x, t), m * square, vec3(1.0, 0.0, 0.0)),
            )
            vec3_store(
                blocks,
                row + 3,
                vec3_axpy(vec3_axpy(vec3_load(blocks, row + 3), (k + m) * y, t), m * square, vec3(0.0, 1.0, 0.0)),
            )
            vec3_store(
                blocks,
                row + 6,
                vec3_axpy(vec3_axpy(vec3_load(blocks, row + 6), (k + m) * z, t), m * square, vec3(0.0, 0.0, 1.0)),
            )
            if len(damped) > 0:
                w = DAMPING_NUMBERS * tet
                s = corner_gradient(damped, w, a)
                x, y, z = vec3_unpack(s)
                k, m = damped[tet, 18], damped[tet, 19]
                A, B, C = vec3_load(damped, w + 9), vec3_load(damped, w + 12), vec3_load(damped, w + 15)
                vec3_store(blocks, row, vec3_axpy(vec3_axpy(vec3_load(blocks, row), (k + m) * x, s), m * square, A))
                vec3_store(
                    blocks, row + 3, vec3_axpy(vec3_axpy(vec3_load(blocks, row + 3), (k + m) * y, s), m * square, B)
                )
                vec3_store(
                    blocks, row + 6, vec3_axpy(vec3_axpy(vec3_load(blocks, row + 6), (k + m) * z, s), m * square, C)
                )


@kernel(allow_fma=True, inline=True, device_only=True)
def corner_gradient(array, w, a):
    """Returns the gradient of a corner of a tet, that of corner 0 being minus the sum of the others."""
    if a > 0:
        return vec3_load(array, w + 3 * a - 3)
    return vec3_axpy(
        vec3_axpy(vec3_axpy(vec3_zero(), -1.0, vec3_load(array, w)), -1.0, vec3_load(array, w + 3)),
        -1.0,
        vec3_load(array, w + 6),
    )
